"""The page of a corpus: what was measured, by group, and nothing from data unescaped."""

import numpy as np
import pandas as pd
import pytest
import soundfile

from soundcheck.book import corpus_page
from soundcheck.common.caveats import Caveat
from soundcheck.common.media import MediaStore
from soundcheck.common.tasks import BUILTIN
from soundcheck.corpora.corpus import Corpus
from soundcheck.corpora.inspection import SoundFormat
from soundcheck.corpora.segments import Excluded
from soundcheck.evaluation.corpus_audit import audit
from soundcheck.results.record import CorpusRecord
from soundcheck.suite.entries import CorpusEntry

pytestmark = pytest.mark.slow

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def page(tmp_path, blank_figures):
    """Make the page of a corpus with some columns: its words and its HTML, one after the other."""

    def made(
        audio: bool = True,
        groups: tuple[str, ...] = (),
        notices: tuple[str, ...] = (),
        segments: int = 4,
        formats: tuple[SoundFormat, ...] = (),
        left_out: tuple[Excluded, ...] = (),
        audited: bool = False,
        caveats: tuple[Caveat, ...] = (),
        **columns: object,
    ) -> str:
        soundfile.write(tmp_path / "a.wav", 0.1 * np.sin(np.arange(16000) / 10), 16000)
        table = pd.DataFrame({"file": ["a.wav"] * segments, "start": np.nan, "end": np.nan, "duration": 1.0})
        who = ["a" if 2 * n < segments else "b" for n in range(segments)]
        table = table.assign(speaker=who, audio=[f"digest {n}" for n in range(segments)])
        table = table.assign(**columns)
        entry = CorpusEntry("c", "csv", audio=audio)
        made = {"groups": groups, "formats": formats, "caveats": caveats}
        corpus = Corpus("c", entry, tmp_path, table, left_out, (), False, "", **made)
        about = CorpusRecord(
            **dict.fromkeys(("name", "slug", "format", "title", "digest"), "c"),
            **{"description": "", "synthetic": False, "segments": 4, "speakers": 2, "seconds": 4.0},
            **{"left_out": left_out, "notices": notices},
        )
        media = MediaStore(tmp_path / "media", "../media/")
        found = audit(corpus, {}, tmp_path / "cache") if audited else None
        cells = corpus_page.cells(about, corpus, BUILTIN, media, tmp_path / "cache", found)
        shown = [o["data"]["text/html"] for cell in cells for o in cell.get("outputs", [])]
        return "\n".join([*(cell["source"] for cell in cells), *shown])

    return made


def test_what_was_measured_is_shown_by_group(page):
    level = [-10.0, -12.0, -40.0, np.nan]
    text = page(
        groups=("device",), level=level, device=["phone", "phone", HOSTILE, HOSTILE], sex=["male"] * 4
    )
    assert "level (dB)" in text and "duration (s)" in text
    for group in ("all", "sex: male", "device: phone", "device: &lt;script&gt;"):
        assert f"<td>{group}" in text
    assert "<script>" not in text
    assert "−40.0 to −40.0; 1 not measurable" in text


def test_what_to_know_is_told(page):
    text = page(notices=("resampled together in intervals: speaker within meeting", HOSTILE))
    assert "resampled together in intervals: speaker within meeting" in text
    assert "<script>" not in text and "&lt;script&gt;" in text


def test_labels_and_ages_are_counted_and_drawn(page):
    text = page(arousal=[0.1, 0.5, None, 0.9], emotion=["anger", HOSTILE, None, None], age=[30, 30, 41, 41])
    assert "<dd>arousal (3), emotion (2)</dd>" in text and "<script>" not in text
    assert "age, arousal, emotion" in text


def test_without_audio_or_lengths_the_page_says_so(page):
    text = page(audio=False, duration=np.nan)
    assert "4 segments of 1 file, length not known" in text and "none here" in text
    assert "Files</summary>" not in text and "## Segments to listen" not in text and "level" not in text


def test_formats_are_listed_and_what_became_of_them(page):
    formats = (
        SoundFormat("WAV", "PCM_16", 44100, 2, 1200, 1300, 7200.0),
        SoundFormat("OGG", "OPUS", 8000, 1, 1, 1, 3.5),
    )
    text = page(formats=formats)
    for part in (
        "44.1 kHz, 2 channels (1,200 files)",
        "8 kHz, mono (1 file)",
        "resampled to 16 kHz, nothing above 8 kHz; mean of 2 channels",
        "resampled to 16 kHz, nothing above 4 kHz",
    ):
        assert part in text, part
    same = page(formats=(SoundFormat("FLAC", "PCM_24", 16000, 1, 3, 3, 9.0),))
    assert "the file as it is" in same


def test_what_was_left_out_is_counted_and_listed(page):
    text = page(left_out=(Excluded("b.wav", "0 bytes, the file is empty", "audio"),))
    assert "<dd>1 item, listed below</dd>" in text and "0 bytes, the file is empty" in text
    many = [Excluded(f"{n}.wav", "no speaker", "block") for n in range(292)]
    text = page(left_out=(*many, Excluded("b.wav", "0 bytes", "audio")))
    assert "<td>0.wav, 1.wav, 2.wav and 289 more</td>" in text and text.count("no speaker") == 1
    assert "<dd>293 items, listed below</dd>" in text and "left_out.csv" not in text


def test_the_audit_is_a_part_of_the_page(page):
    text = page(audited=True, sex=["male", "male", HOSTILE, HOSTILE])
    assert "## Audit" in text and "3 segments of 1 file overlap with another one" in text
    assert "Resampled and permuted: 2 speakers." in text and "<script>" not in text
    assert "udit" not in page()


def test_what_voids_numbers_stands_before_them(page):
    text = page(caveats=(Caveat(f"2 of 3 test speakers also train {HOSTILE}", corpus="c"),))
    told = "c: 2 of 3 test speakers also train &lt;script&gt;"
    assert HOSTILE not in text and text.index(told) < text.index("sc-facts")
    assert "Read this before the numbers" not in page()
