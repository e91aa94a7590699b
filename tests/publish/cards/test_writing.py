"""Cards are written whole or not at all, into their folder and nowhere else; numbers have field names."""

import math
import os

import pytest
from tests.support.finished import FAILED, finished, verdict
from tests.support.tested_models import facts_of, figure

from soundcheck.common import resources
from soundcheck.common.errors import InputError
from soundcheck.publish.cards import card_format
from soundcheck.publish.cards.card_format import CARD_FORMATS, CardFormat, read_book_url, write_cards
from soundcheck.publish.cards.measurements import interval_methods, measure_of_test, measurements
from soundcheck.results.record import FamilyRecord
from soundcheck.suite.thresholds import read_family


@pytest.fixture
def run(tmp_path, recorded):
    return finished(tmp_path / "out", recorded, [verdict(), verdict(test="U", **FAILED)])


def test_all_formats_that_apply_beside_the_results(run):
    said = write_cards(run)
    assert f"Wrote {run / 'cards' / 'm' / 'README.md'}\n" in said and (run / "cards/m/README.md").is_file()
    assert "No hub-results: no corpus of the model says which benchmark" in said
    assert "The cards list as missing: intended use" in said


class Own(CardFormat):
    """A format whose text is the name of its file, or which cannot be written."""

    name = ""

    def filename(self, facts):
        return self.name

    def text(self, facts, context):
        if self.name == "broken.txt":
            raise InputError([])
        return self.name


@pytest.mark.parametrize(
    ("name", "named", "told"),
    [
        ("x", ["huggingface", "hub-results"], "--format hub-results: no corpus of the model says"),
        ("broken.txt", (), ".*"),
        *((name, (), "leads out of") for name in ("../x.md", "/x.md", "a/../../x.md")),
    ],
)
def test_all_or_none_are_written(run, monkeypatch, name, named, told):
    monkeypatch.setattr(Own, "name", name)
    monkeypatch.setattr(card_format, "CARD_FORMATS", dict(CARD_FORMATS.items()) | {"zzz": Own})
    with pytest.raises(InputError, match=told):
        write_cards(run, formats=named)
    assert not (run / "cards").exists()


@pytest.mark.parametrize("target", ["elsewhere/README.md", "nowhere"])
def test_links_that_lead_elsewhere(run, tmp_path, target):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "README.md").write_text("theirs")
    (tmp_path / "cards").mkdir()
    os.symlink(tmp_path / target, tmp_path / "cards" / "README.md")
    with pytest.raises(InputError, match="leads out of its folder"):
        write_cards(run, out=tmp_path / "cards")
    assert (tmp_path / "elsewhere" / "README.md").read_text() == "theirs"


def test_what_stands_there_and_is_no_text(run, tmp_path):
    (tmp_path / "README.md").write_bytes(b"a\nb\xff\n")
    with pytest.raises(InputError, match="README.md line 2: byte 3 is not UTF-8"):
        write_cards(run, out=tmp_path)
    (tmp_path / "README.md").unlink()
    (tmp_path / "README.md").mkdir()
    with pytest.raises(InputError, match="README.md: this is a folder"):
        write_cards(run, out=tmp_path)


def test_addresses_of_books():
    for text in ("https://e.org/b", "https://e.org/b/", "https://e.org/b/index.html"):
        assert read_book_url(text).rstrip("/") == "https://e.org/b"
    for text in (
        *("javascript:alert(1)", "file:///home/me/book", "https://", "//e.org", "https://[::1"),
        *("https://me:secret@e.org/", "https://e.org/?token=1", "https://e.org/#a", "https://e.org/a b"),
        *("https://e.org/a)[x](b", "https://e.org/\nx"),
    ):
        with pytest.raises(InputError, match="--book-url"):
            read_book_url(text)


def measure(family, test, rule="<", compares=False):
    digest = read_family(family).digest
    record = FamilyRecord(name=family, title="", category="correctness", question="", digest=digest)
    return measure_of_test(record, test, rule, compares)


CCC = ("fairness_sex", "Concordance Correlation Coeff")
OURS = "soundcheck.fairness_sex.concordance_correlation_coeff"


@pytest.mark.parametrize(
    ("given", "identifier", "lower", "limits"),
    [
        (("asr_word_errors", "Word Error Rate"), "wer", True, (0, math.inf)),
        (("correctness_regression", CCC[1], ">"), "ccc", False, (-1, 1)),
        (("correctness_classification", "Recall Per Class", ">"), "recall", False, (0, 1)),
        (("speaker_verification", "Actual Detection Cost"), "act_dcf", True, (0, math.inf)),
        (("speaker_verification", "Minimum Detection Cost"), "min_dcf", True, (0, 1)),
        # The same name of a difference is another number.
        ((*CCC, "|gap| <"), f"{OURS}.gap", None, (-2, 2)),
        ((*CCC, "|value| <", True), OURS, None, (-2, 2)),
    ],
)
def test_names_of_the_field(given, identifier, lower, limits):
    found = measure(*given)
    assert (found.id, found.limits, found.near_zero) == (identifier, limits, lower is None)
    assert lower is None or found.lower_is_better == lower


def test_numbers_of_a_run(tmp_path, recorded):
    of = {"value": -0.1, "low": -0.2, "high": 0.0, "gap": -0.3, "reference": None, "reference_passed": None}
    row = verdict("m", group="sex: female", rule="|value| <", **of)
    (found,) = measurements(facts_of("fairness only", tmp_path, recorded, rows=[row])).itertuples()
    assert found.value == -0.1 and math.isnan(found.group_value)  # a group that is judged by its value
    beyond = {"figures": [figure("m", "transcript", "equal error rate", value=1.5)]}  # takes its limit away
    blocks = {"suite": {"corpora": {"c": {"blocks": "call"}}}}
    facts = facts_of("recogniser", tmp_path, recorded, **beyond, **blocks)
    assert next(measurements(facts).itertuples()).measure.limits == (0, math.inf)
    assert interval_methods(facts) == ["percentile interval, whole blocks resampled (blockwise bootstrap)"]


def test_every_test_that_is_shipped_has_limits_and_a_direction():
    for name in resources.names("thresholds", ".yml"):
        for test, definition in read_family(name).tests.items():
            for compares in (False, True):
                low, high = measure(name, test, definition.rule, compares=compares).limits
                assert low < high, (name, test)
