"""Everything that comes from data is text on a page, never a tag, an attribute, an address or a rule."""

import ast
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from hypothesis import example, given
from hypothesis import strategies as st

import soundcheck
from soundcheck.report.html import element, style_sheet


@given(st.text(alphabet=st.characters(codec=None), max_size=60))
@example('"><img src=x onerror=alert(1)>')
@example("</table></div><h1>' onmouseover='alert(1)")
@example("\x00\x1b[31m\ud800\u202e")
def test_any_text_is_a_text_or_a_value_and_makes_no_tag(text):
    html = str(element("td", text, element("b", text), title=text, data_sort=text))
    html.encode("utf-8")
    tags = BeautifulSoup(html, "html.parser").find_all(True)
    assert [(tag.name, list(tag.attrs)) for tag in tags] == [("td", ["title", "data-sort"]), ("b", [])]


def test_long_texts_are_cut_and_marked_unless_they_are_wanted_whole():
    assert str(element("p", "a" * 500)).count("a") < 250 and "…" in str(element("p", "a" * 500))
    assert str(element("p", "a" * 500, limit=None)).count("a") == 500


DRAWING, FLAC = "data:image/svg+xml;base64,PHN2Zz4=", "data:audio/flac;base64,ZkxhQw=="
OUTSIDE = [" JavaScript:x", "https://e.org", "//e.org/x", "data:text/html,x", "DATA:x", "java\tscript:x"]
OUTSIDE += ["java\nscript:x", "\x01javascript:x", "\\\\e.org", "/\\e.org", f"{DRAWING} x"]
CARRIED = [("img", "src", FLAC), ("audio", "src", DRAWING), ("a", "href", DRAWING), ("audio", "poster", FLAC)]


@pytest.mark.parametrize(
    ("tag", "name", "address"),
    [*(("a", "href", one) for one in OUTSIDE), ("img", "src", "https://e.org"), *CARRIED],
)
def test_addresses_that_lead_out_of_the_site_are_refused(tag, name, address):
    with pytest.raises(ValueError, match="leads out of the site"):
        element(tag, "x", **{name: address})


def test_pictures_and_players_may_carry_their_content():
    assert DRAWING in element("img", src=DRAWING) and FLAC in element("audio", src=FLAC)


@pytest.mark.parametrize("name", ["onclick", "ONCLICK", "srcdoc", "srcset", 'a" onx', "a>b", ""])
def test_attributes_that_run_code_or_are_none_are_refused(name):
    with pytest.raises(ValueError, match="not an attribute"):
        element("a", "x", **{name: "alert(1)"})


@pytest.mark.parametrize("text", ["</style><script>", '@import "x.css";', "a { background: url(x) }"])
def test_a_style_sheet_neither_ends_nor_loads_anything(text):
    with pytest.raises(ValueError, match="style sheet"):
        style_sheet(text)


def test_html_is_made_nowhere_else():
    """No f-string or sum becomes HTML, and neither pandas nor IPython write any."""
    elsewhere = []
    for path in sorted(Path(soundcheck.__file__).parent.rglob("*.py")):
        finished = path.name in ("html.py", "executed.py", "templates.py") or "publish" in path.parts
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            foreign = name in ("to_html", "HTML", "Markdown", "Styler")
            foreign &= path.name not in ("html.py", "preparing.py")  # the page of scores is a template
            literal = not node.args or isinstance(node.args[0], ast.Constant)
            if foreign or (name == "Html" and not literal and not finished):
                elsewhere.append(f"{path.name}:{node.lineno} {name}")
    assert elsewhere == []
