"""A gate that is green because nothing ran would be the worst failure; one that is red must say why."""

import xml.etree.ElementTree as ElementTree

import pytest
from tests.results.made import OPEN, REPORTED, difference, notebook, skipped, value

from soundcheck.common.messages import InputError
from soundcheck.results import gate
from soundcheck.results.gate import useless
from soundcheck.results.states import accepted_reasons, failures, matching
from soundcheck.results.table import to_frame
from soundcheck.suite.families import AcceptedFailure

FINE, FAILS = value(number=0.6, reach=0.1), value("U", 0.4)
UNSURE, OTHER = value("U", 0.6, **OPEN), value(number=0.6, model="n", **OPEN)
BEYOND_PUBLISHED, BEYOND_MARGIN = difference(0.25, **OPEN), difference(0.15)
FEW = difference(
    *(0.19, "accent: german", "inconclusive"),
    **{"group_value": 0.23, "others_value": 0.04, "state_sample": "reported", "gap_low": None},
    **{"gap_high": None, "gap_low_sample": 0.17, "gap_high_sample": 0.29},
)
PAIR = [
    difference(0.15, "sex: female", "pass"),
    difference(-0.25, "sex: male", "pass", mirrors="sex: female"),
]


def judged(folder, **options):
    """Judge a folder; whatever comes out, code, text and JUnit have to agree."""
    outcome = gate.check(folder, **options)
    root = ElementTree.parse(folder / "junit.xml").getroot()
    red = int(root.get("failures")) + int(root.get("errors"))
    assert outcome.exit_code == (1 if red else 0)
    assert ("The gate fails: " in outcome.summary) == bool(red)
    assert not (red and ("No failure counts." in outcome.summary or "Nothing got worse" in outcome.summary))
    for case in root.iter("testcase"):
        for reason in (*case.findall("failure"), *case.findall("error")):
            assert reason.get("message").removeprefix("hard bar: ") in outcome.summary
    return outcome, root


@pytest.mark.parametrize(
    ("rows", "options", "code", "words"),
    [
        ([FINE], {}, 0, ["1 pass, 0 fail, 0 inconclusive, 0 not evaluated, 0 report", "No failure counts."]),
        ([FINE, FAILS], {}, 1, ["failed: m / c / f: arousal / U: 0.4 is not > 0.5", "1 failure, 0 errors."]),
        ([FINE, skipped("no prediction", model="n")], {}, 1, ["No test of n has a verdict"]),
        ([FINE, skipped("not computed by the notebook")], {}, 1, ["did not run: m / c / f: arousal / S"]),
        ([FINE, BEYOND_PUBLISHED], {"strict": True}, 1, ["margin 0.1; |value| = 0.125 is not < 0.1"]),
        ([FINE, BEYOND_MARGIN], {}, 1, ["more than the margin of 0.1", "; |value| = 0.075 is < 0.1"]),
        ([FINE, FEW], {"inconclusive": "fail"}, 1, ["0.23 against 0.04 of others, difference 0.19"]),
        ([FINE, FEW], {}, 0, ["The gate passes; 1 difference with too few speakers to generalise."]),
        (PAIR, {"strict": True}, 1, ["arousal / T / sex: female: sex: male: difference -0.25"]),
        ([FINE, UNSURE], {"inconclusive": "fail"}, 1, ["f: arousal / U: 0.6 is > 0.5"]),
        ([FINE, value("X", **REPORTED | OPEN | {"evidence": ""})], {"inconclusive": "fail"}, 1, ["X: why"]),
        ([FINE, OTHER], {}, 0, ["No failure counts.", "Nothing could be concluded about n: 1 test"]),
        ([value(number=0.4, state_sample="fail", **OPEN)], {}, 0, ["1 of which fail for these speakers. "]),
    ],
)
def test_what_fails(write, rows, options, code, words):
    outcome, _ = judged(write("out", rows), **options)
    assert outcome.exit_code == code
    assert all(word in outcome.summary for word in words), outcome.summary


def test_what_is_lost_is_not_green(write):
    lost = {
        "No row of g of m: the family was": {"notebooks": [notebook(), notebook(family="g")]},
        "The notebook f of m failed: boom": {"notebooks": [notebook(status="failed")]},
        "The notebook s failed: boom": {"studies": [notebook(status="failed") | {"name": "s"}]},
    }
    for reason, record in lost.items():
        outcome, root = judged(write(reason, [FINE], **record))
        assert outcome.exit_code == 1 and reason in outcome.summary
        assert root.find("testsuite[@name='soundcheck.run']").get("errors") == "1"


def test_junit_counts_what_the_states_count(write):
    rows = [FINE, FAILS, value("V", 0.6, **OPEN), value("W", 0.6, **REPORTED), *PAIR]
    outcome, root = judged(write("out", [*rows, skipped("no labels"), skipped("error: boom", "E")]))
    assert outcome.summary.startswith("2 pass, 1 fail, 1 inconclusive, 2 not evaluated, 1 reported (mirrors")
    numbers = {key: int(root.get(key)) for key in ("tests", "failures", "errors", "skipped")}
    assert numbers == {"tests": 7, "failures": 1, "errors": 1, "skipped": 3}
    of = {case.get("name"): case.find("*").get("message") for case in root.iter("testcase") if len(case)}
    assert of["arousal / V"].startswith("inconclusive: 0.6 is > 0.5 (95 % 0.56 to 0.64, 100 segments, 20")
    assert of["arousal / W"].startswith("reported: value = 0.6 (95 %") and of["arousal / S"] == "no labels"


def test_random_references_are_never_judged(write):
    rows = [FINE, value("U", model="n"), value(number=0.4, model="dice")]
    folder = write("out", rows, kinds={"dice": "random"}, notebooks=[notebook("dice", status="failed")])
    assert judged(folder)[0].summary.startswith("2 pass, 0 fail")
    assert "dice" not in (folder / "junit.xml").read_text()
    assert judged(folder, models=["n"])[0].summary.startswith("1 pass, ")
    with pytest.raises(InputError, match="model 'dice', or it is a random reference, which is never judged"):
        gate.check(folder, models=["dice"])
    with pytest.raises(InputError, match="Did you mean 'm'"):
        gate.check(folder, models=["n", "M"])


def bar(threshold: float, test: str = "T", **changes) -> dict:
    about = {"thresholds": {"regression": threshold}, "hard": True, "why": "agreed"}
    return {"own_tests": {"f": {test: about | changes}}}


BAR_OF_TASK = bar(0, thresholds={"regression": 0.5, "arousal": 0.65}) | {"kinds": {"dice": "random"}}
EXCUSED, PAST = ({"accepted": [{"test": "U", "why": "x"} | day]} for day in ({}, {"until": "2020-01-01"}))


@pytest.mark.parametrize(
    ("rows", "rules", "code", "words"),
    [
        ([FINE], BAR_OF_TASK, 1, "c / f: arousal / T: agreed: 0.6 is not > 0.65 (95 % "),
        ([FINE, skipped("3 segments", "U")], bar(0.5, "U"), 1, "agreed: not evaluated, 3 segments"),
        ([FINE], bar(0.5, "U"), 1, "hard bar: agreed: f / U did not run."),
        ([value(number=0.6, **REPORTED)], bar(0.5), 0, "No failure counts."),  # the bar is its verdict
        ([value(number=0.6, label="b"), value(label="a")], bar(0.65, labels=["b"]), 1, "T / b: agreed"),
        ([value(label="a")], bar(0.5, labels=["b"]), 1, "hard bar: agreed: f / T / b did not run."),
        ([value(label="b"), skipped("2", "T", label="a")], bar(0.5, labels=["b"]), 0, "No failure counts."),
        ([value(task="valence"), value(model="dice")], BAR_OF_TASK, 1, "agreed: f / T did not run."),
        ([FINE, FAILS], bar(0.5, "U") | EXCUSED, 1, "hard bar: "),
        ([FINE, FAILS], EXCUSED, 0, "accepted: m / c / f: arousal / U: x"),
        ([FINE, value("U", 0.4, **OPEN)], PAST, 0, "which is past, so that failures count: test: U."),
        ([FINE, difference(0.1, "a: b", "pass")], bar(0.04), 1, "|value| = 0.05 is not < 0.04"),
        (PAIR, bar(0.1), 1, "sex: female: sex: male: hard bar: agreed: |value| = 0.125 is not < 0.1"),
    ],
)
def test_hard_bars(write, rows, rules, code, words):
    outcome, root = judged(write("out", rows, **rules))
    assert outcome.exit_code == code and words in outcome.summary
    assert ("hard bar: " in ElementTree.tostring(root, encoding="unicode")) == bool(code)


def test_a_baseline_excuses_old_failures_but_no_hard_bar(write):
    hard = "hard bar: m / c / f: arousal / U: agreed: 0.4 is not > 0.5"
    for code, rules, words in ((0, {}, "Nothing got worse."), (1, bar(0.5, "U"), hard)):
        folder = write(f"out{code}", [FAILS], **rules)
        outcome, root = judged(folder, baselines=[folder])
        assert outcome.exit_code == code and words in outcome.summary
        assert ("as before: 0.4 is not" in ElementTree.tostring(root, encoding="unicode")) == (not code)
    for option in ({"strict": True}, {"inconclusive": "fail"}):
        with pytest.raises(InputError, match="it contradicts --baseline"):
            gate.check(folder, baselines=[folder], **option)


def test_the_suite_as_it_is_now_and_a_test_that_its_family_has_no_more(write, tmp_path):
    (tmp_path / "suite.yml").write_text(
        "corpora: {c: {format: demo}}\nmodels: {m: {random: gaussian}}\nfamilies: [correctness_regression]\n"
        "tests: {correctness_regression: {Mean Absolute Error: false}}\n"
    )
    rows = [value(test, family="correctness_regression", gap=0.2) for test in ("Gone", "Mean Absolute Error")]
    one_class = REPORTED | {"skipped": "not informative: 1 class in the truth"}
    rows.append(value("Mean Absolute Error", family="correctness_regression", label="z", **one_class))
    own = {"correctness_regression": {"Gone": {"thresholds": {"arousal": 0.5}, "why": "agreed"}}}
    _, root = judged(write("out", rows, own_tests=own), suite=tmp_path / "suite.yml")
    text = ElementTree.tostring(root, encoding="unicode")
    assert 'message="switched off in this suite"' in text and "not informative: 1 class" in text


KNOWN = {"model": "m", "group": "sex: male", "why": "being collected", "until": "2027-03-01"}
LAST_DAY = 1_803_859_200  # in seconds since 1970


def test_accepted_until_its_day_is_over(write, monkeypatch):
    folder = write("out", [UNSURE, difference(0.3)], accepted=[KNOWN, *EXCUSED["accepted"]])
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(LAST_DAY))
    outcome, root = judged(folder)
    reason = "being collected (until 2027-03-01): difference 0.3"
    assert outcome.exit_code == 0
    assert f"accepted: m / c / f: arousal / T / sex: male: {reason}" in outcome.summary
    assert any(case.get("message").startswith(f"accepted: {reason}") for case in root.iter("skipped"))
    assert "Remove it." not in judged(folder, inconclusive="fail")[0].summary
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(LAST_DAY + 86_400))
    outcome, root = judged(folder)
    assert outcome.exit_code == 1 and root.get("failures") == "1"
    past = "accepted until 2027-03-01, which is past, so that failures count: model: m, group: sex: male."
    assert past in outcome.summary


PAIRED, SCOTTISH = {"label": "pair", "state": "fail"}, "accent: scottish"


@pytest.fixture(scope="module")
def frame():
    rows = [difference(0.3, f"accent: {name}") for name in ("scottish", "welsh")]
    rows += [difference(0.1, "accent: irish", "pass"), value(number=0.4, model="theirs"), skipped("1", "U")]
    rows += [value("V", state="fail")]  # passes its threshold, and its state is fail
    rows += [difference(0.3, "sex: female", **PAIRED)]
    return to_frame([*rows, difference(-0.3, "sex: male", mirrors="sex: female", **PAIRED)])


def test_every_named_key_must_agree_and_the_first_entry_counts(frame):
    scottish = {"group": SCOTTISH, "why": "x"}
    for number, model in ((1, "m"), (0, "n")):
        assert matching(frame, AcceptedFailure(model=model, **scottish)).sum() == number
    entries = [AcceptedFailure(**scottish), AcceptedFailure(model="m", why="y")]
    reasons = frame.assign(why=accepted_reasons(frame, entries)).query("why != ''").set_index("group")["why"]
    assert reasons.pop(SCOTTISH) == "x" and reasons.eq("y").all()
    assert set(reasons.index) == {"accent: welsh", "sex: female", "sex: male", ""}
    assert failures(frame).sum() == 6


def test_entries_that_are_of_no_use_are_named(frame):
    undecided = frame.assign(state="inconclusive")  # what passes its rule alone may fail again
    for rows, named, remark in (
        (frame, {"model": "nobody"}, "no test agrees with it: model: nobody. Correct or remove it."),
        (undecided, {"group": "accent: irish"}, "nothing fails: group: accent: irish: 0 tests passed."),
        (frame, {"group": "accent: irish"}, "nothing fails: group: accent: irish: 1 test passed. Remove"),
        (frame, {"group": "sex: male"}, "this pair of groups is counted as sex: female: group: sex: male."),
    ):
        (text,) = useless(rows, [AcceptedFailure(why="x", **named)], frame.index[:0])
        assert text.startswith(f"accepted, but {remark}")
    assert not [*useless(frame, [AcceptedFailure(why="x", model="theirs")], frame.index[:0])]
