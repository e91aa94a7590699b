"""The book of a made-up run whose names, labels and errors are hostile and of which one notebook failed."""

import dataclasses
import json
import re
import shutil
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest
import soundfile

from soundcheck.augment.sounds import Sounds
from soundcheck.book import build, executed, overview, pages
from soundcheck.book.assembly import Book, assemble
from soundcheck.common import files
from soundcheck.common.media import MediaStore
from soundcheck.common.tasks import BUILTIN
from soundcheck.corpora.corpus import Corpus
from soundcheck.corpora.segments import Excluded
from soundcheck.results.estimates import estimate_frame, write_estimates
from soundcheck.results.record import RunRecord
from soundcheck.results.states import decide
from soundcheck.results.table import to_frame, write_results
from soundcheck.results.verdict import skipped_rows
from soundcheck.run.output import Output
from soundcheck.suite.entries import CorpusEntry
from soundcheck.suite.thresholds import read_family

pytestmark = pytest.mark.slow

IMAGE = "<img src=x onerror=alert(1)>"
JINJA = "{{ 7*7 }}"
MODELS = (f"prosody {IMAGE}", f"{JINJA} ![x](../../../../etc/passwd)")
CORPUS = f"talk {IMAGE} {JINJA}"
FAMILIES = ("correctness_regression", "robustness_spectral_tilt")


@dataclasses.dataclass(frozen=True)
class MadeUp:
    output: Output
    record: RunRecord
    results: pd.DataFrame
    arguments: dict

    def assemble(self, jobs: int = 1) -> tuple[Path, pages.Sources]:
        sources = build.open_sources(self.output, self.record)
        assemble(sources, Book(self.output, self.record, self.results, jobs=jobs, **self.arguments))
        sources.write(jobs)
        return sources.folder, sources


def make_corpus(folder: Path) -> Corpus:
    rng = np.random.default_rng(0)
    rows = []
    for number in range(5):
        name = f"s{number}.wav"
        soundfile.write(folder / name, rng.normal(0, 0.1, 4000).astype(np.float32), 16000, subtype="PCM_16")
        rows.append(
            {
                "file": name,
                "start": np.nan,
                "end": np.nan,
                "duration": 0.25,
                "audio": files.digest(folder / name),
                "key": f"{name}||",
                "speaker": IMAGE if number else JINJA,
                "sex": IMAGE,
                "transcript": f"{JINJA} {IMAGE} `x` [a](b) $y$",
                "arousal": number / 4,
            }
        )
    entry = CorpusEntry(CORPUS, "csv", path=folder / "segments.csv", title=CORPUS, description=IMAGE)
    left_out = tuple(Excluded(f"{IMAGE}{number}", f"reason {number} {JINJA}") for number in range(250))
    return Corpus(
        CORPUS, entry, folder, pd.DataFrame(rows), left_out, (f"notice {IMAGE}",), True, f"{IMAGE} {JINJA}"
    )


def make_record(corpus: Corpus, families: list, out: Path) -> dict[str, object]:
    models = [
        {
            "name": name,
            "slug": files.slug(name),
            "kind": "random" if number else "python",
            "target": IMAGE,
            "tasks": ["arousal"],
            "description": JINJA,
            "license": "",
            "fingerprint": "f" * 40,
            "inputs": 10,
            "failed": 1,
            "unusable": 0,
            "notes": [IMAGE],
            "failures": [{"corpus": CORPUS, "item": IMAGE, "change": "", "reason": JINJA}] * 201,
            "repeated": 3,
            "repeated_different": 0,
            "out_of_range": 0,
            "unknown_classes": {IMAGE: 2},
        }
        for number, name in enumerate(MODELS)
    ]
    notebooks = [
        {"model": model, "family": family.name, "status": "ok", "error": ""}
        for model in MODELS
        for family in families
    ]
    error = executed.without_paths(f"FileNotFoundError: {out}/predictions/{IMAGE}", out)
    notebooks[-1] |= {"status": "failed", "error": error}
    about = {
        "name": CORPUS,
        "slug": files.slug(CORPUS),
        "format": "csv",
        "title": CORPUS,
        "description": corpus.description,
        "synthetic": True,
        "segments": 5,
        "speakers": 2,
        "seconds": 1.25,
        "left_out": [dataclasses.asdict(item) for item in corpus.left_out],
        "notices": list(corpus.notices),
        "digest": "d" * 40,
    }
    return {
        "title": f"Suite {IMAGE} {JINJA}",
        "order": list(MODELS),
        "families": [
            {name: getattr(family, name) for name in ("name", "title", "category", "question", "digest")}
            for family in families
        ],
        "models": models,
        "corpora": [about],
        "notebooks": notebooks,
    }


def make_notebook(media: MediaStore, out: Path) -> str:
    stream = f"\x1b[31mred\x1b[0m {out}/x and {Path.home()}/y\n" + "line\n" * 500
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": stream},
        {"output_type": "stream", "name": "stderr", "text": "never shown"},
        {
            "output_type": "display_data",
            "metadata": {},
            "data": {"text/html": f"<b>own</b><img alt='' src='{media.add(b'png', '.png')}'><i>{out}/z</i>"},
        },
        {
            "output_type": "execute_result",
            "metadata": {},
            "execution_count": 2,
            "data": {"text/plain": IMAGE},
        },
        {"output_type": "error", "ename": "E", "evalue": IMAGE, "traceback": [f"\x1b[0;31m{out}/t.py"]},
    ]

    def code(source: str, tags: list[str], outputs: list[dict]) -> dict:
        return {
            "cell_type": "code",
            "metadata": {"tags": tags},
            "source": source,
            "outputs": outputs,
            "execution_count": 1,
        }

    head = {"cell_type": "markdown", "metadata": {}, "source": "# Family\n\nWords."}
    cells = [
        head,
        code("run = ''", ["parameters"], []),
        code(f"run = '{out}/job.json'", ["injected-parameters"], []),
    ]
    cells += [code("print(1)", [], outputs), code(f"path = '{out}/own'", [], [])]
    return json.dumps({"cells": cells, "metadata": {"papermill": {"input_path": f"{out}/p"}}, "nbformat": 4})


@pytest.fixture(scope="module")
def made_up(tmp_path_factory, recorded, forked_sphinx) -> MadeUp:
    tmp_path = tmp_path_factory.mktemp("made up")
    output = Output(tmp_path / "out")
    output.prepare()
    (tmp_path / "talk").mkdir()
    corpus = make_corpus(tmp_path / "talk")
    families = [read_family(name) for name in FAMILIES]
    # No changes: the sample sound would have to be synthesised.
    families[1] = dataclasses.replace(families[1], changes={})
    record = recorded(**make_record(corpus, families, output.folder))
    media = MediaStore(output.media, "../../media/")
    media.add(b"not referred to", ".flac")
    task = BUILTIN["arousal"]
    rows = []
    for entry in record.notebooks:
        family = next(family for family in families if family.name == entry.family)
        if not entry.failed:
            target = output.notebooks / files.slug(entry.model) / f"{files.slug(family.name)}.ipynb"
            files.write_text(target, make_notebook(media, output.folder))
            skipped = skipped_rows(entry.model, CORPUS, family, task, f"skipped {IMAGE}")
            failed = dataclasses.replace(
                skipped[0],
                label=IMAGE,
                value=0.1,
                low=0.0,
                high=0.2,
                segments=5,
                blocks=2,
                threshold=0.5,
                rule=">",
                passed=False,
                certainty=0.9,
                reference=0.0,
                reference_passed=False,
                skipped="",
            )
            rows += [failed, *skipped[1:]]
        else:
            reason = f"error: the notebook failed: FileNotFoundError: {IMAGE}"
            rows += skipped_rows(entry.model, CORPUS, family, task, reason)
    frame = decide(to_frame(rows))
    write_results(frame, output.folder)
    write_estimates(estimate_frame([]), output.folder)
    files.write_text(output.left_out, "stage,model\n")
    arguments = {
        "suite_root": tmp_path,
        "families": families,
        "corpora": [corpus],
        "tasks": {"arousal": task},
        "sounds": Sounds(),
    }
    return MadeUp(output, record, frame, arguments)


def cells_of(source: Path) -> list[tuple[Path, dict]]:
    return [
        (page, cell)
        for page in sorted(source.rglob("*.ipynb"))
        for cell in nbformat.read(page, as_version=4).cells
    ]


def test_text_from_data_is_never_markdown(made_up):
    source, _ = made_up.assemble()
    words = [cell["source"] for _, cell in cells_of(source) if cell["cell_type"] == "markdown"]
    for page in source.rglob("*.yml"):  # titles of windows and menus are plain text, which templates escape
        words += re.sub("^.*\\btitle: .*$", "", page.read_text(encoding="utf-8"), flags=re.M).splitlines()
    assert len(words) > 20
    for text in words:
        assert IMAGE not in text
        assert JINJA not in text
        assert "passwd)" not in text


def test_outputs_are_escaped_html(made_up):
    source, _ = made_up.assemble()
    shown = ""
    for _, cell in cells_of(source):
        for output in cell.get("outputs", []):
            assert set(output["data"]) == {"text/html", "text/plain"}
            shown += output["data"]["text/html"]
    assert IMAGE not in shown
    assert "&lt;img src=x onerror=alert(1)&gt;" in shown


def test_notebooks_are_cleaned(made_up):
    source, _ = made_up.assemble()
    pages = [(page, cell) for page, cell in cells_of(source) if page.is_relative_to(source / "results")]
    text = json.dumps([cell for _, cell in pages])
    assert str(made_up.output.folder) not in text
    assert f"{Path.home()}/" not in text
    assert "\\u001b" not in text
    assert "never shown" not in text
    assert "lines left out" in text
    assert "run = ''" not in text  # the parameter: where the run has put what the notebook reads
    for page in source.rglob("*.ipynb"):
        assert "papermill" not in json.loads(page.read_text())["metadata"]


def test_failed_notebook_has_a_page_with_its_error(made_up):
    source, written = made_up.assemble()
    name = overview.page_of(made_up.record.notebooks[-1])
    assert name in written.pages
    page = (source / f"{name}.ipynb").read_text(encoding="utf-8")
    assert "This notebook failed" in page
    assert "FileNotFoundError" in page


def test_a_second_core_makes_the_same_pages(made_up):
    source, _ = made_up.assemble()
    before = {path: path.read_bytes() for path in source.rglob("*") if path.is_file()}
    shutil.rmtree(source)
    made_up.assemble(jobs=2)
    assert {path: path.read_bytes() for path in source.rglob("*") if path.is_file()} == before


def test_long_lists_are_counted(made_up):
    source, _ = made_up.assemble()
    model = (source / "models" / f"{files.slug(MODELS[0])}.ipynb").read_text(encoding="utf-8")
    assert "1 more" in model


def test_book_is_built_checked_and_kept(made_up, monkeypatch):
    arguments = (made_up.output, made_up.record, made_up.results)
    problems = build.build(*arguments, **made_up.arguments)
    assert problems == [], "\n".join(map(str, problems)) + made_up.output.log.read_text()[-2000:]
    html = made_up.output.html
    there = {str(path.relative_to(html)) for path in html.rglob("*.html")}
    assert {"index.html", "reading.html", "all_results.html", "methods/correctness_regression.html"} <= there
    text = "".join((html / page).read_text(encoding="utf-8") for page in there)
    assert "<img src=x" not in text
    assert "{{ 7*7 }}" in text  # shown as typed, not computed
    index = (html / "searchindex.js").read_text(encoding="utf-8")
    titles = re.search(r'"?titles"?: ?\[(.*?)\]', index).group(1)
    assert "<" not in titles
    assert not (html / "_sources").exists()
    shown = {path.name for path in (html / "media").iterdir()}
    assert MediaStore(made_up.output.media).add(b"png", ".png").rpartition("/")[2] in shown
    assert shown == {path.name for path in made_up.output.media.iterdir()}

    monkeypatch.setattr(build, "run_sphinx", lambda *_: pytest.fail("built again, nothing changed"))
    assert build.build(*arguments, **made_up.arguments) == []
