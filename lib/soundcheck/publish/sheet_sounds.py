"""Sounds of the one-page summary: what the notebooks of a run let be heard about the largest findings.

Notebooks and media come from the output folder, which may have travelled: of a notebook only the data beside
its outputs are read, and a sound is played only if its content is what its name says.
"""

from __future__ import annotations

import base64
import dataclasses
import io
import json
from pathlib import Path
from typing import Annotated

import pandas as pd
import soundfile
from pydantic import Field, TypeAdapter

from soundcheck.common import files
from soundcheck.common.media import EXAMPLES, NONE
from soundcheck.corpora.audio import encode_flac
from soundcheck.publish.facts import sentence
from soundcheck.results.facts import ModelFacts, by_excess
from soundcheck.results.finished_run import rows_file
from soundcheck.results.record import ComparisonRecord
from soundcheck.results.states import FAIL

MOST_SCENES = 2
LONGEST = 8.0  # seconds of a sound; later ones are cut off, so that the page stays small
_NOTEBOOK_BYTES = 50_000_000
_SOUND_BYTES = 20_000_000
_Medium = Annotated[str, Field(pattern=r"^([0-9a-f]{20}\.(flac|png))?$")]  # its name; empty if there is none


@dataclasses.dataclass(frozen=True)
class Sound:
    """A sound and the picture of its waveform: names of media in notebooks, on sheets addresses."""

    label: str
    caption: str
    sound: _Medium
    picture: _Medium


@dataclasses.dataclass(frozen=True)
class Scene:
    """Sounds that belong together, and who said or wrote which words; as notebooks and sheets have it."""

    title: str
    group: str
    sounds: tuple[Sound, ...]
    words: tuple[tuple[str, str | None], ...]
    finding: str = ""


_OUTPUT = TypeAdapter(list[Scene])


def carried(kind: str, data: bytes) -> str:
    """Make an address that holds what it leads to; empty without data."""
    return f"data:{kind};base64,{base64.b64encode(data).decode()}" if data else ""


def model_scenes(facts: ModelFacts) -> list[Scene]:
    """Choose sounds of the families with the largest findings, then of what is not known."""
    folder, scenes = facts.run.path.parent, []
    titles = {family.name: family.title for family in facts.record.families}
    findings = pd.concat([facts.findings, facts.few, by_excess(facts.inconclusive)])
    for row in findings.drop_duplicates("family").itertuples():
        examples = _examples(facts, rows_file(folder, facts.model.name, row.family).with_suffix(".ipynb"))
        # What is of the group, or under the change, of the finding comes first.
        examples.sort(key=lambda example, about=row.about: about not in f"{example.group} {example.title}")
        finding = sentence(facts, row) if row.state == FAIL else ""
        played = {sound.sound for scene in scenes for sound in scene.sounds}
        made = (_scene(folder, titles[row.family], finding, example) for example in examples)
        scenes += [scene for scene in made if not played >= {sound.sound for sound in scene.sounds}][:1]
        if len(scenes) == MOST_SCENES:
            break
    return scenes


def comparison_scenes(facts: ModelFacts, entry: ComparisonRecord) -> list[Scene]:
    """Choose the segments on which two models of a run differ most."""
    folder = facts.run.path.parent
    examples = _examples(facts, folder / "comparisons" / f"{entry.slug}.ipynb")
    scenes = (_scene(folder, "", "", example) for example in examples)
    return [scene for scene in scenes if scene.sounds][:MOST_SCENES]


def _examples(facts: ModelFacts, path: Path) -> list[Scene]:
    """Read what an executed notebook lets be heard; nothing if it is not there or cannot be read."""
    if facts.record.voices == NONE or path.is_symlink() or files.irregularity(path, _NOTEBOOK_BYTES):
        return []
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        outputs = [output.get("data", {}) for cell in cells for output in cell.get("outputs", ())]
        return [example for data in outputs for example in _OUTPUT.validate_python(data.get(EXAMPLES, []))]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []


def _scene(folder: Path, family: str, finding: str, example: Scene) -> Scene:
    """Load the sounds of an example: of several the first and the last, which is that of a change."""
    last = example.sounds[-1:] if len(example.sounds) > 1 else ()
    sounds = tuple(filter(None, (_sound(folder, sound) for sound in (*example.sounds[:1], *last))))
    words = tuple((who, text or "(nothing)") for who, text in example.words)
    title = ": ".join(filter(None, (family, example.title)))
    return dataclasses.replace(example, title=title, finding=finding, sounds=sounds, words=words)


def _sound(folder: Path, player: Sound) -> Sound | None:
    data, caption = _content(folder, player.sound), player.caption
    if not data:
        return None
    signal, rate = soundfile.read(io.BytesIO(data), dtype="float32")
    if len(signal) > LONGEST * rate:
        data = encode_flac(signal[: round(LONGEST * rate)], rate)
        caption += f"; the first {LONGEST:g} of {len(signal) / rate:.1f} s"
    picture = carried("image/png", _content(folder, player.picture))
    return Sound(player.label, caption, carried("audio/flac", data), picture)


def _content(folder: Path, name: str) -> bytes:
    """Read a sound or a picture; nothing if it is missing or not what its name says."""
    path = folder / "media" / name
    if not name or path.is_symlink() or files.irregularity(path, _SOUND_BYTES):
        return b""
    data = path.read_bytes()
    return data if files.digest(data)[:20] == name.partition(".")[0] else b""
