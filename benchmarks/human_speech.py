"""What measured columns say about six people who speak digits, by speaker and by accent.

Run ``SOUNDCHECK_SPEECH=FOLDER python benchmarks/human_speech.py``; the folder holds recordings with a table
``segments.csv`` that has speakers and accents. Writes ``book/tables/human_speech.csv`` (medians and ranges by
speaker and accent) and ``book/tables/human_accents.csv`` (each accent of two speakers or more against the
others: difference of the means, and how often other pairs of speakers differ as much). Ends with 1 if a gap
has a p-value below the smallest that so many speakers allow.

Conventions
-----------
- Speakers are exchanged as wholes; all arrangements are looked at. Six speakers have 15 pairs, so no p-value
  lies below 1/15.
"""

from __future__ import annotations

import datetime
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from soundcheck.book.corpus_page import measured_in, summary
from soundcheck.corpora.columns import MEASURES, measure
from soundcheck.corpora.load import Corpus, load_corpus
from soundcheck.metrics.combinators import restrict
from soundcheck.metrics.regression import mean_value
from soundcheck.statistics.permutation import least_p_value, permuted_p_values
from soundcheck.suite.suite_file import read_suite

TABLES = Path(__file__).parents[1] / "book" / "tables"
SUITE = """
corpora: {{people: {{format: csv, path: {path}, split: all}}}}
models: {{random: {{random: gaussian}}}}
families: all
"""


def measured_corpus(table: Path) -> Corpus:
    """Load recordings as a run does, and measure all that needs no network."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "suite.yml"
        file.write_text(SUITE.format(path=table.resolve()), encoding="utf-8")
        suite = read_suite(file)
        corpus = load_corpus(suite.corpora["people"], suite, Path(folder) / "cache")
        return measure(
            corpus,
            [name for name, definition in MEASURES.items() if not definition.extra],
            Path(folder) / "cache",
        )


def accents(segments: pd.DataFrame) -> pd.DataFrame:
    """Compare each accent of two speakers or more with the others."""
    of_speaker = segments.groupby("speaker")["accent"].first()
    blocks = of_speaker.index.get_indexer(segments["speaker"])
    rows = []
    for accent, count in of_speaker.value_counts().sort_index().items():
        if count < 2:
            continue
        group = of_speaker.eq(accent).to_numpy()
        for name, column in measured_in(segments).items():
            values = segments[column].to_numpy()
            known = np.isfinite(values)
            statistic = restrict(mean_value(np.where(known, values, 0.0)), known)
            sums = statistic.block_sums(blocks, len(of_speaker))
            p = permuted_p_values(statistic, sums, group, np.array([np.nan]))[0]
            of_group, of_others = (statistic.compute(sums[side].sum(axis=0))[0] for side in (group, ~group))
            row = {"accent": accent, "speakers": int(count), "others": int((~group).sum())}
            row |= {
                "measure": name,
                "mean": of_group,
                "mean_of_others": of_others,
                "gap": of_group - of_others,
            }
            rows.append(row | {"p_value": p, "least_p": least_p_value(len(group), int(count))})
    return pd.DataFrame(rows)


def main() -> None:
    """Run the study and record it."""
    folder = os.environ.get("SOUNDCHECK_SPEECH")
    if not folder:
        sys.exit("SOUNDCHECK_SPEECH must name a folder with recordings and a segments.csv")
    segments = measured_corpus(Path(folder) / "segments.csv").segments
    tables = {
        "human_speech": (
            "Measured columns of people who speak digits",
            summary(segments, ["speaker", "accent"]),
        ),
        "human_accents": ("Accents of people who speak digits, by measured columns", accents(segments)),
    }
    for name, (about, table) in tables.items():
        table = table.round(4)
        print(table.to_string(index=False))
        command = "SOUNDCHECK_SPEECH=FOLDER python benchmarks/human_speech.py"
        head = f"# {about}\n# {command}\n# NumPy {np.__version__}; {datetime.date.today()}\n"
        text = head + table.to_csv(index=False, lineterminator="\n")
        (TABLES / f"{name}.csv").write_text(text, encoding="utf-8")
    compared = tables["human_accents"][1]
    if (compared["p_value"] < compared["least_p"] - 1e-12).any():
        sys.exit("off: a p-value that so few speakers cannot give")
    print("all within the bars")


if __name__ == "__main__":
    main()
