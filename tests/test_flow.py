"""Data flows one way: a module imports only from rooms before its own."""

import ast
from pathlib import Path

import soundcheck

LIBRARY = Path(soundcheck.__file__).parent

# One row a room, in the order of the flow; a module may import from its own row's left and from rows above.
ORDER = """
escaping errors files places programs seeds resources precision tasks packing text_table
normalisation yaml_reader schema document_reader entries
metrics simulation simulated_thresholds suite_models suite families family_options thresholds
corpora.kept corpora.audio corpora.inspection corpora.segments
corpora.utterances corpora.trial_layouts corpora.trial_files corpora.trial_speakers
corpora.trial_table corpora.trials corpora.trial_design
corpora.corpus corpora.measured
corpora.manifest corpora.trial_corpus corpora.audformat_db corpora.demo corpora.load
sounds
augment
models.base models.processes models.importing models.reference
models.function models.command models.transcripts models.table models.scores models.demo models.load
trial_lists
predict
bootstrap balance group_sizes verdicts studies selection pairs
languages pitch media scoring views sample plain_measures evaluation recognition recognition_measures
verification verification_measures comparison robustness
report
output artefacts execution runner probing record planning
book
pipeline gate starter threshold_table
cli
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
    """Number of the most specific room that a module belongs to."""
    fitting = [r for r in rooms if name == r or name.startswith(r + ".")]
    return rooms.index(max(fitting, key=len)) if fitting else None


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
    packages = {"corpora", "models"}
    homeless = [name for name in modules() if room(name, rooms) is None and name not in packages]
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
