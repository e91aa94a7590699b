"""A gate that is green because nothing ran would be the worst failure."""

import datetime
import xml.etree.ElementTree as ElementTree

import pytest

from soundcheck import results
from soundcheck.common.errors import InputError
from soundcheck.results import gate


def verdict(test: str = "T", **changes) -> results.Verdict:
    passed = changes.pop("passed", True)
    row = dict(
        model="m",
        corpus="c",
        family="f",
        category="correctness",
        task="arousal",
        test=test,
        value=0.6 if passed else 0.4,
        low=0.3,
        high=0.7,
        segments=20,
        blocks=5,
        threshold=0.5,
        rule=">",
        passed=passed,
        certainty=0.9,
        reference=0.0,
        reference_passed=False,
    )
    return results.Verdict(**(row | changes))


def skipped(reason: str, test: str = "S") -> results.Verdict:
    return results.skip(
        reason, model="m", corpus="c", family="f", category="correctness", task="arousal", test=test
    )


@pytest.fixture
def written(tmp_path, recorded):
    def write(*rows, notebooks=(("m", "f", "ok"),)):
        digest = results.write_results(results.to_frame(rows), tmp_path)
        entries = [{"model": m, "family": f, "status": s, "error": "boom"} for m, f, s in notebooks]
        recorded(results=digest, notebooks=entries).write(tmp_path / "run.json")
        return tmp_path

    return write


def test_all_passed(written):
    assert gate.check(written(verdict())).exit_code == 0


def test_failed_test(written):
    outcome = gate.check(written(verdict(), verdict("U", passed=False)))
    assert outcome.exit_code == 1
    assert "0.4 is not > 0.5" in outcome.summary


def test_all_skipped_is_not_green(written):
    assert gate.check(written(skipped("no labels"))).exit_code == 1


def test_model_without_a_judged_test_is_not_green(written):
    broken = results.skip(
        "no prediction", model="n", corpus="c", family="f", category="correctness", task="arousal", test="T"
    )
    outcome = gate.check(written(verdict(), broken))
    assert outcome.exit_code == 1
    assert "Not one test of n was judged" in outcome.summary


def test_failed_notebook_is_not_green(written):
    folder = written(verdict(), notebooks=[("m", "f", "ok"), ("m", "g", "failed")])
    outcome = gate.check(folder)
    assert outcome.exit_code == 1
    assert "boom" in outcome.summary


def test_missing_family_is_not_green(written):
    outcome = gate.check(written(verdict(), notebooks=[("m", "f", "ok"), ("m", "g", "ok")]))
    assert outcome.exit_code == 1
    assert "g of m" in outcome.summary


def test_edited_table_is_refused(written):
    folder = written(verdict("U", passed=False))
    path = folder / "results.csv"
    path.write_text(path.read_text().replace("False", "True"))
    with pytest.raises(InputError, match="cut, edited or mixed"):
        gate.check(folder)


def test_cut_table_is_refused(written):
    folder = written(verdict(), verdict("U", passed=False))
    path = folder / "results.csv"
    path.write_text("\n".join(path.read_text().splitlines()[:2]) + "\n")
    with pytest.raises(InputError, match="cut"):
        gate.check(path)


def test_empty_table_is_refused(written):
    with pytest.raises(InputError, match="no row"):
        gate.check(written())


def test_missing_table_is_refused(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        gate.check(tmp_path / "results.csv")


def test_junit_tells_failures_from_errors_and_skips(written):
    folder = written(
        verdict(),
        verdict("U", passed=False),
        skipped("no labels"),
        skipped("error: the notebook failed", "E"),
    )
    gate.check(folder)
    root = ElementTree.parse(folder / "junit.xml").getroot()
    assert (root.get("tests"), root.get("failures"), root.get("errors"), root.get("skipped")) == (
        "4",
        "1",
        "1",
        "1",
    )
    assert root.find(".//testcase[@name='arousal / U']/failure").get("type") == "threshold"


def test_only_one_model(written):
    folder = written(verdict(), verdict("U", passed=False, model="n"))
    assert gate.check(folder, models=["m"]).exit_code == 0
    with pytest.raises(InputError, match="--model"):
        gate.check(folder, models=["o"])


def test_groups_are_named(written):
    folder = written(
        verdict(group="sex: female", label="anger"), verdict(group="sex: male", label="anger", passed=False)
    )
    assert "m / c / f: arousal / T / sex: male / anger" in gate.check(folder).summary
    cases = ElementTree.parse(folder / "junit.xml").iter("testcase")
    assert [case.get("name") for case in cases] == [
        f"arousal / T / sex: {sex} / anger" for sex in ("female", "male")
    ]


# What counts


def of_group(group: str, gap: float, holds: bool, **changes) -> results.Verdict:
    passed = abs(gap / 2) < 0.1
    row = dict(category="fairness", family="g", group=group, rule="|value| <", threshold=0.1)
    row |= dict(value=gap / 2, low=gap / 2 - 0.01, high=gap / 2 + 0.01, passed=passed, certainty=0.9)
    row |= dict(gap=gap, gap_low=gap - 0.02, gap_high=gap + 0.02, matters=0.1, p_value=0.001, holds=holds)
    return verdict(**(row | {"reference_passed": True} | changes))


BOTH = (("m", "f", "ok"), ("m", "g", "ok"))


def test_only_what_holds_counts_unless_strict(written):
    open_failure = of_group("sex: male", 0.25, False)
    folder = written(verdict(p_value=0.2, holds=False), open_failure, notebooks=BOTH)
    outcome = gate.check(folder)
    assert outcome.exit_code == 0 and "Failures that hold: 0; open: 1." in outcome.summary
    (case,) = ElementTree.parse(folder / "junit.xml").findall(".//skipped")
    assert case.get("message").startswith("open: |value| = 0.125 is not < 0.1")
    outcome = gate.check(folder, strict=True)
    assert outcome.exit_code == 1 and "failed: m / c / g: arousal / T / sex: male" in outcome.summary


@pytest.mark.parametrize(("gap", "words"), [(0.3, "is not < 0.1"), (0.15, "0.1 matters")])
def test_what_holds_counts_even_where_the_published_rule_passes(written, gap, words):
    folder = written(verdict(), of_group("sex: male", gap, True), notebooks=BOTH)
    outcome = gate.check(folder)
    assert outcome.exit_code == 1 and words in outcome.summary
    assert ElementTree.parse(folder / "junit.xml").getroot().get("failures") == "1"


def test_a_verdict_by_gap_names_the_gap(written):
    row = of_group("sex: male", -0.3, True, rule="|gap| <", passed=False)
    assert "|gap| = -0.3 is not < 0.1 (95 % -0.32 to -0.28" in gate.check(written(verdict(), row)).summary


def test_without_any_p_value_every_failure_counts(written):
    outcome = gate.check(written(verdict(), verdict("U", passed=False)))
    assert outcome.exit_code == 1 and "No test of m has a p-value" in outcome.summary


def test_a_test_that_its_notebook_forgot_is_not_green(written):
    outcome = gate.check(written(verdict(), skipped("not computed by the notebook")))
    assert outcome.exit_code == 1 and "did not run: m / c / f: arousal / S" in outcome.summary


@pytest.fixture
def with_reference(tmp_path, recorded):
    rows = [verdict(), verdict("U", model="n"), verdict(passed=False, model="dice")]
    digest = results.write_results(results.to_frame(rows), tmp_path)
    model = dict(slug="", target="", tasks=(), description="", license="", fingerprint="", inputs=0, failed=0)
    model |= dict(unusable=0, notes=(), failures=(), repeated=0, repeated_different=0, out_of_range=0)
    kinds = {"m": "python", "n": "python", "dice": "random"}
    models = [model | {"name": name, "kind": kind, "unknown_classes": {}} for name, kind in kinds.items()]
    notebooks = [{"model": "dice", "family": "f", "status": "failed", "error": "boom"}]
    recorded(results=digest, models=models, notebooks=notebooks).write(tmp_path / "run.json")
    return tmp_path


def test_random_references_are_never_judged(with_reference):
    outcome = gate.check(with_reference)
    assert outcome.exit_code == 0 and "2 tests passed, 0 failed" in outcome.summary
    assert "dice" not in (with_reference / "junit.xml").read_text()
    with pytest.raises(InputError, match="'dice' is a random reference, which is never judged"):
        gate.check(with_reference, models=["dice"])


def test_several_models(with_reference):
    assert "2 tests passed" in gate.check(with_reference, models=["m", "n"]).summary
    assert "1 tests passed" in gate.check(with_reference, models=["n"]).summary
    with pytest.raises(InputError, match="Did you mean 'm'"):
        gate.check(with_reference, models=["n", "M"])


def test_junit_names_the_corpus_in_the_class(written):
    folder = written(verdict(), verdict(corpus="d"))
    gate.check(folder)
    cases = ElementTree.parse(folder / "junit.xml").iter("testcase")
    assert [case.get("classname") for case in cases] == ["m.c.f", "m.d.f"]


# Accepted failures


@pytest.fixture
def accepting(tmp_path, recorded):
    def write(*entries, rows=()):
        rows = rows or [verdict(p_value=0.5, holds=False), of_group("sex: male", 0.3, True)]
        digest = results.write_results(results.to_frame(rows), tmp_path)
        recorded(results=digest, accepted=list(entries)).write(tmp_path / "run.json")
        return tmp_path

    return write


KNOWN = {"model": "m", "group": "sex: male", "why": "being collected", "until": "2027-03-01"}
BEFORE, AFTER = datetime.date(2027, 3, 1), datetime.date(2027, 3, 2)


def test_accepted_until_its_day_is_over(accepting):
    folder = accepting(KNOWN)
    outcome = gate.check(folder, today=BEFORE)
    assert outcome.exit_code == 0
    assert (
        "accepted: m / c / g: arousal / T / sex: male: being collected (until 2027-03-01)" in outcome.summary
    )
    (case,) = ElementTree.parse(folder / "junit.xml").findall(".//skipped")
    assert case.get("message").startswith("accepted: being collected (until 2027-03-01): |value|")
    outcome = gate.check(folder, today=AFTER)
    assert outcome.exit_code == 1 and "2027-03-01, which is past" in outcome.summary
    assert len(ElementTree.parse(folder / "junit.xml").findall(".//failure")) == 1


def test_entries_of_no_use_are_told_and_nothing_else_is_accepted(accepting):
    other, passing = KNOWN | {"group": "sex: other"}, {"test": "T", "family": "f", "why": "x"}
    outcome = gate.check(accepting(other, passing), today=BEFORE)
    assert outcome.exit_code == 1
    assert "no test agrees with it: model: m, group: sex: other" in outcome.summary
    assert "nothing fails any more: family: f, test: T" in outcome.summary


SHOWN = {
    **{"passed": None, "threshold": None, "certainty": None, "reference_passed": None, "evidence": "shown"},
    "skipped": "no threshold for style: shown without verdict",
}


def test_what_is_shown_without_verdict_neither_passes_nor_fails(written):
    folder = written(verdict(), verdict("U", value=0.6, **SHOWN), skipped("1 class"))
    outcome = gate.check(folder)
    assert outcome.exit_code == 0
    assert "1 tests passed, 0 failed, 1 skipped, 0 of these by an error. 1 shown without" in outcome.summary
    messages = [case.get("message") for case in ElementTree.parse(folder / "junit.xml").findall(".//skipped")]
    told = (
        "value = 0.6 (95 % 0.3 to 0.7, 20 segments, 5 blocks); no threshold for style: shown without verdict"
    )
    assert sorted(messages) == ["1 class", told]
    assert gate.check(folder, strict=True).exit_code == 0


def test_nothing_but_what_is_shown_is_not_green(written):
    outcome = gate.check(written(verdict(value=0.6, **SHOWN)))
    assert outcome.exit_code == 1 and "Not one test of m was judged." in outcome.summary
