"""Cards are written whole or not at all, into their folder and nowhere else."""

import os
from unittest import mock

import pytest
from tests.support.finished import FAILED, finished, verdict

from soundcheck.common.errors import InputError
from soundcheck.publish.cards.card_format import CARD_FORMATS, CardFormat
from soundcheck.publish.cards.writing import write_cards


@pytest.fixture
def run(tmp_path, recorded):
    return finished(tmp_path / "out", recorded, [verdict(), verdict(test="U", **FAILED)])


def test_all_formats_that_apply_beside_the_results(run):
    cards = write_cards(run)
    assert run / "cards" / "m" / "README.md" in cards.written
    assert "no corpus of the model says which benchmark" in cards.passed_over["hub-results"]
    assert "Wrote" in cards.summary and "The cards list as missing: intended use" in cards.summary


def test_a_format_that_is_named_has_to_apply(run):
    with pytest.raises(InputError, match="--format hub-results: no corpus of the model says"):
        write_cards(run, formats=["huggingface", "hub-results"])
    assert not (run / "cards").exists()


def test_nothing_is_written_if_one_format_fails(run):
    class Broken(CardFormat):
        def filename(self, facts):
            return "broken.txt"

        def text(self, facts, context):
            raise InputError([])

    both = {"huggingface": CARD_FORMATS["huggingface"], "zzz": Broken}
    with mock.patch("soundcheck.publish.cards.writing.CARD_FORMATS", both), pytest.raises(InputError):
        write_cards(run)
    assert not (run / "cards").exists()


@pytest.mark.parametrize("name", ["../x.md", "/elsewhere/x.md", "a/../../x.md"])
def test_names_stay_in_their_folder(run, name):
    class Leaving(CardFormat):
        def filename(self, facts):
            return name

        def text(self, facts, context):
            return ""

    with mock.patch("soundcheck.publish.cards.writing.CARD_FORMATS", {"x": Leaving}):
        with pytest.raises(InputError, match="leads out of its folder"):
            write_cards(run)


@pytest.mark.parametrize("target", ["elsewhere/README.md", "nowhere"])
def test_links_that_lead_elsewhere(run, tmp_path, target):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "README.md").write_text("theirs")
    (tmp_path / "cards").mkdir()
    os.symlink(tmp_path / target, tmp_path / "cards" / "README.md")
    with pytest.raises(InputError, match="leads out of its folder"):
        write_cards(run, out=tmp_path / "cards")
    assert (tmp_path / "elsewhere" / "README.md").read_text() == "theirs"


def test_a_file_that_is_not_text(run, tmp_path):
    (tmp_path / "README.md").write_bytes(b"a\nb\xff\n")
    with pytest.raises(InputError, match="README.md line 2: byte 3 is not UTF-8"):
        write_cards(run, out=tmp_path)


def test_a_folder_in_place_of_the_file(run, tmp_path):
    (tmp_path / "README.md").mkdir()
    with pytest.raises(InputError, match="README.md: this is a folder"):
        write_cards(run, out=tmp_path)
