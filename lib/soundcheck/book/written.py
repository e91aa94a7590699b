"""The written pages of reports and of the handbook: what is filled in, and which links lead somewhere.

A line ``<!-- recorded: NAME -->`` becomes the table of a recorded study, ``<!-- measures -->`` the list of
ready-made measures: what the functions of :mod:`soundcheck.metrics` say about themselves.
"""

import importlib
import inspect
import pkgutil
import posixpath
import re
import textwrap
from collections.abc import Callable, Collection, Iterator
from types import ModuleType

from soundcheck import metrics
from soundcheck.common import resources
from soundcheck.common.templates import Html

REPORT = ("reading", "columns", "statistics", "bibliography")  # pages of a report; others: the handbook
STUDIES = {"confidence_intervals": "Confidence intervals", "fairness_thresholds": "Fairness thresholds"}
METHODS = "<!-- methods -->"  # the line that is replaced by the list of families
MEASURES = "<!-- measures -->"  # and by that of measures
FIRST_ROWS = 20  # rows of a recorded table before the others are folded
_STATISTIC = re.compile(r"\b(Statistic|Weighted|Labelled|SpeakerValues|Counts)\b")  # types that are returned
_ROLE = re.compile(r":(math|func|class|meth|mod|data):`~?([^`]*)`")
_FORMULA = re.compile(r"^\.\. math:: (.*?)(?=\n\n|\Z)", re.DOTALL | re.MULTILINE)
_EXAMPLE = re.compile(r"^>{3} .*?(?=\n\n|\Z)", re.DOTALL | re.MULTILINE)
_RECORDED = re.compile(r"^<!-- recorded: (\w+) -->$", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]*)\]\(([\w./]+)\.(?:md|ipynb)(#[\w-]+)?\)")


def page(name: str) -> str:
    """Read a written page with its recorded tables and lists."""
    text = (resources.root() / "book" / f"{name}.md").read_text(encoding="utf-8")
    return filled(text).replace(MEASURES, _list_of_measures()) if MEASURES in text else filled(text)


def filled(text: str) -> str:
    """Put recorded tables into the words of a page."""
    return _RECORDED.sub(lambda line: f"```{{raw}} html\n{_recorded_table(line[1])}\n```", text)


def missing(studies: Collection[str] = ()) -> set[str]:
    """Name the pages that a report does not have: the manual, and studies that the suite leaves out."""
    manual = {path.stem for path in (resources.root() / "book").glob("*.md")} - {*REPORT, "methods"}
    return manual | (set(STUDIES) - set(studies))


def linked(text: str, name: str, absent: Collection[str], handbook: str = "") -> str:
    """Let links from a page to pages that its book does not have lead to the handbook.

    Without its address, and where the handbook has no such page, they become plain words.
    """

    def link(match: re.Match[str]) -> str:
        words, path, anchor = match.groups()
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
        if target not in absent:
            return match[0]
        if handbook and target not in STUDIES:
            return f"[{words}]({handbook}/book/{target}.html{anchor or ''})"
        return words

    return _LINK.sub(link, text)


def _recorded_table(name: str) -> Html:
    """Show each column of a table under its name; a value with its interval, groups a line each."""
    from soundcheck.book.corpus_page import group_table
    from soundcheck.report import formats, views  # late: they load what draws
    from soundcheck.report.study_figures import recorded

    frame, made = recorded(name)
    caption = f"Recorded with {made}."
    if "measured" in frame:
        return group_table(frame, caption)
    joined = ("low", "high") if "value" in frame else ()
    columns: dict[str, views.Column] = {one.replace("_", " "): one for one in frame if one not in joined}
    columns |= {"value": formats.values()} if {"value", "low"} <= set(frame) else {}
    return views.table(frame, columns, caption=caption, first=FIRST_ROWS)


def measures() -> dict[ModuleType, dict[str, Callable]]:
    """List by module the functions, and methods behind their class, that give or make up statistics."""
    names = (f"{metrics.__name__}.{info.name}" for info in pkgutil.iter_modules(metrics.__path__))
    statistics = {module: dict(_statistics(module)) for module in map(importlib.import_module, names)}
    return {module: members for module, members in statistics.items() if members}


def _list_of_measures() -> str:
    parts = []
    for module, functions in measures().items():
        parts += [f"### {module.__name__}", _documented(module).partition("\n")[0]]
        for name, function in functions.items():
            given = ", ".join(one for one in inspect.signature(function).parameters if one != "self")
            parts.append(f"- `{name}({given})`: {_documented(function)}")
    return "\n\n".join(parts)


def _statistics(module: ModuleType) -> Iterator[tuple[str, Callable]]:
    for name, member in vars(module).items():
        members = vars(member).items() if inspect.isclass(member) else ()
        for full, each in ((name, member), *((f"{name}.{key}", one) for key, one in members)):
            public = getattr(member, "__module__", "") == module.__name__ and not re.search(r"\b_", full)
            if public and inspect.isfunction(each):
                if _STATISTIC.search(str(each.__annotations__.get("return"))):
                    yield full, each


def _documented(what: object) -> str:
    """Give a docstring as Markdown within an item of a list."""
    text = _FORMULA.sub(lambda match: f"$$\n{' '.join(match[1].split())}\n$$", inspect.getdoc(what) or "")
    text = _EXAMPLE.sub(lambda match: f"```pycon\n{match[0]}\n```", text)
    text = re.sub(r"(?<!`)``(?!`)", "`", textwrap.indent(text, "  ").strip())  # code within a line
    return _ROLE.sub(lambda role: f"${role[2]}$" if role[1] == "math" else f"`{role[2]}`", text)
