"""Families are found beside the suite first, then in the checkout or wheel."""

from soundcheck.common import resources


def test_root_holds_the_families():
    assert (resources.root() / "thresholds").is_dir()
    assert resources.find("thresholds/fairness_sex.yml") == resources.root() / "thresholds/fairness_sex.yml"
    assert "fairness_sex" in resources.names("thresholds", ".yml")


def test_own_files_come_first(tmp_path):
    folder = tmp_path / "thresholds"
    folder.mkdir()
    for name in ("fairness_sex.yml", "own.yml", ".hidden.yml", "notes.txt"):
        (folder / name).touch()
    (folder / "folder.yml").mkdir()
    assert resources.find("thresholds/fairness_sex.yml", tmp_path) == folder / "fairness_sex.yml"
    assert resources.find("thresholds/own.yml") is None
    names = resources.names("thresholds", ".yml", tmp_path)
    assert set(names) - set(resources.names("thresholds", ".yml")) == {"own"}
    assert names == sorted(set(names))


def test_nothing_there(tmp_path):
    assert resources.find("thresholds/nothing.yml", tmp_path) is None
    assert resources.names("nothing", ".yml", tmp_path) == []


def test_an_installed_package_uses_its_share(tmp_path, monkeypatch):
    monkeypatch.setattr(resources, "PACKAGE", tmp_path)
    (tmp_path / "_share").mkdir()
    assert resources.root() == tmp_path / "_share"
