"""Folders are looked at before a library opens them: what is code or leads elsewhere is never opened."""

import json
import os
from pathlib import Path

import pytest
import yaml

from soundcheck.common.messages import InputError
from soundcheck.models.transformers_folder.model import read_folder, relevant_files

ROWS = yaml.safe_load(Path(__file__).with_name("refused.yml").read_text("utf-8"))["files"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "suite" / "model"
    folder.mkdir(parents=True)
    write(folder, "config.json", {"architectures": ["Wav2Vec2ForCTC"], "model_type": "wav2vec2"})
    write(folder, "preprocessor_config.json", {"sampling_rate": 16000})
    folder.joinpath("model.safetensors").write_bytes(b"weights")
    return folder


def write(folder: Path, name: str, content: object) -> None:
    folder.joinpath(name).write_text(json.dumps(content))


def problems(folder: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_folder(folder, "model", code=False)
    return str(caught.value)


def test_a_folder_is_read_and_pickled_weights_beside_others_are_passed_over(folder):
    for name in ("pytorch_model.bin", "README.md", ".hidden"):
        folder.joinpath(name).write_bytes(b"")
    read = read_folder(folder, "model", code=False)
    assert (read.architecture, read.weights) == ("Wav2Vec2ForCTC", ("model.safetensors",))
    assert read.labels == ["LABEL_0", "LABEL_1"]  # what the library takes if nothing is said
    names = ["config.json", "model.safetensors", "preprocessor_config.json"]
    assert [file.name for file in relevant_files(folder)] == names
    folder.joinpath("model.safetensors").rename(folder / "part.safetensors")
    write(folder, "model.safetensors.index.json", {"weight_map": dict.fromkeys("ab", "part.safetensors")})
    assert read_folder(folder, "model", code=False).weights == ("part.safetensors",)


def test_labels_are_in_the_order_of_outputs(folder):
    eleven = {str(number): f"l{number}" for number in (10, *range(10))}
    for labels, expected in ((eleven, [f"l{number}" for number in range(11)]), ({"0": "a", "2": "c"}, [])):
        write(folder, "config.json", {"id2label": labels})
        assert read_folder(folder, "model", code=False).labels == expected


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["words"][0])
def test_refused(folder, spoil, row):
    spoil(folder, row)
    message = problems(folder)
    assert [words for words in row["words"] if words not in message] == []
    if row.get("code"):
        read_folder(folder, "model", code=True)


def test_links_stay_in_the_folder_and_named_pipes_are_not_opened(folder):
    folder.joinpath("config.json").unlink()
    os.mkfifo(folder / "config.json")
    assert "not a regular file" in problems(folder)
    folder.joinpath("vocab.txt").symlink_to("/etc/passwd")
    message = problems(folder)
    assert "vocab.txt: this link leads out of the folder" in message and "/etc" not in message
