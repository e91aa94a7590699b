"""Tables that lack columns of this version are read or refused with the remedy; days are those in UTC."""

import dataclasses
import os
import re

import pandas as pd
import pytest
from finished import FAILED, finished, verdict

from soundcheck.common import files, manifest
from soundcheck.results.record import RunRecord
from soundcheck.results.table import RESULT_COLUMNS

NEWER = RESULT_COLUMNS[RESULT_COLUMNS.index("group_value") :]


def age(folder, columns):
    """Take away columns that a version before did not write."""
    table = folder / "results.csv"
    frame = pd.read_csv(table, dtype=str, keep_default_na=False)
    frame.drop(columns=columns, errors="ignore").to_csv(table, index=False)
    record = RunRecord.read(folder / "run.json")
    dataclasses.replace(record, results=files.digest(table)).write(folder / "run.json")
    manifest.write(folder)


@pytest.fixture
def folders(tmp_path):
    """Runs of one suite: ``new``, and ``old``, as a version before wrote it."""
    for name in ("new", "old"):
        finished(tmp_path / name, [verdict(), verdict(test="U", **FAILED)])
    age(tmp_path / "old", NEWER)
    return tmp_path


LACKS, RULES = "columns are missing: group_value", "of an earlier version. States follow its rules"


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("compare old new --no-book --out both", 2, LACKS),
        ("card old --out card", 2, LACKS),
        ("sheet old --out sheet.html", 2, LACKS),
        ("sheet new --baseline old --out since.html", 2, LACKS),
        ("verify old", 1, LACKS),
        ("check old", 1, RULES),
        ("check old/results.csv", 1, RULES),
        ("check new --baseline old", 0, "Nothing got worse."),
        ("history old new --out pages", 0, RULES),
    ],
)
def test_a_folder_of_before_is_read_or_refused_with_the_remedy(folders, command, line, code, message):
    if message != LACKS:  # no groups, evidence, p-values either
        age(folders / "old", RESULT_COLUMNS[RESULT_COLUMNS.index("group") :])
    done = command(*line.split(), cwd=folders)
    text = done.stdout + done.stderr
    assert done.returncode == code and message in text and "Traceback" not in text, text
    assert ("or run the suite again" in text) == (message == LACKS)


# One notion of a day: in UTC, and the one that ``SOURCE_DATE_EPOCH`` sets, wherever a computer stands -------

EVENING = 1_700_000_000  # 22:13 in UTC: the next day in Kiritimati
DAY, NEXT = "2023-11-14", "2023-11-15"


@pytest.fixture
def evening(tmp_path):
    """A run with failures that are accepted until the day of the tests, in UTC, and until the day before."""
    rows = [verdict(), verdict(test="A", **FAILED), verdict(test="B", **FAILED)]
    accepted = [{"test": "A", "why": "being collected", "until": DAY}]
    accepted += [{"test": "B", "why": "being repaired", "until": "2023-11-13"}]
    folder = finished(tmp_path / "out", rows, accepted=accepted)
    record = RunRecord.read(folder / "run.json")  # all predictions are new
    models = tuple(dataclasses.replace(model, asked=model.inputs) for model in record.models)
    dataclasses.replace(record, models=models).write(folder / "run.json")
    os.utime(folder / "run.json", (EVENING, EVENING))
    return folder


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Etc/GMT+12"])
def test_check_sheet_and_card_are_of_one_day(evening, command, tmp_path, zone):
    when = {"TZ": zone, "SOURCE_DATE_EPOCH": str(EVENING)}
    judged = command("check", evening, cwd=tmp_path, **when)
    assert re.search(r"^accepted: .* A: ", judged.stdout, re.M), judged.stdout
    assert re.search(r"^failed: .* B: ", judged.stdout, re.M) and judged.returncode == 1
    for page, epoch in (("run.html", ""), ("s.html", str(EVENING))):  # of the day of the run
        made = command("sheet", evening, "--out", page, cwd=tmp_path, **when | {"SOURCE_DATE_EPOCH": epoch})
        assert made.returncode == 0, made.stderr
        text = (tmp_path / page).read_text()
        assert f"200 given on {DAY}" in text and NEXT not in text
    assert "being collected" in text and "2023-11-13" not in text
    made = command("card", evening, "--out", tmp_path / "card", cwd=tmp_path, **when)
    assert made.returncode == 0, made.stderr
    texts = [path.read_text() for path in (tmp_path / "card").iterdir() if path.suffix in (".md", ".json")]
    assert DAY in "".join(texts) and NEXT not in "".join(texts)
