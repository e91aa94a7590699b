"""Sounds and pictures are stored once, whole, under a name that follows from their content."""

import re

import pytest

from soundcheck.common.errors import SoundcheckError
from soundcheck.common.media import MediaStore


def test_same_content_is_stored_once_and_shared_by_pages_at_all_depths(tmp_path):
    near, far = (MediaStore(tmp_path / "media", prefix) for prefix in ("media/", "../../media/"))
    name = far.name(b"sound", ".flac")
    assert far.add(b"sound", ".flac") == far.add(b"sound", ".flac") == f"../../media/{name}"
    assert near.add(b"sound", ".flac") == f"media/{name}" and re.fullmatch(r"[0-9a-f]{16,}\.flac", name)
    assert [path.read_bytes() for path in (tmp_path / "media").iterdir()] == [b"sound"]
    assert len({near.add(b"a", ".png"), near.add(b"b", ".png"), near.add(b"a", ".svg")}) == 3
    (tmp_path / "media" / name).write_bytes(b"so")  # a file that was cut is written again
    near.add(b"sound", ".flac")
    assert (tmp_path / "media" / name).read_bytes() == b"sound"


def test_a_book_without_voices_takes_pictures_and_no_sound(tmp_path):
    store = MediaStore(tmp_path / "media", voices="none")
    assert not store.heard and store.add(b"x", ".svg").endswith(".svg")
    for suffix in (".flac", ".WAV", ".mp3"):
        with pytest.raises(ValueError, match="without sounds"):
            store.add(b"x", suffix)
    with pytest.raises(SoundcheckError, match="Cannot write"):
        MediaStore(next((tmp_path / "media").iterdir())).add(
            b"x", ".png"
        )  # a file where the folder should be
