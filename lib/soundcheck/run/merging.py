"""Puts shards together: makes sure that all are there and belong together, and takes their answers over.

Conventions
-----------
- What an answer depends on is compared: version, seed, models, corpora, sounds. Titles, thresholds and
  families may differ as long as every input has been asked.
- Inputs to which a model gave no answer are not asked again by the merge; a run afterwards asks them.
- A file that a model had opened on the machine of the shard may be missing here, but not be another one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from soundcheck import __version__
from soundcheck.common import files
from soundcheck.common.errors import InputError, Problems
from soundcheck.common.escaping import quoted
from soundcheck.predict.engine import needed_keys
from soundcheck.predict.protocol import Result
from soundcheck.predict.shares import Share
from soundcheck.predict.store import NAME, Store
from soundcheck.run.material import Material
from soundcheck.run.output import Output
from soundcheck.run.predictions import questions
from soundcheck.run.shards import NAME_OF_SHARD, Shard, data_of, entries_of, listening
from soundcheck.suite.entries import ModelEntry, Suite

_AGAIN = "Run the shard again with the suite, version and data of the merge"


def read_shards(folders: Sequence[Path], suite: Suite) -> Shards:
    """Read what shards have left.

    Parameters
    ----------
    folders
        Output folders of shards; each may hold several.
    suite
        The suite that is merged.

    Raises
    ------
    InputError
        If a folder holds no shard, one is missing or there twice, or they do not belong to the suite.
    """
    problems, found = Problems(), {}
    for folder in folders:
        places = sorted(path for path in folder.glob("shard-*.json") if NAME_OF_SHARD.fullmatch(path.name))
        if not places:
            what = "there is no shard in this folder" if folder.is_dir() else "there is no such folder"
            problems.add(str(folder), what, "Name the --out folders of soundcheck run --shard K/N")
        for place in places:
            try:
                shard = Shard.read(files.require_regular(place))
            except (InputError, OSError, ValueError):
                problems.add(str(place), "the file is not one that a shard has left", "Run the shard again")
                continue
            found.setdefault(shard.share, []).append((folder, shard))
    problems.raise_if_any()
    _check_complete(problems, found)
    shards = Shards({share: places[0] for share, places in sorted(found.items())})
    shards.check_suite(suite)
    return shards


def _check_complete(problems: Problems, found: Mapping[Share, Sequence[tuple[Path, Shard]]]) -> None:
    """Refuse shards that are no division of one run."""
    counts = {share.of for share in found}
    for share, places in sorted(found.items()):
        if len(places) > 1:
            named = " and ".join(str(folder) for folder, _ in places)
            problems.add(f"shard {share}", f"it is there {len(places)} times, in {named}", "Name one of them")
    if len(counts) > 1:
        named = ", ".join(f"{share} in {places[0][0]}" for share, places in sorted(found.items()))
        problems.add("shards", f"they do not belong together ({named})", "Name those of one number")
    problems.raise_if_any()
    (count,) = counts
    for share in (Share(number + 1, count) for number in range(count)):
        if share not in found:
            remedy = f"Name its folder, or run it: soundcheck run SUITE --shard {share} --out FOLDER"
            problems.add("shards", f"shard {share} is missing", remedy)
    problems.raise_if_any()


class Shards:
    """All shards of one run.

    Parameters
    ----------
    found
        Share -> output folder, and what stands in it.
    """

    def __init__(self, found: Mapping[Share, tuple[Path, Shard]]) -> None:
        self._found = found

    @property
    def fingerprints(self) -> dict[str, str]:
        """Fingerprint of each model."""
        return {
            name: model.fingerprint
            for _, shard in self._found.values()
            for name, model in shard.models.items()
        }

    def check_suite(self, suite: Suite) -> None:
        """Refuse shards of another suite or version, before anything is loaded.

        Raises
        ------
        InputError
            Naming each shard and what does not fit.
        """
        problems = Problems()
        asked = {name for name, entry in suite.models.items() if entry.about.needs_audio}
        for share, (folder, shard) in self._found.items():
            where = f"shard {share} in {folder}"
            if shard.version != __version__:
                problems.add(where, f"its version is {shard.version}, this is {__version__}", _AGAIN)
            if shard.seed != suite.seed:
                problems.add(where, f"its seed is {shard.seed}, the suite says {suite.seed}", _AGAIN)
            for section, now in entries_of(suite).items():
                needed = asked if section == "models" else now
                _compare(problems, f"{where}, {section}", shard.entries.get(section, {}), now, needed)
        problems.raise_if_any()

    def take_over(self, material: Material, output: Output) -> dict[str, list[Result]]:
        """Keep all answers in the cache of a run, if they are complete and belong to it.

        Returns
        -------
        dict
            Model -> inputs without an answer.

        Raises
        ------
        InputError
            If a shard belongs to other models or data, or answers are missing; nothing is kept then.
        OutputError
            If there is no space.
        """
        problems = Problems()
        corpora, sounds = data_of(material)
        for share, (folder, shard) in self._found.items():
            where = f"shard {share} in {folder}"
            there = {name: model.fingerprint for name, model in shard.models.items()}
            now = {entry.name: material.fingerprints[entry.name] for entry in listening(material)}
            _compare(problems, f"{where}, code and files of models", there, now, now)
            _compare(problems, f"{where}, segments and audio of corpora", shard.corpora, corpora, corpora)
            _compare(problems, f"{where}, sounds", shard.sounds, sounds, set(sounds) & set(shard.sounds))
        problems.raise_if_any()
        found = {}
        for entry in listening(material):
            found[entry.name] = self._answers(problems, entry, material, output)
        problems.raise_if_any()
        for name, caches in found.items():
            store = Store(output.cache, material.fingerprints[name], material.suite.root)
            for cache in caches:
                store.merge(cache / NAME)
            store.close()
        return {
            name: [
                Result(one.key, drawn=one.drawn, problem=one.problem, fault=one.fault)
                for _, shard in self._found.values()
                for one in shard.models[name].failures
            ]
            for name in found
        }

    def _answers(
        self, problems: Problems, entry: ModelEntry, material: Material, output: Output
    ) -> list[Path]:
        """Name the caches with the answers of a model, and make sure that each shard has all of its own."""
        needed = needed_keys(questions(entry, material, output, material.corpora))
        found: dict[Path, tuple[set[str], list[str]]] = {}
        for share, (folder, shard) in self._found.items():
            known, changed = {one.key for one in shard.models[entry.name].failures}, []
            for cache in _caches(folder, output):
                if cache not in found:
                    store = Store(cache, material.fingerprints[entry.name], material.suite.root)
                    entries, others = store.elsewhere()
                    found[cache] = set() if others else {*entries}, others
                    store.close()
                known |= found[cache][0]
                changed += found[cache][1]
            missing = sum(key in share for key in needed - known)
            if missing:
                what = f"{missing} inputs of {quoted(entry.name)} have no answer in its cache"
                if changed:
                    what += f" that rests on the files that are here ({', '.join(sorted({*changed})[:3])})"
                problems.add(f"shard {share} in {folder}", what, _AGAIN)
        return [cache for cache in found if cache != output.cache]


def _caches(folder: Path, output: Output) -> list[Path]:
    """List the caches in which the answers of a shard may be: its own, that around it, that of the merge."""
    around = folder.absolute().parent
    places = [folder.absolute() / "cache", *([around / "cache"] if (around / files.MARKER).is_file() else [])]
    return [place for place in dict.fromkeys([*places, output.cache]) if (place / NAME).is_file()]


def _compare(
    problems: Problems, where: str, then: Mapping[str, str], now: Mapping[str, str], needed: Collection[str]
) -> None:
    """Say which of some names differ."""
    for name in sorted(needed):
        if name not in then:
            problems.add(where, f"there is no {quoted(name)}", _AGAIN)
        elif then[name] != now[name]:
            problems.add(where, f"{quoted(name)} is another one here", _AGAIN)
