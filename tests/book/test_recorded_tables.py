"""Written pages show recorded tables, and say what these show."""

import re

import pytest

from soundcheck.book import written
from soundcheck.common import resources
from soundcheck.report.study_figures import recorded

PAGE = resources.root() / "book" / "measured_columns.md"


def test_every_line_is_filled():
    text = PAGE.read_text(encoding="utf-8")
    named = re.findall(r"<!-- recorded: (\w+) -->", text)
    assert len(named) == 4
    filled = written.filled(text)
    assert "<!--" not in filled
    assert filled.count("```{raw} html") == len(named) <= filled.count("<table")
    assert "python benchmarks/human_speech.py" in filled
    for line in filled.split("```{raw} html\n")[1:]:
        assert "\n\n" not in line.partition("\n```")[0]  # a blank line would end the block


def test_other_pages_stay_as_they_are():
    assert written.filled("# Page\n\nWords.\n") == "# Page\n\nWords.\n"


def test_a_table_that_nobody_knows_is_an_error():
    with pytest.raises(FileNotFoundError, match="unknown"):
        written.filled("<!-- recorded: unknown -->")


def test_the_page_says_what_the_tables_show():
    found, _ = recorded("signal_to_noise")
    steady = found["noise"].isin(["white", "pink", "telephone", "hum"])
    assert found.loc[steady & found["speech"].eq("syllables"), "error"].abs().max() < 1
    lower = steady & found["ratio"].isin([10, 20, 30])
    assert found.loc[lower, "error"].abs().max() < 1
    assert found.loc[found["ratio"].eq(40) & found["speech"].ne("syllables") & steady, "error"].max() < 0
    accents, _ = recorded("human_accents")
    assert accents["least_p"].round(3).eq(0.067).all() and accents["p_value"].min() >= 0.0666
    german = accents[accents["accent"].eq("de-DE") & accents["measure"].eq("signal_to_noise")].iloc[0]
    assert round(german["gap"]) == 18 and german["p_value"] == german["least_p"]
    people, _ = recorded("human_speech")
    speakers = people[people["group"].str.startswith("speaker")]
    medians = speakers.pivot(index="group", columns="measure", values="median")
    apart = medians.max() - medians.min()
    assert apart["signal_to_noise"] == pytest.approx(30, abs=1.5)
    assert apart["level"] == pytest.approx(22, abs=1)
    assert people.loc[people["measure"].eq("bandwidth"), "high"].max() < 4000
    digits = recorded("human_recognition")[0].set_index(["measure", "sound"])
    assert digits.loc[("Word Error Rate", "as it is"), "value"] == pytest.approx(1 / 3, abs=0.05)
    doubled = digits["value"]["SNR where the rate doubles"]
    assert doubled["Noise"] == pytest.approx(8, abs=1) and doubled["Babble"] == pytest.approx(14, abs=1)
    words = digits["value"]["Words Per Minute"]
    assert words["Silence"] == words["White Noise"] == 0 and words["Other Language"] / 60 > 2
