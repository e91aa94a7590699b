"""How the sounds of a corpus are stored, as the headers of the files say, counted."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import pandas as pd

from soundcheck.corpora.audio import AudioInfo

_CONTAINERS = {"WAVEX": "WAV", "RF64": "WAV (RF64)", "OGG": "Ogg"}
_ENCODINGS = {
    **{f"PCM_{bits}": f"{bits}-bit PCM" for bits in (16, 24, 32)},
    **{"PCM_S8": "8-bit PCM", "PCM_U8": "8-bit PCM", "FLOAT": "32-bit float", "DOUBLE": "64-bit float"},
    **{
        "ALAW": "A-law",
        "ULAW": "µ-law",
        "VORBIS": "Vorbis",
        "OPUS": "Opus",
        "MPEG_LAYER_III": "layer III",
    },
}
_BITS = {"PCM_S8": 8, "PCM_U8": 8, "PCM_16": 16, "PCM_24": 24, "PCM_32": 32, "FLOAT": 32, "DOUBLE": 64}
_BITS |= {"ALAW": 8, "ULAW": 8}


@dataclasses.dataclass(frozen=True)
class SoundFormat:
    """Files that are stored alike.

    - ``container, encoding``: see :class:`soundcheck.corpora.audio.AudioInfo`.
    """

    container: str
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
        return f"{container}, {_ENCODINGS.get(self.encoding, self.encoding)}"

    @property
    def bits(self) -> int:
        """Bits a sample; 0 where a codec knows none."""
        return _BITS.get(self.encoding, 0)


def sound_formats(names: pd.Series, facts: Mapping[str, AudioInfo]) -> tuple[SoundFormat, ...]:
    """Count the files of segments by the way they are stored.

    - ``facts``: file -> what it is; without any there is no audio.
    - Returns those of the most files first.
    """
    if not facts:
        return ()
    segments = names.value_counts()
    found = [facts[name] for name in segments.index]
    keys = ["container", "encoding", "sampling_rate", "channels"]
    frame = pd.DataFrame(
        [[*(getattr(one, key) for key in keys), one.duration] for one in found], columns=[*keys, "seconds"]
    ).assign(segments=segments.to_numpy(), files=1)
    counted = frame.groupby(keys, as_index=False)[["files", "segments", "seconds"]].sum()
    counted = counted.sort_values(["files", *keys], ascending=[False, *[True] * len(keys)])
    return tuple(
        SoundFormat(
            *(row.container, row.encoding, int(row.sampling_rate), int(row.channels)),
            *(int(row.files), int(row.segments), round(float(row.seconds), 3)),
        )
        for row in counted.itertuples()
    )
