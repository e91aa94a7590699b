"""`jupyter-book build .` builds the handbook: complete, without a warning, no link into nothing."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.links import dead_links

from soundcheck.common import resources

pytestmark = pytest.mark.slow


def test_the_handbook_is_built_as_any_book_of_jupyter_book(tmp_path):
    root = tmp_path / "checkout"
    shutil.copytree(resources.root() / "book", root / "book")
    for name in ("_config.yml", "_toc.yml"):
        shutil.copyfile(resources.root() / name, root / name)
    command = [Path(sys.executable).with_name("jupyter-book"), "build", ".", "-W", "--keep-going", "-q"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    site = root / "_build" / "html"
    assert dead_links(site) == []
    page = (site / "book" / "methods" / "robustness_background_noise.html").read_text(encoding="utf-8")
    assert "Robustness Background Noise" in page and "<audio" in page and 'class="sc-table' in page
    assert "http" not in page.partition("<head>")[2].partition("</head>")[0].replace("http-equiv", "")
