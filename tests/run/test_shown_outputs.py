"""What cells of a notebook show becomes an output that a page can show, or is named."""

import dataclasses
from collections.abc import Mapping

import nbformat
import pytest
from tests.run.test_notebooks import job

from soundcheck.run.notebook_outputs import kind_of, unshown
from soundcheck.run.notebooks import Job, Notebooks, Outcome, without_outputs

PNG, TEXT, HTML = "image/png", "text/plain", "text/html"
PLOT = "import matplotlib.pyplot as plt\nplt.plot([1, 2, 3])\n"
SHOWN = {  # code -> kinds of its outputs as a page shows them
    "plt.show": (PLOT + "plt.show()", [PNG]),
    "no show": ("import matplotlib.pyplot as plt\nplt.plot([1, 2]);", [PNG]),
    "of agg": ("import matplotlib\nmatplotlib.use('agg')\n" + PLOT + "plt.show()", [PNG]),
    "two": (PLOT + "plt.figure()\nplt.plot([1])\nplt.show()", [PNG, PNG]),
    "pandas": ("import pandas as pd\npd.Series([1, 2]).plot()\nNone", [PNG]),
    "seaborn": ("import seaborn\nseaborn.histplot([1, 2, 2])\nNone", [PNG]),
    "closed": (PLOT + "plt.close()", []),
    "a figure of its own": (
        "from matplotlib.figure import Figure\nown = Figure()\nown.subplots().plot([1])\nown",
        [PNG],
    ),
    "markdown": ("from IPython.display import Markdown\nMarkdown('**a**')", ["text/markdown"]),
    "math": ("from IPython.display import Math\nMath('x^2')", ["text/latex"]),
    "html": ("from IPython.display import HTML\nHTML('<b>a</b>')", [HTML]),
    "table": ("import pandas as pd\npd.DataFrame({'a': [1]})", [HTML]),
    "number": ("1 + 1", [TEXT]),
    "script": ("from IPython.display import HTML\nHTML('<script>1</script>')", [""]),
    "picture from elsewhere": ("from IPython.display import Image\nImage(url='https://a.org/b.png')", [""]),
    "picture of a folder": ("from IPython.display import HTML\nHTML('<img alt=\"a\" src = plot.png>')", [""]),
    "film": ("from IPython.display import Video\nVideo(url='https://a.org/b.mp4')", [""]),
    "frame": ("from IPython.display import IFrame\nIFrame('https://a.org', 100, 100)", [""]),
    "link to a file": (
        "from pathlib import Path\nfrom IPython.display import FileLink\n"
        "Path('table.csv').touch()\nFileLink('table.csv')",
        [""],
    ),
    "link": ("from IPython.display import HTML\nHTML('<a href=\"https://a.org\">a</a>')", [HTML]),
    "sound": ("from IPython.display import Audio\nAudio([0.0, 0.1], rate=8000)", [HTML]),
    "javascript": ("from IPython.display import Javascript\nJavascript('1')", [""]),
    "plotly": (
        "from IPython.display import display\n"
        "display({'application/vnd.plotly.v1+json': {}, 'text/plain': 'Figure()'}, raw=True)",
        [""],
    ),
}
HANGS = "while True: pass"


@pytest.fixture(scope="module")
def executed(tmp_path_factory) -> tuple[list[Job], dict[str, Outcome], dict]:
    folder = tmp_path_factory.mktemp("shown")
    jobs = [job(folder, str(place), code) for place, (code, _) in enumerate(SHOWN.values())]
    jobs.append(dataclasses.replace(job(folder, "hangs", HANGS, limit=3.0), judges=True))
    with Notebooks(folder / "cache", folder / "log", workers=1) as notebooks:
        outcomes = dict(zip([*SHOWN, "hangs"], notebooks.execute(jobs), strict=True))
    cells = {
        name: nbformat.read(outcome.job.target, as_version=4).cells[2] for name, outcome in outcomes.items()
    }
    return jobs, outcomes, cells


def data_of(cell: Mapping) -> list[Mapping]:
    return [output["data"] for output in cell["outputs"] if "data" in output]


@pytest.mark.parametrize("name", SHOWN)
def test_what_a_cell_shows_is_an_output_of_a_kind_that_a_page_shows(executed, name):
    _, outcomes, cells = executed
    assert [kind_of(data) for data in data_of(cells[name])] == SHOWN[name][1]
    lost = SHOWN[name][1].count("")
    assert len(unshown([cells[name]])) == len(outcomes[name].unshown) == lost
    assert bool(without_outputs(outcomes[name])) == bool(lost)


def test_what_was_left_out_is_said_again_of_a_notebook_that_is_kept(executed, tmp_path):
    jobs, outcomes, _ = executed
    place = list(SHOWN).index("javascript")
    with Notebooks(tmp_path / "cache", tmp_path / "log", workers=1) as notebooks:
        (again,) = notebooks.execute([jobs[place]])
    assert again.unshown == outcomes["javascript"].unshown == ("application/javascript",)
    assert without_outputs(again) == (
        f"The page of {place} of m leaves out 1 output that no page can show (application/javascript). "
        "Show a picture, a table or a text: pages run no scripts and load no files of others"
    )


def test_a_notebook_out_of_time_names_the_key_and_a_value(executed):
    _, outcomes, _ = executed
    assert outcomes["hangs"].status == "timeout"
    assert outcomes["hangs"].error == (
        "a cell took longer than 3 s, or all cells longer than 4 s. "
        "Set limits: {notebook_seconds: 60} in the suite"
    )


def test_what_stands_in_quotes_loads_nothing():
    shown = '<td data-sort="&lt;img src=x onerror=lost()&gt;" title="a < b src=x">text</td>'
    assert kind_of({"text/html": shown, "text/plain": ""}) == "text/html"
    assert kind_of({"text/html": '<b><img title="a" src=x>', "text/plain": ""}) == ""
    assert kind_of({"text/html": "<b><img src=x ", "text/plain": ""}) == ""  # what follows would end the tag
