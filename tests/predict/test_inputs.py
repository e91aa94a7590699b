"""Segments as models are asked about them: the same as a plain loop finds."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from soundcheck.predict.inputs import list_segments


@pytest.mark.parametrize("n_changes", [0, 1, 20])
def test_segments_and_their_changes_are_those_of_a_plain_loop(n_changes):
    rng = np.random.default_rng(0)
    start = np.where(rng.random(60) < 0.5, np.nan, rng.integers(1, 9, 60) / 4)
    end = np.where(rng.random(60) < 0.5, np.nan, 5.0)
    files = [f"{n % 7}.wav" for n in range(60)]
    table = pd.DataFrame(
        {"key": map(str, range(60)), "audio": files, "file": files, "start": start, "end": end}
    )
    changes = [f"change {n}" for n in range(n_changes)]
    masks = {change: rng.random(60) < 0.3 for change in changes[1:]}  # the first is wanted everywhere
    listed = list(
        list_segments(SimpleNamespace(segments=table, root=Path("/root")), changes, lambda _: masks)
    )
    assert [one.key for one in listed] == table["key"].tolist()
    for n, one in enumerate(listed):
        assert one.changes == ("", *(c for c in changes if c not in masks or masks[c][n]))
        assert one.path == f"/root/{files[n]}" and one.content == files[n]
        for time, given in ((one.start, start[n]), (one.end, end[n])):
            assert time is None if np.isnan(given) else type(time) is float and time == given
        shown = files[n]
        if not (np.isnan(start[n]) and np.isnan(end[n])):
            shown += f" from {np.nan_to_num(start[n]):g} s" + ("" if np.isnan(end[n]) else " to 5 s")
        assert one.shown == shown
