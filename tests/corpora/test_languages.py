"""Languages are recognised in the forms that data have."""

import pytest

from soundcheck.corpora.languages import among

SIX = ["de", "en", "es", "fr", "it", "zh"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("de", "de"),
        ("deu", "de"),
        ("German", "de"),
        ("german", "de"),
        ("de-AT", "de"),
        ("en_US", "en"),
        ("zh-CN", "zh"),
        ("cmn", "zh"),
        (" it ", "it"),
        ("da", None),
        ("", None),
        ("??", None),
        (None, None),
        (float("nan"), None),
    ],
)
def test_forms(name, expected):
    assert among([name], SIX).tolist() == [expected]


def test_as_many_as_given():
    assert among([], SIX).shape == (0,)
    assert among(["en", "fra", "x"], ["fra"]).tolist() == [None, "fra", None]
