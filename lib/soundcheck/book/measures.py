"""The list of ready-made measures: what the functions of :mod:`soundcheck.metrics` say about themselves."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import textwrap
from collections.abc import Callable, Iterator
from types import ModuleType

from soundcheck import metrics

MEASURES = "<!-- measures -->"  # the line of the written page that is replaced

_STATISTIC = re.compile(r"\b(Statistic|Weighted|Labelled|SpeakerValues|Counts)\b")  # types that are returned
_ROLE = re.compile(r":(math|func|class|meth|mod|data):`~?([^`]*)`")
_FORMULA = re.compile(r"^\.\. math:: (.*?)(?=\n\n|\Z)", re.DOTALL | re.MULTILINE)
_EXAMPLE = re.compile(r"^>{3} .*?(?=\n\n|\Z)", re.DOTALL | re.MULTILINE)


def listed() -> dict[ModuleType, dict[str, Callable]]:
    """List by module the functions, and methods behind their class, that give or make up statistics."""
    names = (f"{metrics.__name__}.{info.name}" for info in pkgutil.iter_modules(metrics.__path__))
    statistics = {module: dict(_statistics(module)) for module in map(importlib.import_module, names)}
    return {module: members for module, members in statistics.items() if members}


def page(text: str) -> str:
    """Put the list into the words of the written page."""
    sections = []
    for module, functions in listed().items():
        items = [f"- `{name}({_parameters(each)})`: {_documented(each)}" for name, each in functions.items()]
        sections.append("\n\n".join([f"### {module.__name__}", _documented(module, whole=False), *items]))
    return text.replace(MEASURES, "\n\n".join(sections))


def _statistics(module: ModuleType) -> Iterator[tuple[str, Callable]]:
    for name, member in vars(module).items():
        members = vars(member).items() if inspect.isclass(member) else ()
        for full, each in ((name, member), *((f"{name}.{key}", one) for key, one in members)):
            public = getattr(member, "__module__", "") == module.__name__ and not re.search(r"\b_", full)
            if (
                public
                and inspect.isfunction(each)
                and _STATISTIC.search(str(each.__annotations__.get("return")))
            ):
                yield full, each


def _parameters(function: Callable) -> str:
    return ", ".join(name for name in inspect.signature(function).parameters if name != "self")


def _documented(what: object, whole: bool = True) -> str:
    """Give a docstring, or its first line, as Markdown within an item of a list."""
    first, _, rest = (inspect.getdoc(what) or "").partition("\n")
    rest = _FORMULA.sub(lambda match: f"$$\n{' '.join(match[1].split())}\n$$", rest)
    rest = _EXAMPLE.sub(lambda match: f"```pycon\n{match[0]}\n```", rest)
    text = textwrap.indent(f"{first}\n{rest}" if whole else first, "  ").strip()
    return _ROLE.sub(lambda role: f"${role[2]}$" if role[1] == "math" else f"`{role[2]}`", _one_tick(text))


def _one_tick(text: str) -> str:
    """Write code within a line as Markdown does."""
    return re.sub(r"(?<!`)``(?!`)", "`", text)
