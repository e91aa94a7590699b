"""When the last execution of a notebook is still good: what it sees is the same, wherever that lies."""

import dataclasses

import pytest

from soundcheck.common.errors import InputError
from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation.subset import CorpusDescription
from soundcheck.run.notebook_jobs import UNSEEN, _fingerprint, notebook_of
from soundcheck.suite.measures import Margin

FILES = ("segments", "predictions", "trials")


def make(folder, describe):
    """Describe an evaluation whose files are in a folder."""
    folder.mkdir(exist_ok=True)
    for name in ("f.ipynb", *FILES):
        (folder / name).write_text(name)
    about = {"name": "c", "title": "C", "synthetic": False, "blocks": ("speaker",), "base_condition": ""}
    about |= {"probes_of": "", "audio": True, "root": folder, **{name: folder / name for name in FILES}}
    corpus = CorpusDescription(**about)
    places = {"suite_root": folder, "media": folder / "media", "rows": folder / "rows.json"}
    return folder / "f.ipynb", describe("f", **places, corpora=(corpus,), tasks=(BUILTIN["arousal"],))


def test_another_place_is_the_same_and_other_files_are_seen(tmp_path, describe):
    first = _fingerprint(*make(tmp_path / "a", describe), "more")
    made = make(tmp_path / "b", describe)
    assert first == _fingerprint(*made, "more") != _fingerprint(*made, "other")
    (tmp_path / "b" / "rows.json").write_text("[]")  # of the last execution
    assert first == _fingerprint(*made, "more")
    for name in ("f.ipynb", *FILES):
        (tmp_path / "b" / name).write_text("other")
        assert _fingerprint(*made, "more") != first, name
        (tmp_path / "b" / name).write_text(name)


def test_every_setting_is_seen(tmp_path, describe):
    notebook, description = make(tmp_path / "a", describe)
    before, (corpus,) = _fingerprint(notebook, description), description.corpora
    for field in dataclasses.fields(description):
        changed = dataclasses.replace(description, **{field.name: "other"})
        assert (_fingerprint(notebook, changed) == before) is (field.name in UNSEEN), field.name
    for field in dataclasses.fields(corpus):
        changed = dataclasses.replace(corpus, **{field.name: "other"})
        changed = dataclasses.replace(description, corpora=(changed,))
        assert _fingerprint(notebook, changed) != before, field.name
    margins = [dataclasses.replace(description, margin=Margin(value)) for value in (0.1, 0.2)]
    assert len({_fingerprint(notebook, changed) for changed in margins}) == 2


def test_a_missing_notebook_is_named(tmp_path):
    with pytest.raises(InputError, match=r"notebooks/no_such\.ipynb is missing"):
        notebook_of("no_such", tmp_path)
