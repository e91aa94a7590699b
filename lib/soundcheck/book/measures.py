"""The list of ready-made measures: what the functions of :mod:`soundcheck.metrics` say about themselves."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from types import ModuleType

from soundcheck import metrics

MEASURES = "<!-- measures -->"  # the line of the written page that is replaced

_STATISTIC = re.compile(r"\b(Statistic|Weighted|Labelled|SpeakerValues|Counts)\b")  # types that are returned
_ROLE = re.compile(r":(math|func|class|meth|mod):`~?([^`]*)`")


def listed() -> dict[ModuleType, dict[str, Callable]]:
    """List by module the functions, and methods behind their class, that give or make up statistics."""
    names = (f"{metrics.__name__}.{info.name}" for info in pkgutil.iter_modules(metrics.__path__))
    found = {module: dict(_statistics(module)) for module in map(importlib.import_module, names)}
    return {module: own for module, own in found.items() if own}


def page(text: str) -> str:
    """Put the list into the words of the written page."""
    sections = []
    for module, functions in listed().items():
        lines = [f"- `{name}({_parameters(each)})`: {_first_line(each)}" for name, each in functions.items()]
        sections.append("\n".join([f"### {module.__name__}", "", _first_line(module), "", *lines]))
    return text.replace(MEASURES, "\n\n".join(sections))


def _statistics(module: ModuleType) -> Iterator[tuple[str, Callable]]:
    for name, member in vars(module).items():
        own = vars(member).items() if inspect.isclass(member) else ()
        for full, each in ((name, member), *((f"{name}.{key}", one) for key, one in own)):
            public = getattr(member, "__module__", "") == module.__name__ and not re.search(r"\b_", full)
            if (
                public
                and inspect.isfunction(each)
                and _STATISTIC.search(str(each.__annotations__.get("return")))
            ):
                yield full, each


def _parameters(function: Callable) -> str:
    return ", ".join(name for name in inspect.signature(function).parameters if name != "self")


def _first_line(documented: object) -> str:
    """Give the first line of a docstring as Markdown."""
    line = (inspect.getdoc(documented) or "").partition("\n")[0].replace("``", "`")
    return _ROLE.sub(lambda role: f"${role[2]}$" if role[1] == "math" else f"`{role[2]}`", line)
