"""Everything that comes from data is text on a page, never a tag, an attribute or an address."""

import ast
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import soundcheck
from soundcheck.report.html import element, style_sheet

PAYLOADS = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</table></div><h1>x",
    "{{ 7 * 7 }}",
    "\x00\x1b[31m\ud800\u202e",
]


class Seen(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes


@pytest.mark.parametrize("payload", PAYLOADS)
def test_text_and_attributes_stay_text(payload):
    seen = Seen(str(element("p", payload, element("b", payload), title=payload, data_sort=payload)))
    assert seen.tags == ["p", "b"]
    assert [name for name, _ in seen.attributes] == ["title", "data-sort"]


@given(st.text(alphabet=st.characters(codec=None), max_size=60))
def test_any_text_can_be_written_and_makes_no_tag(text):
    html = str(element("td", text, title=text))
    html.encode("utf-8")
    assert Seen(html).tags == ["td"]


def test_long_texts_are_cut_and_marked():
    assert str(element("p", "a" * 500)).count("a") < 250
    assert "…" in str(element("p", "a" * 500))
    assert str(element("p", "a" * 500, limit=None)).count("a") == 500


@pytest.mark.parametrize(
    "address",
    ["javascript:alert(1)", " JavaScript:x", "https://example.org", "//example.org/x", "data:text/html,x"]
    + ["java\tscript:x", "java\nscript:x", "\x01javascript:x", "\\\\example.org", "/\\example.org", "DATA:x"],
)
@pytest.mark.parametrize("name", ["href", "src"])
def test_addresses_that_lead_out_of_the_site_are_refused(name, address):
    with pytest.raises(ValueError, match="leads out of the site"):
        element("a", "x", **{name: address})


@pytest.mark.parametrize("name", ["onclick", "ONCLICK", "srcdoc", "srcset", 'a" onx', "a>b", ""])
def test_attributes_that_run_code_or_are_none_are_refused(name):
    with pytest.raises(ValueError, match="not an attribute"):
        element("a", "x", **{name: "alert(1)"})


def test_pictures_and_players_may_carry_their_content():
    for tag, address in (
        ("img", "data:image/svg+xml;base64,PHN2Zz4="),
        ("audio", "data:audio/flac;base64,ZkxhQw=="),
    ):
        assert address in str(element(tag, src=address))
        others = [
            ("a", "href"),
            ("iframe", "src"),
            ("audio" if tag == "img" else "img", "src"),
            (tag, "poster"),
        ]
        for other, name in others:
            with pytest.raises(ValueError, match="leads out of the site"):
                element(other, **{name: address})
        with pytest.raises(ValueError, match="leads out of the site"):
            element(tag, src=f"{address} x")


def test_html_is_made_nowhere_else():
    """No f-string or sum becomes HTML, and neither pandas nor IPython write any."""
    root = Path(soundcheck.__file__).parent
    found = []
    for path in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if name in ("to_html", "HTML", "Markdown", "Styler") and path.name != "html.py":
                found.append(f"{path.name}:{node.lineno} {name}")
            literal = not node.args or isinstance(node.args[0], ast.Constant)
            finished = path.name in ("html.py", "executed.py", "templates.py") or "publish" in path.parts
            if name == "Html" and not literal and not finished:
                found.append(f"{path.name}:{node.lineno} Html")
    assert found == []


def test_pictures_may_carry_drawings_and_nothing_else_may():
    drawing = "data:image/svg+xml;base64,PHN2Zy8+"
    assert drawing in str(element("img", src=drawing, alt=""))
    with pytest.raises(ValueError, match="leads out"):
        element("a", "x", href=drawing)


@pytest.mark.parametrize("text", ["</style><script>", '@import "x.css";', "a { background: url(x) }"])
def test_a_style_sheet_neither_ends_nor_loads_anything(text):
    with pytest.raises(ValueError, match="style sheet"):
        style_sheet(text)
