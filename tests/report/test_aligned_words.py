"""Aligned words: what differs has signs and words, what is copied is the transcript, hostile text is text."""

import re
from html.parser import HTMLParser

import pytest

from soundcheck.metrics.alternatives import WordingReader
from soundcheck.report.aligned_words import aligned_words, legend

HOSTILE = "<script>alert(1)</script>"


class Lines(HTMLParser):
    """Reads each line as somebody copies it: without what cannot be selected."""

    def __init__(self):
        super().__init__()
        self.lines, self.depth, self.heard = [], 0, []

    def handle_starttag(self, tag, attributes):
        if tag in ("dt", "dd"):
            self.lines.append("")
        self.depth += tag in ("span", "del")

    def handle_endtag(self, tag):
        self.depth -= tag in ("span", "del")

    def handle_data(self, data):
        self.heard.append(data)
        if self.lines and not self.depth:
            self.lines[-1] += data


def read(html):
    parser = Lines()
    parser.feed(str(html))
    return [" ".join(line.split()) for line in parser.lines], "".join(parser.heard)


def test_what_is_copied_is_what_was_said_and_written():
    lines, told = read(aligned_words("the cat sat down", {"recognised": "a cat sat right"}))
    assert lines == ["said", "the cat sat down", "recognised", "a cat sat right"]
    assert "replaced the by a" in told and "replaced down by right" in told


@pytest.mark.parametrize(
    ("heard", "tag", "sign", "told"),
    [
        ("go up", "mark", "≠", "replaced on by up"),
        ("go", "del", "−", "left out on"),
        ("go on now", "ins", "+", "put in now"),
    ],
)
def test_each_error_has_a_sign_an_element_and_words(heard, tag, sign, told):
    html = str(aligned_words("go on", {"recognised": heard}))
    assert f"<{tag} " in html and f'aria-hidden="true">{sign}<' in html
    assert told in read(html)[1]


def test_one_wording_of_several_is_shown():
    reference = WordingReader(str, alternatives=True)("{ um / @ } (please) stop here")
    html = aligned_words(reference, {"recognised": "stop hear"})
    assert read(html)[0] == ["said", "stop here", "recognised", "stop hear"]
    assert re.findall("<mark.*?</mark>", str(html))[0].count("here") == 1
    both = aligned_words(reference, {"a": "please stop hear", "b": "please stop here", "c": None})
    assert read(both)[0][:6] == ["said", "please stop here", "a", "please stop hear", "b", "please stop here"]
    assert read(aligned_words(reference, {"none": None}))[0] == ["said", "um please stop here", "none", ""]


def test_words_of_two_recognisers_tell_who_has_them_right():
    html = str(aligned_words("one two three four", {"first": "one two x y", "second": "one z three w"}))
    reference = html[: html.index("<dt>first")]
    kinds = re.findall(r'sc-word-(\w+)"', reference)
    assert kinds == ["last", "first", "both"]
    assert "(right in first only)" in html and "(right in second only)" in html and "(wrong in both)" in html
    assert all(sign in reference for sign in "▾▴✗")
    explained = str(legend(("first", "second")))
    assert all(sign in explained for sign in "▾▴✗≠−+")


def test_a_transcript_without_words_and_none_at_all():
    lines, told = read(aligned_words("go on", {"a": "", "b": None}))
    assert "(nothing)" in told and "(no transcript)" in told
    assert lines == ["said", "go on", "a", "", "b", ""]
    assert "(nothing)" in read(aligned_words("", {"a": "go"}))[1]
    assert "(nothing)" in read(aligned_words("", {"a": ""}))[1]


def test_hostile_and_right_to_left_texts():
    html = str(aligned_words(f"go {HOSTILE} \u202eleft", {HOSTILE: f"{HOSTILE} שלום עולם 🎤"}))
    assert HOSTILE not in html and "&lt;script&gt;" in html and "\u202e" not in html
    assert html.count('<dd dir="auto">') == 2
    # What we say is left out where a browser looks for the direction of a line.
    assert html.count("<span") == html.count('dir="ltr"') + html.count('aria-hidden="true"')
