"""The command writes the records of a model, the same each time, and replaces no page that was signed."""

import json

from tests.support.finished import finished
from tests.support.tested_models import MODELS

FORMATS = [word for name in ("annex-iv", "cyclonedx", "every-eval-ever") for word in ("--format", name)]
DAY = {"SOURCE_DATE_EPOCH": "1793836800"}


def test_records_of_a_finished_run(command, tmp_path, recorded):
    finished(tmp_path / "build", recorded, **MODELS["recogniser"]())
    written = []
    for out in ("first", "second"):
        done = command("card", "build", *FORMATS, "--out", out, cwd=tmp_path, **DAY)
        assert done.returncode == 0, done.stderr
        written.append({path.name: path.read_bytes() for path in (tmp_path / out).iterdir()})
    assert written[0] == written[1]
    assert sorted(written[0]) == ["bom.cdx.json", "every_eval_ever.json", "evidence_annex_iv.md"]
    digest = json.loads(written[0]["every_eval_ever.json"])["source_metadata"]["additional_details"]
    assert all(digest["results_sha256"].encode() in content for content in written[0].values())

    page = tmp_path / "first" / "evidence_annex_iv.md"
    page.write_bytes(page.read_bytes() + b"Signed: A\n")
    signed = page.read_bytes()
    done = command("card", "build", *FORMATS, "--out", "first", cwd=tmp_path)
    assert done.returncode == 2 and "people have written into this page" in done.stderr
    assert page.read_bytes() == signed
    assert (tmp_path / "first" / "bom.cdx.json").read_bytes() == written[0]["bom.cdx.json"]
