"""The page of a corpus: what was measured, by group, and nothing from data unescaped."""

import numpy as np
import pandas as pd
import pytest
import soundfile
from tests.report.given import HOSTILE

from soundcheck.book import corpus_page
from soundcheck.common.errors import Caveat
from soundcheck.common.media import MediaStore
from soundcheck.common.tasks import BUILTIN
from soundcheck.corpora.corpus import Corpus
from soundcheck.corpora.inspection import SoundFormat
from soundcheck.corpora.segments import Excluded
from soundcheck.evaluation.corpus_audit import audit
from soundcheck.results.record import CorpusRecord
from soundcheck.suite.entries import CorpusEntry

pytestmark = pytest.mark.slow

FORMATS = (
    SoundFormat("WAV", "PCM_16", 44100, 2, 1200, 1300, 7200.0),
    SoundFormat("OGG", "OPUS", 8000, 1, 1, 1, 3.5),
    SoundFormat("FLAC", "PCM_24", 16000, 1, 3, 3, 9.0),
)
EXCLUDED = [Excluded(f"{n}.wav", "no speaker", "block") for n in range(292)]
EXCLUDED = (*EXCLUDED, Excluded("b.wav", "0 bytes", "audio"))
LABELS = {
    "arousal": [0.1, 0.5, None, 0.9],
    "emotion": ["anger", HOSTILE, None, None],
    "age": [30, 30, 41, 41],
}
CAVEAT = Caveat("2 of 3 test speakers also train", corpus="c")


@pytest.mark.parametrize(
    ("options", "columns", "said", "unsaid"),
    [
        ({"notices": (HOSTILE,)}, LABELS, ["<dd>arousal (3), emotion (2)</dd>", "age, arousal, emotion"], []),
        (
            {"audio": False},
            {"duration": np.nan},
            ["length not known", "none here"],
            ["Files</sum", "to listen"],
        ),
        ({"formats": FORMATS}, {}, ["44.1 kHz, ", "8 kHz, ", ">1,200</td>"], ["udit"]),
        ({"formats": FORMATS}, {}, ["nothing above 8 kHz; mean of 2 channels", "the file as it is"], []),
        ({"left_out": EXCLUDED}, {}, ["<dd>293 items, listed below</dd>", "2.wav and 289 more</td>"], []),
        ({"audited": True}, {}, ["## Audit", "Resampled and permuted: 2 speakers."], ["before the numbers"]),
        ({"caveats": (CAVEAT,)}, {}, ["Read this before the numbers", f"{CAVEAT}"], []),
    ],
)
def test_what_a_page_says(page, options, columns, said, unsaid):
    text = page(columns, **options)
    assert "<img src=x" not in text and [words for words in said if words not in text] == []
    assert [words for words in unsaid if words in text] == []
    if "caveats" in options:
        assert text.index(str(CAVEAT)) < text.index("sc-facts")


@pytest.fixture
def page(tmp_path, blank_figures):
    """Make the page of a corpus with some columns: its words and its HTML, one after the other."""

    def made(columns, *, audio=True, notices=(), left_out=(), audited=False, **about) -> str:
        soundfile.write(tmp_path / "a.wav", 0.1 * np.sin(np.arange(16000) / 10), 16000)
        table = {
            "file": ["a.wav"] * 4,
            "start": np.nan,
            "end": np.nan,
            "duration": 1.0,
            "speaker": list("aabb"),
        }
        table = pd.DataFrame(table | {"audio": [f"digest {n}" for n in range(4)]} | columns)
        entry = CorpusEntry("c", "csv", audio=audio)
        corpus = Corpus("c", entry, tmp_path, table, left_out, (), False, "", **about)
        record = CorpusRecord(
            **dict.fromkeys(("name", "slug", "format", "title", "digest"), "c"),
            **{"description": "", "synthetic": False, "segments": 4, "speakers": 2, "seconds": 4.0},
            **{"left_out": left_out, "notices": notices},
        )
        media = MediaStore(tmp_path / "media", "../media/")
        found = audit(corpus, {}, tmp_path / "cache") if audited else None
        cells = corpus_page.cells(record, corpus, BUILTIN, media, tmp_path / "cache", found)
        shown = [output["data"]["text/html"] for cell in cells for output in cell.get("outputs", [])]
        return "\n".join([*(cell["source"] for cell in cells), *shown])

    return made
