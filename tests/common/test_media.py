"""Sounds and pictures are stored once, whole, under a name that follows from their content."""

import re

import pytest

from soundcheck.common.errors import SoundcheckError
from soundcheck.common.media import MediaStore


def test_same_content_is_stored_once_and_shared(tmp_path):
    store = MediaStore(tmp_path / "media", "../../media/")
    first, second = store.add(b"sound", ".flac"), store.add(b"sound", ".flac")
    assert first == second
    assert re.fullmatch(r"\.\./\.\./media/[0-9a-f]{16,}\.flac", first)
    assert len(list((tmp_path / "media").iterdir())) == 1


def test_name_is_that_of_the_stored_file(tmp_path):
    store = MediaStore(tmp_path, "../media/")
    name = store.name(b"sound", ".flac")
    assert not (tmp_path / name).exists()
    assert store.add(b"sound", ".flac") == f"../media/{name}"
    assert (tmp_path / name).read_bytes() == b"sound"


def test_pages_at_other_depths_share_the_file(tmp_path):
    near, far = (MediaStore(tmp_path, prefix) for prefix in ("media/", "../../media/"))
    assert near.add(b"x", ".png").split("/")[-1] == far.add(b"x", ".png").split("/")[-1]


def test_other_content_gets_another_name(tmp_path):
    store = MediaStore(tmp_path)
    assert store.add(b"a", ".png") != store.add(b"b", ".png")
    assert store.add(b"a", ".png") != store.add(b"a", ".svg")


def test_a_file_that_was_cut_is_written_again(tmp_path):
    store = MediaStore(tmp_path)
    name = store.add(b"0123456789", ".flac").split("/")[-1]
    (tmp_path / name).write_bytes(b"012")
    store.add(b"0123456789", ".flac")
    assert (tmp_path / name).read_bytes() == b"0123456789"


def test_a_full_disk_is_told_and_leaves_no_part(tmp_path):
    (tmp_path / "media").write_text("a file where the folder should be")
    with pytest.raises(SoundcheckError, match="Cannot write"):
        MediaStore(tmp_path / "media").add(b"x", ".png")


def test_a_book_without_voices_takes_pictures_and_no_sound(tmp_path):
    store = MediaStore(tmp_path / "media", voices="none")
    assert not store.heard and store.add(b"x", ".svg").endswith(".svg")
    for suffix in (".flac", ".WAV", ".mp3"):
        with pytest.raises(ValueError, match="without sounds"):
            store.add(b"x", suffix)
    assert [path.suffix for path in (tmp_path / "media").iterdir()] == [".svg"]
