"""Reads the keys ``card`` of a suite and of its models, and ``benchmark`` of its corpora."""

from __future__ import annotations

import re
from collections.abc import Collection

from soundcheck.common.errors import did_you_mean
from soundcheck.common.escaping import quoted
from soundcheck.suite import schema
from soundcheck.suite.card import Benchmark, Card
from soundcheck.suite.document_reader import DocumentReader

_OF_ONE_MODEL = ("version", "id", "base_model")  # no two models have the same
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?", re.ASCII)
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{1,8})*|multilingual|code")


def _read_hub_id(value: object) -> object:
    if isinstance(value, str) and _HUB_ID.fullmatch(value) and ".." not in value:
        return str(value)
    raise schema.wrong(f"{schema.shown(value)} is no name on a hub", "Write owner/name")


def _read_languages(value: object) -> object:
    codes = value if isinstance(value, list) else [value]
    for code in codes:
        if not isinstance(code, str) or not _LANGUAGE.fullmatch(code):
            what = f"{schema.shown(code)} is not the code of a language"
            raise schema.wrong(what, "Write codes of ISO 639 such as [en, de, gsw]")
    repeated = sorted({code for code in codes if codes.count(code) > 1})
    if repeated:
        raise schema.wrong(f"duplicate {quoted(repeated[0])}", "Name it once")
    return tuple(map(str, codes))


_HubId = schema.parsed(str, _read_hub_id)


class _Card(schema.Section):
    intended_use: schema.Prose = ""
    license: schema.Text = ""
    owner: schema.Text = ""
    training_data: schema.Prose = ""
    limitations: schema.Prose = ""
    languages: schema.parsed(tuple[str, ...], _read_languages) = ()
    version: schema.Text = ""
    contact: schema.Text = ""
    id: _HubId = ""
    base_model: schema.Text = ""


class _Benchmark(schema.Section):
    id: _HubId
    task_id: schema.Text
    revision: schema.Text = ""
    task: schema.Text = ""


def read_card(reader: DocumentReader, path: tuple, value: object) -> Card:
    """Read what people say about a model, or about all models of a suite.

    - ``reader``: reads the document, and notes problems.
    - ``path, value``: place of the section, and the section; ``None`` = there is none.
    """
    if value is None:
        return Card()
    read = reader.section(path, value, _Card)
    if len(path) == 1 and isinstance(value, dict):
        for key in [key for key in _OF_ONE_MODEL if key in value]:
            reader.note((*path, key), "this belongs to one model", "Write it in the card of that model")
    return Card(**dict(read)) if read else Card()


def read_benchmark(
    reader: DocumentReader, path: tuple, value: object, tasks: Collection[str]
) -> Benchmark | None:
    """Read which published benchmark a corpus is.

    - ``reader, path, value``: as for :func:`read_card`.
    - ``tasks``: names of all tasks of the suite.
    """
    read = None if value is None else reader.section(path, value, _Benchmark)
    if read and read.task and read.task not in tasks:
        reader.note((*path, "task"), f"unknown task {quoted(read.task)}", did_you_mean(read.task, tasks))
    return Benchmark(**dict(read)) if read else None
