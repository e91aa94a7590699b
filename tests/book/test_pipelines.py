"""What the page on pipelines says about alarms is what was simulated."""

import pandas as pd
import pytest

from soundcheck.common import resources

BOOK = resources.root() / "book"


def test_the_page_tells_the_recorded_simulation():
    text = " ".join((BOOK / "pipelines.md").read_text(encoding="utf-8").split())
    frame = pd.read_csv(BOOK / "tables" / "baseline.csv", comment="#").set_index(["planted", "speakers"])
    fair, worse = frame.loc[0], frame.loc[20]
    assert list(fair.index) == [10, 20, 40] and fair["tests"].eq(1000).all()

    def listed(column, rows):
        first, second, third = (f"{100 * share:.0f}" for share in rows[column])
        return f"{first}, {second} and {third}"

    assert f"this alarms in {listed('alarms', fair)} of 100 runs with 10, 20 and 40 speakers" in text
    assert f"each on its own, alarm in {listed('alarms_of_percentiles', fair)} of 100" in text
    assert f"got worse by 0.1, it alarms in {listed('alarms', worse)} of 100 runs" in text
    assert f"{listed('found', worse)} % of these tests are found" in text
    assert fair["alarms"].max() <= 0.05 and (fair["alarms_of_percentiles"] >= 0.95).all()
    assert worse["false_among_found"].max() < 0.1


@pytest.mark.parametrize("word", ["--strict", "--baseline", "--matters-worse", "accepted:", "until"])
def test_the_page_names_every_option(word):
    assert word in (BOOK / "pipelines.md").read_text(encoding="utf-8")
