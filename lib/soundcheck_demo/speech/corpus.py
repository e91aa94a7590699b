"""Builds the demo corpus: synthetic speech with known emotion, made on first use, kept in the cache.

The corpus is a folder with ``segments.csv`` and 16-bit mono WAV files at 16 kHz. Its name carries a
fingerprint of everything that decides its content; it appears complete or not at all, and an incomplete
one (cut or missing files) is made again.

Conventions
-----------
Columns: file, speaker, sex, language, accent, split, transcript, arousal, dominance, valence, emotion. The
dimensions lie between 0 and 1. The part ``texts`` has no accent and no labels but the column sentiment; the
part ``recordings`` neither, but the columns item and condition; the part ``commands`` has an accent but no
labels; the part ``monologues`` has the columns start and end. The bytes do not depend on the number of jobs.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import parselmouth
import scipy  # scipy.signal is loaded when first used: it takes a second

from soundcheck.common import seeds, store
from soundcheck.common.files import digest, write_text
from soundcheck.common.messages import SoundcheckError, input_error, quoted
from soundcheck.common.progress import Progress
from soundcheck.corpora import audio
from soundcheck_demo.speech import texts
from soundcheck_demo.speech.synthesis import PEAK, SAMPLING_RATE, file_name, level, transcript
from soundcheck_demo.speech.voices import (
    CALLERS,
    COMMANDS,
    DIMENSIONS,
    MONOLOGUES,
    READERS,
    RECORDINGS,
    SPEAKERS,
    SPEECH,
    TEXTS,
    Speaker,
    draw,
)

if TYPE_CHECKING:
    import pandas as pd

PARTS = (SPEECH, TEXTS, RECORDINGS, COMMANDS, MONOLOGUES)
SIZES = ("full", "small")
TABLE = "segments.csv"


class SynthesisError(SoundcheckError):
    """Praat's synthesiser failed; the text says for whom and why."""


def build(
    cache: Path, *, size: str = "full", part: str = SPEECH, jobs: int = 1, progress: bool = False
) -> Path:
    """Find the demo corpus in the cache, or make it; gives the folder with ``segments.csv``.

    - ``size``: one of :data:`SIZES`; the small one is for quick tests.
    - ``part``: one of :data:`PARTS`.
    - ``jobs``: speakers that are made at the same time.
    - Raises InputError: if there is no such size or part.
    - Raises OutputError: if the cache cannot be written.
    """
    for name, value, allowed in (("size", size, SIZES), ("part", part, PARTS)):
        if value not in allowed:
            where, what = f"demo corpus, {name} {quoted(value)}", f"there is no such {name}"
            raise input_error(where, what, f"Allowed: {', '.join(allowed)}")
    speech = None
    if part in (RECORDINGS, MONOLOGUES):
        speech = build(cache, size=size, jobs=jobs, progress=progress)

    def make(draft: Path) -> None:
        segments = table(size, part)
        if part == MONOLOGUES:
            segments = write_monologues(draft, speech, monologues(table(size)))
        elif part == RECORDINGS:
            write_recordings(draft, speech, segments)
        else:
            write_speakers(draft, speakers(size, part), jobs, progress, "voices of the demo corpus")
        write_text(draft / TABLE, segments.to_csv(index=False, float_format="%.4f", lineterminator="\n"))

    return store.folder(Path(cache) / f"demo-{fingerprint(size, part)}", make, "the demo corpus")


def first(cache: Path) -> Path:
    """Find the file of the first segment in the cache, or speak that segment alone; all sizes have it.

    Raises OutputError: if the cache cannot be written.
    """
    folder = store.folder(
        Path(cache) / f"demo-{fingerprint('first')}",
        lambda draft: write_speakers(draft, [(SPEAKERS[0], 1)]),
        "the first segment of the demo corpus",
    )
    return folder / file_name(SPEAKERS[0], 0)


def fingerprint(*what: object) -> str:
    """Hash what is spoken with all that decides how it sounds: code and data, libraries that speak."""
    data = (path for path in Path(__file__).parent.iterdir() if path.suffix in (".py", ".csv", ".toml"))
    versions = [importlib.metadata.version(name) for name in ("praat-parselmouth", "numpy", "scipy")]
    sources = [digest(path) for path in (Path(seeds.__file__), *sorted(data))]
    return digest(json.dumps([*what, parselmouth.PRAAT_VERSION, versions, sources]))[:16]


def table(size: str = "full", part: str = SPEECH) -> pd.DataFrame:
    """Tabulate the segments with their labels, ordered by file; needs no audio."""
    import pandas as pd  # late: who only asks for the fingerprint needs no tables

    if part == RECORDINGS:
        return recordings(table(size))
    if part == MONOLOGUES:
        return monologues(table(size)).drop(columns="item")
    rows = []
    for speaker, count in speakers(size, part):
        about = {key: getattr(speaker, key) for key in ("sex", "language", "accent", "split")}
        for number in range(count):
            row = {"file": file_name(speaker, number), "speaker": speaker.name, **about}
            row["transcript"] = transcript(speaker, number)
            if part == TEXTS:
                del row["accent"]
                row["sentiment"] = texts.sentiment(texts.place(speaker.name, number))
            elif part == SPEECH:
                label = draw(speaker, number)
                row |= {**dict(zip(DIMENSIONS, label.latent, strict=True)), "emotion": label.emotion}
            rows.append(row)
    return pd.DataFrame(rows)


def speakers(size: str, part: str) -> list[tuple[Speaker, int]]:
    """List the speakers of a corpus, each with its number of segments.

    Those of recordings and monologues are those of speech.
    """
    group = {TEXTS: READERS, COMMANDS: CALLERS}.get(part, SPEAKERS)
    counted = [(speaker, speaker.segments if size == "full" else speaker.small) for speaker in group]
    return [(speaker, count) for speaker, count in counted if count]


def write_speakers(
    folder: Path,
    speakers: Sequence[tuple[Speaker, int | list[str]]],
    jobs: int = 1,
    progress: bool = False,
    title: str = "",
) -> None:
    """Write segments of some speakers below a folder, in a process of its own: see synthesis.py.

    - ``speakers``: each with the number of the first segments, or with texts to speak instead.
    - ``jobs``: speakers that are made at the same time.
    - ``title``: whose voices progress is shown of.
    - Raises SynthesisError: naming the speaker that failed.
    """
    for speaker, _ in speakers:
        (folder / file_name(speaker, 0)).parent.mkdir(parents=True, exist_ok=True)
    # -P keeps the current folder from shadowing modules.
    command = [sys.executable, "-P", "-m", "soundcheck_demo.speech.synthesis"]
    paths = os.pathsep.join(path for path in sys.path if path)
    threads = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    waiting, reason = [speaker.name for speaker, _ in speakers], ""
    process = subprocess.Popen(
        [*command, str(folder.resolve()), str(max(1, jobs))],
        env={**os.environ, **threads, "PYTHONPATH": paths},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    )
    with process, Progress("speaking", title, len(speakers), visible=progress) as bar:
        with contextlib.suppress(BrokenPipeError), process.stdin as requests:  # it has ended: it tells why
            json.dump([(speaker.name, said) for speaker, said in speakers], requests)
        for line in process.stdout:
            name, _, problem = line.strip().partition(" ")
            if problem:
                reason = problem if name in waiting else line.strip()
                waiting.sort(key=lambda other, failed=name: other != failed)
            elif name in waiting:
                waiting.remove(name)
                bar.update()
    if process.returncode:
        why = reason or f"exit code {process.returncode}"
        raise SynthesisError(f"Demo corpus, speaker {waiting[0]}: the synthesis failed: {why}")


# Corpora made of the speech: three microphones at the same time, and segments one after the other. All
# conditions of an item are equally long, a speaker's room is the same for all items. Half of the monologues
# have segments in the order in which they were drawn and jump from one emotion to the next; the others begin
# with the least aroused one and end with the most. The samples of a segment are those of its own file.

CONDITIONS = ("boundary", "headset", "mobile")
ITEMS = 5  # recorded segments of each speaker
REVERBERATION = 0.4  # seconds in which the sound of the room falls by 60 dB
DIRECT_DB = 3.0  # level of the direct sound above that of the room at the boundary microphone
NOISE_DB = {"boundary": -38.0, "headset": -60.0, "mobile": -45.0}  # relative to the speech

SEGMENTS = 5  # of each monologue
PAUSE = (0.3, 1.2)  # seconds of digital silence between two of them


def recordings(speech: pd.DataFrame) -> pd.DataFrame:
    """Tabulate the first test segments of each speaker under all conditions."""
    import pandas as pd  # late: who only asks for the fingerprint needs no tables

    test = speech[speech["split"] == "test"].groupby("speaker", sort=False).head(ITEMS)
    table = test[["file", "speaker", "sex", "language", "split", "transcript"]]
    table = table.merge(pd.Series(CONDITIONS, name="condition"), how="cross")
    table.insert(len(table.columns) - 1, "item", [Path(file).stem for file in table["file"]])
    names = zip(table["speaker"], table["item"], table["condition"], strict=True)
    return table.assign(
        file=[f"audio/{speaker}/{item}_{condition}.wav" for speaker, item, condition in names]
    )


def write_recordings(folder: Path, speech: Path, table: pd.DataFrame) -> None:
    """Record segments under their conditions."""
    for row in table.itertuples():
        said = audio.read(speech / "audio" / row.speaker / f"{row.item}.wav")
        (folder / row.file).parent.mkdir(parents=True, exist_ok=True)
        recorded = record(said, row.condition, row.speaker, row.item)
        audio.write(folder / row.file, recorded.astype(np.float32), SAMPLING_RATE)


def record(signal: np.ndarray, condition: str, speaker: str, item: str) -> np.ndarray:
    """Record a signal under a condition; speaker and item decide the room and the noise.

    The peak of the result is at most 0.8.
    """
    signal = np.asarray(signal, dtype=np.float64)
    recorded = {"boundary": _boundary, "headset": lambda x, _: x, "mobile": _mobile}[condition](
        signal, speaker
    )
    recorded = recorded * (level(signal) / level(recorded))
    noise = seeds.generator(0, "recordings", condition, item).standard_normal(len(recorded))
    recorded = recorded + level(signal) * 10 ** (NOISE_DB[condition] / 20) * noise
    return recorded * min(1.0, PEAK / np.abs(recorded).max())


def _boundary(signal: np.ndarray, speaker: str) -> np.ndarray:
    rng = seeds.generator(0, "recordings", "room", speaker)
    time = np.arange(round(REVERBERATION * SAMPLING_RATE)) / SAMPLING_RATE
    tail = rng.standard_normal(len(time)) * 10 ** (-3 * time / REVERBERATION)
    tail[: round(0.004 * SAMPLING_RATE)] = 0  # the first reflection comes later than the direct sound
    tail *= 10 ** (-DIRECT_DB / 20) / np.sqrt(np.sum(tail**2))
    tail[0] = 1
    reverberant = scipy.signal.oaconvolve(signal, tail)[: len(signal)]
    low = scipy.signal.butter(1, 4500, "lowpass", output="sos", fs=SAMPLING_RATE)
    return scipy.signal.sosfilt(low, reverberant)


def _mobile(signal: np.ndarray, speaker: str) -> np.ndarray:
    band = scipy.signal.butter(2, (200, 5500), "bandpass", output="sos", fs=SAMPLING_RATE)
    filtered = scipy.signal.sosfilt(band, signal)
    return np.tanh(2.5 * filtered / np.abs(filtered).max())


def monologues(speech: pd.DataFrame) -> pd.DataFrame:
    """Choose half of the test speakers, as many women as men, and put their segments in order.

    The files of the speech become the column ``item``.
    """
    import pandas as pd

    test = speech[speech["split"] == "test"].groupby("speaker", sort=False).head(SEGMENTS)
    parts = []
    for number, (name, segments) in enumerate(test.groupby("speaker", sort=False)):
        pair, second = divmod(number // 2, 2)  # a woman and a man follow each other
        if not second:
            order = segments.sort_values("arousal", kind="stable") if pair % 2 else segments
            parts.append(order.assign(item=order["file"], file=f"audio/{name}.wav"))
    return pd.concat(parts, ignore_index=True)


def write_monologues(folder: Path, speech: Path, table: pd.DataFrame) -> pd.DataFrame:
    """Write the files; gives the segments with ``start`` and ``end`` as text, in seconds."""
    (folder / "audio").mkdir()
    times = []
    for file, segments in table.groupby("file", sort=False):
        rng, pieces, place = seeds.generator(0, "monologues", file), [], 0
        for item in segments["item"]:
            pause = round(SAMPLING_RATE * rng.uniform(*PAUSE)) if pieces else 0
            said = audio.read(speech / item)
            pieces += [np.zeros(pause, dtype=np.float32), said]
            times.append([place + pause, place + pause + len(said)])
            place = times[-1][1]
        audio.write(folder / file, np.concatenate(pieces), SAMPLING_RATE)
    # A sample lasts 0.0000625 s: seven digits are exact.
    start, end = zip(*([f"{samples / SAMPLING_RATE:.7f}" for samples in pair] for pair in times), strict=True)
    table = table.drop(columns="item")
    table.insert(1, "start", start)
    table.insert(2, "end", end)
    return table


# What the pages of the book say about a corpus, with the numbers of the corpus itself

LANGUAGES = {
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "it": "Italian",
    "ja": "Japanese",
    "pt": "Portuguese",
    "zh": "Chinese",
}
WORDS = "no one two three four five six seven eight nine ten eleven twelve".split()

_TEXT = Path(__file__).with_name("descriptions.md").read_text(encoding="utf-8")
WORDING = dict(section.split("\n", 1) for section in _TEXT.removeprefix("# ").split("\n# "))


def describe(size: str, part: str) -> str:
    """Describe a demo corpus for people, in a few sentences of plain text."""
    everyone = speakers(size, part)
    test = [(speaker, count) for speaker, count in everyone if speaker.split == "test"]
    accents: Counter[str] = Counter()
    for speaker, count in test:
        accents[speaker.accent] += count
    numbers = {
        "test": str(len(test)),
        "train": str(len(everyone) - len(test)),
        "people": _people([speaker for speaker, _ in test]),
        "accents": _list([accent.title() for accent in accents]),
        "group_segments": _range(accents.values()),
        "own_segments": _range(count for _, count in test),
        "languages": _list(
            [LANGUAGES[name] for name in dict.fromkeys(speaker.language for speaker, _ in test)]
        ),
        "sentences": _number(texts.EACH if part == TEXTS else len(texts.SCRIPT["test"])),
        "words": str(len(texts.vocabulary())),
        "items": _number(ITEMS),
        "segments": _number(SEGMENTS),
        "conditions": _number(len(CONDITIONS)),
    }
    return " ".join(WORDING[part].format(**numbers).split())


def _people(speakers: Sequence[Speaker]) -> str:
    """Say how many women and men the first group has; all groups have as many."""
    first = (speakers[0].language, speakers[0].accent)
    sexes = [speaker.sex for speaker in speakers if (speaker.language, speaker.accent) == first]
    parts = []
    for sex, one, several in (("female", "woman", "women"), ("male", "man", "men")):
        count = sexes.count(sex)
        parts.append(f"{_number(count)} {one if count == 1 else several}")
    return _list(parts)


def _number(count: int) -> str:
    return WORDS[count] if count < len(WORDS) else str(count)


def _range(counts: Iterable[int]) -> str:
    fewest, *_, most = sorted([*counts] * 2)
    return str(most) if fewest == most else f"{fewest} to {most}"


def _list(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
