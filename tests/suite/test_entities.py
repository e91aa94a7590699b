"""Names of the suite: lists and files, everything wrong with its place."""

import pytest

from soundcheck.common.errors import InputError
from soundcheck.suite.suite_file import read_suite

SUITE = """
corpora: {c: {format: csv, path: c.csv}}
models: {m: {random: gaussian}}
families: all
entities: ENTITIES
"""


def entities(folder, text):
    (folder / "c.csv").write_text("file\na.wav\n")
    (folder / "suite.yml").write_text(SUITE.replace("ENTITIES", text))
    return read_suite(folder / "suite.yml").entities


def test_lists_and_files(tmp_path):
    (tmp_path / "rooms.csv").write_text(
        "\ufeffname,floor\nattic,3\nliving room,1\nattic,2\n", encoding="utf-8"
    )
    found = entities(tmp_path, "{person: [Anna, משה], room: rooms.csv}")
    assert found == {"person": ("Anna", "משה"), "room": ("attic", "living room")}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[Anna]", "entities: this is not a mapping of classes"),
        ("{}", "this is not a mapping of classes"),
        ("{person: []}", "there are no names"),
        ("{number: [ten]}", "entities of this class are found without names"),
        ("{person: ['!?']}", "'!\\?' has no letter or digit"),
        ("{person: [Anna], dog: [Rex, anna!]}", "'anna!' is of the class 'person' already"),
        ("{person: people.csv}", "people.csv"),
        ("{person: c.csv}", "c.csv line 1: there is no column name"),
        ("{person: [[a]]}", "entities"),
        ("{person: {a: b}}", "entities"),
    ],
)
def test_what_is_wrong(tmp_path, text, what):
    with pytest.raises(InputError, match=what):
        entities(tmp_path, text)
