"""A site keeps what its pages load, and nothing that none of them asks for."""

from pathlib import Path

from soundcheck.book.trimming import trim

KEPT = [
    "index.html",
    "_static/scripts/theme.js",
    "_static/mathjax/tex-chtml.js",
    "_static/mathjax/input/tex/extensions/physics.js",
    "_static/mathjax/output/chtml/fonts/woff-v2/MathJax_Zero.woff",
    "_static/mathjax/a11y/assistive-mml.js",
]
DROPPED = [
    "_static/scripts/theme.js.map",
    "_static/locales/de/LC_MESSAGES/booktheme.mo",
    "_static/mathjax/tex-svg-full.js",
    "_static/mathjax/sre/mathmaps/en.json",
    "_static/mathjax/output/svg/fonts/tex.js",
    "_static/mathjax/input/mml.js",
]


def test_only_what_no_page_loads_is_dropped(tmp_path: Path):
    for name in (*KEPT, *DROPPED):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    trim(tmp_path)
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {*KEPT}


def test_a_site_without_formulas_is_left_alone(tmp_path: Path):
    (tmp_path / "index.html").write_text("")
    trim(tmp_path)
    assert (tmp_path / "index.html").is_file()
