"""Looks at many audio files at once, remembers what they are, and counts how they are stored."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd

from soundcheck.common import files, store
from soundcheck.common.progress import Progress
from soundcheck.corpora import audio
from soundcheck.corpora.audio import AudioInfo

_CONTAINERS = {"WAVEX": "WAV", "RF64": "WAV (RF64)", "OGG": "Ogg"}
_ENCODINGS = {  # of libsndfile -> what people call it, and bits a sample; 0 where a codec knows none
    **{f"PCM_{bits}": (f"{bits}-bit PCM", bits) for bits in (16, 24, 32)},
    **{"PCM_S8": ("8-bit PCM", 8), "PCM_U8": ("8-bit PCM", 8), "ALAW": ("A-law", 8), "ULAW": ("µ-law", 8)},
    **{"FLOAT": ("32-bit float", 32), "DOUBLE": ("64-bit float", 64)},
    **{"VORBIS": ("Vorbis", 0), "OPUS": ("Opus", 0), "MPEG_LAYER_III": ("layer III", 0)},
}


@dataclasses.dataclass(frozen=True)
class SoundFormat:
    """Files that are stored alike."""

    container: str  # see AudioInfo
    encoding: str
    sampling_rate: int  # in Hz, of the files; models hear 16 kHz
    channels: int  # of the files; models hear their mean
    files: int
    segments: int
    seconds: float  # length of the files together

    @property
    def name(self) -> str:
        """What people call it, such as ``WAV, 16-bit PCM``."""
        container = _CONTAINERS.get(self.container, self.container)
        return f"{container}, {_ENCODINGS.get(self.encoding, (self.encoding, 0))[0]}"

    @property
    def bits(self) -> int:
        """Bits a sample; 0 where a codec knows none."""
        return _ENCODINGS.get(self.encoding, ("", 0))[1]


def sound_formats(names: pd.Series, facts: Mapping[str, AudioInfo]) -> tuple[SoundFormat, ...]:
    """Count the files of segments by the way they are stored, those of the most files first."""
    if not facts:
        return ()
    segments = names.value_counts()
    keys = ["container", "encoding", "sampling_rate", "channels"]
    frame = pd.DataFrame([vars(facts[name]) for name in segments.index])
    frame = frame.assign(segments=segments.to_numpy(), files=1).rename(columns={"duration": "seconds"})
    table = frame.groupby(keys, as_index=False)[["files", "segments", "seconds"]].sum().round({"seconds": 3})
    table = table.sort_values(["files", *keys], ascending=[False, *[True] * len(keys)])
    return tuple(SoundFormat(**row) for row in table.to_dict("records"))


def inspect_files(
    root: Path,
    names: Sequence[str],
    limit: float,
    path: Path,
    *,
    jobs: int = 1,
    progress: bool = False,
    title: str = "",
) -> dict[str, AudioInfo]:
    """Look at every file once; what is known about the same content is not looked at again.

    - ``limit``: seconds of the longest file that is read.
    - ``path``: file that keeps what is known.
    """
    version = files.digest(f"{limit} {files.digest(Path(audio.__file__))}")
    known = {key: AudioInfo(**value) for key, value in (store.read(path, version) or {}).items()}
    # joblib takes longer to hand a small file out than to read it, and a thread to hand over its hash
    threads = max(1, jobs)
    shares = [[root / name for name in names[first::threads]] for first in range(threads)]
    hashes = [""] * len(names)
    with ThreadPoolExecutor(threads) as pool:
        for first, share in enumerate(pool.map(lambda paths: list(map(_digest, paths)), shares)):
            hashes[first::threads] = share
    todo = {content: name for name, content in zip(names, hashes, strict=True) if content not in known}
    if todo:
        from joblib import Parallel, delayed  # late: mostly nothing is new

        infos = Parallel(n_jobs=min(jobs, max(1, len(todo) // 50 + 1)), return_as="generator")(
            delayed(audio.inspect)(root / name, limit) for name in todo.values()
        )
        infos = Progress.over(infos, "looking at audio", f"files of {title}", len(todo), visible=progress)
        known |= dict(zip(todo, infos, strict=True))
        readable = [content for content in hashes if not content.startswith("?")]
        store.write(path, {content: vars(known[content]) for content in readable}, version)
    return {name: known[content] for name, content in zip(names, hashes, strict=True)}


def _digest(path: Path) -> str:
    """Hash a file; one that cannot be read gets a name of its own, so that it is looked at each time."""
    try:
        return f"?{path}" if files.irregularity(path) else files.digest(path)
    except OSError:
        return f"?{path}"
