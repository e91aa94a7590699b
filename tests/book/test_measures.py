"""The page of measures lists every function that gives a statistic, in words and formulas of Markdown."""

import inspect
import re
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from soundcheck.book import measures
from soundcheck.common import resources
from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.metrics import regression, verification
from soundcheck.metrics.additive import Statistic
from soundcheck.metrics.weighted import Weighted
from soundcheck.statistics.bootstrap import resample


@pytest.fixture(scope="module")
def words() -> str:
    return (resources.root() / "book" / "measures.md").read_text(encoding="utf-8")


def test_every_public_name_that_gives_a_statistic_is_listed(words):
    """Whatever a module calls public and returns a statistic stands on the page, once."""
    page = measures.page(words)
    folder = Path(inspect.getfile(regression)).parent
    declared = 0
    for path in sorted(folder.glob("[a-z]*.py")):
        text = path.read_text(encoding="utf-8")
        for name, returned in re.findall(r"^def ([a-z]\w*)\([^)]*\) -> ([^:]*):", text, re.MULTILINE):
            if re.search("Statistic|Weighted", returned):
                declared += 1
                assert page.count(f"- `{name}(") == 1, name
    assert declared > 40
    assert "- `SpeakerValues.spearmans_rho()`: " in page
    assert "det_curve(" not in page and "align(" not in page  # these give no statistic


def test_lines_are_those_of_the_docstrings(words):
    page = measures.page(words)
    assert (
        r"- `mean_absolute_error(truth, prediction)`: Mean absolute error, $\frac1N \sum |\hat y - y|$."
        in page
    )
    first = inspect.getdoc(verification.equal_error_rate).splitlines()[0]
    assert f"- `equal_error_rate(trials)`: {first}" in page
    assert (
        measures.MEASURES not in page
        and ":func:" not in page
        and ":math:" not in page
        and "``" not in (page.replace("```", ""))
    )
    for functions in measures.listed().values():
        assert [name for name, each in functions.items() if ">>> " not in inspect.getdoc(each)] == []
    assert r"\frac{2 \sum (\hat y - \bar{\hat y})(y - \bar y)}" in page and "Lin (1989)" in page
    assert (
        "  ```pycon\n  >>> concordance_cc([0.1, 0.5, 0.9], [0.2, 0.5, 0.8])\n  Statistic(0.96)\n  ```" in page
    )


def test_the_examples_run(words):
    rng = np.random.default_rng(0)
    truth = rng.random(40)
    clean, changed = truth + 0.1, truth + 0.3
    predictions = Predictions(clean, changed)
    segments = pd.DataFrame({"key": [str(n) for n in range(40)]})
    subset = Subset("c", BUILTIN["arousal"], segments, truth, predictions, predictions, np.arange(40) % 8)
    first, second = (textwrap.dedent(code) for code in re.findall(r"```python\n(.*?)```", words, re.DOTALL))
    names = {"np": np}
    exec(first + second, names)
    assert names["rarely_exceeded_error"](subset, predictions) == pytest.approx(0.1)
    statistic = names["loss"](subset, predictions)
    assert isinstance(statistic, Statistic | Weighted)
    assert resample(statistic, subset.blocks, 100).value[0] == pytest.approx(0.2)
