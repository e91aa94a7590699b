"""What the trainings share: names of parameters, and how files are measured."""

import audiofile
import numpy as np
import pandas as pd

from soundcheck_demo.models.training import Training, measure, segments
from soundcheck_demo.speech import corpus


def test_name_of_a_file_follows_everything_that_decides(tmp_path, monkeypatch):
    source = tmp_path / "module.py"
    source.write_text("one = 1\n", "utf-8")

    def name(beginning="demo-x", size="small", packages=("numpy",)):
        return Training(beginning, dict, (str(source),), packages).file(tmp_path, size).name

    names = [name(), name(size="full"), name(packages=("numpy", "scipy")), name("demo-y")]
    assert name() == names[0]
    monkeypatch.setattr(corpus, "fingerprint", lambda *_: "another corpus")
    names.append(name())
    source.write_text("one = 2\n", "utf-8")
    assert len({*names, name()}) == 6


def test_measures_the_training_split_in_its_order(tmp_path):
    table = pd.DataFrame({"file": [f"{n}.wav" for n in range(6)], "split": ["train", "test", "train"] * 2})
    table.to_csv(tmp_path / corpus.TABLE, index=False)
    for n in range(6):
        audiofile.write(tmp_path / f"{n}.wav", np.full(100 + n, n / 10), 16000)
    rows = segments(tmp_path, "train")
    assert rows["file"].tolist() == [f"{n}.wav" for n in (0, 2, 3, 5)] and rows.index.tolist() == [0, 1, 2, 3]
    measured = measure(tmp_path, rows["file"], lambda signal, rate: (len(signal), rate, signal.max()), 2)
    np.testing.assert_allclose(measured, [[100 + n, 16000, n / 10] for n in (0, 2, 3, 5)], atol=1e-4)
