"""What pages let readers hear: the recordings of pairs, row by row the same words."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import soundfile

from soundcheck.common.media import MediaStore
from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.report import listening


@pytest.fixture
def pairs(tmp_path):
    """Fifty pairs; number n is a constant of n hundredths near by and of half as much far away."""
    sides = {}
    for condition, factor in (("near", 1.0), ("far", 0.5)):
        names = [f"{condition}_{n}.wav" for n in range(50)]
        for n, name in enumerate(names):
            soundfile.write(
                tmp_path / name, np.full(100, factor * n / 100, np.float32), 16000, subtype="FLOAT"
            )
        sides[condition] = pd.DataFrame({"file": names, "condition": condition, "start": 0.0, "end": np.nan})
    predictions = Predictions(np.zeros(50), np.zeros(50))
    task, blocks = BUILTIN["arousal"], np.arange(50)
    near, far = sides.values()
    return Subset(
        "c", task, near, None, predictions, predictions, blocks, "near to far", tmp_path, partner=far
    )


def test_recordings_of_both_conditions_are_the_same_pairs(pairs):
    heard = listening.recordings(pairs, most=5)
    assert list(heard) == ["near", "far"]
    numbers = {name: signal[::100] for name, signal in heard.items()}
    np.testing.assert_allclose(numbers["near"], np.array([0, 12, 24, 37, 49]) / 100, atol=1e-6)
    np.testing.assert_allclose(numbers["far"], numbers["near"] / 2, atol=1e-6)
    assert len(heard["near"]) == len(heard["far"]) == 500


def test_fewer_pairs_are_all_read(pairs):
    few = pairs.take(np.array([3, 4]))
    assert [len(signal) for signal in listening.recordings(few, most=20).values()] == [200, 200]


def test_what_moved_most_is_heard_in_turn(pairs, tmp_path):
    pairs.segments["key"] = pairs.partner["key"] = [f"{n:02}" for n in range(50)]
    pairs.predictions.changed[7] = 0.5
    media = MediaStore(tmp_path / "media")
    view = SimpleNamespace(audio=True)
    evaluation = SimpleNamespace(media=media, view=lambda subset: view, guesses=False)
    html = str(listening.most_moved(evaluation, [pairs]))
    assert "near_7.wav under near to far: arousal 0.000 → 0.500" in html
    assert html.count('class="sc-players sc-pair"') == 1
    assert re.findall("<strong>([^<]*)</strong>", html) == ["near", "far"]
    assert "<figcaption>arousal 0.500<br>0.01 s, peak −29.1 dBFS" in html
    view.audio = False
    assert "<audio" not in str(listening.most_moved(evaluation, [pairs]))
