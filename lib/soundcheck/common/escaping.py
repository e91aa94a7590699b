r"""Text from data, made harmless for the place where it is shown.

Names, labels, transcripts and error messages come from people and models that nobody vouches for.
They pass through exactly one of these functions on their way out:

- :func:`escape` for HTML, text and attribute values alike
- :func:`terminal` for messages, logs and progress bars
- :func:`quoted` for a value inside a message, :func:`told_apart` for two names that are not the same
- :func:`spreadsheet` for text cells of CSV files
- :func:`css_string` for generated content in style sheets
- :func:`heading` for headings in Markdown, :func:`one_line` for titles that no Markdown is made of
"""

from __future__ import annotations

import difflib
import html
import os
import re
import unicodedata

PAGE_LIMIT = 200  # characters of a text from data that a page shows
VALUE_LIMIT = 80  # characters of a value that a message shows

# Bidirectional marks reorder what a reader sees; lone surrogates cannot be encoded.
_SPOOFING = re.compile("[\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_ILLEGAL_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]")
_LOST_BLANK = re.compile("^ | $|(?<= ) ")
_MARKUP = re.compile(r"""[\\`*_{}\[\]<>()#|~$&@!^"']|:(?=//)|(?<=www)\.""", re.IGNORECASE)


def _visible(match: re.Match) -> str:
    return f"\\u{ord(match.group()):04x}"


def shorten(text: str, limit: int = PAGE_LIMIT) -> str:
    """Cut a text at ``limit`` characters and mark the cut."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def escape(value: object, limit: int | None = PAGE_LIMIT) -> str:
    """Make a value safe as HTML text or quoted attribute value.

    - ``value``: anything; its ``str`` is shown.
    - ``limit``: characters after which the text is cut; ``None`` keeps all of it.

    >>> escape("<b>'x'")
    '&lt;b&gt;&#x27;x&#x27;'
    """
    text = str(value)
    if limit is not None:
        text = shorten(text, limit)
    text = _SPOOFING.sub(_visible, _ILLEGAL_XML.sub(_visible, text))
    return html.escape(text, quote=True)


def css_string(value: object, limit: int = PAGE_LIMIT) -> str:
    r"""Write a value as a string of a style sheet, in quotes; whatever is not plain ASCII is escaped.

    >>> css_string('calls "A"')
    '"calls \\000022A\\000022"'
    """
    text = _SPOOFING.sub(_visible, _ILLEGAL_XML.sub(_visible, shorten(str(value), limit)))
    plain = (c if c.isascii() and (c.isalnum() or c in " .,-") else f"\\{ord(c):06x}" for c in text)
    return f'"{"".join(plain)}"'


def xml_text(value: object) -> str:
    """Remove what XML 1.0 cannot carry; a writer of XML does the escaping."""
    return _SPOOFING.sub(_visible, _ILLEGAL_XML.sub(_visible, str(value)))


def terminal(value: object) -> str:
    """Show control characters and bidirectional marks instead of obeying them; keeps line breaks."""
    text = _SPOOFING.sub(_visible, str(value))
    return "".join(f"\\x{ord(c):02x}" if unicodedata.category(c) == "Cc" and c != "\n" else c for c in text)


def quoted(value: object, limit: int = VALUE_LIMIT) -> str:
    """Show a value in a message: in quotes, on one line, at most ``limit`` characters.

    >>> quoted("a" * 100)[-4:]
    "aa…'"
    """
    text = terminal(str(value).replace("\n", "\\n"))
    return f"'{shorten(text, limit)}'"


def look(name: str) -> str:
    """Give what readers see of a name: no signs without a shape, no blanks at its ends, accents composed."""
    seen = "".join(sign for sign in name if unicodedata.category(sign) != "Cf")
    return unicodedata.normalize("NFC", seen).strip()


def told_apart(one: str, other: str) -> tuple[str, str]:
    r"""Show two names in a message, as :func:`quoted` does, so that nobody takes them for the same.

    Letters beyond ASCII that only one has are written as code points, and blanks at the ends; of long names
    the ends are shown from where they differ.

    >>> told_apart("a.wav", "a.wav ")
    ("'a.wav'", "'a.wav\\u0020'")
    >>> told_apart("a.wav", "\u0430.wav")
    ("'a.wav'", "'\\u0430.wav'")
    """
    same = os.path.commonprefix([one, other])
    cut = max(0, len(same) - 20) if max(len(one), len(other)) > VALUE_LIMIT else 0
    alike = difflib.SequenceMatcher(None, one[-200:], other[-200:], autojunk=False).ratio() > 0.75
    alike |= look(one) == look(other)
    texts = []
    for name, against in ((one, other), (other, one)):
        codes = {sign for sign in {*name} - {*against} if alike and not sign.isascii()}
        codes |= {" "} if name != name.strip() or "  " in name else set()
        text = "".join(f"\\u{ord(sign):04x}" if sign in codes else sign for sign in name[cut:])
        texts.append(quoted("…" * bool(cut) + text))
    return texts[0], texts[1]


def spreadsheet(value: str) -> str:
    """Keep a spreadsheet from running a text cell as a formula (CWE-1236).

    >>> spreadsheet("=1+1")
    "'=1+1"
    """
    return f"'{value}" if value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


def one_line(value: str, fallback: str = "unnamed") -> str:
    r"""Write a name or title as plain text on one line; what nobody sees is shown as an escape.

    >>> one_line("R&D – Größe, 模型"), one_line("a\u202eb\n")
    ('R&D – Größe, 模型', 'a\\u202eb\\u000a')
    """
    text = "".join(f"\\u{ord(c):04x}" if _is_unseen(c) else c for c in value)
    text = _LOST_BLANK.sub("\u00a0", text)  # HTML and Markdown drop blanks at the ends and beside others
    return shorten(text) if text.strip() else fallback


def _is_unseen(character: str) -> bool:
    if character in "\u200c\u200d":  # they shape words of Persian and of languages of India
        return False
    unseen = unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    return unseen or bool(_ILLEGAL_XML.match(character))


def heading(value: str, fallback: str = "unnamed") -> str:
    """Write a name or title into a heading of Markdown, which shows what :func:`one_line` gives.

    >>> heading("C++ {{ 1 }}")
    'C++ &#123;&#123; 1 &#125;&#125;'
    """
    return _MARKUP.sub(lambda sign: f"&#{ord(sign[0])};", one_line(value, fallback))
