"""Output folders whose tables lack columns of this version: each command refuses them and says what to do."""

import pandas as pd
import pytest
from finished import FAILED, finished, verdict

from soundcheck.common import files, manifest
from soundcheck.results.record import RunRecord
from soundcheck.results.verdict import RESULT_COLUMNS

NEWER = RESULT_COLUMNS[RESULT_COLUMNS.index("group_value") :]
REMEDY = "or run the suite again"


@pytest.fixture
def folders(tmp_path, recorded):
    """Runs of one suite: ``new``, and ``old``, as a version before wrote it."""
    rows = [verdict(), verdict(test="U", **FAILED)]
    for name in ("new", "old"):
        finished(tmp_path / name, recorded, rows)
    table = tmp_path / "old" / "results.csv"
    pd.read_csv(table, dtype=str, keep_default_na=False).drop(columns=NEWER).to_csv(table, index=False)
    record = RunRecord.read(tmp_path / "old" / "run.json")
    object.__setattr__(record, "results", files.digest(table))
    record.write(tmp_path / "old" / "run.json")
    manifest.write(tmp_path / "old")
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "old"),
        ("check", "old/results.csv"),
        ("check", "new", "--baseline", "old"),
        ("history", "old", "new", "--out", "told"),
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
