"""Folders as audonnx writes them: labels are taken, and what would have to run is refused."""

import pytest
from library_models import Project, forgetting, noises
from networks import answers, onnx_model

from soundcheck.common.tasks import BUILTIN

pytest.importorskip("onnxruntime")

TEXT = "{onnx: folder, tasks: [arousal, dominance, valence]}"
LABELS = "logits: [valence, Arousal, dominance]\n"
OBJECT = """$audonnx.core.model.Model==0.5.2:
  path: model.onnx
  labels:
    logits:
    - valence
    - Arousal
    - dominance
  transform: null
"""
SMILE = """$audonnx.core.model.Model==0.5.2:
  path: model.onnx
  labels: [female, male]
  transform:
    feature:
      $opensmile.core.smile.Smile==2.0.0:
        feature_set: GeMAPSv01b
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "folder").mkdir()
    with forgetting():
        yield Project(tmp_path)


def write(project: Project, outputs: dict[str, int] | None = None, **texts: str) -> None:
    onnx_model(project.folder / "folder" / "model.onnx", outputs or {"hidden": 7, "logits": 3})
    for name, text in texts.items():
        (project.folder / "folder" / f"{name}.yaml").write_text(text)


@pytest.mark.parametrize(
    "texts", [{"labels": LABELS}, {"model": OBJECT}, {"labels": "x: [a]", "model": OBJECT}]
)
def test_labels_are_tasks(project, texts):
    write(project, **texts)
    (signal,) = noises(800)
    (found,) = project.answers(TEXT, [signal])
    for name, value in zip(("valence", "arousal", "dominance"), answers(signal, 3), strict=True):
        assert abs(found[name] - value) < 1e-6


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ("[Anger, Happiness, Neutral, Sadness]", ""),
        ("[ang, hap, neu, sad]", ", labels: {ang: anger, hap: happiness, neu: neutral, sad: sadness}"),
    ],
)
def test_labels_are_classes(project, labels, said):
    write(project, {"logits": 4}, labels=labels)
    (signal,) = noises(800)
    (found,) = project.answers(f"{{onnx: folder/, tasks: [emotion]{said}}}", [signal])
    assert found["emotion"] == BUILTIN["emotion"].classes[answers(signal, 4).argmax()]


def test_the_suite_adds_to_the_labels_of_a_folder(project):
    write(project, model=OBJECT)
    text = "{onnx: folder, tasks: [arousal, embedding], outputs: {hidden: embedding}}"
    (signal,) = noises(800)
    (found,) = project.answers(text, [signal])
    assert abs(found["arousal"] - answers(signal, 3)[1]) < 1e-6
    assert abs(found["embedding"] - answers(signal, 7)).max() < 1e-6


def test_a_folder_without_labels_is_a_file(project):
    write(project, {"logits": 3})
    (signal,) = noises(800)
    (found,) = project.answers(TEXT, [signal])
    assert abs(found["arousal"] - answers(signal, 3)[0]) < 1e-6


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (
            {"model": SMILE},
            "folder/model.yaml line 6, '$audonnx.core.model.Model==0.5.2'.transform.feature."
            "'$opensmile.core.smile.Smile==2.0.0': it names the class 'opensmile.core.smile.Smile==2.0.0', "
            "which would have to run. The model needs code: write a Python model",
        ),
        (
            {"model": OBJECT.replace("null", "\n    $os.system==1: {}")},
            "names the class 'os.system==1', which",
        ),
        ({"transform": "$a.B==1: {}"}, "folder/transform.yaml: it names a class that makes features"),
        ({"model": OBJECT.replace("model.onnx", "../model.onnx")}, "'../model.onnx': the path leads out of"),
        ({"model": OBJECT.replace("model.onnx", "other.onnx")}, "the folder has no other.onnx"),
        (
            {"model": OBJECT.replace("null", "!!python/object/apply:os.system [ls]")},
            "folder/model.yaml line 8",
        ),
        ({"labels": "logits: 3"}, "folder/labels.yaml: labels are lists of names"),
        ({"labels": "a: [b"}, "folder/labels.yaml: the file is not YAML"),
        ({"labels": "!!python/object/apply:os.system [ls]"}, "nothing says where the answer for"),
        (
            {"labels": "logits: [ang, hap, neu]"},
            "nothing says where the answer for arousal is; the graph's ou",
        ),
    ],
)
def test_refused(project, texts, words):
    write(project, **texts)
    assert words in project.refused(TEXT)


def test_a_folder_without_a_model(project):
    assert "the folder has no model.onnx. Name the ONNX file itself" in project.refused(TEXT)


@pytest.mark.parametrize("name", ["model.onnx", "labels.yaml", "model.yaml"])
def test_links_do_not_lead_out_of_the_folder(project, name):
    write(project, labels=LABELS, model=OBJECT)
    place = project.folder / "folder" / name
    place.rename(project.folder / "elsewhere")
    place.symlink_to(project.folder / "elsewhere")
    if name == "labels.yaml":  # else nobody asks for it
        (project.folder / "folder" / "model.yaml").unlink()
    assert f"'{name}': the path leads out of its folder" in project.refused(TEXT)


def test_what_describes_a_folder_is_among_its_files(project):
    write(project, labels=LABELS)
    entry, suite = project.read(TEXT)
    assert [path.name for path in entry.about.named_files(entry, suite)] == ["model.onnx", "labels.yaml"]
