"""Tables that lack columns of this version: gates and histories read them, other commands say what to do."""

import pandas as pd
import pytest
from finished import FAILED, finished, verdict

from soundcheck.common import files, manifest
from soundcheck.results.record import RunRecord
from soundcheck.results.verdict import RESULT_COLUMNS

NEWER = RESULT_COLUMNS[RESULT_COLUMNS.index("group_value") :]
REMEDY = "or run the suite again"


def age(folder, columns):
    """Take away columns that a version before did not write."""
    table = folder / "results.csv"
    pd.read_csv(table, dtype=str, keep_default_na=False).drop(columns=columns, errors="ignore").to_csv(
        table, index=False
    )
    record = RunRecord.read(folder / "run.json")
    object.__setattr__(record, "results", files.digest(table))
    record.write(folder / "run.json")
    manifest.write(folder)


@pytest.fixture
def folders(tmp_path, recorded):
    """Runs of one suite: ``new``, and ``old``, as a version before wrote it."""
    rows = [verdict(), verdict(test="U", **FAILED)]
    for name in ("new", "old"):
        finished(tmp_path / name, recorded, rows)
    age(tmp_path / "old", NEWER)
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ("compare", "old", "new", "--no-book", "--out", "both"),
        ("card", "old", "--out", "card"),
        ("sheet", "old", "--out", "sheet.html"),
        ("sheet", "new", "--baseline", "old", "--out", "since.html"),
        ("verify", "old"),
    ],
    ids=" ".join,
)
def test_a_folder_of_before_is_refused_with_the_remedy(folders, command, arguments):
    done = command(*arguments, cwd=folders)
    text = done.stdout + done.stderr
    assert done.returncode == (1 if arguments[0] == "verify" else 2), text
    assert "columns are missing: group_value" in text and REMEDY in text and "Traceback" not in text


@pytest.mark.parametrize("oldest", [False, True])
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("check", "old"), 1, "of an earlier version. States follow its rules"),
        (("check", "old/results.csv"), 1, "of an earlier version. States follow its rules"),
        (("check", "new", "--baseline", "old"), 0, "Nothing got worse."),
        (("history", "old", "new", "--out", "pages"), 0, "of an earlier version. States follow its rules"),
    ],
    ids=str,
)
def test_gates_and_histories_read_a_folder_of_before(folders, command, arguments, code, said, oldest):
    if oldest:  # without groups, evidence and p-values
        age(folders / "old", RESULT_COLUMNS[RESULT_COLUMNS.index("group") :])
    done = command(*arguments, cwd=folders)
    text = done.stdout + done.stderr
    assert done.returncode == code and said in text and "Traceback" not in text, text
