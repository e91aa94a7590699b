"""JUnit XML of what a pipeline found: a suite a model, corpus and family, a case a test."""

from __future__ import annotations

import collections
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence

import pandas as pd

from soundcheck.common.escaping import xml_text

# What became of a test. The exit code agrees: only failures and errors are red.
PASSED, FAILED, ERROR, SKIPPED = "passed", "failure", "error", "skipped"
_COUNTED = {"tests": None, "failures": FAILED, "errors": ERROR, "skipped": SKIPPED}  # attribute -> status
_TYPES = {FAILED: {"type": "threshold"}, ERROR: {"type": "run"}}


def junit_xml(frame: pd.DataFrame, problems: Sequence[str] = (), undecided: Sequence[str] = ()) -> bytes:
    """Write results as JUnit XML.

    ``frame`` has two columns more than the results, ``status``, such as :data:`PASSED`, and ``message``. What
    did not run (``problems``) and models of which nothing could be concluded become errors and skipped cases
    of a suite of their own.
    """
    suites = [
        (".".join(place), [(test_name(row), row.status, row.message) for row in rows.itertuples()])
        for place, rows in frame.groupby(["model", "corpus", "family"], sort=True)
    ]
    of_run = [(f"problem {number}", ERROR, text) for number, text in enumerate(problems, start=1)]
    of_run += [(f"inconclusive {number}", SKIPPED, text) for number, text in enumerate(undecided, start=1)]
    suites += [("soundcheck.run", of_run)] if of_run else []
    root = ElementTree.Element("testsuites", name="soundcheck", **_counts(suites))
    for name, cases in suites:
        about = {"name": xml_text(name)} | _counts([(name, cases)])
        suite = ElementTree.SubElement(root, "testsuite", about)
        for test, status, message in cases:
            about = {"classname": xml_text(name), "name": xml_text(test), "time": "0"}
            case = ElementTree.SubElement(suite, "testcase", about)
            if status != PASSED:
                ElementTree.SubElement(case, status, message=xml_text(message), **_TYPES.get(status, {}))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"


def _counts(suites: Sequence[tuple[str, Sequence[tuple[str, str, str]]]]) -> dict[str, str]:
    number = collections.Counter(status for _, cases in suites for _, status, _ in cases)
    counts = {name: number[status] if status else number.total() for name, status in _COUNTED.items()}
    return {name: str(count) for name, count in counts.items()} | {"time": "0"}


def test_name(row: object) -> str:
    """Name the test of a row within its model, corpus and family."""
    return " / ".join(filter(None, (row.task, row.test, row.group, row.label)))


test_name.__test__ = False  # not a test of pytest
