"""What the page on recognition fairness says of settings that do not count."""

import pandas as pd
import pytest

from soundcheck.report.violation_views import excluded_table


@pytest.mark.parametrize(
    ("left_out", "shown"),
    [
        (["", "it destroys the words"], "settings that are left out; 1 are counted"),
        (["", ""], "<p>calls: none; all 2 settings are counted.</p>"),
    ],
)
def test_settings_that_are_left_out(left_out, shown):
    judged = pd.DataFrame({"transformation": "Noise", "level": ["20", "0"], "distance": 0.5})
    html = str(excluded_table(judged.assign(left_out=left_out), "calls"))
    assert shown in html and ("<td" in html) == any(left_out)
