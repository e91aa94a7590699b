"""Formats that are a folder, or a manifest, and a reader: nothing else is to be said about them here."""

from __future__ import annotations

from soundcheck.suite.corpus_format import Folder, TableFormat, TableKeys


class FolderKeys(TableKeys):
    """Keys of a folder."""

    path: Folder = ""


class AudioFolderFormat(TableFormat):
    """``format: audiofolder``: sounds as the Hugging Face Hub knows them, with metadata or labels."""

    keyword = "audiofolder"
    keys = FolderKeys
    reader = "soundcheck.corpora.layouts.audio_folder:read_audio_folder"


class KaldiFormat(TableFormat):
    """``format: kaldi``: a data folder of Kaldi or ESPnet, with ``wav.scp`` and the files beside it."""

    keyword = "kaldi"
    keys = FolderKeys
    reader = "soundcheck.corpora.layouts.kaldi_folder:read_folder"


class LhotseFormat(TableFormat):
    """``format: lhotse``: a manifest of cuts, ``cuts.jsonl.gz`` or ``cuts.jsonl``."""

    keyword = "lhotse"
    reader = "soundcheck.corpora.layouts.lhotse_cuts:read_cuts"
