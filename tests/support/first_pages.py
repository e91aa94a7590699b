"""First pages made of tables alone: of golden files, and of simulated models, whose runs took minutes."""

import re
from pathlib import Path

import pandas as pd
from bs4 import BeautifulSoup
from finished import corpora_of, models_of, record

from soundcheck.book import overview
from soundcheck.common.tasks import BUILTIN
from soundcheck.results.contrast import CONTRAST_TYPES, summary_of
from soundcheck.results.facts import facts_by_model
from soundcheck.results.states import compared
from soundcheck.results.table import ESTIMATES, RESULTS, estimate_frame, frame_of, parsed
from soundcheck.suite.families import HIGHER, info_of
from soundcheck.suite.thresholds import read_family

GOLDEN = Path(__file__).parents[1] / "golden" / "recorded"
MEASURES = ("concordance_cc", "unweighted_average_recall", "word_error_rate", "equal_error_rate")
RANDOM = ("random-gaussian", "random-categorical", "guess")


def table(path, schema):
    """Read a golden table as a run reads it."""
    cells = pd.read_csv(path, dtype=str, keep_default_na=False)
    columns = {name: [parsed(cell, kind) for cell in cells[name]] for name, kind in schema.items()}
    return frame_of(schema, columns)


def golden(name, **more):
    """Give record, results and estimates of a golden world."""
    results = table(GOLDEN / name / "results.csv.gz", RESULTS)
    estimates = table(GOLDEN / name / "estimates.csv.gz", ESTIMATES)
    compared_ = table(GOLDEN / name / "comparisons.csv.gz", CONTRAST_TYPES)
    return record_of(results, estimates, compared_, **more), results, estimates


def figures(estimates):
    """Make key figures of the values of measures, and of what chance scores on the same segments."""
    plain = estimates["part"].eq("all") & estimates["label"].eq("") & estimates["measure"].isin(MEASURES)
    key = ["model", "corpus", "task", "measure"]
    chance = estimates[plain & estimates["condition"].eq("chance")].set_index(key)["value"].to_dict()
    for row in estimates[plain & estimates["condition"].eq("")].itertuples():
        guessing = chance.get((row.model, row.corpus, row.task, row.measure))
        info = info_of(row.measure)
        bounds = {name: getattr(row, name) for name in ("low", "high", "low_sample", "high_sample")}
        more_is_better = info.better == HIGHER
        yield {
            **{"model": row.model, "corpus": row.corpus, "task": row.task, "measure": info.title},
            **{name: None if pd.isna(end) else end for name, end in bounds.items()},
            **{"value": row.value, "segments": row.segments, "blocks": row.speakers, "guessing": guessing},
            "standing": compared(row.low, row.high, guessing, row.speakers, more_is_better=more_is_better),
        }


def record_of(results, estimates, comparisons=None, random=RANDOM):
    """Make the record of a run of what its tables say."""
    names, labels = ("name", "title", "category", "question", "digest"), {"classes": ["a", "b"]}
    labels |= {"kind": "classification", "low": 0.0, "high": 1.0}
    families = [read_family(name) for name in results["family"].unique()]
    pairs = results[["model", "family"]].drop_duplicates().to_dict("records")
    kinds = dict.fromkeys(results["model"], "python") | dict.fromkeys(random, "random")
    return record(
        **{"title": "A run", "run": "0" * 12, "interval": "t", "versions": {}},
        suite={"digest": "s" * 40, "tasks": dict.fromkeys({*results["task"]} - {*BUILTIN}, labels)},
        models=models_of(results, kinds),
        corpora=corpora_of(results),
        families=[{n: getattr(f, n) for n in names} | {"headline": [*f.headline]} for f in families],
        notebooks=[pair | {"status": "ok", "error": ""} for pair in pairs],
        comparisons=[] if comparisons is None else list(compared_models(comparisons)),
        figures=list(figures(estimates)),
    )


def compared_models(comparisons):
    """Make records of comparisons of what their table says."""
    for (baseline, candidate), rows in comparisons.groupby(["baseline", "candidate"]):
        about = {"name": "both", "slug": "c", "baseline": baseline}
        about |= {"candidate": candidate, "status": "ok", "error": ""}
        yield about | summary_of(rows)


def first_page(record, results, estimates=None):
    """Give the text of the first page of a run, and its rows of models by name."""
    estimates = estimate_frame([]) if estimates is None else estimates
    soup = BeautifulSoup(page_html(record, results, estimates), "html.parser")
    rows = {row.find("td").find("a").get_text(): plain(row) for row in soup.select(".sc-models tbody tr")}
    return plain(soup), rows


def plain(node):
    """Give the text of a part of a page, blanks as a reader sees them."""
    return re.sub(r" ([,:;.])", r"\1", " ".join(node.get_text(" ").split()))


def page_html(record, results, estimates):
    """Give the first page as HTML, its own words as they are."""
    return "\n".join(
        cell["source"] if cell["cell_type"] == "markdown" else cell["outputs"][0]["data"]["text/html"]
        for cell in overview.cells(record, results, facts_by_model(record, results, estimates))
    )
