"""Writes a suite or a family of tests to start from: ``soundcheck init``."""

from __future__ import annotations

import re
from pathlib import Path

from soundcheck.common import files, resources
from soundcheck.common.errors import InputError, Problem, input_error
from soundcheck.common.escaping import quoted

TEMPLATES = Path(__file__).with_name("templates")
_SUITE = {"suite.yml": "suite.yml", "my_model.py": "my_model.py.txt"}  # file -> its template
_FAMILY = {
    "thresholds/NAME.yml": "family.yml",
    "notebooks/NAME.ipynb": "family.ipynb",
    "book/methods/NAME.md": "family.md",
}
_NAME = re.compile("[A-Za-z][A-Za-z0-9_]{0,39}")


def write(folder: Path) -> str:
    """Write ``suite.yml`` and ``my_model.py`` into a folder; never overwrites.

    Raises InputError: if one of the files is there already.
    """
    contents = {name: (TEMPLATES / template).read_text("utf-8") for name, template in _SUITE.items()}
    write_files(folder, contents, "Choose another folder")
    return f"Wrote suite.yml and my_model.py. Next: soundcheck run {folder / 'suite.yml'}"


def write_family(folder: Path, name: str) -> str:
    """Write the three files of a family of tests, ready to run, beside a suite; never overwrites.

    - ``name``: up to 40 letters, digits and underscores, a letter first.
    - Raises InputError: if the name cannot be used or is taken, or if one of the files is there already.
    """
    where = f"--family {quoted(name)}"
    if not _NAME.fullmatch(name) or name.lower() in ("all", "null"):
        remedy = "Use up to 40 letters (a to z), digits and underscores, a letter first"
        raise input_error(where, "this cannot be the name of a family", remedy)
    shipped = {known.lower() for known in resources.names("thresholds", ".yml")}
    if name.lower() in shipped | {path.stem for path in (resources.root() / "notebooks").glob("*.ipynb")}:
        raise input_error(where, "Soundcheck has something of this name already", "Choose another name")
    if not folder.is_dir():
        raise input_error(str(folder), "the folder does not exist", "Name the folder of your suite.yml")
    words = {"NAME": name, "TITLE": name.replace("_", " ").capitalize()}
    contents = {}
    for place, template in _FAMILY.items():
        text = (TEMPLATES / template).read_text("utf-8")
        contents[place.replace("NAME", name)] = re.sub("NAME|TITLE", lambda word: words[word[0]], text)
    write_files(folder, contents, "Choose another name")
    suite = folder / "suite.yml"
    return (
        f"Wrote {', '.join(contents)}. Next: add {name} to families: in {suite} (families: all includes it), "
        f"then soundcheck run {suite}"
    )


def write_files(folder: Path, contents: dict[str, str], remedy: str) -> None:
    """Write all files, or none if one of them is there already."""
    for name in contents:
        files.refuse_link(folder / name, name.count("/"))
    there = [folder / name for name in contents if (folder / name).exists()]
    if there:
        raise InputError(Problem(str(path), "the file exists already", remedy) for path in there)
    files.write_all({folder / name: text for name, text in contents.items()})
