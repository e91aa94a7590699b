"""Data flows one way, and the page *Architecture* tells what the code is: both are made from the imports."""

import pkgutil
import re
import subprocess
import sys

import pytest
from docs.architecture import LIBRARY, PAGE, PICTURE, TABLE, imported, imports, packages, picture, table

# The packages in the order of the flow; one imports only from those before it. Inside a package anything goes
# that is no circle.
ORDER = """
common metrics statistics suite corpora augment models predict results evaluation start
report score publish run efficiency book pipeline commands cli
"""


def test_imports_point_backwards_and_never_to_the_demo():
    order = ORDER.split()
    assert {*order} == {*packages()} and len([path for path in LIBRARY.iterdir() if path.is_file()]) <= 5
    place = order.index
    against = [(name, other) for name in order for other in imported()[name] if place(other) > place(name)]
    assert against == [] and not [edge for edge in imports() if edge[1].startswith("soundcheck_demo")]


READS = (
    "from soundcheck.suite.suite_file import read_suite; from soundcheck.common import resources; "
    "read_suite(resources.root() / 'suite.yml')"
)
WORKS = "import importlib; from soundcheck.models import processes; "
WORKS += "[importlib.import_module(name) for name in processes.PRELOADED]"
HEAVY = {"pandas", "papermill", "matplotlib", "parselmouth", "sklearn", "pyarrow", "distributed"}
STARTS = {"from soundcheck import cli": {"scipy", "soundfile"}, READS: {"scipy", "soundfile"}}
STARTS |= {WORKS: {"scipy.signal"}}


@pytest.mark.parametrize("code", STARTS, ids=["help", "suite", "a model's process"])
def test_what_starts_often_imports_nothing_heavy(code):
    heavy = HEAVY | STARTS[code]
    code = f"import sys; {code}; print(sorted({heavy} & set(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_the_page_shows_the_packages_as_they_are():
    assert all(first.endswith(".") for first in packages().values())
    assert TABLE.search(PAGE.read_text(encoding="utf-8")).group() == table()
    assert PICTURE.read_text(encoding="utf-8") == picture()


def test_the_functions_of_the_walk_exist():
    walk = PAGE.read_text("utf-8").partition("on its way to a page")[2]
    names = re.findall(r"`(soundcheck(?:\.\w+)+)`", walk)
    assert len(set(names)) == 13
    for name in names:
        pkgutil.resolve_name(name)
