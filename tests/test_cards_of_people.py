"""Cards of a recogniser of human speech through the real command: each format's own reader takes its card."""

import json
from pathlib import Path

import jsonschema
import pandas as pd
import pytest
import yaml
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

huggingface_hub = pytest.importorskip("huggingface_hub")

SCHEMA = Path(__file__).parent / "publish/cards/oracles/every_eval_ever/eval.schema.json"
SUITE = """
replicates: 100
studies: false
sweeps: false
card: {{owner: Speech team, license: MIT}}
corpora:
  digits: {{format: csv, path: {speech}/segments.csv, benchmark: {{id: us/digits, task_id: mean_wer}}}}
models:
  ours: {{predictions: ours.csv, tasks: [transcript]}}
families: [asr_word_errors]
"""


@pytest.fixture(scope="module")
def cards(tmp_path_factory, speech, undrawn) -> Path:
    folder = tmp_path_factory.mktemp("people")
    rows = pd.read_csv(speech / "segments.csv", dtype=str)
    said = rows["transcript"].where(rows.index % 10 != 0, "nine")  # a tenth is heard as another word
    pd.DataFrame({"file": rows["file"], "transcript": said}).to_csv(folder / "ours.csv", index=False)
    (folder / "suite.yml").write_text(SUITE.format(speech=json.dumps(str(speech))[1:-1]))
    done = undrawn("run", "suite.yml", "--out", "out", "--no-book", cwd=folder)
    assert done.returncode == 0, done.stderr
    done = undrawn("card", "out", "--out", "cards", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "cards"


def test_the_hub_reads_the_metadata(cards):
    (result,) = huggingface_hub.ModelCard((cards / "README.md").read_text("utf-8")).data.eval_results
    record = json.loads((cards.parent / "out" / "run.json").read_text("utf-8"))
    (figure,) = record["figures"]
    assert (result.metric_type, result.metric_value) == (
        "wer",
        pytest.approx(100 * figure["value"], rel=1e-3),
    )
    assert 0 < result.metric_args["low"] < result.metric_value < result.metric_args["high"]
    (file,) = (cards / ".eval_results").iterdir()
    (entry,) = huggingface_hub.parse_eval_result_entries(yaml.safe_load(file.read_text("utf-8")))
    assert (entry.dataset_id, entry.task_id) == ("us/digits", "mean_wer")


def test_records_follow_their_schemas(cards):
    record = json.loads((cards / "every_eval_ever.json").read_text("utf-8"))
    schema = json.loads(SCHEMA.read_text("utf-8"))
    assert list(jsonschema.Draft7Validator(schema).iter_errors(record)) == []
    assert record["evaluation_results"]
    bill = (cards / "bom.cdx.json").read_text("utf-8")
    assert JsonStrictValidator(SchemaVersion.V1_7).validate_str(bill) is None


def test_the_evidence_names_the_results(cards):
    digest = json.loads((cards / "every_eval_ever.json").read_text("utf-8"))
    text = (cards / "evidence_annex_iv.md").read_text("utf-8")
    (sha,) = {value for value in _texts(digest) if len(value) == 64 and value in text}
    assert sha in (cards / "README.md").read_text("utf-8")


def _texts(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for one in value.values() for text in _texts(one)]
    if isinstance(value, list):
        return [text for one in value for text in _texts(one)]
    return [value] if isinstance(value, str) else []
