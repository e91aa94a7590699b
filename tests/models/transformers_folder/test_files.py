"""Folders are looked at before a library opens them: what is code or leads elsewhere is never opened."""

import json
import os
from pathlib import Path

import pytest

from soundcheck.common.errors import InputError
from soundcheck.models.transformers_folder.files import read_folder, relevant_files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    own = tmp_path / "suite" / "model"
    own.mkdir(parents=True)
    write(own, "config.json", {"architectures": ["Wav2Vec2ForCTC"], "model_type": "wav2vec2"})
    write(own, "preprocessor_config.json", {"sampling_rate": 16000})
    own.joinpath("model.safetensors").write_bytes(b"weights")
    return own


def write(folder: Path, name: str, content: object) -> None:
    folder.joinpath(name).write_text(content if isinstance(content, str) else json.dumps(content))


def problems(folder: Path, *, code: bool = False) -> list[str]:
    with pytest.raises(InputError) as caught:
        read_folder(folder, "model", code=code)
    return [str(problem) for problem in caught.value.problems]


def test_a_folder_is_read(folder):
    found = read_folder(folder, "model", code=False)
    assert (found.architecture, found.weights) == ("Wav2Vec2ForCTC", ("model.safetensors",))
    assert found.has_preprocessor and not found.has_vocabulary
    assert found.labels == ["LABEL_0", "LABEL_1"]  # what the library takes if nothing is said


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        ({str(number): f"l{number}" for number in (10, *range(10))}, [f"l{number}" for number in range(11)]),
        ({"0": "a", "2": "c"}, []),
        (["a"], []),
    ],
)
def test_labels_are_in_the_order_of_outputs(folder, labels, found):
    write(folder, "config.json", {"id2label": labels})
    assert read_folder(folder, "model", code=False).labels == found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "it is not JSON"),
        ("[]", "it holds no mapping"),
        ("[" * 100_000, "nested too deeply"),
        ("\ud800".encode("utf-8", "surrogatepass").decode("latin-1"), "it is not JSON"),
    ],
)
@pytest.mark.parametrize("name", ["config.json", "preprocessor_config.json", "generation_config.json"])
def test_what_is_no_json_is_named(folder, name, text, words):
    write(folder, name, text)
    (problem,) = problems(folder)
    assert problem.startswith(f"model, {name}: ") and words in problem


def test_all_problems_at_once(folder):
    folder.joinpath("config.json").unlink()
    folder.joinpath("model.safetensors").unlink()
    write(folder, "tokenizer_config.json", "{")
    found = "\n".join(problems(folder))
    for words in ("no config.json", "no weights", "tokenizer_config.json: it is not JSON"):
        assert words in found


def test_pickled_weights_are_refused_with_a_way_to_convert_them(folder):
    folder.joinpath("model.safetensors").rename(folder / "pytorch_model.bin")
    (problem,) = problems(folder, code=True)
    assert "'pytorch_model.bin'" in problem and "run code" in problem
    assert "import Wav2Vec2ForCTC as M; M.from_pretrained(folder).save_pretrained(folder)" in problem
    write(folder, "config.json", {"architectures": ["x; import os"]})
    assert "import os" not in problems(folder)[0]


def test_pickled_weights_beside_others_are_passed_over(folder):
    folder.joinpath("pytorch_model.bin").write_bytes(b"")
    assert read_folder(folder, "model", code=False).weights == ("model.safetensors",)
    assert [file.name for file in relevant_files(folder)] == [
        "config.json",
        "model.safetensors",
        "preprocessor_config.json",
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("config.json", {"auto_map": {"AutoModel": "modeling.Net"}}),
        ("preprocessor_config.json", {"auto_map": {"AutoFeatureExtractor": "x.Y"}}),
        ("processor_config.json", {"feature_extractor": [{"auto_map": {"AutoFeatureExtractor": "x.Y"}}]}),
        ("tokenizer_config.json", {"auto_map": {"AutoTokenizer": ["x.Y", None]}}),
    ],
)
def test_code_is_refused_unless_it_is_trusted(folder, name, content):
    write(folder, name, content)
    (problem,) = problems(folder)
    assert problem.startswith(f"model, {name}: ") and "trust_remote_code: true" in problem
    read_folder(folder, "model", code=True)


def test_code_of_a_hub_is_refused(folder):
    write(folder, "config.json", {"encoder": {"_attn_implementation": "someone/kernel"}})
    assert "names code of a hub: 'someone/kernel'" in problems(folder)[0]


def test_changes_to_another_model_are_refused(folder):
    write(folder, "adapter_config.json", {"base_model_name_or_path": "someone/model"})
    assert "merge_and_unload" in problems(folder)[0]


def test_shards(folder):
    folder.joinpath("model.safetensors").rename(folder / "model-00001-of-00001.safetensors")
    index = {"weight_map": {"a": "model-00001-of-00001.safetensors", "b": "model-00001-of-00001.safetensors"}}
    write(folder, "model.safetensors.index.json", index)
    assert read_folder(folder, "model", code=False).weights == ("model-00001-of-00001.safetensors",)


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("../model.safetensors", "leads out of the folder"),
        ("/etc/x.safetensors", "leads out of the folder"),
        ("model.bin", "no safetensors"),
        ("missing.safetensors", "does not exist"),
    ],
)
def test_shards_that_cannot_be_used(folder, place, words):
    folder.joinpath("model.safetensors").unlink()
    write(folder, "model.safetensors.index.json", {"weight_map": {"a": place}})
    assert words in "\n".join(problems(folder))


def test_links_stay_in_the_folder(folder):
    secret = folder.parent.parent / "secret.json"
    secret.write_text("{not json: secret}")
    folder.joinpath("config.json").unlink()
    folder.joinpath("config.json").symlink_to(secret)
    (problem,) = problems(folder, code=True)
    assert "config.json: this link leads out of the folder" in problem
    assert str(secret.parent) not in problem


def test_links_of_a_hubs_cache_may_lead_to_its_blobs(tmp_path, folder):
    home = tmp_path / "models--someone--model"
    snapshot = home / "snapshots" / "0a1b"
    snapshot.mkdir(parents=True)
    home.joinpath("blobs").mkdir()
    for number, file in enumerate(sorted(folder.iterdir())):
        blob = file.rename(home / "blobs" / str(number))
        snapshot.joinpath(file.name).symlink_to(Path("../../blobs", blob.name))
    assert read_folder(snapshot, "model", code=False).architecture == "Wav2Vec2ForCTC"
    snapshot.joinpath("vocab.json").symlink_to(tmp_path)
    snapshot.joinpath("vocab.txt").symlink_to("/etc/passwd")
    assert ["vocab.txt" in problem for problem in problems(snapshot)] == [True]


def test_named_pipes_are_not_opened(folder):
    folder.joinpath("config.json").unlink()
    os.mkfifo(folder / "config.json")
    assert "not a regular file" in "\n".join(problems(folder))
