"""Runs all models on all corpora, then on sentences that are synthesised around words that they lost.

A *shard* predicts a share of the inputs of each model that listens, for several machines: it keeps answers in
its cache and leaves a file that says which inputs got none. Answers have keys that are digests of all that
they depend on, so merging is to take over the answers of all caches: those of another suite or of other data
are never looked up. A shard that lacks an answer of its own is refused. Models that do not listen, and words
around lost keywords, are left to the merge. What got no answer is not predicted again by the merge; a later
run does.

A *forecast* says what a run would do: inputs with and without an answer, seconds a call, and all the time.
Corpora are loaded and each model predicts a few inputs, as in a run; only the cache remembers their answers.
The first use of a change loads what it needs, which takes longer than hundreds of further uses: what is timed
is the second use, and the first one counts as starting.
"""

from __future__ import annotations

import dataclasses
import functools
import heapq
import re
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from soundcheck import __version__
from soundcheck.augment.sources import SpeechSource, speech_digest, speech_source
from soundcheck.common import files
from soundcheck.common.messages import (
    EXIT_INCOMPLETE,
    EXIT_OK,
    InputError,
    Problems,
    counted,
    duration,
    quoted,
)
from soundcheck.common.store import JsonFile
from soundcheck.corpora.load import Corpus, load_corpus
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.lost_words import localised_words, vocabulary, words_to_speak
from soundcheck.predict.cluster import Cluster
from soundcheck.predict.engine import predict_models, predict_share
from soundcheck.predict.prediction import Prediction
from soundcheck.predict.report import PredictionReport
from soundcheck.predict.request import PredictionRequest, Share
from soundcheck.predict.store import NAME, Store, forget_unused
from soundcheck.predict.workers import BY_MODEL, Call, Result
from soundcheck.results.record import RunRecord
from soundcheck.run import notebook_jobs, tables
from soundcheck.run.material import Material, answers_changes, changes_of, needed_segments, predicted_corpora
from soundcheck.run.notebooks import Job
from soundcheck.run.output import Output
from soundcheck.run.selection import RunOptions
from soundcheck.run.tables import Derived, job_fingerprints
from soundcheck.suite.entries import CorpusEntry, ModelEntry, Suite

_NAME_OF_SHARD = re.compile(r"shard-[0-9]+-of-[0-9]+\.json")
_AGAIN = "Run the shard again with the suite, version and data of the merge"


def request_of(
    entry: ModelEntry, material: Material, corpora: Sequence[Corpus], **options: Any
) -> PredictionRequest:
    """Say what a model predicts for some corpora, of which it gets those that its families look at."""
    suite, sounds = material.suite, material.sounds
    tasks = suite.tasks_of(entry)
    families = [family for family in material.families if entry.is_for(family.name)]
    answered = [family for family in families if answers_changes(entry, family, sounds)]
    return PredictionRequest(
        entry,
        suite,
        predicted_corpora(suite, entry, material.families, corpora),
        changes_of(answered, tasks, sounds),
        material.output.folder,
        material.output.cache,
        material.fingerprints[entry.name],
        functools.partial(needed_segments, families, tasks, suite.seed),
        sounds,
        **options,
    )


def predict_all(
    material: Material,
    options: RunOptions,
    derived: Derived,
    cluster: Cluster | None,
    failed: Mapping[str, Sequence[Result]] | None,
) -> Material:
    """Run all models; gives the material with what became of all inputs, and the corpora of spoken words.

    ``failed`` are the inputs without an answer of each model, after shards have predicted everything.
    """
    suite, output, jobs = material.suite, material.output, options.jobs
    predict = functools.partial(predict_models, jobs=jobs, cluster=cluster)
    requests = []
    for name, entry in suite.models.items():
        chosen = name in material.plan.chosen
        about = {"fresh": options.fresh and chosen, "confirm": chosen and failed is None}
        about |= {"failed": (failed or {}).get(name, ()), "model": material.looking_up.get(name)}
        requests.append(request_of(entry, material, material.corpora, **about))
    reports = dict(zip(suite.models, predict(requests), strict=True))
    # What is spoken around words depends on which of them each model loses.
    probing = [family for family in material.families if family.probes]
    localising = notebook_jobs.family_jobs(material, probing)
    probes = keyword_corpora(suite, localising, output.cache, jobs, derived)
    material = dataclasses.replace(material, corpora=[*material.corpora, *probes], looking_up={})
    tables.write_segments(probes, {}, output)
    segment_tables = [output.segments(corpus.name) for corpus in material.corpora]
    segment_tables += [output.trials(*place) for place in material.lists]
    output.prune(output.corpora, {path.name for path in segment_tables})
    # This second round goes on with what the first has confirmed or predicted anew.
    about = {"confirm": False, "part": "words"}
    requests = [request_of(entry, material, probes, **about) for entry in suite.models.values()]
    for report in predict(request for request in requests if request.corpora):
        reports[report.model] = reports[report.model].joined(report)
    output.prune_below(output.predictions, (path for one in reports.values() for path in one.tables.values()))
    if _listening(suite):
        forget_unused(output.cache)
    return dataclasses.replace(material, reports=reports)


def keyword_corpora(
    suite: Suite, jobs: Sequence[Job], cache: Path, workers: int, derived: Derived
) -> list[Corpus]:
    """Speak the probes that families ask for."""
    corpora = []
    several = len({job.family for job in jobs}) > 1
    for job in jobs:
        if not suite.models[job.model].about.changes_audio:
            continue
        make = functools.partial(_spoken, job)
        spoken = derived.find("words", [job_fingerprints([job]), speech_digest()], make)
        for corpus, kinds, count, complements in spoken:
            speech = speech_source()
            about = {"seed": suite.seed, "complements": complements, "jobs": workers, "progress": True}
            table = speech.sentences(cache, kinds, count, **about)
            entry = _entry(corpus, job, speech, table, several)
            corpora.append(load_corpus(entry, suite, cache, workers, progress=True))
    return corpora


def _spoken(job: Job) -> list[list]:
    """Choose what is spoken for a recogniser: corpus, words by kind, how many sentences, complements."""
    evaluation = Evaluation(job.description)
    family, spoken = evaluation.family, []
    for subset in evaluation.transformed():
        if not vocabulary(evaluation, subset.predictions.clean):
            continue  # nothing is tested then
        probed = words_to_speak(evaluation, subset, localised_words(evaluation, subset))
        if any(probed.kinds.values()):
            complements = family.options.get("complements")
            spoken.append([subset.corpus, dict(probed.kinds), family.probes["sentences"], complements])
    return spoken


def _entry(corpus: str, job: Job, speech: type[SpeechSource], table: Path, several: bool) -> CorpusEntry:
    title = f"words of {corpus} for {job.model}"
    return CorpusEntry(
        name=f"{title}, {job.family}" if several else title,
        format="csv",
        path=table,
        root=table.parent,
        shown_path=table.name,
        columns={"item": "keyword"},
        title=title,
        description=speech.description,
        synthetic=True,
        families=(job.family,),
        probes_of=corpus,
        listener=job.model,
    )


# Shards -----------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class ModelShard:
    """What a shard has predicted with a model."""

    fingerprint: str
    inputs: int
    failures: tuple[Result, ...] = ()


@dataclasses.dataclass(frozen=True)
class Shard(JsonFile):
    """What a shard leaves, as ``shard-2-of-3.json`` in its output folder."""

    version: str
    share: Share
    models: dict[str, ModelShard]  # that listen


def _listening(suite: Suite) -> list[ModelEntry]:
    return [entry for entry in suite.models.values() if entry.about.needs_audio]


def ask_shard(material: Material, share: Share, *, jobs: int) -> tuple[int, str]:
    """Predict a share of the inputs of all models that listen; returns exit code and summary."""
    place = material.output.folder / f"shard-{share.number}-of-{share.of}.json"
    place.unlink(missing_ok=True)  # until it is true again
    models, lines = {}, []
    for entry in _listening(material.suite):
        request = request_of(entry, material, material.corpora)
        report, failures = predict_share(request, share, jobs=jobs)
        failed = (dataclasses.replace(failure, seconds=0.0, before=0.0) for failure in failures)
        models[entry.name] = ModelShard(report.code, report.inputs, tuple(failed))
        lines.append(_summary(entry.name, report))
    Shard(__version__, share, models).write(place)
    complete = not any(failure.fault == BY_MODEL for model in models.values() for failure in model.failures)
    lines.append(f"Shard {share}: {Path(material.output.display_name) / place.name}")
    return EXIT_OK if complete else EXIT_INCOMPLETE, "\n".join(lines)


def _summary(name: str, report: PredictionReport) -> str:
    line = f"{name}: {report.inputs} inputs of the share, {report.asked} computed now"
    if without := report.failed + report.unusable:
        reasons = dict.fromkeys(reason for *_, reason in report.failures)
        line += f", {without} without a prediction: {'; '.join(list(reasons)[:3])}"
    return line


class Shards:
    """All shards of one run: share -> output folder, and what stands in it."""

    def __init__(self, shards: Mapping[Share, tuple[Path, Shard]]) -> None:
        self._shards = shards

    @property
    def fingerprints(self) -> dict[str, str]:
        """Fingerprint of each model."""
        shards = (shard for _, shard in self._shards.values())
        return {name: model.fingerprint for shard in shards for name, model in shard.models.items()}

    def take_over(self, material: Material) -> dict[str, list[Result]]:
        """Keep all answers in the cache of a run; gives the inputs without an answer of each model.

        - Raises InputError: if a shard is of other models or data, so that answers are missing; nothing is
          kept then.
        - Raises OutputError: if they cannot be written.
        """
        problems, caches = Problems(), {}
        for entry in _listening(material.suite):
            caches[entry.name] = self._check(problems, entry, material)
        problems.raise_if_any()
        failed: dict[str, list[Result]] = {}
        for name, places in caches.items():
            store = Store(material.output.cache, material.fingerprints[name], material.suite.root)
            for place in places:
                store.merge(place / NAME)
            store.close()
            failed[name] = [one for _, shard in self._shards.values() for one in shard.models[name].failures]
        return failed

    def _check(self, problems: Problems, entry: ModelEntry, material: Material) -> set[Path]:
        """Make sure that each shard has all its answers of a model; gives the caches that hold them."""
        needed = {item.key for item in Prediction(request_of(entry, material, material.corpora)).inputs}
        fingerprint, root = material.fingerprints[entry.name], material.suite.root
        by_cache: dict[Path, tuple[set[str], list[str]]] = {}
        for share, (folder, shard) in self._shards.items():
            where = f"shard {share} in {folder}"
            model = shard.models.get(entry.name)
            if model is None or model.fingerprint != fingerprint:
                name = quoted(entry.name)
                what = f"there is no {name}" if model is None else f"{name} is another one here"
                problems.add(f"{where}, code and files of models", what, _AGAIN)
                continue
            known, changed = {failure.key for failure in model.failures}, set()
            for cache in _caches(folder, material.output.cache):
                if cache not in by_cache:
                    entries, _, others = Store(cache, fingerprint, root).elsewhere()
                    by_cache[cache] = set() if others else {*entries}, others
                known |= by_cache[cache][0]
                changed |= {*by_cache[cache][1]}
            if missing := sum(key in share for key in needed - known):
                what = f"{missing} inputs of {quoted(entry.name)} have no prediction in its cache"
                if changed:
                    what += f" that depends on the files that are here ({', '.join(sorted(changed)[:3])})"
                problems.add(where, what, _AGAIN)
        return {*by_cache} - {material.output.cache}


def _caches(folder: Path, of_merge: Path) -> list[Path]:
    """List the caches in which the answers of a shard may be: its own, that around it, that of the merge."""
    around = folder.absolute().parent
    places = [folder.absolute() / "cache", *([around / "cache"] if (around / files.MARKER).is_file() else [])]
    return [place for place in dict.fromkeys([*places, of_merge]) if (place / NAME).is_file()]


def read_shards(folders: Sequence[Path]) -> Shards:
    """Read what shards have left in their output folders; each may hold several.

    Raises InputError: if a folder holds no shard, one is missing or twice there, or of another version.
    """
    problems, shards = Problems(), {}
    for folder in folders:
        places = sorted(path for path in folder.glob("shard-*.json") if _NAME_OF_SHARD.fullmatch(path.name))
        if not places:
            what = "there is no shard in this folder" if folder.is_dir() else "there is no such folder"
            problems.add(str(folder), what, "Name the --out folders of soundcheck run --shard K/N")
        for place in places:
            try:
                shard = Shard.read(files.require_regular(place))
            except (InputError, OSError, ValueError):
                problems.add(str(place), "the file is not one that a shard has left", "Run the shard again")
                continue
            shards.setdefault(shard.share, []).append((folder, shard))
            if shard.version != __version__:
                what = f"its version is {shard.version}, this is {__version__}"
                problems.add(f"shard {shard.share} in {folder}", what, _AGAIN)
    problems.raise_if_any()
    _check_complete(shards)
    return Shards({share: places[0] for share, places in sorted(shards.items())})


def _check_complete(shards: Mapping[Share, Sequence[tuple[Path, Shard]]]) -> None:
    """Refuse shards that are no division of one run."""
    problems, counts = Problems(), {share.of for share in shards}
    for share, places in sorted(shards.items()):
        if len(places) > 1:
            named = " and ".join(str(folder) for folder, _ in places)
            problems.add(f"shard {share}", f"it is there {len(places)} times, in {named}", "Name one of them")
    if len(counts) > 1:
        named = ", ".join(f"{share} in {places[0][0]}" for share, places in sorted(shards.items()))
        problems.add("shards", f"they do not belong together ({named})", "Name those of one number")
    problems.raise_if_any()
    (count,) = counts
    for share in (Share(number + 1, count) for number in range(count)):
        if share not in shards:
            remedy = f"Name its folder, or run it: soundcheck run SUITE --shard {share} --out FOLDER"
            problems.add("shards", f"shard {share} is missing", remedy)
    problems.raise_if_any()


# What a run would do ----------------------------------------------------------------------------------------


FEW = 4  # clean inputs that are timed
MOST = 32  # of them, if a model takes batches
CHANGED = 4  # times as many changed ones, if they are quick: a gain takes a thousandth of the time of a codec
QUICK = 3.0  # seconds that these further ones may take


@dataclasses.dataclass(frozen=True)
class ModelForecast:
    """What a model would predict."""

    inputs: int = 0  # the rows of the prediction tables: segments, and segments times changes of the signal
    clean: int = 0  # how many of them are segments as they are
    missing: int = 0  # how many of them all have no answer in the cache
    clean_calls: int = 0  # different sounds among those without an answer, each of which is predicted once
    changed_calls: int = 0
    timed: int = 0  # inputs that were predicted just now
    start: float = 0.0  # seconds of theirs that went into starting, loading and preparing
    clean_seconds: float = 0.0  # that an input takes; 0 if nobody knows
    changed_seconds: float = 0.0
    problem: str = ""  # why the model gave no answer
    single_process: bool = False  # whether one process predicts, whatever the jobs

    def seconds(self, jobs: int) -> float:
        """Estimate how long all answers take with some processes."""
        work = self.clean_calls * self.clean_seconds + self.changed_calls * self.changed_seconds
        return (self.start + work / (1 if self.single_process else jobs)) if self.missing else 0.0


class _Forecast(Prediction):
    """A model whose inputs are counted; only a few are predicted."""

    def made(self, jobs: int) -> ModelForecast:
        """Time a few inputs, then count what is left."""
        changes, fresh = {item.key: item.change for item in self.inputs}, self._request.fresh
        try:
            self._entries = {} if fresh else self._store.load()
            timing = self._timed({key: changes[key] for key in changes.keys() - self._entries}, jobs)
        finally:
            self._store.close()
        left = changes.keys() - ({} if fresh else self._entries)
        clean_left = sum(not changes[key] for key in left)
        return ModelForecast(
            inputs=len(self.inputs),
            clean=sum(not item.change for item in self.inputs),
            missing=sum(item.key in left for item in self.inputs),
            clean_calls=clean_left,
            changed_calls=len(left) - clean_left,
            single_process=self._entry.about.asked_here,
            **timing,
        )

    def _timed(self, left: dict[str, str], jobs: int) -> dict[str, float | int | str]:
        """Predict some inputs in one process; gives fields of :class:`ModelForecast`.

        Those are clean ones, changed ones, and further changed ones if the model is quick. Keys are digests,
        so the smallest are a fair sample.
        """
        if not left:
            return {}
        if problem := self._prepare(jobs):
            return {"problem": problem}
        batch, costly = self._entry.batch or 1, self._entry.about.asked_here  # requests cost something
        few = min(MOST, max(FEW, 2 * batch))
        changed = heapq.nsmallest(CHANGED * few, (key for key, change in left.items() if change))
        clean = heapq.nsmallest(few, (key for key, change in left.items() if not change))
        first, further = self._calls(clean + changed[:few]), self._calls([] if costly else changed[few:])
        steps: dict[bool, list[float]] = {False: [], True: []}
        last = begin = time.monotonic()

        def finished(result: Result) -> None:
            nonlocal last
            now = time.monotonic()
            # A call that was lost has no time of its own.
            steps[bool(left[result.key])].append(result.seconds / batch + result.before or now - last)
            last = now
            self._take(result)

        def rounds() -> Iterator[list[Call]]:
            yield first
            usual = statistics.fmean(steps[True][batch:] or steps[True] or [0.0])
            if further and len(further) * usual < QUICK and not self.failures:
                yield further

        self._dispatch(rounds(), ".timed", 1, finished, warm_up=True)
        self._store.settle()
        # The first batch of a kind also loads what answers or changes it.
        usual, other = (statistics.fmean(took[batch:] or took or [0.0]) for took in steps.values())
        answering = usual * len(steps[False]) + other * len(steps[True])
        problems = [failure.problem for failure in self.failures]
        return {
            "timed": len(steps[False]) + len(steps[True]),
            "start": max(0.0, last - begin - answering),
            "clean_seconds": usual or other,
            "changed_seconds": other or usual,
            "problem": problems[0] if len(problems) == len(first) else "",
        }


# What is printed --------------------------------------------------------------------------------------------


NOTICES = 10  # of a corpus, at most


def forecast(material: Material, options: RunOptions, took: float, share: Share | None) -> str:
    """Say what a run would do, as lines for a terminal; ``took`` are the seconds in which all was loaded."""
    jobs, name = options.jobs, material.output.display_name
    lines = [
        f"Plan of {f'shard {share}' if share else 'a run'} into {name}. "
        "Nothing was run, and nothing written but the cache."
    ]
    models: dict[str, ModelForecast] = {}
    with tempfile.TemporaryDirectory(prefix="soundcheck-") as scratch:
        for entry in material.suite.models.values():
            about = request_of(entry, material, material.corpora)
            if not entry.about.needs_audio:
                lines.append(f"{entry.name}: looked up, nothing to predict")
            elif about.corpora:
                log = Path(scratch) / "log"
                model = _Forecast(dataclasses.replace(about, fresh=options.fresh), share, log).made(jobs)
                models[entry.name] = model
                lines.append(_of_model(entry.name, model, len(about.changes)))
    families = [family.name for family in material.families]
    lines.append(f"Families: {len(families)} ({', '.join(families)})")
    lines += [line for corpus in material.corpora for line in _of_corpus(corpus)]
    lines += material.plan.notices
    if any(family.probes for family in material.families):
        lines.append("Words around lost keywords are synthesised and recognised later, and are not counted")
    if not any(model.missing for model in models.values()):
        lines.append(
            "Nothing is left to predict: a run would repeat a few inputs and use cached predictions."
        )
    return "\n".join([*lines, _time(models, material.output, jobs, took, share)])


def _of_model(name: str, model: ModelForecast, changes: int) -> str:
    under = f"{model.inputs - model.clean} under {counted(changes, 'change')}"
    line = f"{name}: {model.inputs} inputs ({model.clean} clean, {under}), "
    line += f"of them {model.inputs - model.missing} cached and {model.missing} to predict"
    if model.problem:
        return f"{line}; no prediction for {counted(model.timed, 'input')}: {model.problem}"
    if not model.timed:
        return line
    speed = f"{model.clean_seconds:.2g} s a clean input, {model.changed_seconds:.2g} s a changed one"
    return f"{line}; {speed}, {model.start:.1f} s to start, timed with {counted(model.timed, 'input')}"


def _of_corpus(corpus: Corpus) -> list[str]:
    """Say what a reader of results must know of a corpus, in sentences, and what would be left out."""
    lines = [*corpus.notices, *corpus.unlabelled]
    if corpus.left_out:
        count, first = counted(len(corpus.left_out), "item"), corpus.left_out[0]
        lines.append(f"{count} would be left out, the first {quoted(first.item)}: {first.reason}")
    if len(lines) > NOTICES:
        lines[NOTICES:] = [f"{len(lines) - NOTICES} notices more, which the page of the corpus shows"]
    return [f"{corpus.name}: {line}" for line in lines]


def _time(
    models: dict[str, ModelForecast], output: Output, jobs: int, took: float, share: Share | None
) -> str:
    """Estimate the time; what notebooks and book take, the last run tells."""
    predictions = sum(model.seconds(jobs) for model in models.values())
    basis = "timed" if any(model.missing for model in models.values()) else "nothing to predict"
    if any(model.problem for model in models.values()):
        basis = "without models that gave no prediction"
    total, parts = took + predictions, [f"corpora {duration(took)} (at most, as just now)"]
    parts.append(f"predictions {duration(predictions)} ({basis})")
    if share is None:
        try:
            last = RunRecord.read(output.record).seconds
        except InputError:
            parts.append("notebooks and book unknown, as there was no run yet")
        else:
            rest = sum(last.get(stage, 0.0) for stage in ("notebooks", "results", "book"))
            total += rest
            parts.append(f"notebooks and book {duration(rest)} (at most, as in the last run)")
    return f"Time: about {duration(total)}: {', '.join(parts)}"
