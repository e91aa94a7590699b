"""Runs all models on all corpora, then on sentences that are synthesised around words that they lost.

A *shard* predicts a share of the inputs of each model that listens, for several machines: it keeps answers in
its cache and leaves a file that says which inputs got none. Answers have keys that are digests of all that
they depend on, so merging is to take over the answers of all caches: those of another suite or of other data
are never looked up. A shard that lacks an answer of its own is refused. Models that do not listen, and words
around lost keywords, are left to the merge. What got no answer is not predicted again by the merge; a later
run does.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from soundcheck import __version__
from soundcheck.augment.sources import SpeechSource, speech_digest, speech_source
from soundcheck.common import files
from soundcheck.common.messages import EXIT_INCOMPLETE, EXIT_OK, InputError, Problems, quoted
from soundcheck.common.store import JsonFile
from soundcheck.corpora.load import Corpus, load_corpus
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.fault_localisation import localised_words, vocabulary, words_to_speak
from soundcheck.predict.cluster import Cluster
from soundcheck.predict.engine import predict_models, predict_share
from soundcheck.predict.prediction import Prediction
from soundcheck.predict.protocol import BY_MODEL, Result
from soundcheck.predict.report import PredictionReport
from soundcheck.predict.request import PredictionRequest, Share
from soundcheck.predict.store import NAME, Store, forget_unused
from soundcheck.run import notebook_jobs, tables
from soundcheck.run.material import (
    Material,
    answers_changes,
    changes_of,
    needed_segments,
    predicted_corpora,
)
from soundcheck.run.notebooks import Job
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
