"""JUnit XML of what a pipeline found: a suite a model, corpus and family, a case a test."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Sequence

import pandas as pd

from soundcheck.common.escaping import xml_text

# What became of a test. The exit code agrees: only failures and errors are red.
PASSED, FAILED, ERROR, SKIPPED = "passed", "failure", "error", "skipped"
_TYPES = {FAILED: "threshold", ERROR: "run"}


def junit_xml(frame: pd.DataFrame, problems: Sequence[str] = (), undecided: Sequence[str] = ()) -> bytes:
    """Write results as JUnit XML.

    ``frame`` has two columns more than the results, ``status``, such as :data:`PASSED`, and ``message``. What
    did not run (``problems``) and models of which nothing could be concluded become errors and skipped cases
    of a suite of their own.
    """
    root = ElementTree.Element("testsuites", name="soundcheck")
    for (model, corpus, family), rows in frame.groupby(["model", "corpus", "family"], sort=True):
        name = f"{model}.{corpus}.{family}"
        cases = [(test_name(row), row.status, row.message) for row in rows.itertuples()]
        _suite(root, name, cases)
    cases = [(f"problem {number}", ERROR, text) for number, text in enumerate(problems, start=1)]
    cases += [(f"inconclusive {number}", SKIPPED, text) for number, text in enumerate(undecided, start=1)]
    if cases:
        _suite(root, "soundcheck.run", cases)
    for key in ("tests", "failures", "errors", "skipped"):
        root.set(key, str(sum(int(suite.get(key, "0")) for suite in root)))
    root.set("time", "0")
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"


def _suite(root: ElementTree.Element, name: str, cases: Iterable[tuple[str, str, str]]) -> None:
    suite = ElementTree.SubElement(root, "testsuite", name=xml_text(name))
    listed = list(cases)
    for test, status, message in listed:
        about = {"classname": xml_text(name), "name": xml_text(test), "time": "0"}
        case = ElementTree.SubElement(suite, "testcase", about)
        if status != PASSED:
            kind = {"type": _TYPES[status]} if status in _TYPES else {}
            ElementTree.SubElement(case, status, message=xml_text(message), **kind)
    suite.set("tests", str(len(listed)))
    for wanted, key in ((FAILED, "failures"), (ERROR, "errors"), (SKIPPED, "skipped")):
        suite.set(key, str(sum(status == wanted for _, status, _ in listed)))
    suite.set("time", "0")


def test_name(row: object) -> str:
    """Name the test of a row within its model, corpus and family."""
    return " / ".join(filter(None, (row.task, row.test, row.group, row.label)))


test_name.__test__ = False  # not a test of pytest
