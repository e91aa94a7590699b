"""Notebooks in forks of one process, what pages can show, and when the last execution is still good."""

import dataclasses
import json
import time
from collections.abc import Sequence
from pathlib import Path

import nbformat
import psutil
import pytest
from runs import notebook

from soundcheck.common import files
from soundcheck.common.media import Description
from soundcheck.common.messages import InputError
from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation.subset import CorpusDescription
from soundcheck.run.notebook_jobs import UNSEEN, _fingerprint, notebook_of
from soundcheck.run.notebook_outputs import kind_of, unshown
from soundcheck.run.notebooks import Job, Notebooks, State, last_execution, without_outputs
from soundcheck.suite.families import Margin

CELLS = {
    "first": "import soundcheck.metrics, os\n"
    "soundcheck.metrics.spoiled = 1; os.environ['SPOILED'] = '1'; x = 1",
    "second": "import soundcheck.metrics, os\n"
    "print(hasattr(soundcheck.metrics, 'spoiled'), 'SPOILED' in os.environ, 'x' in globals(), __name__)",
    "fails": "1 / 0",
    "exits": "import sys; sys.exit(0)",
    "dies": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "hangs": "while True: pass",
    "leaves": "import subprocess; print(subprocess.Popen(['sleep', '600'], start_new_session=True).pid)",
    "swallows": "import time\nwhile True:\n  try: time.sleep(1)\n  except Exception: pass",
    "stands still": "import ctypes; ctypes.PyDLL(None).sleep(60)",
    "order": "from IPython.display import HTML, display\nprint('first')\n"
    "shown = display(HTML('before'), display_id=True)\nprint('second')\n"
    "shown.update(HTML('after'))\n!echo third\n3",
    "watches": "import time\ntime.sleep(1.1)",
    "ends all": "import os, signal; print(os.getpid(), file=open(PIDS, 'a')); "
    "os.kill(os.getppid(), signal.SIGKILL); import ctypes; ctypes.PyDLL(None).sleep(600)",
    "last": "1 + 1",
}
HANG = ("hangs", "swallows", "stands still")
SEEN = "import json\nprint([cell['execution_count'] for cell in json.load(open('executed.ipynb'))['cells']])"

PNG, TEXT, HTML = "image/png", "text/plain", "text/html"
PLOT = "import matplotlib.pyplot as plt\nplt.plot([1, 2, 3])\n"
DISPLAY = "from IPython.display import *\n"
SHOWN = {  # code -> kinds of its outputs as a page shows them, "" = none
    "plt.show": (PLOT + "plt.show()", [PNG]),
    "no show": ("import matplotlib.pyplot as plt\nplt.plot([1, 2]);", [PNG]),
    "two": (PLOT + "plt.figure()\nplt.plot([1])\nplt.show()", [PNG, PNG]),
    "closed": (PLOT + "plt.close()", []),
    "math": (DISPLAY + "Math('x^2')", ["text/latex"]),
    "table": ("import pandas as pd\npd.DataFrame({'a': [1]})", [HTML]),
    "number": ("1 + 1", [TEXT]),
    "script": (DISPLAY + "HTML('<script>1</script>')", [""]),
    "picture from elsewhere": (DISPLAY + "Image(url='https://a.org/b.png')", [""]),
    "picture of a folder": (DISPLAY + "HTML('<img alt=\"a\" src = plot.png>')", [""]),
    "link to a file": (DISPLAY + "open('table.csv', 'w').close()\nFileLink('table.csv')", [""]),
    "link": (DISPLAY + "HTML('<a href=\"https://a.org\">a</a>')", [HTML]),
    "sound": (DISPLAY + "Audio([0.0, 0.1], rate=8000)", [HTML]),
    "javascript": (DISPLAY + "Javascript('1')", [""]),
}


def job(folder: Path, name: str, codes: Sequence[str], limit: float = 60.0, **more: object) -> Job:
    """Write a notebook with some cells."""
    source, target = folder / f"{name}.source.ipynb", folder / f"{name}.ipynb"
    source.write_text(notebook(*codes, "'the end'"))
    description = Description(media=folder, prefix="", rows=folder / f"{name}.json")
    return Job("m", name, source, target, description, "x", limit, **{"judges": False} | more)


@pytest.fixture(scope="module")
def executed(tmp_path_factory, preloaded):
    """Execute all notebooks, heavy ones first: folder, names as they ended, outcome by name."""
    folder = tmp_path_factory.mktemp("notebooks")
    codes = {name: [code] for name, code in CELLS.items()} | {n: [code] for n, (code, _) in SHOWN.items()}
    codes["watches"].append(SEEN)
    codes["ends all"].insert(0, f"PIDS = {str(folder / 'pids')!r}")
    jobs = [
        job(folder, name, cells, 1.0 if name in HANG else 60.0, weight=-place, judges=name == "hangs")
        for place, (name, cells) in enumerate(codes.items())
    ]
    ended: list[str] = []
    with pytest.MonkeyPatch.context() as patch, Notebooks(folder / "cache", folder / "log", 1) as notebooks:
        patch.setattr("soundcheck.run.notebooks.STARTING", 1.0)
        patch.setattr("soundcheck.run.notebooks.subprocess", preloaded().subprocess())
        outcomes = notebooks.execute(jobs, lambda outcome: ended.append(outcome.job.family))
    return folder, ended, {outcome.job.family: outcome for outcome in outcomes}


def outputs(folder: Path, name: str, cell: int = 2) -> list:
    return nbformat.read(folder / f"{name}.ipynb", as_version=4).cells[cell].outputs


def printed(folder: Path, name: str, cell: int = 2) -> str:
    return "".join(output.get("text", "") for output in outputs(folder, name, cell))


def test_whatever_a_notebook_does_is_its_own_end(executed):
    folder, ended, outcomes = executed
    assert ended == list(outcomes)  # heavy ones first; the next after those that die or kill the server
    wrong = dict.fromkeys(("fails", "exits", "dies", "ends all"), "failed")
    wrong |= dict.fromkeys(HANG, "timeout")
    assert {n: outcome.status for n, outcome in outcomes.items()} == dict.fromkeys(outcomes, "ok") | wrong
    assert "ZeroDivisionError" in outcomes["fails"].error
    assert outcomes["exits"].error == "the notebook ended in cell 3, the cells after it did not run"
    assert "ended with exit code -9" in outcomes["dies"].error
    assert outcomes["hangs"].error.startswith("a cell took longer than 1 s, or all cells longer than 2 s. ")
    assert "Set limits: {notebook_seconds: 60} in the suite" in outcomes["hangs"].error
    assert printed(folder, "second").split() == ["False", "False", "False", "__main__"]


def test_what_a_notebook_started_is_ended_with_it_and_all_with_the_server(executed):
    folder, _, outcomes = executed
    left = {int(printed(folder, "leaves")), *map(int, (folder / "pids").read_text().split())}
    assert len(left) == 3 and outcomes["ends all"].failed  # it was tried twice
    end = time.monotonic() + 10
    while any(psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie" for pid in left):
        assert time.monotonic() < end
        time.sleep(0.05)


def test_outputs_stand_in_the_order_in_which_they_came_and_are_written_soon(executed):
    folder, _, _ = executed
    ordered = outputs(folder, "order")
    texts = [each.get("text") or each.data.get("text/html") or each.data["text/plain"] for each in ordered]
    assert texts == ["first\n", "after", "second\nthird\r\n", "3"] and ordered[-1].execution_count == 3
    assert printed(folder, "watches", 3).strip() == "[1, 2, 3, None, None]"  # before the next cell ended
    cells = json.loads((folder / "watches.ipynb").read_text())["cells"]
    assert all(cell["execution_count"] for cell in cells)


def test_what_a_cell_shows_is_an_output_of_a_kind_that_a_page_shows(executed, tmp_path):
    folder, _, outcomes = executed
    for name, (_, kinds) in SHOWN.items():
        displayed = outputs(folder, name)
        assert [kind_of(output["data"]) for output in displayed if "data" in output] == kinds, name
        lost = kinds.count("")
        assert len(unshown([{"outputs": displayed}])) == len(outcomes[name].unshown) == lost, name
        assert bool(without_outputs(outcomes[name])) == bool(lost), name
    with Notebooks(tmp_path / "cache", tmp_path / "log", workers=1) as notebooks:
        (again,) = notebooks.execute([outcomes["javascript"].job])  # its execution is kept
    assert again.unshown == outcomes["javascript"].unshown == ("application/javascript",)


def test_what_stands_in_quotes_loads_nothing():
    quoted = '<td data-sort="&lt;img src=x onerror=lost()&gt;" title="a < b src=x">text</td>'
    assert kind_of({HTML: quoted, TEXT: ""}) == HTML
    assert kind_of({HTML: '<b><img title="a" src=x>', TEXT: ""}) == ""
    assert kind_of({HTML: "<b><img src=x ", TEXT: ""}) == ""  # what follows would end the tag


def test_only_what_did_not_change_is_kept(tmp_path):
    finished = job(tmp_path, "f", ["1"])
    written = finished.made[:2]  # without replicates
    for path in written:
        path.write_text(path.name)
    State(finished.fingerprint, "ok", (*map(files.digest, written), "")).write(finished.state)
    assert last_execution(finished) and set(finished.files) == {*finished.made, finished.state}
    assert not last_execution(dataclasses.replace(finished, fingerprint="other"))
    for path in finished.made:
        path.write_text("other")
        assert not last_execution(finished), path
        path.unlink()
        assert bool(last_execution(finished)) == (path not in written)
        if path in written:
            path.write_text(path.name)
    dataclasses.replace(State.read(finished.state), status="failed").write(finished.state)
    for state in (None, b"", b"[1]", b'{"fingerprint": "x", "status": "ok"}', b"\xff"):
        if state is not None:
            finished.state.write_bytes(state)
        assert not last_execution(finished), state


FILES = ("segments", "predictions", "trials")


def make(folder, describe):
    """Describe an evaluation whose files are in a folder."""
    folder.mkdir(exist_ok=True)
    for name in ("f.ipynb", *FILES):
        (folder / name).write_text(name)
    about = {"name": "c", "title": "C", "synthetic": False, "blocks": ("speaker",), "base_condition": ""}
    about |= {"probes_of": "", "audio": True, "root": folder, **{name: folder / name for name in FILES}}
    corpus = CorpusDescription(**about)
    places = {"suite_root": folder, "media": folder / "media", "rows": folder / "rows.json"}
    return folder / "f.ipynb", describe("f", **places, corpora=(corpus,), tasks=(BUILTIN["arousal"],))


def test_another_place_is_the_same_and_other_files_are_seen(tmp_path, describe):
    first = _fingerprint(*make(tmp_path / "a", describe), "more")
    made = make(tmp_path / "b", describe)
    assert first == _fingerprint(*made, "more") != _fingerprint(*made, "other")
    (tmp_path / "b" / "rows.json").write_text("[]")  # of the last execution
    assert first == _fingerprint(*made, "more")
    for name in ("f.ipynb", *FILES):
        (tmp_path / "b" / name).write_text("other")
        assert _fingerprint(*made, "more") != first, name
        (tmp_path / "b" / name).write_text(name)


def test_every_setting_is_seen(tmp_path, describe):
    path, description = make(tmp_path / "a", describe)
    before, (corpus,) = _fingerprint(path, description), description.corpora
    for field in dataclasses.fields(description):
        changed = dataclasses.replace(description, **{field.name: "other"})
        assert (_fingerprint(path, changed) == before) is (field.name in UNSEEN), field.name
    for field in dataclasses.fields(corpus):
        changed = dataclasses.replace(corpus, **{field.name: "other"})
        changed = dataclasses.replace(description, corpora=(changed,))
        assert _fingerprint(path, changed) != before, field.name
    margins = [dataclasses.replace(description, margin=Margin(value)) for value in (0.1, 0.2)]
    assert len({_fingerprint(path, changed) for changed in margins}) == 2


def test_a_missing_notebook_is_named(tmp_path):
    with pytest.raises(InputError, match=r"notebooks/no_such\.ipynb is missing"):
        notebook_of("no_such", tmp_path)
