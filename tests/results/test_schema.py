"""The schema of the tables of a run: types from annotations, cells that are read as they were written."""

import csv
import io

import pandas as pd
import pytest

from soundcheck.results.contrast import CONTRAST_TYPES, Contrast
from soundcheck.results.estimates import ESTIMATES, Estimate, estimate_frame, read_estimates, write_estimates
from soundcheck.results.schema import csv_text, frame_of_rows, parsed, plain
from soundcheck.results.verdict import RESULTS, Verdict

ABOUT = {"model": "m", "corpus": "c", "family": "f", "task": "t"}
ROWS = {
    "results": (RESULTS, Verdict(**ABOUT, category="fairness", test="T", skipped="none", label="=1\r,\"x'")),
    "estimates": (ESTIMATES, Estimate(**ABOUT, measure="recall", label="-a\rb", value=0.1 + 0.2, segments=3)),
    "comparisons": (CONTRAST_TYPES, Contrast("a", "@b", *"cfgtx", baseline_passed=False, p_value=1e-9)),
}


@pytest.mark.parametrize("table", ROWS)
def test_a_row_is_read_as_it_was_written(table):
    types, row = ROWS[table]
    frame = frame_of_rows(types, [row])
    text = csv_text(plain(frame, types), types)
    header, cells = csv.reader(io.StringIO(text, newline=""))
    assert header == list(types)
    found = [parsed(cell, kind) for cell, kind in zip(cells, types.values(), strict=True)]
    assert found == [getattr(row, name) for name in types]


@pytest.mark.parametrize(
    ("cell", "kind", "value"),
    [
        *(
            ("", "str", ""),
            ("", "float", None),
            ("", "bool", None),
            ("'=1", "str", "=1"),
            ("'a", "str", "'a"),
        ),
        *(("True", "bool", True), ("7", "int", 7), ("-0.5", "float", -0.5)),
        *(
            ("", "int", "is not a number"),
            ("1.5", "int", "is not a number"),
            ("x", "float", "is not a number"),
        ),
        *(("nan", "float", "is not a finite number"), ("true", "bool", "is not a valid verdict")),
    ],
)
def test_cells(cell, kind, value):
    if isinstance(value, str) and value.startswith("is "):
        with pytest.raises(ValueError, match=value):
            parsed(cell, kind)
    else:
        assert parsed(cell, kind) == value


def test_estimates_keep_texts_that_a_csv_must_quote(tmp_path):
    write_estimates(estimate_frame([ROWS["estimates"][1]]), tmp_path)
    read = pd.read_csv(tmp_path / "estimates.csv", keep_default_na=False)
    assert read["label"].tolist() == ["'-a\rb"]
    assert read_estimates(tmp_path)["label"].tolist() == ["-a\rb"]
