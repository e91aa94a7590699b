"""Nothing hangs, leaves its folder or stays half written; lists of digests say what was changed."""

import hashlib
import os
import re
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.common import files, manifest
from soundcheck.common.manifest import ADDED, CHANGED, MANIFEST, MISSING
from soundcheck.common.media import MediaStore
from soundcheck.common.messages import InputError, SoundcheckError

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
    (tmp_path / "a\u0308.wav").touch()
    assert files.nearest_name(tmp_path / "\u00e4.wav") == "Did you mean 'a\\u0308.wav', which looks the same?"


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


LINK = "it is a link now, or lies in one"
ODD_NAMES = ["with blank", "é", " leading", "*star"]


@pytest.fixture
def folder(tmp_path):
    for name in ("index.html", "media/a.flac", "media/b.png", "results.csv", *ODD_NAMES):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())
    manifest.write(tmp_path)
    return tmp_path


def differences(folder):
    listed = manifest.differences(folder, manifest.read(folder).digests)
    return [(difference.what, difference.name, difference.why) for difference in listed]


def test_the_same_files_have_no_difference_and_give_the_same_bytes(folder, tmp_path_factory):
    assert differences(folder) == [] and manifest.read(folder).malformed_lines == ()
    digest = manifest.write(folder)
    assert digest == hashlib.sha256((folder / MANIFEST).read_bytes()).hexdigest()
    copy = tmp_path_factory.mktemp("copies") / "copy"
    shutil.copytree(folder, copy)
    assert manifest.write(copy) == digest


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="sha256sum is not installed")
def test_sha256sum_reads_the_list_and_writes_the_same(folder):
    def run(*arguments):
        return subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=False)

    assert run("sha256sum", "--strict", "--quiet", "-c", MANIFEST).returncode == 0
    names = sorted(manifest.read(folder).digests)
    assert run("sha256sum", "--", *names).stdout == (folder / MANIFEST).read_text()
    (folder / "media" / "a.flac").write_bytes(b"media/b.flac")
    assert "media/a.flac: FAILED" in run("sha256sum", "-c", MANIFEST).stdout


def test_every_kind_of_change_is_named_and_no_link_or_pipe_opened(folder, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (folder / "with blank").write_bytes(b"changed")
    os.rename(folder / "é", folder / "new")
    os.rename(folder / "media", elsewhere / "media")
    (folder / "media").symlink_to(elsewhere / "media")
    (folder / "results.csv").rename(elsewhere / "results.csv")
    (folder / "results.csv").symlink_to(elsewhere / "results.csv")
    (folder / "index.html").unlink()
    os.mkfifo(folder / "index.html")
    assert sorted(differences(folder), key=lambda difference: difference[1]) == [
        (CHANGED, "index.html", "this is not a regular file"),
        (ADDED, "media", ""),
        (CHANGED, "media/a.flac", LINK),
        (CHANGED, "media/b.png", LINK),
        (ADDED, "new", ""),
        (CHANGED, "results.csv", LINK),
        (CHANGED, "with blank", ""),
        (MISSING, "é", ""),
    ]


@pytest.mark.parametrize(
    "line",
    [
        *(f"{'0' * 64}  {name}" for name in ("../secret", "/etc/passwd", "nul\0x")),
        f"{'0' * 63}  index.html",
        f"{'0' * 64}  results.csv",  # a second time
    ],
)
def test_a_line_that_does_not_belong_in_a_list_is_reported(folder, line):
    with open(folder / MANIFEST, "a") as file:
        file.write(f"{line}\n")
    listed = manifest.read(folder)
    assert listed.malformed_lines == (9,) and len(listed.digests) == 8
    assert "secret" not in str(listed)


def test_no_list_or_a_pipe(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        manifest.read(tmp_path)
    os.mkfifo(tmp_path / MANIFEST)
    with pytest.raises(InputError, match="not a regular file"):
        manifest.read(tmp_path)
