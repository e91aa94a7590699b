"""What the theme writes is mended in the page, and what people wrote stays as it is."""

import pytest

from soundcheck.book.accessible import mend

MENU = (
    '<div id="pst-primary-sidebar" class="bd-sidebar"><ul><li><a class="reference internal" href="m.html">'
    'Model m</a><details open="open"><summary><span class="toctree-toggle" role="presentation">'
    '<i class="fa-solid fa-chevron-down"></i></span></summary></details></li></ul></div>'
)
HEAD = (
    '<head>\n<meta name="viewport" content="width=device-width, initial-scale=1.0" />'
    '<meta name="viewport" content="width=device-width, initial-scale=1" />\n'
    '<link rel="stylesheet" type="text/css" href="../_static/sphinx-thebe.css?v=4fa983c6" />\n'
    '<script defer src="../_static/scripts/fontawesome.js?digest=55c26e"></script>\n'
    '<script src="../_static/doctools.js"></script>\n'
    '<script>const THEBE_JS_URL = "https://a.org/index.js"; const thebe_selector = ".thebe"</script>\n'
    '<script async="async" src="../_static/sphinx-thebe.js?v=c100c467"></script>\n</head>\n'
)
BUTTON = (
    '<button class="sidebar-toggle btn" title="Toggle primary sidebar" data-bs-toggle="tooltip">'
    '<span class="fa-solid fa-bars"></span></button>'
)


def page(body: str) -> str:
    return f"<html>{HEAD}<body>{MENU}{BUTTON}<article class='bd-article'>{body}</article></body></html>"


def test_scripts_that_fail_or_look_for_servers_are_left_out_and_others_stay():
    made = mend(page(""))
    assert "thebe" not in made.lower() and "fontawesome" not in made
    assert made.count("<script") == 1 and "doctools.js" in made
    assert made.count('name="viewport"') == 1


def test_what_can_be_opened_or_pressed_has_a_name_and_a_landmark():
    made = mend(page(""))
    assert (
        '<summary aria-label="Pages below Model m"><span class="toctree-toggle" aria-hidden="true">' in made
    )
    assert '<div id="pst-primary-sidebar" role="complementary" aria-label="Book" class="bd-sidebar">' in made
    assert 'aria-label="Menu" title="Menu"' in made
    assert '<span class="fa-solid fa-bars" aria-hidden="true">' in made


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ('<div class="math notranslate">x</div>', '<div tabindex="0" class="math notranslate">x</div>'),
        ('<th class="head"><p></p></th>', '<td class="head"></td>'),
        ('<div class="citation" role="doc-biblioentry">', '<div class="citation" role="listitem">'),
        ("<p>const THEBE_JS_URL = 1 &lt;summary&gt;</p>", "<p>const THEBE_JS_URL = 1 &lt;summary&gt;</p>"),
    ],
)
def test_the_text_of_a_page_keeps_its_words(written, expected):
    assert f"<article class='bd-article'>{expected}</article>" in mend(page(written))
