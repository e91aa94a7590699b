"""Kept runs: whole or not at all, once, nothing that was changed later is believed."""

import concurrent.futures
import datetime
import json
import os

import numpy as np
import pandas as pd
import pytest

from soundcheck.common import files
from soundcheck.common.errors import InputError, SoundcheckError
from soundcheck.results import past_runs
from soundcheck.results.history import history_of
from soundcheck.results.past_runs import read_kept, read_runs

NOON = datetime.datetime(2027, 3, 1, 12, 0, 5, tzinfo=datetime.UTC)
LATER = NOON + datetime.timedelta(days=1)


def test_a_kept_run_stands_for_the_folder_that_it_came_from(write, judged, tmp_path):
    one, other = write("a", [judged("T", 0.7), judged("U", 0.7)]), write("b", [judged("T", 0.66)])
    place = past_runs.keep(tmp_path / "kept", one, NOON)
    digest = files.digest(one / "results.csv")
    assert place.name == f"2027-03-01T120005Z-{digest[:12]}"
    assert sorted(os.listdir(place)) == ["kept.json", "replicates.parquet", "results.csv", "run.json"]
    past_runs.keep(tmp_path / "kept", other, LATER)
    fresh = history_of(read_runs([one, other])).points
    kept = history_of(read_runs([tmp_path / "kept"])).points
    assert kept["date"].tolist() == ["2027-03-01 12:00", "2027-03-02 12:00", "2027-03-01 12:00"]
    assert kept["pairing"].tolist() == fresh["pairing"].tolist() == ["", "paired", ""]
    assert np.allclose(kept["p_value"].dropna(), fresh["p_value"].dropna(), rtol=1e-3)
    assert str(tmp_path) not in "".join(path.read_text("utf-8") for path in place.glob("*.[cj]s*"))


def test_the_same_results_are_kept_once_even_at_the_same_time(write, judged, tmp_path):
    folders = [write(f"{n}", [judged(value=0.6 + n / 10)]) for n in range(2)]
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        moments = [NOON + datetime.timedelta(seconds=n) for n in range(6)]
        runs = [folders[n % 2] for n in range(6)]
        list(pool.map(past_runs.keep, [tmp_path / "kept"] * 6, runs, moments))
    kept = past_runs.folders_in(tmp_path / "kept")
    assert sorted(path.name[-12:] for path in kept) == sorted(
        files.digest(folder / "results.csv")[:12] for folder in folders
    )
    assert not list((tmp_path / "kept").glob(f"{files.TEMPORARY}*"))


def test_a_disk_that_is_full_leaves_nothing(write, judged, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(past_runs, "save_replicates", full)
    with pytest.raises(SoundcheckError, match="No space left"):
        past_runs.keep(tmp_path / "kept", write("a", [judged()]), NOON)
    assert [path.name for path in (tmp_path / "kept").iterdir()] == [files.MARKER]


@pytest.mark.parametrize("name", ["results.csv", "replicates.parquet", "kept.json", "run.json"])
def test_a_kept_run_that_was_changed_is_refused_and_left_out_of_the_book(write, judged, tmp_path, name):
    place = past_runs.keep(tmp_path / "kept", write("a", [judged()]), NOON)
    past_runs.keep(tmp_path / "kept", write("b", [judged(value=0.6)]), LATER)
    (place / name).write_bytes((place / name).read_bytes()[:-7])
    with pytest.raises(InputError, match=f"RUN .*{place.name}: '?{name}'?"):
        read_runs([tmp_path / "kept"])
    found = read_kept(tmp_path / "kept")
    assert len(found.runs) == 1 and str(tmp_path) not in str(found.problems[0])


def test_labels_count_as_data(write, judged, tmp_path):
    runs = [write("a", [judged()]), write("b", [judged(value=0.6)]), write("c", [judged(value=0.61)])]
    for folder, label, pitch in zip(runs, (0.1, 0.2, 0.2), (100.0, 100.0, 200.0), strict=True):
        (folder / "corpora").mkdir()
        table = pd.DataFrame({"file": ["a.wav"], "arousal": [label], "pitch": [pitch]})
        table.to_parquet(folder / "corpora" / "c.parquet")
    frame = history_of(read_runs(runs)).points
    assert frame["reason"].tolist() == ["", "other labels", ""]
    assert frame["changed"].tolist() == ["", "data", ""]
    assert frame["pairing"].tolist() == ["", "unpaired", "paired"]


def test_places_where_nothing_can_be_kept(tmp_path):
    (tmp_path / "file").write_text("")
    for folder, words in (("file", "a file"), ("out/kept", "output folder"), ("data/kept", "corpus 'calls'")):
        with pytest.raises(InputError, match=words):
            past_runs.check_place(tmp_path / folder, folder, tmp_path / "out", {"calls": tmp_path / "data"})
    past_runs.check_place(tmp_path / "kept", "kept", tmp_path / "out", {"calls": tmp_path / "data"})


def test_links_in_a_history_are_not_followed(write, judged, tmp_path):
    past_runs.keep(tmp_path / "kept", write("a", [judged()]), NOON)
    (tmp_path / "kept" / "2027-03-05T120005Z-0123456789ab").symlink_to(write("b", [judged(value=0.6)]))
    assert len(past_runs.folders_in(tmp_path / "kept")) == 1
    about = json.loads((past_runs.folders_in(tmp_path / "kept")[0] / "kept.json").read_text())
    assert set(about) == {"replicates", "tables"}
