"""When an execution is kept: fingerprint and all files are those that it left."""

import dataclasses

import pytest

from soundcheck.common import files
from soundcheck.common.description import Description
from soundcheck.run.runner import Job, State, kept


@pytest.fixture
def job(tmp_path):
    target = tmp_path / "f.ipynb"
    description = Description(media=tmp_path, prefix="", rows=target.with_suffix(".json"))
    job = Job("m", "f", tmp_path / "source.ipynb", target, description, "fingerprint", 1.0)
    for path in job.made[:2]:  # without replicates
        path.write_text(path.name)
    State(job.fingerprint, "ok", (*map(files.digest, job.made[:2]), "")).write(job.state)
    return job


def test_what_did_not_change_is_kept(job):
    assert kept(job)
    assert set(job.files) == {*job.made, job.state}


def test_anything_else_is_executed_again(job):
    assert not kept(dataclasses.replace(job, fingerprint="other"))
    for path in job.made:
        before = path.read_text() if path.exists() else None
        path.write_text("other")
        assert not kept(job), path
        path.unlink()
        assert kept(job) == (before is None)
        if before is not None:
            path.write_text(before)
    assert kept(job)


@pytest.mark.parametrize("state", ["", "{}", "[1]", '{"fingerprint": "fingerprint", "status": "ok"}', "\xff"])
def test_a_state_that_cannot_be_read_counts_as_none(job, state):
    job.state.write_bytes(state.encode("latin-1"))
    assert not kept(job)
    job.state.unlink()
    assert not kept(job)


def test_failed_work_is_not_kept(job):
    dataclasses.replace(State.read(job.state), status="failed").write(job.state)
    assert not kept(job)
