"""When the last execution of a notebook is still good: what it sees is the same, wherever that lies."""

import dataclasses

import pytest

from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation.description import CorpusDescription
from soundcheck.run.notebook_jobs import UNSEEN, _fingerprint
from soundcheck.suite.measures import Margin
from soundcheck.suite.own_rules import OwnTest

FILES = ("segments", "predictions", "trials")


def make(folder, describe, **changes):
    """Describe an evaluation whose files are in a folder."""
    folder.mkdir(exist_ok=True)
    notebook = folder / "f.ipynb"
    for path in (notebook, folder / "segments", folder / "predictions", folder / "trials"):
        if not path.exists():
            path.write_text(path.name)
    corpus = CorpusDescription(
        **{"name": "c", "title": "C", "synthetic": False, "blocks": ("speaker",), "base_condition": ""},
        **{"probes_of": "", "audio": True, "root": folder, "trials": folder / "trials"},
        **{"segments": folder / "segments", "predictions": folder / "predictions"},
    )
    places = {"suite_root": folder, "media": folder / "media", "rows": folder / "rows.json"}
    usual = {"corpora": (corpus,), "tasks": (BUILTIN["arousal"],)}
    return notebook, describe("f", **(places | usual | changes))


def test_another_place_is_the_same(tmp_path, describe):
    first = _fingerprint(*make(tmp_path / "a", describe), "more")
    assert first == _fingerprint(*make(tmp_path / "b", describe), "more")
    assert first != _fingerprint(*make(tmp_path / "b", describe), "other")


@pytest.mark.parametrize("name", ["f.ipynb", *FILES])
def test_other_content_of_a_file_is_seen(tmp_path, describe, name):
    made = make(tmp_path / "a", describe)
    before = _fingerprint(*made)
    (tmp_path / "a" / name).write_text("other")
    assert _fingerprint(*made) != before


def test_rows_of_the_last_execution_are_not_seen(tmp_path, describe):
    made = make(tmp_path / "a", describe)
    before = _fingerprint(*made)
    (tmp_path / "a" / "rows.json").write_text("[]")
    assert _fingerprint(*made) == before


def test_every_setting_is_seen(tmp_path, describe):
    notebook, description = make(tmp_path / "a", describe)
    before = _fingerprint(notebook, description)
    others = {
        **{"tasks": (BUILTIN["valence"],), "seed": 1, "replicates": 11, "interval": "bca", "model": "n"},
        **{"family": "g", "corpora": description.corpora * 2, "others": {"o": description.corpora}},
        **{"thresholds": "simulated", "balance_samples": 7, "seconds": 1.0, "predicts_changes": True},
        **{"sweeps": True, "normaliser": "english", "prefix": "x/", "transformed_segments": 7},
        **{"alternatives": True, "synonyms": (("can not", "cannot"),), "entities": {"room": ("attic",)}},
        **{"segments_per_change": 9, "levels": 2, "guesses": True, "voices": "none", "languages": ("de",)},
        **{
            "transformations": {"f": ["Noise"]},
            "margin": Margin(0.2),
            "tests": {"T": OwnTest({"arousal": 0.3})},
        },
    }
    folders = {"suite_root", "media"}
    fields = {field.name for field in dataclasses.fields(description)}
    assert set(others) | folders | set(UNSEEN) == fields
    for name, value in others.items():
        changed = dataclasses.replace(description, **{name: value})
        assert _fingerprint(notebook, changed) != before, name
    corpus = description.corpora[0]
    for field in dataclasses.fields(corpus):
        if field.name != "root":
            value = getattr(corpus, field.name)
            other = not value if isinstance(value, bool) else notebook if field.name in FILES else "x"
            changed = dataclasses.replace(corpus, **{field.name: other})
            replaced = dataclasses.replace(description, corpora=(changed,))
            assert _fingerprint(notebook, replaced) != before, field.name
