"""The most telling sounds of a run: what its notebooks let be heard about the largest failures.

Notebooks and media come from the output folder, which may have travelled: of a notebook only texts and names
of media are taken, and a sound only if its content is what its name says.
"""

from __future__ import annotations

import dataclasses
import io
import json
import re
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path

import soundfile

from soundcheck.common import files
from soundcheck.common.media import NONE
from soundcheck.corpora.audio import encode_flac
from soundcheck.publish.facts import ModelFacts
from soundcheck.publish.verdict_lines import plain
from soundcheck.report import failures
from soundcheck.results.record import ComparisonRecord
from soundcheck.results.states import FAIL
from soundcheck.results.summary import CORRECTNESS, aspects

MOST_SCENES = 2
MOST_SOUNDS = 2  # of a scene
SHORTEST = 1.0  # seconds that must be left of a sound that is cut
_NOTEBOOK_BYTES = 50_000_000
_SOUND_BYTES = 20_000_000
_NOT_WRITTEN = ("span", "del")  # of aligned words: signs, what is said of them, words that were left out
_MEDIA = re.compile(r"(?:\.\./)*media/([0-9a-f]{20}\.(?:flac|png))")


@dataclasses.dataclass(frozen=True)
class Sound:
    """A sound: what it is, what is said about it, FLAC, the picture of its waveform (PNG) or nothing."""

    label: str
    caption: str
    data: bytes
    picture: bytes = b""

    @property
    def size(self) -> int:
        """Characters that it takes in a page."""
        return 4 * (len(self.data) + len(self.picture)) // 3 + 16


@dataclasses.dataclass(frozen=True)
class Scene:
    """Sounds that belong together: from where, what the finding is, what is heard, and the words if any."""

    family: str
    title: str
    finding: str
    sounds: tuple[Sound, ...]
    words: tuple[tuple[str, str], ...] = ()


@dataclasses.dataclass
class _Player:
    label: str = ""
    caption: str = ""
    sound: str = ""
    picture: str = ""


@dataclasses.dataclass
class _Row:
    title: str = ""
    players: list[_Player] = dataclasses.field(default_factory=list)
    words: list[tuple[str, str]] = dataclasses.field(default_factory=list)


class _Rows(HTMLParser):
    """Collects rows of players from the HTML of an output, with the words that are aligned below them."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[_Row] = []
        self._title = ""
        self._into: str = ""  # what the text that comes belongs to
        self._line: list[str] = []  # who, and the words
        self._left_out = 0  # elements that are open and hold no words of the transcript

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attributes}
        classes = found.get("class", "").split()
        player = self.rows[-1].players[-1] if self.rows and self.rows[-1].players else None
        if tag == "p" and "sc-players-title" in classes:
            self._title, self._into = "", "title"
        elif tag == "div" and "sc-players" in classes:
            self.rows.append(_Row(self._title))
            self._title = ""
        elif tag == "figure" and "sc-player" in classes and self.rows:
            self.rows[-1].players.append(_Player())
        elif player is not None and tag == "strong":
            self._into = "label"
        elif player is not None and tag == "figcaption":
            self._into = "caption"
        elif player is not None and tag == "br" and self._into == "caption":
            player.caption += "; "
        elif (
            player is not None
            and tag in ("img", "audio")
            and (name := _MEDIA.fullmatch(found.get("src", "")))
        ):
            setattr(player, "picture" if tag == "img" else "sound", name[1])
        elif tag == "dl":
            self._into = "words" if "sc-words" in classes and self.rows else ""
        elif self._into == "words":
            if tag in ("dt", "dd"):
                self._line.append("")
            self._left_out += tag in _NOT_WRITTEN

    def handle_data(self, text: str) -> None:
        if self._into == "title":
            self._title += text
        elif self._into in ("label", "caption"):
            player = self.rows[-1].players[-1]
            setattr(player, self._into, getattr(player, self._into) + text)
        elif self._into == "words" and self._line and not self._left_out:
            self._line[-1] += text

    def handle_endtag(self, tag: str) -> None:
        if self._into == "words":
            self._left_out -= tag in _NOT_WRITTEN
            if tag == "dd" and self._line:
                self.rows[-1].words.append((self._line[0], " ".join(self._line[-1].split())))
                self._line = []
        if tag in ("p", "strong", "figcaption", "dl"):
            self._into = ""


def model_scenes(facts: ModelFacts) -> list[Scene]:
    """Find what is most telling about a model, of the families with the largest failures.

    Fairness and robustness come first, then other failures, what few speakers show, and what is inconclusive.
    """
    scenes: list[Scene] = []
    if facts.record.voices == NONE:
        return scenes
    for family, row in _telling(facts):
        path = facts.run.path.parent / "notebooks" / facts.model.slug / f"{files.slug(family)}.ipynb"
        rows = list(_rows(path))
        if row is not None:  # what is heard of the group, or under the change, of the finding comes first
            rows.sort(key=lambda one: not _about(one.title, row))
        finding = facts.sentence(row) if row is not None and row.state == FAIL else ""
        title = next((one.title for one in facts.record.families if one.name == family), family)
        for found in rows:
            scene = _scene(facts.run.path.parent, title, finding, found)
            heard = {sound.data for other in scenes for sound in other.sounds}
            if scene is not None and not heard >= {sound.data for sound in scene.sounds}:
                scenes.append(scene)
                break
        if len(scenes) == MOST_SCENES:
            break
    return scenes


def comparison_scenes(facts: ModelFacts, entry: ComparisonRecord) -> list[Scene]:
    """Find the segments on which two models of a run differ most."""
    folder = facts.run.path.parent
    scenes = []
    if facts.record.voices == NONE:
        return scenes
    for row in _rows(folder / "comparisons" / f"{entry.slug}.ipynb"):
        if scene := _scene(folder, "Where the two differ most", "", row):
            scenes.append(scene)
        if len(scenes) == MOST_SCENES:
            break
    return scenes


def fitting(scenes: Sequence[Scene], room: int) -> list[Scene]:
    """Make sounds fit: the long ones are cut, and if too little would be left, the last scene is dropped.

    Parameters
    ----------
    scenes
        What is to be heard, the most telling first.
    room
        Characters that there are for it.
    """
    chosen = list(scenes)
    while chosen:
        count = sum(len(scene.sounds) for scene in chosen)
        total = sum(sound.size for scene in chosen for sound in scene.sounds)
        if total <= room:
            return chosen
        cut = [[_cut(sound, room // count) for sound in scene.sounds] for scene in chosen]
        if all(sound is not None for sounds in cut for sound in sounds):
            return [
                dataclasses.replace(scene, sounds=tuple(sounds))
                for scene, sounds in zip(chosen, cut, strict=True)
            ]
        chosen.pop()
    return []


def _cut(sound: Sound, room: int) -> Sound | None:
    """Keep the beginning of a sound that has no room; ``None`` if that is too short."""
    if sound.size <= room:
        return sound
    signal, rate = soundfile.read(io.BytesIO(sound.data), dtype="float32", always_2d=False)
    space = 3 * (room - 16) // 4 - len(sound.picture)
    kept = len(signal) * max(0, space) // len(sound.data)
    while kept >= SHORTEST * rate:
        data = encode_flac(signal[:kept], rate)
        if len(data) <= space:
            note = f"the first {kept / rate:.1f} of {len(signal) / rate:.1f} s"
            return dataclasses.replace(sound, data=data, caption=f"{sound.caption}; {note}")
        kept = int(0.9 * kept)
    return None


def _telling(facts: ModelFacts) -> Iterator[tuple[str, object]]:
    """Name families with the finding for which they are listened to, each once."""
    others = aspects(facts.failing).eq(CORRECTNESS)
    inconclusive = failures.by_excess(facts.inconclusive)
    seen = set()
    for rows in (facts.failing[~others], facts.failing[others], facts.few, inconclusive):
        for row in rows.itertuples():
            if row.family not in seen:
                seen.add(row.family)
                yield row.family, row
    for family, _ in facts.families:
        if family.name not in seen:
            yield family.name, None


def _about(title: str, row: object) -> bool:
    """Say whether a title names the group or the change that a finding is about."""
    change = title.partition(" under ")[2].partition(":")[0].strip().lower()
    return bool(row.group and row.group in title) or bool(change and change in row.test.lower())


def _rows(path: Path) -> Iterator[_Row]:
    """Give the rows of players of an executed notebook; none if it is not there or cannot be read."""
    if path.is_symlink() or files.irregularity(path, _NOTEBOOK_BYTES):
        return
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        outputs = [output for cell in cells for output in cell.get("outputs", ())]
        texts = ["".join(output.get("data", {}).get("text/html", "")) for output in outputs]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return
    for text in texts:
        if "sc-players" in text:
            parser = _Rows()
            parser.feed(text)
            yield from parser.rows


def _scene(folder: Path, family: str, finding: str, row: _Row) -> Scene | None:
    """Load the sounds of a row: of a change the first and the last, else the first two."""
    players = row.players
    if len(players) > MOST_SOUNDS:
        players = [players[0], players[-1]] if " under " in row.title else players[:MOST_SOUNDS]
    sounds = []
    for player in players:
        data = _content(folder, player.sound)
        if data:
            picture = _content(folder, player.picture)
            sounds.append(Sound(plain(player.label), plain(player.caption, 160), data, picture))
    if not sounds:
        return None
    words = tuple((plain(head), plain(text, 120)) for head, text in row.words)
    return Scene(plain(family), plain(row.title, 140), plain(finding, 320), tuple(sounds), words)


def _content(folder: Path, name: str) -> bytes:
    """Read a sound or a picture; nothing if it is missing or not what its name says."""
    path = folder / "media" / name
    if not name or path.is_symlink() or files.irregularity(path, _SOUND_BYTES):
        return b""
    data = path.read_bytes()
    return data if files.digest(data)[:20] == name.partition(".")[0] else b""
