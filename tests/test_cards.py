"""Cards of the small world through the real command: numbers are those of the record, readers take them."""

import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from runs import Run, changed, refused, run
from small_world import SUITE, make

from soundcheck.results.facts import counts

pytestmark = pytest.mark.slow

SCHEMA = Path(__file__).parent / "publish/cards/oracles/every_eval_ever/eval.schema.json"
TEAM = "card: {owner: Speech team, license: Apache-2.0, limitations: Noise}"
MODEL = "card: {languages: [en, de], id: us/best, version: '2.1', license: Our own}"
CARDS = {
    "title: Small world": f"title: Small world\n{TEAM}",
    "tasks: [transcript]}": f"tasks: [transcript], {MODEL}}}",
    "path: digits.csv": "path: digits.csv, benchmark: {id: us/board, task_id: mean_wer, revision: v1}",
}
TEST_DAY = "1790000000"  # 2026-09-21


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = make(tmp_path_factory.mktemp("cards") / "project")
    (folder / "suite.yml").write_text(changed(SUITE, CARDS))
    (folder / "plain.yml").write_text(SUITE)
    return folder


@pytest.fixture(scope="module")
def whole(folder, undrawn) -> Run:
    return run(undrawn, folder, "--no-book")


@pytest.fixture(scope="module")
def cards(whole, undrawn) -> Path:
    words = ("--model", "words", "--book-url", "https://example.org/b/", "--out", "cards")
    done = undrawn("card", "out", *words, cwd=whole.out.parent, SOURCE_DATE_EPOCH=TEST_DAY)
    assert done.returncode == 0 and "missing: intended use, training data, contact" in done.stdout, (
        done.stderr
    )
    before = {path: path.read_bytes() for path in (whole.out.parent / "cards").rglob("*") if path.is_file()}
    undrawn("card", "out", *words, cwd=whole.out.parent, SOURCE_DATE_EPOCH=TEST_DAY)
    assert before == {path: path.read_bytes() for path in before}  # the same run says the same
    return whole.out.parent / "cards"


def test_results_do_not_depend_on_what_people_say(folder, whole, undrawn):
    plain = run(undrawn, folder, "--no-book", suite="plain.yml", out="plain")
    assert (plain.out / "results.csv").read_bytes() == (whole.out / "results.csv").read_bytes()
    record, (words,) = whole.record, [one for one in whole.record["models"] if one["name"] == "words"]
    assert record["card"]["owner"] == "Speech team" and words["card"]["id"] == "us/best"
    assert record["corpora"][1]["benchmark"]["task_id"] == "mean_wer"


def test_the_hub_reads_the_metadata_as_the_record_has_them(whole, cards):
    huggingface_hub = pytest.importorskip("huggingface_hub", reason="pip install huggingface_hub")
    data = huggingface_hub.ModelCard((cards / "README.md").read_text("utf-8")).data
    (result,) = data.eval_results
    (figure,) = [one for one in whole.record["figures"] if one["model"] == "words"]
    args = result.metric_args
    found = (result.metric_value, args["low"], args["high"])
    expected = [100 * figure[name] for name in ("value", "low", "high")]
    assert result.metric_type == "wer" and found == pytest.approx(expected, rel=1e-2)
    assert (args["blocks"], args["segments"]) == (6, 360)
    dataset = (result.dataset_type, result.dataset_name, result.dataset_revision)
    assert dataset == ("us/board", "digits", "v1") and result.verified is None
    assert result.source_url.startswith("https://example.org/b/models/")
    assert data.language == ["en", "de"] and (data.license, data.license_name) == ("other", "Our own")
    assert data.model_name == "best"  # its name on the hub
    (file,) = (cards / ".eval_results").iterdir()
    (entry,) = huggingface_hub.parse_eval_result_entries(yaml.safe_load(file.read_text("utf-8")))
    assert (entry.dataset_id, entry.task_id, entry.dataset_revision) == ("us/board", "mean_wer", "v1")
    assert "95 %" in entry.notes and "6 speakers" in entry.notes and entry.date == "2026-09-21"


def test_the_card_says_what_came_out_and_leads_to_the_book(whole, cards):
    text = (cards / "README.md").read_text("utf-8")
    assert f"Tests: {counts(whole.rows(model='words'))}." in text
    assert "no one else has verified" in text and "2026-09-21" in text
    assert "Speech team" in text and "Not stated: intended use, training data" in text
    assert all(page.startswith("https://example.org/b/") for page in re.findall(r"\]\(([^)]*)\)", text))


def test_records_follow_their_schemas_and_the_evidence_names_the_results(cards):
    record = json.loads((cards / "every_eval_ever.json").read_text("utf-8"))
    schema = json.loads(SCHEMA.read_text("utf-8"))
    assert list(jsonschema.Draft7Validator(schema).iter_errors(record)) == [] and record["evaluation_results"]
    bill = (cards / "bom.cdx.json").read_text("utf-8")
    assert JsonStrictValidator(SchemaVersion.V1_7).validate_str(bill) is None
    evidence = (cards / "evidence_annex_iv.md").read_text("utf-8")
    (sha,) = {one for one in re.findall(r"\b[0-9a-f]{64}\b", json.dumps(record)) if one in evidence}
    assert sha in (cards / "README.md").read_text("utf-8")


def test_without_a_choice_all_that_apply(whole, undrawn):
    done = undrawn("card", "out", "--model", "other", "--format", "huggingface", cwd=whole.out.parent)
    assert done.returncode == 0, done.stderr
    text = (whole.out / "cards" / "other" / "README.md").read_text()
    assert "license: apache-2.0" in text and "](http" not in text


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "the run has 3 models"),
        (("--model", "othr"), "Did you mean 'other'?"),
        (("--model", "other", "--format", "huggingfac"), "Did you mean 'huggingface'?"),
        (("--model", "other", "--book-url", "C:\\book"), "--book-url"),
    ],
)
def test_bad_options_are_refused(whole, undrawn, tmp_path, words, told):
    assert told in refused(undrawn, whole.out.parent, "card", "out", *words, "--out", tmp_path / "new")
    assert not (tmp_path / "new").exists()
