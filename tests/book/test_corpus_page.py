"""The page of a corpus: what was measured, by group, and what its audit found, all of it escaped."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import soundfile
from tests.report.given import HOSTILE
from tests.support.findings import row

from soundcheck.book import corpus_page
from soundcheck.book.corpus_page import ALL, audited, measured_in, recorded_otherwise, summary
from soundcheck.common.media import MediaStore
from soundcheck.common.messages import Caveat
from soundcheck.common.tasks import BUILTIN
from soundcheck.corpora.load import Corpus, SoundFormat
from soundcheck.corpora.raw_table import Excluded
from soundcheck.corpora.repeats import Repeated, Repeats
from soundcheck.evaluation.corpus_audit import Audit, audit, compared
from soundcheck.results.record import CorpusRecord
from soundcheck.results.table import to_frame
from soundcheck.suite.entries import CorpusEntry

FORMATS = (SoundFormat("WAV", "PCM_16", 44100, 2, 1200, 1300, 7200.0),)
EXCLUDED = tuple(Excluded(f"{n}.wav", "no speaker", "block") for n in range(292))
LABELS = {"arousal": [0.1, 0.5, None, 0.9], "emotion": ["anger", HOSTILE, None, None]}
CAVEAT = Caveat("2 of 3 test speakers also train", corpus="c")


@pytest.mark.parametrize(
    ("options", "columns", "said", "unsaid"),
    [
        ({"notices": (HOSTILE,), "caveats": (CAVEAT,)}, LABELS, ["<dd>arousal (3), emotion (2)</dd>"], []),
        ({"audio": False}, {"duration": np.nan}, ["length not known", "none here"], ["Files</sum"]),
        ({"formats": FORMATS}, {}, ["44.1 kHz", "nothing above 8 kHz; mean of 2 channels"], ["udit"]),
        ({"left_out": EXCLUDED}, {}, ["<dd>292 items, listed below</dd>", "2.wav and 289 more</td>"], []),
        ({"audited": True}, {}, ["## Audit", "Resampled and permuted: 2 speakers."], ["before the numbers"]),
    ],
)
@pytest.mark.slow
def test_what_a_page_says(page, options, columns, said, unsaid):
    text = page(columns, **options)
    assert "<img src=x" not in text and [words for words in said if words not in text] == []
    assert [words for words in unsaid if words in text] == []
    if "caveats" in options:
        assert text.index("Read this before") < text.index(str(CAVEAT)) < text.index("sc-facts")


@pytest.fixture
def page(tmp_path, blank_figures):
    """Make the page of a corpus with some columns: its words and its HTML, one after the other."""

    def made(columns, *, audio=True, notices=(), left_out=(), audited=False, **about) -> str:
        soundfile.write(tmp_path / "a.wav", 0.1 * np.sin(np.arange(16000) / 10), 16000)
        table = {"file": "a.wav", "start": np.nan, "end": np.nan, "duration": 1.0, "speaker": list("aabb")}
        table = pd.DataFrame(table | {"audio": [f"digest {n}" for n in range(4)]} | columns)
        entry = CorpusEntry("c", "csv", audio=audio)
        corpus = Corpus("c", entry, tmp_path, table, left_out, (), **about)
        record = CorpusRecord(
            **dict.fromkeys(("name", "slug", "format", "title", "digest"), "c"),
            **{"description": "", "synthetic": False, "segments": 4, "speakers": 2, "seconds": 4.0},
            **{"left_out": left_out, "notices": notices},
        )
        media = MediaStore(tmp_path / "media", "../media/")
        findings = audit(corpus, {}, tmp_path / "cache") if audited else None
        made = corpus_page.cells(record, corpus, BUILTIN, media, tmp_path / "cache", findings)
        outputs = [output["data"]["text/html"] for cell in made for output in cell.get("outputs", [])]
        return "\n".join([*(cell["source"] for cell in made), *outputs])

    return made


LEVEL = {
    **{"column": "accent", "group": HOSTILE, "name": "level", "title": "level", "unit": "dB"},
    **{"noticeable": 3.0, "recorded": True, "value": -30.0, "low": -32.0, "high": -28.0, "segments": 80},
    **{"speakers": 10, "others": -20.0, "gap_low": -12.0, "gap_high": -8.0, "p_value": 0.0004},
}
NOTHING = Repeats((), 0, 0, 0, 300, 300)


def test_medians_ranges_and_counts_by_group():
    numbers = np.arange(40)
    segments = pd.DataFrame({"speaker": [f"s{n % 4}" for n in numbers], "device": [None, "phone"] * 20})
    segments["accent"] = np.where(numbers % 4 < 2, HOSTILE, "irish")
    segments["level"] = np.where(numbers < 10, np.nan, -20.0)
    segments = segments.assign(duration=np.linspace(1, 5, 40), pitch=np.nan, speaking_rate="slow")
    segments["speaking_rate (number)"] = np.arange(40.0)
    segments["bandwidth"] = "wide"  # a column of the data, of words
    measured = {name: name for name in ("level", "duration", "pitch")}
    assert measured_in(segments) == measured | {"speaking_rate": "speaking_rate (number)"}
    rows = summary(segments, ["accent", "device"]).set_index(["group", "measure"])
    duration, expected = rows.loc[(ALL, "duration")], np.percentile(segments["duration"], [5, 50, 95])
    assert duration[["low", "median", "high"]].tolist() == pytest.approx(expected.tolist())
    assert (duration["segments"], duration["speakers"], duration["measured"]) == (40, 4, 40)
    assert rows.loc[(ALL, "level")]["measured"] == 30
    irish, is_irish = rows.loc[("accent: irish", "speaking_rate")], segments["accent"].eq("irish")
    assert irish["median"] == segments["speaking_rate (number)"][is_irish].median()
    assert (irish["segments"], irish["speakers"]) == (20, 2)


def an_audit(*means, repeats=NOTHING, **more) -> Audit:
    known = {"unchanging": (), "splits": (), "shared": (), "measured": {}, "block": "speaker"}
    known |= {"blocks": 20, "adjust": (), "unreadable": 0}
    return Audit(compared(means), repeats=repeats, **(known | more))


UNKNOWN = {"gap_low": None, "gap_high": None, "p_value": None}
OTHERS = dataclasses.replace(NOTHING, others=20_000)


@pytest.mark.parametrize(
    ("audit", "said"),
    [
        (an_audit(LEVEL), "level −30.0 dB, the others −20.0 dB (difference −12.0 to −8.0 dB, p &lt; 0.001)"),
        (an_audit(LEVEL | UNKNOWN), "1 difference large enough to be noticed, but not significant: "),
        (an_audit(*(LEVEL | {"group": f"g{n:02}"} for n in range(40))), "28 more significant differences"),
        (an_audit(repeats=OTHERS, unused=50_000), "Compared with 20,000 of 50,000 segments of splits that"),
        (an_audit(measured={"silence": (0, 1000)}), "In 1,000 of 1,000 segments nothing stands out"),
    ],
)
def test_what_an_audit_found_is_said(audit, said):
    text = str(audited(audit, audio=True))
    assert said in text and "<img" not in text
    assert ("is there speech" in text) == (audit.measured != {})


def test_copies_and_overlaps_are_counted():
    copy = Repeated((HOSTILE, "b", "c", "d"), False, ("x", "y"), ("test", "train"), ("emotion",))
    repeats = Repeats((copy,) * 60, 4, 3, 2, 290, 300)
    audit = an_audit(repeats=repeats, splits=("test", "train"), shared=(HOSTILE,), unreadable=2)
    text = str(audited(audit, audio=True))
    for sentence in (
        "60 recordings more than once, as 240 segments; 60 of them in several splits; 60 under the names of",
        *("60 with labels that differ", "10 sounds compared by their bytes alone"),
        *("4 segments of items recorded under several", "3 segments of 2 files overlap with another one"),
        *("1 speaker in more than one split: &lt;img", "2 sounds could not be read again"),
    ):
        assert sentence in text


ADJUSTED = {"group": f"accent: {HOSTILE}", "adjusted_by": "level", "corpus": "c"}
BY_LEVEL = an_audit(LEVEL, LEVEL | {"name": "bandwidth"}, adjust=("level",))


@pytest.mark.parametrize(
    ("given", "audit", "said"),
    [
        ({}, an_audit(LEVEL), ['href="../c.html#audit"', "<code>adjust: [level]<"]),
        (ADJUSTED, BY_LEVEL, ["differences adjusted for it", "<code>adjust: [level, bandwidth]</code>"]),
        ({"group": "accent: irish"}, an_audit(LEVEL), []),
        ({"value": None, "passed": None, "skipped": "few"}, an_audit(LEVEL), []),
        ({"corpus": "d"}, an_audit(LEVEL), []),
        ({}, an_audit(LEVEL | {"name": "arousal", "recorded": False}), []),  # labels are no recordings
    ],
)
def test_pages_of_fairness_name_groups_that_were_recorded_otherwise(given, audit, said):
    rows = to_frame([row(**{"corpus": "c", "group": f"accent: {HOSTILE}"} | given)])
    text = str(recorded_otherwise(rows, {"c": audit}, {"c": "../c.html"}))
    assert all(part in text for part in said) and bool(said) == bool(text) and "<img" not in text
