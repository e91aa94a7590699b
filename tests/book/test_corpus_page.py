"""The page of a corpus: what was measured, by group, and nothing from data unescaped."""

import numpy as np
import pandas as pd
import pytest
import soundfile

from soundcheck.book import corpus_page
from soundcheck.common.media import MediaStore
from soundcheck.corpora.corpus import Corpus
from soundcheck.results.record import CorpusRecord
from soundcheck.suite.entries import CorpusEntry

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def page(tmp_path):
    """Make the page of a corpus with some columns: its words and its HTML, one after the other."""

    def made(
        audio: bool = True, groups: tuple[str, ...] = (), notices: tuple[str, ...] = (), **columns: object
    ) -> str:
        soundfile.write(tmp_path / "a.wav", 0.1 * np.sin(np.arange(16000) / 10), 16000)
        table = pd.DataFrame({"file": ["a.wav"] * 4, "start": np.nan, "end": np.nan, "duration": 1.0})
        table = table.assign(speaker=["a", "a", "b", "b"], audio=list("wxyz"), **columns)
        entry = CorpusEntry("c", "csv", audio=audio)
        corpus = Corpus("c", entry, tmp_path, table, (), (), False, "", groups=groups)
        about = CorpusRecord(
            **dict.fromkeys(("name", "slug", "format", "title", "digest"), "c"),
            **{"description": "", "synthetic": False, "segments": 4, "speakers": 2, "seconds": 4.0},
            **{"left_out": (), "notices": notices},
        )
        cells = corpus_page.cells(
            about, corpus, {}, MediaStore(tmp_path / "media", "../media/"), tmp_path / "cache"
        )
        shown = [o["data"]["text/html"] for cell in cells for o in cell.get("outputs", [])]
        return "\n".join([*(cell["source"] for cell in cells), *shown])

    return made


def test_what_was_measured_is_shown_by_group(page):
    level = [-10.0, -12.0, -40.0, np.nan]
    text = page(
        groups=("device",), level=level, device=["phone", "phone", HOSTILE, HOSTILE], sex=["male"] * 4
    )
    assert "## What was measured" in text and "level (dB)" in text and "duration (s)" in text
    for group in ("all", "sex: male", "device: phone", "device: &lt;script&gt;"):
        assert f"<td>{group}" in text
    assert "<script>" not in text
    assert "−40.0 to −40.0; 1 not measurable" in text


def test_numbers_that_were_cut_into_groups_are_shown_as_numbers(page):
    text = page(
        groups=("level",),
        **{"level": ["loud", "loud", "soft", "soft"], "level (number)": [-10.0, -12.0, -40.0, -41.0]},
    )
    assert "level: loud" in text and "−11.0" in text


def test_without_audio_nothing_is_measured(page):
    assert "What was measured" not in page(audio=False, level=[np.nan] * 4)


def test_what_to_know_is_told(page):
    text = page(notices=("resampled together in intervals: speaker within meeting", HOSTILE))
    assert "## What to know" in text and "resampled together in intervals: speaker within meeting" in text
    assert "<script>" not in text and "&lt;script&gt;" in text
    assert "## What to know" not in page()
