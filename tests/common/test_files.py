"""Nothing hangs, leaves its folder or stays half written."""

import os
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.common import files
from soundcheck.common.errors import InputError, SoundcheckError
from soundcheck.common.media import MediaStore

NAMES = st.text(st.characters(), max_size=30) | st.text("aAbz01./-_", max_size=6)


@given(st.lists(NAMES, min_size=2, max_size=8, unique=True))
def test_slugs_are_safe_file_names_that_differ_on_case_blind_file_systems(names):
    slugs = [files.slug(name) for name in names]
    assert len({slug.lower() for slug in slugs}) == len(names)
    for name, slug in zip(names, slugs, strict=True):
        assert re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,60}", slug)
        assert slug not in ("con", "nul", "index", "search", "genindex", "com1")
        assert slug == name or files.slug(slug) != slug  # nobody can take that of another
    assert files.slug("a_b-2") == "a_b-2"


@given(st.lists(st.sampled_from(["..", ".", "a", "b", "", "/", "~", "\x00", "link"]), max_size=8))
def test_inside_never_leaves_the_root(tmp_path_factory, parts):
    root = tmp_path_factory.getbasetemp() / "root"
    root.mkdir(exist_ok=True)
    if not (root / "link").is_symlink():
        (root / "link").symlink_to("/")
    try:
        path = files.inside(root, "/".join(parts))
        assert path.resolve().is_relative_to(root.resolve())
    except InputError as error:
        assert "leads out of its folder" in str(error) and {"..", "", "\x00", "link", "/"} & {*parts}


def test_irregular_files_are_named_and_never_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name, target in (("dangling", "nothing"), ("device", "/dev/zero"), ("loop", "loop")):
        (tmp_path / name).symlink_to(tmp_path / target)
    (tmp_path / "large").write_bytes(b"12345")
    for name, reason in {
        **{"pipe": "this is not a regular file", "device": "this is not a regular file"},
        **{"folder": "this is a folder, not a file", "dangling": "the link leads nowhere"},
        **{"nothing": "the file does not exist", "large": "5 bytes, more than the limit of 4"},
        **{"a\x00b": "null", "loop": " "},
    }.items():
        assert reason in files.irregularity(tmp_path / name, 4), name
    assert files.irregularity(tmp_path / "large", 5) == ""
    with pytest.raises(InputError, match=r"^s.csv: the file does not exist. Did you mean 'large'\?$"):
        files.require_regular(tmp_path / "larg", "s.csv")
    assert files.nearest_name(tmp_path / "foldr" / "segments.csv") == "Did you mean 'folder'?"


def test_written_files_have_a_digest_and_are_left_as_they_are_if_nothing_changed(tmp_path):
    path, other = tmp_path / "new" / "a.txt", tmp_path / "other"
    digest = files.write_text(path, "ä\n\ud800")
    assert path.read_bytes() == "ä\n\\ud800".encode()
    assert digest == files.digest(path) == files.digest(path.read_bytes()) and len(digest) == 40
    before = path.stat()
    assert files.write_text(path, "ä\n\ud800") == digest
    after = path.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert os.listdir(path.parent) == ["a.txt"]
    path.chmod(0o666)  # other rights, or a link to the same content, are replaced
    files.write_text(path, "ä\n\ud800")
    assert path.stat().st_mode & 0o777 == 0o644
    path.rename(other)
    path.symlink_to(other)
    files.write_text(path, "ä\n\ud800")
    assert not path.is_symlink()


def test_a_failed_write_keeps_the_old_file(tmp_path):
    path = tmp_path / "a.txt"
    files.write_text(path, "old")
    with pytest.raises(RuntimeError), files.replacing(path) as part:
        part.write_text("half")
        raise RuntimeError
    full = "Cannot write a.txt: No space left.*Make space"
    with pytest.raises(files.OutputError, match=full), files.replacing(path) as part:
        raise OSError(28, "No space left on device")
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["a.txt"]


def test_same_content_is_stored_once_and_a_file_that_was_cut_is_written_again(tmp_path):
    near, far = (MediaStore(tmp_path / "media", prefix) for prefix in ("media/", "../../media/"))
    name = far.name(b"sound", ".flac")
    assert far.add(b"sound", ".flac") == far.add(b"sound", ".flac") == f"../../media/{name}"
    assert near.add(b"sound", ".flac") == f"media/{name}" and re.fullmatch(r"[0-9a-f]{16,}\.flac", name)
    assert len({near.add(b"a", ".png"), near.add(b"b", ".png"), near.add(b"a", ".svg")}) == 3
    (tmp_path / "media" / name).write_bytes(b"so")
    near.add(b"sound", ".flac")
    assert (tmp_path / "media" / name).read_bytes() == b"sound"


def test_a_book_without_voices_takes_pictures_and_no_sound(tmp_path):
    store = MediaStore(tmp_path / "media", voices="none")
    assert not store.heard and store.add(b"x", ".svg").endswith(".svg")
    for suffix in (".flac", ".WAV"):
        with pytest.raises(ValueError, match="without sounds"):
            store.add(b"x", suffix)
    file = next((tmp_path / "media").iterdir())
    with pytest.raises(SoundcheckError, match="Cannot write"):
        MediaStore(file).add(b"x", ".png")  # a file where the folder should be
