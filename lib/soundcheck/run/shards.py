"""Shards: parts of a run's predictions, for several machines.

A shard answers a share of the inputs of each model that listens, keeps the answers in its cache and leaves a
file that says what they belong to; :mod:`soundcheck.run.merging` puts shards together. Models that do not
listen, and words around lost keywords, are left to the merge.
"""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

from soundcheck import __version__
from soundcheck.common import files
from soundcheck.common.errors import EXIT_INCOMPLETE, EXIT_OK
from soundcheck.common.json_file import JsonFile
from soundcheck.predict.engine import predict_share
from soundcheck.predict.protocol import BY_MODEL
from soundcheck.predict.report import PredictionReport
from soundcheck.predict.shares import Share
from soundcheck.run.material import Material
from soundcheck.run.output import Output
from soundcheck.run.predictions import questions
from soundcheck.suite.entries import ModelEntry, Suite

NAME_OF_SHARD = re.compile(r"shard-[0-9]+-of-[0-9]+\.json")


@dataclasses.dataclass(frozen=True)
class Failure:
    """An input to which a model gave no answer; fields of :class:`soundcheck.predict.protocol.Result`."""

    key: str
    problem: str
    fault: str
    drawn: dict[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class ModelShard:
    """What a shard has asked a model.

    Parameters
    ----------
    fingerprint
        Digest of what its answers depend on.
    inputs, failed
        Inputs of the share, and those without an answer.
    failures
        The latter.
    """

    fingerprint: str
    inputs: int
    failed: int
    failures: tuple[Failure, ...] = ()


@dataclasses.dataclass(frozen=True)
class Shard(JsonFile):
    """What a shard leaves, as ``shard-2-of-3.json`` in its output folder.

    Parameters
    ----------
    version
        Of Soundcheck.
    number, of
        Which share, and how many there are.
    seed
        Of the suite.
    entries
        Section of the suite -> name -> digest of what the suite says about it.
    models
        Models that listen.
    corpora
        Corpus -> digest of its segments and their audio.
    sounds
        Kind of sound -> digest.
    """

    version: str
    number: int
    of: int
    seed: int
    entries: dict[str, dict[str, str]]
    models: dict[str, ModelShard]
    corpora: dict[str, str]
    sounds: dict[str, str]

    @property
    def share(self) -> Share:
        """Which share."""
        return Share(self.number, self.of)


def entries_of(suite: Suite) -> dict[str, dict[str, str]]:
    """Give digests of what a suite says that answers depend on."""
    described = suite.describe()
    return {
        section: {
            name: files.digest(json.dumps(_asked(entry), sort_keys=True, default=str))
            for name, entry in described[section].items()
        }
        for section in ("tasks", "corpora", "models", "sounds")
    }


def _asked(entry: dict[str, Any]) -> dict[str, Any]:
    """Leave out what is only said about a model or corpus; nobody asks it."""
    return {key: value for key, value in entry.items() if key not in ("card", "benchmark")}


def data_of(material: Material) -> tuple[dict[str, str], dict[str, str]]:
    """Give digests of corpora and of sounds."""
    corpora = {}
    for corpus in material.corpora:
        pairs = zip(corpus.segments["key"], corpus.segments["audio"], strict=True)
        corpora[corpus.name] = files.digest("\n".join(f"{key} {audio}" for key, audio in pairs))
    sounds = {kind: group.digest for kind, group in sorted(material.sounds.sets.items())}
    return corpora, sounds


def listening(material: Material) -> list[ModelEntry]:
    """List the models that shards ask."""
    return [entry for entry in material.suite.models.values() if entry.about.needs_audio]


# Asking -----------------------------------------------------------------------------------------------------


def ask_shard(material: Material, output: Output, share: Share, *, jobs: int) -> tuple[int, str]:
    """Ask all models that listen about a share of their inputs; returns exit code and summary."""
    place = output.folder / f"shard-{share.number}-of-{share.of}.json"
    place.unlink(missing_ok=True)  # until it is true again
    models, lines = {}, []
    for entry in listening(material):
        asked = questions(entry, material, output, material.corpora)
        report, failures = predict_share(asked, share, jobs=jobs)
        failed = tuple(Failure(one.key, one.problem, one.fault, one.drawn) for one in failures)
        models[entry.name] = ModelShard(report.code, report.inputs, report.failed + report.unusable, failed)
        lines.append(_told(entry.name, report))
    corpora, sounds = data_of(material)
    suite = material.suite
    Shard(__version__, share.number, share.of, suite.seed, entries_of(suite), models, corpora, sounds).write(
        place
    )
    complete = not any(one.fault == BY_MODEL for model in models.values() for one in model.failures)
    lines.append(f"Shard {share}: {Path(output.display_name) / place.name}")
    return EXIT_OK if complete else EXIT_INCOMPLETE, "\n".join(lines)


def _told(name: str, report: PredictionReport) -> str:
    line = f"{name}: {report.inputs} inputs of the share, {report.asked} asked now"
    without = report.failed + report.unusable
    if without:
        reasons = dict.fromkeys(reason for *_, reason in report.failures)
        line += f", {without} without an answer: {'; '.join(list(reasons)[:3])}"
    return line
