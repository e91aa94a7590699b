"""What a run would do and take, without running it: inputs, notebooks, time, disk.

Corpora and models are loaded as in a run, so whatever a run would refuse is refused here. A model with inputs
to ask is asked a few of them to see how long it takes; these answers are kept. What a run would write is
written to a folder that vanishes in the end, as far as the answers are known, so that notebooks that would
not be executed again are found by the rule of the run itself.

Conventions
-----------
- Where a run before has left figures in the output folder, estimates rest on these; else on the usual sizes
  and times below, measured with the demo.
- Words that are spoken around lost keywords depend on answers: those of models with inputs to ask are not
  counted, and the forecast says so.
"""

from __future__ import annotations

import dataclasses
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from soundcheck.common import files
from soundcheck.common.errors import InputError
from soundcheck.common.escaping import quoted
from soundcheck.common.wording import counted, duration
from soundcheck.corpora.corpus import Corpus
from soundcheck.predict.engine import predict_model
from soundcheck.predict.forecast import ModelForecast, forecast_model
from soundcheck.predict.questions import Questions
from soundcheck.predict.report import PredictionReport
from soundcheck.predict.shares import Share
from soundcheck.results.record import RunRecord
from soundcheck.run import adding, notebook_jobs, planning, runner, tables
from soundcheck.run.common_jobs import common_jobs
from soundcheck.run.keyword_sentences import keyword_corpora
from soundcheck.run.material import Material
from soundcheck.run.output import Output
from soundcheck.run.predictions import questions

NOTEBOOK_SECONDS = 3.0  # of one notebook in one process
TRIAL_SECONDS = 0.0003  # of each trial that a notebook scores, in addition
BOOK_SECONDS = 8.0  # of a book, and ...
PAGE_SECONDS = 0.3  # ... of each of its pages
ROW_BYTES = 40  # of a prediction table
KEPT_BYTES = 200  # of a kept answer, beside the answer itself
NOTEBOOK_BYTES = 550_000  # of an executed notebook
BOOK_BYTES = 20_000_000  # of a book, and ...
PAGE_BYTES = 600_000  # ... of each of its pages with sounds and figures
NOTICES = 10  # of a corpus, at most
OTHER_PAGES = 25  # of a book, beside those of notebooks, models, corpora and families


@dataclasses.dataclass
class Forecast:
    """What a run would do.

    Parameters
    ----------
    models
        Model that listens and is asked -> what it would be asked.
    looked_up
        Models that are asked but do not listen -> rows of their prediction tables.
    changes
        Model -> number of different changes of the signal.
    kept_models
        Models that are not asked; their answers are in the output folder.
    notebooks
        All notebooks.
    executed
        Those that would be executed.
    seconds
        Stage -> estimated seconds.
    basis
        Stage -> what the estimate rests on.
    written
        What would be written, in bytes.
    share
        Part of the inputs that would be asked; ``None`` = all.
    notices
        What else to know, in sentences.
    """

    models: dict[str, ModelForecast] = dataclasses.field(default_factory=dict)
    looked_up: dict[str, int] = dataclasses.field(default_factory=dict)
    changes: dict[str, int] = dataclasses.field(default_factory=dict)
    kept_models: tuple[str, ...] = ()
    notebooks: int = 0
    executed: int = 0
    seconds: dict[str, float] = dataclasses.field(default_factory=dict)
    basis: dict[str, str] = dataclasses.field(default_factory=dict)
    written: float = 0.0
    share: Share | None = None
    notices: list[str] = dataclasses.field(default_factory=list)

    @property
    def asked(self) -> int:
        """Inputs that models would be asked about."""
        return sum(model.asked for model in self.models.values())

    def text(self, families: Sequence[str], shown: str) -> str:
        """Write the forecast as lines for a terminal."""
        what = f"shard {self.share}" if self.share else "a run"
        lines = [f"Plan of {what} into {shown}. Nothing was run, and nothing written but the cache."]
        lines += [self._of_model(name, model) for name, model in self.models.items()]
        lines += [f"{name}: {counted(rows, 'row')} to look up" for name, rows in self.looked_up.items()]
        lines += [f"{name}: not asked, its answers are in the folder" for name in self.kept_models]
        lines.append(f"Families: {len(families)} ({', '.join(families)})")
        kept = self.notebooks - self.executed
        executed = f"{self.notebooks}, of them {self.executed} to execute and {kept} kept"
        lines.append(
            "Notebooks: none, they are left to the merge" if self.share else f"Notebooks: {executed}"
        )
        lines += self.notices
        if not self.asked and not self.executed:
            lines.append("Nothing is left to do: a run would ask a few answers again and find all as it is.")
        parts = [
            f"{stage} {duration(took)} ({self.basis[stage]})" if stage in self.basis else f"{stage} unknown"
            for stage, took in self.seconds.items()
        ]
        lines.append(f"Time: about {duration(sum(self.seconds.values()))}: {', '.join(parts)}")
        lines.append(f"Disk: about {_size(self.written)} to be written")
        return "\n".join(lines)

    def _of_model(self, name: str, model: ModelForecast) -> str:
        under = f"{model.changed} under {counted(self.changes[name], 'change')}"
        line = f"{name}: {model.inputs} inputs ({model.clean} clean, {under}), "
        line += f"of them {model.kept} kept in the cache and {model.asked} to ask"
        if model.problem:
            return f"{line}; no answer to {counted(model.timed, 'input')}: {model.problem}"
        if not model.timed:
            return line
        speed = f"{model.clean_seconds:.2g} s a clean input, {model.changed_seconds:.2g} s a changed one"
        return f"{line}; {speed}, {model.start:.1f} s to start, timed with {counted(model.timed, 'input')}"


def forecast(
    material: Material,
    output: Output,
    *,
    jobs: int,
    took: float,
    fresh: bool = False,
    book: bool = True,
    share: Share | None = None,
) -> Forecast:
    """Find out what a run would do.

    Parameters
    ----------
    material
        What the run would work with.
    output
        Where it would write; only the cache is written to.
    jobs
        Processes.
    took
        Seconds that loading the material took: a run takes less the second time.
    fresh
        Whether the run would forget kept answers.
    book
        Whether the run would build the book.
    share
        Part of the inputs that the run would ask about, and nothing else; ``None`` = all.
    """
    found = Forecast(kept_models=tuple(entry.name for entry in material.plan.kept), share=share)
    for corpus in material.corpora:
        found.notices += _of_corpus(corpus)
    found.notices += material.plan.notices
    folder = Path(tempfile.mkdtemp(prefix="soundcheck-"))
    try:
        scratch = Output(folder / "out")  # its cache is that of the run, see Output.cache
        asking = _Asking(found, output, scratch, jobs, fresh, share)
        if share is not None:
            asking.ask_all(material, material.corpora)
            todo = []
        else:
            material, complete = asking.answers(material)
            todo = _notebooks(found, material, output, scratch, complete, book)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    _estimate(found, output, todo, jobs, took)
    if book and share is None:
        _estimate_book(found, material, output)
    return found


def _of_corpus(corpus: Corpus) -> list[str]:
    """Say what a reader of results must know of a corpus, in sentences, and what would be left out."""
    told = [*corpus.notices, *corpus.unlabelled]
    if corpus.left_out:
        first = corpus.left_out[0]
        told.append(
            f"{counted(len(corpus.left_out), 'item')} would be left out, the first {quoted(first.item)}: "
            f"{first.reason}"
        )
    if len(told) > NOTICES:
        told[NOTICES:] = [f"{len(told) - NOTICES} notices more, which the page of the corpus shows"]
    return [f"{corpus.name}: {one}" for one in told]


@dataclasses.dataclass
class _Asking:
    """Counts what models are asked; the tables of answers that are all known go to a scratch folder."""

    found: Forecast
    output: Output
    scratch: Output
    jobs: int
    fresh: bool
    share: Share | None

    def answers(self, material: Material) -> tuple[Material, set[str]]:
        """Count all inputs; adds the words spoken around lost ones, and names models that are all known."""
        suite, tested, sounds = material.suite, material.families, material.sounds
        tables.write_segments(material.corpora, material.lists, self.scratch)
        for name, report in material.kept.items():
            _copy_tables(name, report, self.scratch)
        complete = {*material.kept, *self.ask_all(material, material.corpora)}
        probing = [family for family in tested if family.probes]
        localising = notebook_jobs.family_jobs(suite, probing, material.corpora, self.scratch, sounds)
        later = sorted({job.model for job in localising} - complete)
        if later:
            self.found.notices.append(
                f"Words around lost keywords are spoken and asked about later, and are not counted: "
                f"{', '.join(later)}"
            )
        known = [job for job in localising if job.model in complete]
        probes = keyword_corpora(suite, known, self.output.cache, self.jobs, progress=True)
        material = material.with_corpora(probes)
        tables.write_segments(material.corpora, material.lists, self.scratch)
        kept = adding.keep_answers(material.plan, tested, probes, sounds, self.output, material.fingerprints)
        for name, report in kept.items():
            _copy_tables(name, report, self.scratch)
        asked = {
            entry.name
            for entry in material.asked
            if planning.predicted_corpora(material.suite, entry, material.families, probes)
        }
        return material, complete - (asked - self.ask_all(material, probes))

    def ask_all(self, material: Material, corpora: Sequence[Corpus]) -> set[str]:
        """Count what all models are asked about some corpora; names those whose answers are all known."""
        complete = set()
        for entry in material.asked:
            asked = questions(entry, material, self.output, corpora)
            if not asked.corpora or self._ask(asked):
                complete.add(entry.name)
        return complete

    def _ask(self, asked: Questions) -> bool:
        """Count what a model is asked; returns whether all answers are known."""
        name, listens, scratch = asked.entry.name, asked.entry.about.needs_audio, self.scratch.folder
        if listens:
            model = forecast_model(asked, scratch=scratch, jobs=self.jobs, fresh=self.fresh, share=self.share)
            before = self.found.models.get(name)
            self.found.models[name] = before.joined(model) if before else model
            self.found.changes[name] = len(asked.changes)
            if model.asked:
                return False
        if self.share is not None:
            return True
        report = predict_model(dataclasses.replace(asked, out=scratch), jobs=self.jobs, confirm=False)
        if not listens:
            self.found.looked_up[name] = self.found.looked_up.get(name, 0) + report.inputs
        return True


def _copy_tables(name: str, report: PredictionReport, scratch: Output) -> None:
    for path in report.tables.values():
        target = scratch.predictions / files.slug(name) / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


def _notebooks(
    found: Forecast, material: Material, output: Output, scratch: Output, complete: set[str], book: bool
) -> list[runner.Job]:
    """Count the notebooks and find those that would be executed, as they would be named in the run."""
    suite, tested, sounds = material.suite, material.families, material.sounds
    judging = notebook_jobs.family_jobs(suite, tested, material.corpora, scratch, sounds)
    judging = [_at_home(job, scratch.notebooks, output.notebooks) for job in judging]
    studying = notebook_jobs.study_jobs(scratch) if suite.studies and book else []
    todo = [job for job in (*judging, *studying) if job.model not in {"", *complete} or not runner.kept(job)]
    open_models = {job.model for job in todo}
    known = [
        entry for entry in suite.comparisons.values() if not {entry.baseline, entry.candidate} & open_models
    ]
    comparing = []
    for entry in known:
        common = [
            _at_home(job, scratch.comparisons, output.comparisons)
            for job in common_jobs(entry, judging, scratch)
        ]
        own = notebook_jobs.comparison_job(entry, suite, tested, material.corpora, scratch, judging, common)
        comparing += [*common, _at_home(own, scratch.comparisons, output.comparisons)]
    todo += [job for job in comparing if not runner.kept(job)]
    unknown = len(suite.comparisons) - len(known)
    found.notebooks = len(judging) + len(studying) + len(comparing) + unknown
    found.executed = len(todo) + unknown
    return todo


def _at_home(job: runner.Job, scratch: Path, home: Path) -> runner.Job:
    """Let a job look for its last execution where the run would find it."""
    target = home / job.target.relative_to(scratch)
    description = dataclasses.replace(job.description, rows=target.with_suffix(".json"))
    return dataclasses.replace(job, target=target, description=description)


def _estimate(found: Forecast, output: Output, todo: Iterable[runner.Job], jobs: int, took: float) -> None:
    """Estimate time and space."""
    todo = list(todo)
    found.seconds["corpora"], found.basis["corpora"] = took, "at most, as just now"
    found.seconds["predictions"] = sum(model.seconds(jobs) for model in found.models.values())
    found.basis["predictions"] = "timed" if found.asked else "nothing to ask"
    if any(model.problem for model in found.models.values()):
        found.basis["predictions"] = "without models that gave no answer"
    known = [seconds for job in todo if (seconds := runner.seconds_of(job))]
    usual = sum(known) / len(known) if known else NOTEBOOK_SECONDS
    if found.share is None:
        trials = sum(job.trials for job in todo if not runner.seconds_of(job))
        work = sum(known) + usual * (found.executed - len(known)) + TRIAL_SECONDS * trials
        found.seconds["notebooks"] = work / max(1, jobs)
        earlier = f"{counted(len(known), 'notebook')} as in an earlier run"
        found.basis["notebooks"] = earlier if known else "as usual"
    rows = sum(model.inputs for model in found.models.values()) + sum(found.looked_up.values())
    answers = sum(model.asked * (KEPT_BYTES + model.answer_bytes) for model in found.models.values())
    found.written = answers + ROW_BYTES * rows * bool(found.asked) + NOTEBOOK_BYTES * found.executed


def _estimate_book(found: Forecast, material: Material, output: Output) -> None:
    """Estimate time and space of the book."""
    if not found.asked and not found.executed and (output.html / "index.html").is_file():
        found.seconds["book"], found.basis["book"] = 0.0, "nothing to change"
        return
    pages = found.notebooks + len(material.suite.models) + len(material.corpora) + len(material.families)
    pages += OTHER_PAGES
    last = _last_seconds(output).get("book", 0.0)
    found.seconds["book"] = last if last >= 1 else BOOK_SECONDS + PAGE_SECONDS * pages
    found.basis["book"] = "as in the last run" if last >= 1 else f"{pages} pages, as usual"
    found.written += BOOK_BYTES + PAGE_BYTES * pages


def _last_seconds(output: Output) -> Mapping[str, float]:
    """Read how long the stages of the last run took."""
    try:
        return RunRecord.read(output.record).seconds
    except InputError:
        return {}


def _size(count: float) -> str:
    """Write a number of bytes as people say it.

    Examples
    --------
    >>> _size(1_234), _size(12_345_678), _size(5.4e9)
    ('1 kB', '12 MB', '5.4 GB')
    """
    if count >= 1e9:
        return f"{count / 1e9:.1f} GB"
    return f"{count / 1e6:.0f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"
