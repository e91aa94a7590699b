"""A segment to hear: with a player where there is a sound, else in words, and why."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import soundfile

from soundcheck.common.media import MediaStore
from soundcheck.corpora.audio import SAMPLING_RATE, read
from soundcheck.evaluation.comparison import Pair
from soundcheck.evaluation.corpus_view import CorpusView
from soundcheck.report.html import Html, element
from soundcheck.report.players import player, row, silent


def signal_of(root: Path, segment: pd.Series) -> np.ndarray:
    """Read a row of a segment table, float32 ``(samples,)``."""
    return read(root / segment["file"], segment["start"], segment["end"])


def segment_name(segment: pd.Series) -> str:
    """Name a segment by its file, and by its times in seconds if it is a part of it."""
    start, end = segment.get("start"), segment.get("end")
    if pd.isna(end) and (pd.isna(start) or not start):
        return str(segment["file"])
    return f"{segment['file']} {0 if pd.isna(start) else start:g}–{'' if pd.isna(end) else f'{end:g}'} s"


def segment_player(
    media: MediaStore,
    where: Pair | CorpusView,
    segment: pd.Series,
    caption: str,
    color: str = "original",
    *,
    heard: bool = True,
) -> Html:
    """Let a segment be heard; of a corpus without audio, or a sound that cannot be read, say what there is.

    Parameters
    ----------
    media
        Where sound and picture go.
    where
        The corpus: its folder, and whether there is anything to hear.
    segment
        Row of the segment table.
    caption
        What is said about it; may come from data.
    color
        See :func:`soundcheck.report.players.player`.
    heard
        Whether it is to be heard at all: not of a model that guesses.
    """
    if not where.audio or not heard:
        return element("p", f"{segment['file']}: {caption}", limit=None)
    try:
        signal = signal_of(where.root, segment)
    except (OSError, soundfile.LibsndfileError):  # the folder of the corpus may have changed since
        return silent(segment["file"], *filter(None, [caption]), "the sound cannot be read")
    return player(media, signal, SAMPLING_RATE, segment["file"], caption=caption, color=color)


def beside(heard: Html, words: Html) -> Html:
    """Put words beside what is heard; below it where there is no room."""
    return element("div", element("div", row([heard])), element("div", words), class_="sc-heard")
