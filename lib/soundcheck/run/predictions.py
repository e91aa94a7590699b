"""Runs all models on all corpora, then on sentences that are synthesised around words that they lost."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from soundcheck.augment.sources import SpeechSource, speech_digest, speech_source
from soundcheck.corpora.load import Corpus, load_corpus
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.fault_localisation import localised_words, vocabulary, words_to_speak
from soundcheck.predict.cluster import Cluster
from soundcheck.predict.engine import predict_models
from soundcheck.predict.protocol import Result
from soundcheck.predict.report import PredictionReport
from soundcheck.predict.request import PredictionRequest
from soundcheck.run import notebook_jobs, planning, tables
from soundcheck.run.derived import Derived, of_notebooks
from soundcheck.run.material import Material
from soundcheck.run.notebooks import Job
from soundcheck.run.output import Output
from soundcheck.suite.entries import CorpusEntry, ModelEntry, Suite


def request_of(
    entry: ModelEntry, material: Material, output: Output, corpora: Sequence[Corpus], **options: Any
) -> PredictionRequest:
    """Say what a model predicts for some corpora, of which it gets those that its families look at."""
    suite, sounds = material.suite, material.sounds
    tasks = planning.tasks_of(suite, entry)
    families = [family for family in material.families if entry.is_for(family.name)]
    answered = [family for family in families if planning.answers_changes(entry, family, sounds)]
    return PredictionRequest(
        entry,
        suite,
        planning.predicted_corpora(suite, entry, material.families, corpora),
        planning.changes_of(answered, tasks, sounds),
        output.folder,
        output.cache,
        material.fingerprints[entry.name],
        functools.partial(planning.needed_segments, families, tasks, suite.seed),
        sounds,
        **options,
    )


def predict_all(
    material: Material,
    output: Output,
    *,
    jobs: int,
    fresh: bool = False,
    failed: Mapping[str, Sequence[Result]] | None = None,
    cluster: Cluster | None = None,
    derived: Derived,
) -> tuple[Material, dict[str, PredictionReport]]:
    """Run all models; gives the material with the corpora of spoken words, and what became of all inputs.

    ``failed`` are the inputs without an answer of each model, after shards have predicted everything.
    """
    suite, tested, sounds = material.suite, material.families, material.sounds
    predict = functools.partial(predict_models, jobs=jobs, progress=True, cluster=cluster)
    requests = []
    for name, entry in suite.models.items():
        chosen = name in material.plan.chosen
        options = {"fresh": fresh and chosen, "confirm": chosen and failed is None}
        options["failed"] = (failed or {}).get(name, ())
        requests.append(request_of(entry, material, output, material.corpora, **options))
    reports = dict(zip(suite.models, predict(requests), strict=True))
    # What is spoken around words depends on which of them each model loses.
    probing = [family for family in tested if family.probes]
    localising = notebook_jobs.family_jobs(suite, probing, material.corpora, output, sounds)
    probes = keyword_corpora(suite, localising, output.cache, jobs, derived)
    material = dataclasses.replace(material, corpora=[*material.corpora, *probes])
    tables.write_segments(probes, {}, output)
    segment_tables = [output.segments(corpus.name) for corpus in material.corpora]
    segment_tables += [output.trials(*place) for place in material.lists]
    output.prune(output.corpora, {path.name for path in segment_tables})
    # This second round goes on with what the first has confirmed or predicted anew.
    about = {"confirm": False, "part": "words"}
    requests = [request_of(entry, material, output, probes, **about) for entry in suite.models.values()]
    for report in predict(request for request in requests if request.corpora):
        reports[report.model] = reports[report.model].joined(report)
    output.prune_below(output.predictions, (path for one in reports.values() for path in one.tables.values()))
    return material, reports


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
        spoken = derived.find("words", [of_notebooks([job]), speech_digest()], make)
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
