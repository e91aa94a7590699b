"""What is remembered is what was computed, for the same version, and nobody's leftovers."""

import json

from soundcheck.common.remembered import Remembered, made_here


def test_values_come_back_for_the_same_version_only(tmp_path):
    path, calls = tmp_path / "kept" / "values.json", []

    def ask(version: str, value: object = ("a", 1.5)) -> object:
        kept = Remembered(path, version)
        found = kept.find("name", lambda: calls.append(version) or list(value))
        kept.save()
        return found

    assert [ask("1"), ask("1"), ask("2"), ask("2")] == [["a", 1.5]] * 4
    assert calls == ["1", "2"]


def test_what_nobody_asked_for_is_forgotten(tmp_path):
    first = Remembered(tmp_path / "v.json")
    first.put("old", 1)
    first.put("new", 2)
    first.save()
    second = Remembered(tmp_path / "v.json")
    assert second.get("new") == 2
    second.save()
    assert Remembered(tmp_path / "v.json").get("old") is None


def test_a_damaged_file_holds_nothing(tmp_path):
    path = tmp_path / "v.json"
    kept = Remembered(path)
    kept.put("name", 1)
    kept.save()
    path.write_text(json.dumps(json.loads(path.read_text()) | {"values": {"name": 2}}))
    assert Remembered(path).get("name") is None


def test_an_unchanged_file_is_not_written_again(tmp_path):
    path = tmp_path / "v.json"
    for _ in range(2):
        kept = Remembered(path)
        kept.find("name", lambda: 1)
        path.unlink(missing_ok=True)
        kept.save()
    assert not path.exists()  # the second time everything was known


def test_it_says_whether_it_has_grown(tmp_path):
    first = Remembered(tmp_path / "v.json")
    assert not first.grown
    first.put("a", 1)
    assert first.grown
    first.save()
    assert not first.grown
    second = Remembered(tmp_path / "v.json")
    second.get("a")
    assert not second.grown  # neither by what was known, nor by what is asked for and unknown
    second.get("b")
    assert not second.grown
    second.find("b", lambda: 2)
    assert second.grown


def test_without_a_file_it_lives_as_long_as_the_run():
    kept = Remembered()
    assert kept.find("a", lambda: 1) == kept.find("a", lambda: 2) == 1
    kept.save()


def test_the_version_is_of_the_code_and_its_packages():
    assert made_here() == made_here() and len(made_here()) == 40
