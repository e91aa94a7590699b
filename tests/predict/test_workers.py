import subprocess
import sys

import pytest

from soundcheck.predict.pool import _alone, _only, _without
from soundcheck.predict.protocol import Call, Item, Unit


def test_a_worker_starts_light():
    code = (
        "import sys, soundcheck.predict.workers; "
        "heavy = {'papermill', 'matplotlib', 'sklearn', 'pandas', 'pyarrow', 'parselmouth'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


@pytest.fixture
def units() -> list[Unit]:
    def item(name: str, count: int) -> Item:
        return Item(name, None, None, name, tuple(Call(f"{name}{n}", n or None) for n in range(count)))

    return [Unit((item("a", 3), item("b", 1))), Unit((item("c", 2),))]


def keys(units: list[Unit]) -> list[str]:
    return [call.key for unit in units for item in unit.items for call in item.calls]


def test_parts_of_units(units):
    assert keys(_only(units, {"a1", "c0"})) == ["a1", "c0"]
    assert keys(_without(units, {"a1", "b0", "c0", "c1"})) == ["a0", "a2"]
    assert keys(_without(units, set())) == keys(units)
    assert keys(_alone(units)) == keys(units)
    assert all(unit.alone and len(unit.items[0].calls) == 1 for unit in _alone(units))
