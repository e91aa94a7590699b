"""The menu of a report: families in the order of the sources, and few entries."""

from types import SimpleNamespace

from soundcheck.book import assembly, pages, written
from soundcheck.common import resources
from soundcheck.suite.thresholds import read_family

MOST = 25


def contents(recorded, tmp_path, names):
    families = [read_family(name) for name in names]
    record = recorded(
        families=[{name: getattr(one, name) for name in FIELDS} for one in families],
        models=[MODEL],
        corpora=[CORPUS],
        notebooks=[{"model": "m", "family": name, "status": "ok", "error": ""} for name in names],
    )
    book = assembly.Book(SimpleNamespace(), record, None, tmp_path, families, [], {}, None)
    sources = pages.Sources(tmp_path / "src")
    sources.pages = {"index", "all_results", "provenance", "methods", *written.REPORT, *written.STUDIES}
    sources.pages |= {f"methods/{name}" for name in names} | {"models/m", "corpora/c"}
    sources.pages |= {f"results/m/{name}" for name in names}
    return assembly._contents(book, sources)


FIELDS = ("name", "title", "category", "question", "digest")
MODEL = {
    **{"name": "m", "slug": "m", "kind": "python", "target": "", "tasks": ["arousal"], "description": ""},
    **{"license": "", "fingerprint": "f", "inputs": 1, "failed": 0, "unusable": 0, "notes": []},
    **{"failures": [], "repeated": 0, "repeated_different": 0, "out_of_range": 0, "unknown_classes": {}},
}
CORPUS = {
    **{"name": "c", "slug": "c", "format": "csv", "title": "", "description": "", "synthetic": False},
    **{"segments": 2, "speakers": 2, "seconds": 0.2, "left_out": [], "notices": [], "digest": "d"},
}
TWELVE = """
asr_word_errors correctness_regression fairness_sex robustness_spectral_tilt speaker_verification
fairness_accent correctness_classification robustness_small_changes fairness_pitch asr_fairness
verification_robustness
robustness_background_noise
""".split()


def test_a_report_of_one_model_and_twelve_families_has_few_entries(recorded, tmp_path):
    found = contents(recorded, tmp_path, TWELVE)
    chapters = [chapter for part in found["parts"] for chapter in part["chapters"]]
    (model,) = [chapter for chapter in chapters if chapter["file"] == "models/m"]
    # On a page of results the menu shows the families of its model, and not those below "Methods".
    assert 1 + len(chapters) + len(model["sections"]) <= MOST
    order = [section["file"].rpartition("/")[2] for section in model["sections"]]
    assert [name.partition("_")[0] for name in order[:8]] == [
        *("correctness", "correctness", "fairness", "fairness", "fairness"),
        *("robustness", "robustness", "robustness"),
    ]
    assert order[8:10] == ["asr_word_errors", "asr_fairness"]


def test_the_handbook_names_every_written_page():
    root = resources.root()
    text = (root / "_toc.yml").read_text(encoding="utf-8")
    for path in (root / "book").rglob("*.md"):
        assert f": {path.relative_to(root).with_suffix('').as_posix()}\n" in text, path
