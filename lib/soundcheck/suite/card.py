"""What people say about a model or a corpus that no test can find out, for cards that leave the book.

Conventions
-----------
- Nothing here changes a prediction, a result or a digest of one. One exception: the languages that an ASR
  model knows decide whether it is judged by what it writes for speech in another language.
- What nobody wrote is empty, and cards list it as missing; nothing is guessed.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection

from soundcheck.common.errors import did_you_mean
from soundcheck.common.escaping import quoted
from soundcheck.suite import schema

FIELDS = {  # field -> what people call it; a card lists those that are missing in this order
    "intended_use": "intended use",
    "license": "licence",
    "owner": "owner",
    "training_data": "training data",
    "limitations": "limitations",
    "languages": "languages",
    "version": "version",
    "contact": "contact",
    "id": "id on a hub",
    "base_model": "base model",
}
_OF_SOME = ("id", "base_model")  # a model may well have none
_OF_ONE_MODEL = ("version", "id", "base_model")  # no two models have the same
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?", re.ASCII)
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{1,8})*|multilingual|code")


def _read_hub_id(value: object) -> object:
    if isinstance(value, str) and _HUB_ID.fullmatch(value) and ".." not in value:
        return str(value)
    raise schema.wrong(f"{schema.display(value)} is no name on a hub", "Write owner/name")


def _read_languages(value: object) -> object:
    codes = value if isinstance(value, list) else [value]
    for code in codes:
        if not isinstance(code, str) or not _LANGUAGE.fullmatch(code):
            what = f"{schema.display(code)} is not the code of a language"
            raise schema.wrong(what, "Write codes of ISO 639 such as [en, de, gsw]")
        if codes.count(code) > 1:
            raise schema.wrong(f"duplicate {quoted(code)}", "Name it once")
    return codes


_HubId = schema.parsed(str, _read_hub_id)


@dataclasses.dataclass(frozen=True)
class Card:
    """What people say about a model: ``card:`` of a suite, of a model, or both."""

    intended_use: schema.Prose = ""  # what the model is for, and what it is not for
    license: schema.Text = ""  # licence of the model, an identifier such as "apache-2.0" where there is one
    owner: schema.Text = ""  # who is responsible for the model
    training_data: schema.Prose = ""  # what it was trained on
    limitations: schema.Prose = ""  # what is known not to work, beside what the tests found
    # codes of the languages that it is for, such as "en"
    languages: schema.parsed(tuple[str, ...], _read_languages) = ()
    version: schema.Text = ""
    contact: schema.Text = ""
    id: _HubId = ""  # its name on a hub, "owner/name"
    base_model: schema.Text = ""  # what it was made from, best its name on a hub

    def over(self, other: Card) -> Card:
        """Fill what is empty here with what another one says."""
        return dataclasses.replace(other, **{name: value for name, value in vars(self).items() if value})

    @property
    def missing(self) -> tuple[str, ...]:
        """What nobody wrote, in words; not every model has an id on a hub or a base model."""
        needed = {name: words for name, words in FIELDS.items() if name not in _OF_SOME}
        return tuple(words for name, words in needed.items() if not getattr(self, name))


@dataclasses.dataclass(frozen=True)
class Benchmark:
    """The published benchmark that a corpus is, so that a hub can list results under it."""

    id: _HubId  # name of its data set on the hub
    task_id: schema.Text
    revision: schema.Text = ""  # version of the data set; "" = not said
    task: schema.Text = ""  # the task of the suite that it is about; "" = the only one of the corpus


def read_card(reader: schema.DocumentReader, path: tuple, value: object) -> Card:
    """Read what people say about a model, or about all models of a suite; ``None`` = nothing."""
    card = reader.section(path, value, Card)
    if len(path) == 1 and isinstance(value, dict):
        for key in [key for key in _OF_ONE_MODEL if key in value]:
            reader.note((*path, key), "this belongs to one model", "Write it in the card of that model")
    return card or Card()


def read_benchmark(
    reader: schema.DocumentReader, path: tuple, value: object, tasks: Collection[str]
) -> Benchmark | None:
    """Read which published benchmark a corpus is; ``tasks`` are those of the suite."""
    benchmark = reader.section(path, value, Benchmark)
    if benchmark and benchmark.task and benchmark.task not in tasks:
        what = f"unknown task {quoted(benchmark.task)}"
        reader.note((*path, "task"), what, did_you_mean(benchmark.task, tasks))
    return benchmark
