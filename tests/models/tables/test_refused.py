"""Files of predictions that are refused: where, and what to do, a row of ``refused.yml`` each."""

import re
from pathlib import Path

import pytest
import yaml
from answer_files import corpus, files

from soundcheck.common.errors import InputError

GROUPS = yaml.safe_load(Path(__file__).with_name("refused.yml").read_text("utf-8"))
ROWS = [(group, row) for group in GROUPS for row in group["rows"]]
CORPUS = corpus(("a.wav", 0.0, 1.5), ("a.wav", 1.5, 2.25), ("b.wav", float("nan"), float("nan")))


@pytest.mark.parametrize(("group", "row"), ROWS, ids=[row["words"][:50] for _, row in ROWS])
def test_refused(load, group, row):
    text = row.get("text", row.get("line"))
    text = group["before"] + text + "\n" if "line" in row else text
    content = text.encode(row.get("encoding", "utf-8"), "surrogatepass")
    with pytest.raises(InputError) as caught:
        load(content, group["name"], *group["tasks"], **row.get("options", {})).look_up(CORPUS, "")
    message = str(caught.value)
    assert re.search(row["words"], message), message
    assert row.get("options") or message.startswith(group["name"])
    assert len(caught.value.problems) == row.get("problems", 1)


@pytest.mark.parametrize("name", ["hyp.csv", "hyp.parquet", "text"])
def test_pickles_are_not_opened(load, name, tmp_path):
    class Bomb:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "CANARY",))

    import pickle

    with pytest.raises(InputError, match=f"{name}: this is a Python pickle, which is never opened"):
        load(pickle.dumps(Bomb()), name)
    assert not (tmp_path / "CANARY").exists()


def test_files_of_transcripts_hold_nothing_else(load):
    words = r"^suite.yml, models.theirs.tasks: text holds transcripts only .* emotion\. Give"
    with pytest.raises(InputError, match=words):
        load("a turn\n", "text", "transcript", "emotion")
    with pytest.raises(InputError, match="text is no table with columns"):
        load("a turn\n", "text", columns={"file": "path"})
    for name, line in {"text": "a turn\n", "hyp.stm": "a 1 A 0 1 turn\n"}.items():
        with pytest.raises(ValueError, match="changed signals"):
            load(line, name).look_up(files("a.wav"), "noise")
