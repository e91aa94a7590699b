"""What ``soundcheck run --efficiency SECONDS`` adds to a run: measures its models, writes a table and a page.

Conventions
-----------
- Times differ from run to run, so none of this is part of the run: not of its results, its book, its record
  or its list of files. It lies beside the book, as ``efficiency.csv`` and ``efficiency.html``.
- Services are left out: their requests cost, and their times are those of the way there.
- What was measured is kept as ``efficiency.json``, call by call. As long as models, inputs, seconds, machine
  and Soundcheck are the same, nothing is measured again and the files stay as they are.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import importlib.util
import json
import math
import os
import platform
import re
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import psutil

from soundcheck import __version__
from soundcheck.common import files
from soundcheck.common.messages import InputError, counted
from soundcheck.common.resources import library_digest, versions
from soundcheck.common.store import JsonFile
from soundcheck.efficiency.measuring import OVER, TURNS, Input, Measured, chosen, measure
from soundcheck.efficiency.page import costs, page
from soundcheck.models.base import LookUpModel, movable_name
from soundcheck.predict.workers import Log, Setup
from soundcheck.results.record import KeyFigure
from soundcheck.run.material import Material
from soundcheck.run.predictions import request_of
from soundcheck.suite.entries import ModelEntry

_LIBRARIES = ("numpy", "scipy", "onnxruntime", "torch", "transformers", "tensorflow", "scikit-learn")


def machine() -> dict[str, str]:
    """Describe the machine by names for people; no name of a host or a user."""
    cores = Path("/proc/cpuinfo")
    named = re.search(r"model name\s*: *(\S.*)", cores.read_text(errors="replace") if cores.is_file() else "")
    one_core = ", of which one was used" if hasattr(os, "sched_setaffinity") else ""
    return {
        "processor": named[1] if named else platform.processor() or platform.machine() or "unknown",
        "cores": f"{os.cpu_count()}{one_core}",
        "memory": f"{psutil.virtual_memory().total / 1e9:.0f} GB",
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        "soundcheck": __version__,
        **{name: version for name, version in versions(_LIBRARIES).items() if version},
    }


NAME = "efficiency"  # of the files, each with its suffix


@dataclasses.dataclass
class EfficiencyRecord(JsonFile):
    """What was measured: on what it depends, where and when, and which models have no time to measure."""

    depends: str
    machine: dict[str, str]
    day: datetime.date
    seconds: float
    models: list[Measured]
    unmeasured: list[str]


def measure_run(
    material: Material, figures: Sequence[KeyFigure], seconds: float, day: datetime.date
) -> list[str]:
    """Measure the models of a run, unless that has been done."""
    output, record = material.output, None
    place = output.folder / f"{NAME}.json"
    with tempfile.TemporaryDirectory(prefix="soundcheck-") as folder:
        inputs = {}
        for number, entry in enumerate(material.suite.models.values()):
            if entry.about.needs_audio and not entry.about.asked_here:
                corpora = request_of(entry, material, material.corpora).corpora
                heard = [corpus for corpus in corpora if corpus.entry.audio and not corpus.entry.probes_of]
                inputs[entry.name] = chosen(heard, Path(folder, f"{number}.wav"))
        contents = {
            name: [(item.kind, item.seconds, item.excerpt.content) for item in items]
            for name, items in inputs.items()
        }
        models = {name: material.fingerprints[name] for name in material.suite.models}
        depends = files.digest(json.dumps([contents, models, seconds, machine(), library_digest()]))
        with contextlib.suppress(OSError, ValueError):  # nothing was measured, or by another version
            record = EfficiencyRecord.read(place)
        again = record is None or record.depends != depends
        if again:
            measured = _measured(material, inputs, seconds)
            record = EfficiencyRecord(depends, machine(), day, seconds, *measured)
            record.write(place)
    frame = costs(record.models)
    table = output.folder / f"{NAME}.csv"
    files.write_text(table, frame.to_csv(index=False, float_format="%.6g", lineterminator="\n"))
    written = page(
        frame,
        figures,
        machine=record.machine,
        day=record.day.isoformat(),
        notes=_notes(record),
        synthetic=any(corpus.entry.synthetic for corpus in material.corpora),
        table=table.name,
    )
    files.write_text(output.folder / f"{NAME}.html", written)
    calls = sum(len(model.calls) for model in record.models)
    how = f"as measured on {record.day}: models and machine are the same"
    how = f"measured with {counted(calls, 'call')}" if again else how
    return [f"Efficiency: {Path(output.display_name) / NAME}.html, {how}"]


def _measured(
    material: Material, inputs: dict[str, list[Input]], seconds: float
) -> tuple[list[Measured], list[str]]:
    """Measure models that listen, take over times that files give, and name the other models."""
    suite, output, cache = material.suite, material.output, material.output.cache
    measured, setups, unmeasured = {}, [], []
    for entry in suite.models.values():
        if not inputs.get(entry.name):
            given = _given(entry, material)
            if given is None:
                unmeasured.append(entry.name)
            else:
                measured[entry.name] = given
            continue
        try:
            entry.about.prepare(entry, suite, cache=cache, jobs=1, progress=False)
        except InputError as error:
            measured[entry.name] = Measured(entry.name, stopped=error.problems[0].what)
            continue
        ignored = (str(output.folder), str(cache))
        setups.append(Setup(entry, suite, entry.about, (), material.sounds, ignored))
    log = Log(output.logs / f"{NAME}.log").write
    items = [inputs[setup.entry.name] for setup in setups]
    costs = measure(setups, items, seconds=seconds, cache=cache, log=log)
    for setup, model in zip(setups, costs, strict=True):
        # Libraries look up what the time is; that is no part of a model.
        sizes = {str(suite.root / name): n for name, n in model.files.items() if "/zoneinfo/" not in name}
        sizes |= named_bytes([setup.entry.path, *setup.entry.about.named_files(setup.entry, suite)])
        model.parameters = parameters(map(Path, sizes))
        model.files = {movable_name(Path(path), suite.root): size for path, size in sorted(sizes.items())}
        measured[model.model] = model
    return [measured[name] for name in suite.models if name in measured], unmeasured


def _given(entry: ModelEntry, material: Material) -> Measured | None:
    """Take over what a file of predictions says about times."""
    if entry.about.runs_code or not issubclass(entry.about, LookUpModel):
        return None
    times = entry.about.load(entry, material.suite).computing_times
    given = times is not None and times.any()
    return Measured(entry.name, given=[*map(tuple, times.T.tolist())]) if given else None


def _notes(record: EfficiencyRecord) -> list[str]:
    over = [model.model for model in record.models if model.stopped == OVER]
    notes = []
    if over:
        last = f"{', '.join(over)} used them up, so that there are fewer calls than {TURNS} turns make"
        notes.append(f"Each model had {record.seconds:g} s for its calls: {last}")
    stopped = [model for model in record.models if model.stopped not in ("", OVER)]
    notes += [f"{model.model}: stopped, because {model.stopped}" for model in stopped]
    for model in record.models:
        problems = filter(None, (*model.first_problems, *(call.problem for call in model.calls)))
        notes += [f"{model.model} gave no prediction: {text}" for text in list(dict.fromkeys(problems))[:3]]
    if record.unmeasured:
        names = ", ".join(record.unmeasured)
        why = "their predictions are looked up, guessed, of a service, or of an earlier run"
        notes.append(f"Not measured, because {why}: {names}")
    return notes


# Sizes -----------------------------------------------------------------------------------------------------

_HEADER_BYTES = 100_000_000  # of a safetensors file, by its specification


def named_bytes(paths: Iterable[Path | None]) -> dict[str, int]:
    """Give the size of files, and of all files in folders, in bytes; what is not there has none."""
    sizes: dict[str, int] = {}
    for path in paths:
        inside = sorted(path.rglob("*")) if path is not None and path.is_dir() else [path]
        sizes |= {str(file): file.stat().st_size for file in inside if file is not None and file.is_file()}
    return sizes


def parameters(paths: Iterable[Path]) -> int | None:
    """Count the numbers in safetensors files and ONNX graphs; ``None`` if that cannot be known."""
    counts = [_COUNTERS[path.suffix](path) for path in sorted(set(paths)) if path.suffix in _COUNTERS]
    return sum(counts) if counts and None not in counts else None


def _safetensors(path: Path) -> int | None:
    """Count by the header: its length as 8 bytes, then JSON that gives the shape of each tensor."""
    try:
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(size)) if size <= _HEADER_BYTES else {}
        return sum(math.prod(tensor["shape"]) for name, tensor in header.items() if name != "__metadata__")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _onnx(path: Path) -> int | None:
    if importlib.util.find_spec("onnx") is None:  # ONNX Runtime does without
        return None
    import onnx

    try:
        graph = onnx.load(path, load_external_data=False).graph
    except Exception:  # of Protocol Buffers, whose errors have no common base
        return None
    return sum(math.prod(tensor.dims) for tensor in graph.initializer)


_COUNTERS = {".safetensors": _safetensors, ".onnx": _onnx}
