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
    found = {}
    for info in pkgutil.iter_modules(metrics.__path__):
        module = importlib.import_module(f"{metrics.__name__}.{info.name}")
        own = {name: each for name, each in _members(module) if _gives_statistic(each)}
        if own:
            found[module] = own
    return found


def page(text: str) -> str:
    """Put the list into the words of the written page."""
    sections = []
    for module, functions in listed().items():
        lines = [f"- `{name}({_parameters(each)})`: {_first_line(each)}" for name, each in functions.items()]
        sections.append("\n".join([f"### {module.__name__}", "", _first_line(module), "", *lines]))
    return text.replace(MEASURES, "\n\n".join(sections))


def _members(module: ModuleType) -> Iterator[tuple[str, object]]:
    for name, member in vars(module).items():
        if name.startswith("_") or getattr(member, "__module__", "") != module.__name__:
            continue
        yield name, member
        if inspect.isclass(member):
            own = vars(member).items()
            yield from ((f"{name}.{key}", each) for key, each in own if not key.startswith("_"))


def _gives_statistic(member: object) -> bool:
    returned = getattr(member, "__annotations__", {}).get("return") if inspect.isfunction(member) else None
    return bool(_STATISTIC.search(str(returned)))


def _parameters(function: Callable) -> str:
    return ", ".join(name for name in inspect.signature(function).parameters if name != "self")


def _first_line(documented: object) -> str:
    """Give the first line of a docstring as Markdown."""
    line = (inspect.getdoc(documented) or "").partition("\n")[0].replace("``", "`")
    return _ROLE.sub(lambda role: f"${role[2]}$" if role[1] == "math" else f"`{role[2]}`", line)
