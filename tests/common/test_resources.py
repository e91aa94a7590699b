"""Families are found beside the suite first, then in the checkout or wheel."""

from soundcheck.common import resources


def test_own_files_come_first(tmp_path, monkeypatch):
    shipped = resources.names("thresholds", ".yml")
    assert resources.find("thresholds/fairness_sex.yml") == resources.root() / "thresholds/fairness_sex.yml"
    folder = tmp_path / "thresholds"
    folder.mkdir()
    for name in ("fairness_sex.yml", "own.yml", ".hidden.yml", "notes.txt"):
        (folder / name).touch()
    (folder / "folder.yml").mkdir()
    assert resources.find("thresholds/fairness_sex.yml", tmp_path) == folder / "fairness_sex.yml"
    assert resources.find("thresholds/own.yml") is None
    assert resources.names("thresholds", ".yml", tmp_path) == sorted([*shipped, "own"])
    assert resources.find("thresholds/nothing.yml", tmp_path) is None
    assert resources.names("nothing", ".yml", tmp_path) == []
    monkeypatch.setattr(resources, "PACKAGE", tmp_path)  # as it is installed
    (tmp_path / "_share").mkdir()
    assert resources.root() == tmp_path / "_share"
