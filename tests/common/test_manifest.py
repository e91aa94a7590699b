"""Lists of digests: others can check them, and no list leads out of its folder or makes anybody wait."""

import hashlib
import os
import shutil
import subprocess

import pytest

from soundcheck.common import manifest
from soundcheck.common.errors import InputError
from soundcheck.common.manifest import ADDED, CHANGED, MANIFEST, MISSING

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
    return [(one.what, one.name, one.why) for one in listed]


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
    assert sorted(differences(folder), key=lambda one: one[1]) == [
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
