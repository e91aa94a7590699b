"""A gate that is green because nothing ran would be the worst failure."""

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
