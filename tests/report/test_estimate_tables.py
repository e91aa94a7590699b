"""Tables of estimates: a line a part or condition, each value with its interval or why there is none."""

import re

from soundcheck.report.views import estimate_table
from soundcheck.results.estimates import Estimate, estimate_frame


def estimates(*given):
    plain = dict(
        model="m", corpus="c", family="f", task="t", measure="concordance_cc", segments=120, speakers=9
    )
    return estimate_frame(Estimate(**plain | each) for each in given)


def lines(html):
    rows = re.findall(r"<tr>(.*?)</tr>", str(html), re.S)
    return [
        [re.sub(r"<[^>]*>", " ", cell).split() for cell in re.findall(r"<t[dh].*?</t[dh]>", row)]
        for row in rows
    ]


def test_a_line_a_group_and_a_column_a_measure():
    frame = estimates(
        dict(part="sex: female", value=0.316, low=0.225, high=0.4),
        dict(part="sex: female", measure="word_error_rate", value=0.298, low=0.25, high=0.35),
        dict(part="sex: male", value=0.6),
        dict(part="sex: male", measure="recall", label="(0.75, inf]", excluded="2 of 5 <b>"),
    )
    found = lines(estimate_table(frame, {"part": "group"}))
    assert [" ".join(cell) for cell in found[0]] == [
        *("group", "concordance", "word error rate", "recall, above 0.75", "segments", "speakers"),
    ]
    assert " ".join(found[1][1]) == "0.316 0.225 to 0.400" and "29.8" in " ".join(found[1][2])
    assert found[1][3:] == [[], ["120"], ["9"]]
    assert [" ".join(cell) for cell in found[2]] == ["sex: male", "0.600", "", "2 of 5 &lt;b&gt;", "120", "9"]


def test_few_speakers_have_the_interval_of_these_speakers_and_the_reason():
    few = dict(value=0.234, low_sample=0.18, high_sample=0.29, excluded="2 speakers, 5 needed")
    frame = estimates(few, few | dict(measure="word_error_rate"), dict(part="x", excluded="nothing"))
    found = [
        " ".join(cell).replace("\xa0", " ") for cell in lines(estimate_table(frame, {"part": "part"}))[1]
    ]
    assert found[1] == "0.234 0.180 to 0.290 for these speakers; 2 speakers, 5 needed"
    assert found[2] == "23.4 % 18.0 to 29.0 for these speakers; 2 speakers, 5 needed"


def test_conditions_side_by_side_without_counts():
    frame = estimates(dict(value=0.5), dict(condition="chance", value=0.01, speakers=0))
    found = lines(estimate_table(frame, {"corpus": "corpus"}, "condition", counts=""))
    assert found == [[["corpus"], [], ["chance"]], [["c"], ["0.500"], ["0.010"]]]


def test_files_are_no_speakers_and_nothing_is_no_table():
    assert lines(estimate_table(estimates(dict(value=0.5, speakers=0)), {"corpus": "corpus"}))[1][-1] == []
    assert str(estimate_table(estimates(), {"corpus": "corpus"})) == ""
