"""Writes a family of tests to start from: ``soundcheck init --family``."""

from __future__ import annotations

import json
import re
from pathlib import Path

from soundcheck.common import resources, templates
from soundcheck.common.errors import did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.start.suites import write_files

FILES = ("thresholds/{}.yml", "notebooks/{}.ipynb", "book/methods/{}.md")
_NAME = re.compile("[A-Za-z][A-Za-z0-9_]{0,39}")


def write_family(folder: Path, name: str, like: str = "") -> str:
    """Write the three files of a family of tests, ready to run, beside a suite; never overwrites.

    - ``name``: name of the family: up to 40 letters, digits and underscores, a letter first.
    - ``like``: the shipped family that it is a copy of; by default one with a single measure.
    - Raises InputError: if the name cannot be used or is that of a family, or if one of the files is there
      already.
    """
    where, shipped = f"--family {quoted(name)}", resources.names("thresholds", ".yml")
    if not _NAME.fullmatch(name) or name.lower() in ("all", "null"):
        remedy = "Use up to 40 letters (a to z), digits and underscores, a letter first"
        raise input_error(where, "this cannot be the name of a family", remedy)
    notebooks = {path.stem for path in (resources.root() / "notebooks").glob("*.ipynb")}
    if name.lower() in {known.lower() for known in shipped} | notebooks:
        raise input_error(where, "Soundcheck has something of this name already", "Choose another name")
    if like and like not in shipped:
        raise input_error(f"--like {quoted(like)}", "no such family", did_you_mean(like, shipped))
    if not folder.is_dir():
        raise input_error(str(folder), "the folder does not exist", "Name the folder of your suite.yml")
    root = resources.root() if like else templates.FOLDER / "start" / "family"
    contents = [(root / file.format(like or "NAME")).read_text("utf-8") for file in FILES]
    title = name.replace("_", " ").capitalize()
    changes = (
        {r"(?m)^family: .*$": f"family: {name}", r"(?m)^title: .*$": f"title: {title}"},
        {r'"# [^"\\]*': json.dumps(f"# {title}")[:-1]},
        {r"(?m)^# .*$": f"# {title}"},
    )
    for place, replaced in enumerate(changes):
        for pattern, text in replaced.items():
            contents[place] = re.sub(pattern, text, contents[place], count=1)
    files = dict(zip((file.format(name) for file in FILES), contents, strict=True))
    write_files(folder, files, "Choose another name")
    suite = folder / "suite.yml"
    return (
        f"Wrote {', '.join(files)}. Next: add {name} to families: in {suite} (families: all includes it), "
        f"then soundcheck run {suite}"
    )
