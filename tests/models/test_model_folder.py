"""Links that lead out of a model's folder are found; those of a hub's cache to its own files are fine."""

import pytest

from soundcheck.models.library_model import links_outside, read_configuration


def test_links_that_lead_out_of_the_folder(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret").write_text("")
    (folder / "weights").write_text("")
    (folder / "inside").symlink_to("weights")
    (folder / "outside").symlink_to("../secret")
    (folder / "nowhere").symlink_to("/does/not/exist")
    assert [path.name for path in links_outside(folder, sorted(folder.iterdir()))] == ["nowhere", "outside"]


def test_links_within_the_cache_of_a_hub(tmp_path):
    folder = tmp_path / "models--a--b" / "snapshots" / "1"
    folder.mkdir(parents=True)
    (tmp_path / "models--a--b" / "blobs").mkdir()
    (tmp_path / "models--a--b" / "blobs" / "f00").write_text("")
    (folder / "weights").symlink_to("../../blobs/f00")
    (folder / "other").symlink_to("../../../elsewhere")
    assert [path.name for path in links_outside(folder, sorted(folder.iterdir()))] == ["other"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [('{"a": 1}', ""), ("{", "not JSON"), ("[]", "no mapping"), ("[" * 100_000, "nested"), (None, "not")],
)
def test_reads_mappings_only(tmp_path, content, reason):
    path = tmp_path / "config.json"
    if content is not None:
        path.write_text(content)
    found, why = read_configuration(path)
    assert found == ({} if reason else {"a": 1})
    assert reason in why and bool(why) == bool(reason)
