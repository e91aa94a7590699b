"""Graphs, folders of audonnx and of onnx-asr that are refused, a row of ``refused.yml`` each."""

from pathlib import Path

import pytest
import yaml
from networks import installed_file, onnx_model, onnx_recogniser

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

ROWS = yaml.safe_load(Path(__file__).with_name("refused.yml").read_text("utf-8"))


def foreign(model):
    model.graph.node[0].domain = "com.acme"


def unknown(model):
    model.graph.node[0].op_type = "NoSuchOperator"


def second_input(model):
    model.graph.input.append(onnx.helper.make_tensor_value_info("attention_mask", 7, ("n", "samples")))


def frames_in_a_row(model):
    """Give as many numbers as there are samples."""
    model.graph.node[-1].output[:] = ["rows"]
    model.graph.node.append(onnx.helper.make_node("Identity", ["abs"], ["logits"]))
    model.graph.output[0].CopyFrom(onnx.helper.make_tensor_value_info("logits", 1, ("n", "t")))


def whole(model):
    """Give whole numbers, such as numbers of classes."""
    model.graph.node[-1].output[:] = ["rows"]
    model.graph.node.append(onnx.helper.make_node("Cast", ["rows"], ["logits"], to=7))
    model.graph.output[0].type.tensor_type.elem_type = 7


def graph(path: Path, row: dict) -> None:
    form = {"shape": ["n", "samples"]} | row.get("graph", {})
    form["shape"] = tuple(form["shape"])
    onnx_model(path, row.get("outputs"), **form, change=globals().get(row.get("change")))


def lead_out(folder: Path, row: dict) -> None:
    if name := row.get("link"):
        (folder / name).rename(folder.parent / "elsewhere")
        (folder / name).symlink_to(folder.parent / "elsewhere")


@pytest.mark.parametrize("row", ROWS["file"], ids=lambda row: row["words"][:40])
def test_graphs(project, row):
    graph(project.folder / "m.onnx", row)
    message = project.refused(f"{{onnx: m.onnx, {row['model']}}}")
    assert row["words"] in message
    assert message.startswith("suite.yml, models.mine.onnx, m.onnx: ")


@pytest.mark.parametrize("row", ROWS["folder"], ids=lambda row: row["words"][:40])
def test_folders(project, spoil, row):
    folder = project.folder / "folder"
    folder.mkdir()
    onnx_model(folder / "model.onnx", {"hidden": 7, "logits": 3})
    spoil(folder, row)
    lead_out(folder, row)
    assert row["words"] in project.refused("{onnx: folder, tasks: [arousal, dominance, valence]}")


@pytest.mark.parametrize("row", ROWS["asr"], ids=lambda row: row["words"][:40])
def test_recognisers(project, spoil, row):
    pytest.importorskip("onnx_asr")
    folder = onnx_recogniser(project.folder / "asr")
    if "graph" in row or "change" in row:
        graph(folder / "model.onnx", row)
    spoil(folder, row)
    lead_out(folder, row)
    message = project.refused(f"{{onnx-asr: asr, {row.get('model', 'batch: 1')}}}")
    assert row["words"] in message
    assert message.startswith("suite.yml, models.mine.onnx-asr, asr: ")


def test_features_are_no_signal(project):
    source = installed_file("speechmos", "dnsmos_models", "sig.onnx")
    (project.folder / "m.onnx").write_bytes(source.read_bytes())
    message = project.refused("{onnx: m.onnx, tasks: [arousal]}")
    assert "tensor(float) (N, 901, 161); given are a signal" in message
