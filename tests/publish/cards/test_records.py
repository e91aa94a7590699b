"""JSON of texts from data is ASCII, says the same, and ends no script."""

import json

import pytest

from soundcheck.publish.cards.records import json_text


def test_texts_come_back_and_nothing_of_html_is_there():
    content = {"a": ["</script>", "&amp;", 0.1, None, True, {"é": "\n\t\"'"}]}
    text = json_text(content)
    assert json.loads(text) == content
    assert text.isascii() and not set("<>&") & set(text) and text.endswith("}\n")


@pytest.mark.parametrize("harmful", ["\x1b[2J", "\u202e", "\ud800", "\x00"])
def test_what_nobody_sees_is_shown(harmful):
    (value,) = json.loads(json_text({"k": f"a{harmful}"})).values()
    assert value.startswith("a\\u") and value.isprintable()


def test_no_number_that_is_none():
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_text({"k": float("nan")})
