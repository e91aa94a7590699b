"""A gate that is green because nothing ran would be the worst failure; one that is red must say why."""

import datetime
import xml.etree.ElementTree as ElementTree

import pytest

from soundcheck.common.errors import InputError
from soundcheck.results import gate
from soundcheck.results import verdict as verdicts
from soundcheck.results.table import to_frame, write_results
from soundcheck.results.verdict import Verdict


def verdict(test: str = "T", **changes) -> Verdict:
    passed = changes.pop("passed", True)
    row = dict(
        **{"model": "m", "corpus": "c", "family": "f", "category": "correctness", "task": "arousal"},
        **{
            "test": test,
            "value": 0.6 if passed else 0.4,
            "low": 0.3,
            "high": 0.7,
            "segments": 20,
            "blocks": 5,
        },
        **{"threshold": 0.5, "rule": ">", "passed": passed, "certainty": 0.9, "evidence": "open"},
        state="pass" if passed else "fail",
    )
    return Verdict(**(row | changes))


def skipped(reason: str, test: str = "S", **changes) -> Verdict:
    about = dict(model="m", corpus="c", family="f", category="correctness", task="arousal", test=test)
    return verdicts.skip(reason, **(about | {"state": "not evaluated"} | changes))


def of_group(group: str, gap: float, state: str = "fail", **changes) -> Verdict:
    row = dict(category="fairness", group=group, rule="|value| <", threshold=0.1, value=gap / 2, state=state)
    row |= dict(low=gap / 2 - 0.01, high=gap / 2 + 0.01, passed=abs(gap / 2) < 0.1, against="others")
    row |= dict(gap=gap, gap_low=gap - 0.02, gap_high=gap + 0.02, matters=0.1)
    return verdict(**(row | changes))


OPEN = {"state": "inconclusive"}
REPORTED = {
    **{"passed": None, "threshold": None, "certainty": None, "evidence": "shown", "value": 0.6},
    **{"skipped": "no threshold for style", "state": "reported"},
}
PUBLISHED_FAILS = of_group("sex: male", 0.25, "inconclusive")
MARGIN_FAILS = of_group("sex: male", 0.15)
FEW = of_group(
    *("accent: german", 0.19, "inconclusive"),
    **{
        "group_value": 0.23,
        "others_value": 0.04,
        "state_sample": "reported",
        "gap_low": None,
        "gap_high": None,
    },
    **{"gap_low_sample": 0.17, "gap_high_sample": 0.29},
)
PAIR = [of_group("sex: female", 0.15, "pass"), of_group("sex: male", -0.25, "pass", mirrors="sex: female")]


@pytest.fixture
def written(tmp_path, recorded):
    def write(*rows, notebooks=(("m", "f", "ok"),), **record):
        digest = write_results(to_frame(rows), tmp_path)
        entries = [{"model": m, "family": f, "status": s, "error": "boom"} for m, f, s in notebooks]
        suite = {"digest": "s" * 40, "tasks": {"arousal": TASK}}
        recorded(results=digest, notebooks=entries, **({"suite": suite} | record)).write(
            tmp_path / "run.json"
        )
        return tmp_path

    return write


TASK = {"kind": "regression", "classes": [], "low": 0.0, "high": 1.0}


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


ALL = (("m", "f", "ok"), ("m", "g", "ok"))
BROKEN = (("m", "f", "ok"), ("m", "g", "failed"))


@pytest.mark.parametrize(
    ("rows", "options", "code", "words"),
    [
        ([verdict()], {}, 0, "1 pass, 0 fail, 0 inconclusive, 0 not evaluated, 0 reported."),
        ([verdict()], {}, 0, "No failure counts."),
        ([verdict(), verdict("U", passed=False)], {}, 1, "failed: m / c / f: arousal / U: 0.4 is not > 0.5"),
        ([verdict(), verdict("U", passed=False)], {}, 1, "The gate fails: 1 failure, 0 errors."),
        # What did not run.
        ([skipped("no labels")], {}, 1, "No test of m has a verdict"),
        ([verdict(**REPORTED)], {}, 1, "No test of m has a verdict"),
        ([verdict(), skipped("no prediction", model="n")], {}, 1, "No test of n has a verdict"),
        ([verdict(), skipped("not computed by the notebook")], {}, 1, "did not run: m / c / f: arousal / S"),
        ([verdict(), skipped("error: boom")], {}, 1, "The gate fails: 0 failures, 1 error."),
        # The published rule and the margin.
        ([verdict(), PUBLISHED_FAILS], {}, 0, "1 pass, 0 fail, 1 inconclusive"),
        ([verdict(), PUBLISHED_FAILS], {"strict": True}, 1, "margin 0.1; |value| = 0.125 is not < 0.1"),
        ([verdict(), MARGIN_FAILS], {}, 1, "difference 0.15 (95 % 0.13 to 0.17, 20 segments, 5 speakers), "),
        ([verdict(), MARGIN_FAILS], {}, 1, ", more than the margin of 0.1; |value| = 0.075 is < 0.1"),
        (
            [verdict(), of_group("sex: male", 0.3, group_value=0.41, others_value=0.11)],
            {},
            1,
            "arousal / T / sex: male: 0.41 against 0.11 of others, difference 0.3",
        ),
        (
            [verdict(), of_group("sex: male", -0.3, rule="|gap| <", passed=False)],
            {},
            1,
            "|gap| = 0.3 is not < 0.1",
        ),
        # A few speakers are described, and are no all-clear.
        (
            [verdict(), FEW],
            {"inconclusive": "fail"},
            1,
            "0.23 against 0.04 of others, difference 0.19 (for these speakers 95 % 0.17 to 0.29, ",
        ),
        (
            [verdict(), FEW],
            {},
            0,
            "too few speakers: m / c / f: arousal / T / accent: german: inconclusive: 0.23",
        ),
        ([verdict(), FEW], {}, 0, "The gate passes; 1 difference with too few speakers to generalise."),
        # Two groups are one test, which fails the published rule for either.
        (PAIR, {}, 0, "0 not evaluated, 0 reported (mirrors of pairs left out)."),
        (PAIR, {"strict": True}, 1, "arousal / T / sex: female: sex: male: difference -0.25"),
        # What is inconclusive, and what is nothing but inconclusive.
        ([verdict(), verdict("U", **OPEN)], {"inconclusive": "fail"}, 1, "f: arousal / U: 0.6 is > 0.5"),
        ([verdict(**OPEN), verdict("U", **OPEN)], {}, 0, "concluded about m: 2 tests inconclusive."),
        ([verdict(), verdict(model="n", **OPEN)], {}, 0, "No failure counts."),
        ([verdict(), verdict(model="n", **OPEN)], {}, 0, "Nothing could be concluded about n: 1 test"),
        ([verdict(**OPEN)], {"inconclusive": "fail"}, 1, "concluded about m: 1 test inconclusive"),
        (
            [verdict(passed=False, state_sample="fail", **OPEN)],
            {},
            0,
            "1 test inconclusive, 1 of which fail for these speakers. ",
        ),
        ([verdict(), verdict("U", **REPORTED)], {"strict": True}, 0, "0 not evaluated, 1 reported."),
    ],
)
def test_what_fails(written, rows, options, code, words):
    outcome, _ = judged(written(*rows), **options)
    assert outcome.exit_code == code and words in outcome.summary


@pytest.mark.parametrize(
    ("notebooks", "words"),
    [(ALL, "No row of g of m: the family was not tested."), (BROKEN, "The notebook g of m failed: boom")],
)
def test_a_family_that_did_not_run_is_not_green(written, notebooks, words):
    outcome, root = judged(written(verdict(), notebooks=notebooks))
    assert outcome.exit_code == 1 and words in outcome.summary
    assert root.find("testsuite[@name='soundcheck.run']").get("errors") == "1"


def test_junit_counts_what_the_states_count(written):
    rows = [verdict(), verdict("U", passed=False), verdict("V", **OPEN), verdict("W", **REPORTED), *PAIR]
    folder = written(*rows, skipped("no labels"), skipped("error: the notebook failed", "E"))
    outcome, root = judged(folder)
    assert outcome.summary.startswith("2 pass, 1 fail, 1 inconclusive, 2 not evaluated, 1 reported (mirrors")
    numbers = {key: int(root.get(key)) for key in ("tests", "failures", "errors", "skipped")}
    assert numbers == {"tests": 7, "failures": 1, "errors": 1, "skipped": 3}
    assert root.find(".//testcase[@name='arousal / U']/failure").get("type") == "threshold"
    messages = {
        case.get("name"): case.find("*").get("message") for case in root.iter("testcase") if len(case)
    }
    assert messages["arousal / V"] == "inconclusive: 0.6 is > 0.5 (95 % 0.3 to 0.7, 20 segments, 5 speakers)"
    assert messages["arousal / W"].startswith("reported: value = 0.6 (95 %")
    assert messages["arousal / S"] == "no labels"


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda text: text.replace("False", "True"), "cut, edited or mixed"),
        (lambda text: "\n".join(text.splitlines()[:2]) + "\n", "cut"),
        (None, "does not exist"),
    ],
)
def test_a_table_that_is_not_as_the_run_wrote_it_is_refused(written, damage, words):
    path = written(verdict("U", passed=False), verdict()) / "results.csv"
    path.write_text(damage(path.read_text())) if damage else path.unlink()
    with pytest.raises(InputError, match=words):
        gate.check(path)


@pytest.fixture
def with_reference(written):
    rows = [verdict(), verdict("U", model="n"), verdict(passed=False, model="dice")]
    model = dict(slug="", target="", tasks=(), description="", license="", fingerprint="", inputs=0, failed=0)
    model |= dict(unusable=0, notes=(), failures=(), repeated=0, repeated_different=0, out_of_range=0)
    kinds = {"m": "python", "n": "python", "dice": "random"}
    models = [model | {"name": name, "kind": kind, "unknown_classes": {}} for name, kind in kinds.items()]
    return written(*rows, models=models, notebooks=[("dice", "f", "failed")])


def test_random_references_are_never_judged(with_reference):
    outcome, _ = judged(with_reference)
    assert outcome.exit_code == 0 and outcome.summary.startswith("2 pass, 0 fail")
    assert "dice" not in (with_reference / "junit.xml").read_text()
    assert judged(with_reference, models=["n"])[0].summary.startswith("1 pass, ")
    with pytest.raises(InputError, match="'dice' is a random reference, which is never judged"):
        gate.check(with_reference, models=["dice"])
    with pytest.raises(InputError, match="Did you mean 'm'"):
        gate.check(with_reference, models=["n", "M"])


# Hard bars


def bar(threshold: float | dict, test: str = "T", family: str = "f", **changes) -> dict:
    thresholds = threshold if isinstance(threshold, dict) else {"regression": threshold}
    return {
        "own_tests": {family: {test: {"thresholds": thresholds, "hard": True, "why": "agreed"} | changes}}
    }


EXCUSED = {"accepted": [{"test": "U", "why": "x"}]}


@pytest.mark.parametrize(
    ("rows", "rules", "code", "words"),
    [
        ([verdict(**OPEN)], bar(0.5), 0, "No failure counts."),
        ([verdict(**OPEN)], bar(0.65), 1, "c / f: arousal / T: agreed: 0.6 is not > 0.65 (95 % "),
        ([verdict(), verdict("U", **OPEN)], bar(0.65, "U"), 1, "The gate fails: 1 failure, 0 errors."),
        # It belongs to a task or to all of a kind.
        ([verdict(**OPEN)], bar({"arousal": 0.65}), 1, "0.6 is not > 0.65"),
        ([verdict()], bar({"valence": 0.65}), 0, "No failure counts."),
        # What was not evaluated, or did not run.
        ([verdict(), skipped("3 segments", "U")], bar(0.5, "U"), 1, "agreed: not evaluated, 3 segments"),
        ([verdict()], bar(0.5, "U"), 1, "hard bar: agreed: f / U did not run."),
        # Labels narrow it.
        ([verdict(label="a"), verdict(label="b", **OPEN)], bar(0.65, labels=["b"]), 1, "T / b: agreed"),
        ([verdict(label="a"), verdict(label="b", value=0.7)], bar(0.65, labels=["b"]), 0, "2 pass, 0 fail"),
        ([verdict(label="a")], bar(0.5, labels=["b"]), 1, "hard bar: agreed: f / T / b did not run."),
        # Nothing excuses it.
        ([verdict(), verdict("U", passed=False)], bar(0.5, "U") | EXCUSED, 1, "hard bar: "),
        ([verdict(), verdict("U", passed=False)], EXCUSED, 0, "accepted: m / c / f: arousal / U: x"),
        # Of a group what its rule compares, and both of a pair.
        ([verdict(), of_group("a: b", 0.1, "pass")], bar(0.04), 1, "|value| = 0.05 is not < 0.04"),
        (PAIR, bar(0.1), 1, "sex: female: sex: male: hard bar: agreed: |value| = 0.125 is not < 0.1"),
    ],
)
def test_hard_bars(written, rows, rules, code, words):
    outcome, root = judged(written(*rows, **rules))
    assert outcome.exit_code == code and words in outcome.summary
    assert ("hard bar: " in ElementTree.tostring(root, encoding="unicode")) == bool(code)


@pytest.mark.parametrize(
    ("rules", "code", "words"),
    [
        ({}, 0, "Nothing got worse."),
        (bar(0.5), 1, "hard bar: m / c / f: arousal / T: agreed: 0.4 is not > 0.5"),
    ],
)
def test_a_baseline_excuses_old_failures_but_no_hard_bar(written, rules, code, words):
    folder = written(verdict(passed=False), **rules)
    outcome, root = judged(folder, baselines=[folder])
    assert outcome.exit_code == code and words in outcome.summary
    assert ("as before: 0.4 is not" in ElementTree.tostring(root, encoding="unicode")) == (not code)


# Accepted failures

KNOWN = {"model": "m", "group": "sex: male", "why": "being collected", "until": "2027-03-01"}
BEFORE, AFTER = datetime.date(2027, 3, 1), datetime.date(2027, 3, 2)


def test_accepted_until_its_day_is_over(written):
    folder = written(verdict(**OPEN), of_group("sex: male", 0.3), accepted=[KNOWN])
    outcome, root = judged(folder, today=BEFORE)
    assert outcome.exit_code == 0 and "No failure counts." in outcome.summary
    where = "accepted: m / c / f: arousal / T / sex: male: "
    assert f"{where}being collected (until 2027-03-01): difference 0.3" in outcome.summary
    messages = [case.get("message") for case in root.iter("skipped")]
    assert any(one.startswith("accepted: being collected (until 2027-03-01): diff") for one in messages)
    outcome, root = judged(folder, today=AFTER)
    assert outcome.exit_code == 1 and "2027-03-01, which is past" in outcome.summary
    assert root.get("failures") == "1"


def test_entries_of_no_use_are_named_and_nothing_else_is_accepted(written):
    entries = [
        {"group": "sex: other", "why": "x"},
        {"test": "U", "why": "x"},
        {"label": "pair", "group": "sex: male", "why": "x"},
    ]
    pair = [
        of_group("sex: female", 0.3, label="pair"),
        of_group("sex: male", -0.3, label="pair", mirrors="sex: female"),
    ]
    outcome, _ = judged(written(verdict("U"), *pair, accepted=entries), today=BEFORE)
    assert outcome.exit_code == 1
    assert "no test agrees with it: group: sex: other" in outcome.summary
    assert "nothing fails any more: test: U" in outcome.summary
    counted_as = "this pair of groups is counted as sex: female: group: sex: male, label: pair."
    assert counted_as in outcome.summary


@pytest.mark.parametrize("option", [{"strict": True}, {"inconclusive": "fail"}])
def test_options_that_contradict_a_baseline(written, option):
    folder = written(verdict())
    with pytest.raises(InputError, match="it contradicts --baseline"):
        gate.check(folder, baselines=[folder], **option)
