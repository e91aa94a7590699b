"""Data flows one way: a module imports only from rooms before its own."""

import ast
from pathlib import Path

import soundcheck

LIBRARY = Path(soundcheck.__file__).parent

# The packages in the order of the flow; one imports only from those before it. Inside a package anything goes
# that is no circle.
ORDER = """
common metrics statistics suite corpora sounds augment models predict results evaluation
report run book pipeline cli
"""


def modules() -> dict[str, Path]:
    found = {}
    for path in LIBRARY.rglob("*.py"):
        parts = path.relative_to(LIBRARY).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        if name and "_share" not in parts:
            found[name] = path
    return found


def room(name: str, rooms: list[str]) -> int | None:
    """Number of the package that a module belongs to."""
    package = name.partition(".")[0]
    return rooms.index(package) if package in rooms else None


def imports(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("soundcheck"):
            base = node.module.removeprefix("soundcheck").lstrip(".")
            names |= {f"{base}.{alias.name}".lstrip(".") for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {
                alias.name.removeprefix("soundcheck.") for alias in node.names if "soundcheck." in alias.name
            }
    return names


def test_every_module_has_a_room():
    rooms = ORDER.split()
    homeless = [name for name in modules() if room(name, rooms) is None]
    assert modules()
    assert homeless == []


def test_imports_point_backwards():
    rooms = ORDER.split()
    against = []
    for name, path in modules().items():
        own = room(name, rooms)
        for imported in imports(path):
            other = room(imported, rooms)
            if own is not None and other is not None and other > own:
                against.append(f"{name} imports {imported}")
    assert against == []


def test_help_imports_nothing_heavy():
    import subprocess
    import sys

    code = (
        "import sys; from soundcheck import cli; "
        "heavy = {'pandas', 'papermill', 'matplotlib', 'scipy', 'parselmouth', 'sklearn', 'pyarrow'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
