"""Nothing hangs, leaves its folder or stays half written."""

import os
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.common import files
from soundcheck.common.errors import InputError

NAMES = st.one_of(st.text(st.characters(), max_size=50), st.from_regex(r"[a-z0-9./-]{0,12}", fullmatch=True))


@given(st.lists(NAMES, min_size=2, max_size=8, unique=True))
def test_slugs_differ_on_case_blind_file_systems(names):
    slugs = [files.slug(name).lower() for name in names]
    assert len(set(slugs)) == len(names)


@given(NAMES)
def test_slug_is_a_safe_file_name(name):
    slug = files.slug(name)
    assert re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,60}", slug)
    assert slug not in ("con", "nul", "index", "search", "genindex", "com1")


@given(NAMES)
def test_nobody_can_take_the_slug_of_another(name):
    slug = files.slug(name)
    assert slug == name or files.slug(slug) != slug


@pytest.mark.parametrize("name", ["prosody", "random-gaussian", "a_b-2"])
def test_plain_names_keep_their_form(name):
    assert files.slug(name) == name


@pytest.mark.parametrize("name", ["search", "Prosody", "a/b", "..", "", "日本", "a" * 41, "COM1"])
def test_other_names_get_a_hash(name):
    assert re.search(r"(^|-)[0-9a-f]{10}$", files.slug(name))


@given(st.lists(st.sampled_from(["..", ".", "a", "b", "", "/", "~", "\x00", "link"]), max_size=8))
def test_inside_never_leaves_the_root(tmp_path_factory, parts):
    root = tmp_path_factory.getbasetemp() / "root"
    root.mkdir(exist_ok=True)
    if not (root / "link").is_symlink():
        (root / "link").symlink_to("/")
    name = "/".join(parts)
    try:
        path = files.inside(root, name)
    except InputError:
        return
    assert path.resolve().is_relative_to(root.resolve())


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../x", "link/x", "loop", "a\x00b"])
def test_inside_refuses(tmp_path, name):
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(tmp_path)
    (root / "loop").symlink_to(root / "loop")
    if name == "loop":  # harmless to join, refused when it is opened
        assert files.irregularity(root / name)
        return
    with pytest.raises(InputError, match="leads out of its folder"):
        files.inside(root, name)


def test_inside_joins(tmp_path):
    assert files.inside(tmp_path, "a/b.wav") == tmp_path.resolve() / "a/b.wav"


def test_irregular_files_are_named_and_never_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    (tmp_path / "device").symlink_to("/dev/zero")
    (tmp_path / "large").write_bytes(b"12345")
    assert files.irregularity(tmp_path / "pipe") == "this is not a regular file"
    assert files.irregularity(tmp_path / "device") == "this is not a regular file"
    assert files.irregularity(tmp_path) == "this is a folder, not a file"
    assert files.irregularity(tmp_path / "dangling") == "the link leads nowhere"
    assert files.irregularity(tmp_path / "nothing") == "the file does not exist"
    assert "5 bytes, more than the limit of 4" in files.irregularity(tmp_path / "large", 4)
    assert files.irregularity(tmp_path / "large", 5) == ""
    assert "null" in files.irregularity("a\x00b")


def test_missing_file_names_the_nearest(tmp_path):
    (tmp_path / "segments.csv").touch()
    with pytest.raises(
        InputError, match=r"^seg.csv: the file does not exist. Did you mean 'segments.csv'\?$"
    ):
        files.require_regular(tmp_path / "segment.csv", "seg.csv")


def test_missing_folder_names_the_nearest(tmp_path):
    (tmp_path / "data").mkdir()
    assert files.nearest_name(tmp_path / "dat" / "segments.csv") == "Did you mean 'data'?"
    assert files.nearest_name(tmp_path / "xyz") == ""


def test_write_and_digest(tmp_path):
    path = tmp_path / "new" / "a.txt"
    digest = files.write_text(path, "ä\n\ud800")
    assert path.read_bytes() == "ä\n\\ud800".encode()
    assert digest == files.digest(path) == files.digest(path.read_bytes())
    assert len(digest) == 40
    assert os.listdir(path.parent) == ["a.txt"]


def test_a_failed_write_keeps_the_old_file(tmp_path):
    path = tmp_path / "a.txt"
    files.write_text(path, "old")
    with pytest.raises(RuntimeError), files.replacing(path) as part:
        part.write_text("half")
        raise RuntimeError
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_full_disk_is_told(tmp_path):
    with (
        pytest.raises(files.OutputError, match="Cannot write a.txt: No space left.*Make space"),
        files.replacing(tmp_path / "a.txt"),
    ):
        raise OSError(28, "No space left on device")
    assert os.listdir(tmp_path) == []


def test_a_file_that_says_the_same_is_left_as_it_is(tmp_path):
    path = tmp_path / "a.txt"
    assert files.write_text(path, "one") == files.digest("one")
    before = path.stat()
    assert files.write_text(path, "one") == files.digest("one")
    with files.replacing(path) as part:
        part.write_text("one")
    after = path.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.txt"]
    files.write_text(path, "two")
    assert path.read_text() == "two"


@pytest.mark.parametrize("odd", ["link", "rights"])
def test_what_only_looks_the_same_is_replaced(tmp_path, odd):
    path, other = tmp_path / "a.txt", tmp_path / "other"
    other.write_text("one")
    if odd == "link":
        path.symlink_to(other)
    else:
        path.write_text("one")
        path.chmod(0o666)
    files.write_text(path, "one")
    assert not path.is_symlink() and path.stat().st_mode & 0o777 == 0o644 and path.read_text() == "one"
