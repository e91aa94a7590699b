"""ONNX graphs as models, files and folders of audonnx: against what they compute, and ONNX Runtime itself."""

import numpy as np
import pytest
from library_models import Project, noises
from networks import answers, installed_file, onnx_model

from soundcheck.common.tasks import BUILTIN
from soundcheck.models.answers import check_output
from soundcheck.models.library_model import resampled
from soundcheck.models.onnx.graph import Graph
from soundcheck.run.selection import refuse_code

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

DIMENSIONS = ["arousal", "dominance", "valence"]
PLAIN = "{onnx: m.onnx, tasks: [arousal, dominance, valence]}"
BATCH = PLAIN.replace("{", "{batch: 8, ")
FOLDER = PLAIN.replace("m.onnx", "folder/")
EMOTION = "{onnx: m.onnx, tasks: [emotion], outputs: {logits: {emotion: [ang, Happiness, neutral, oth]}}, "
EMOTION += "labels: {ang: anger, oth: }}"


def numbers(outputs: list[dict], names=DIMENSIONS) -> np.ndarray:
    return np.array([[output[name] for name in names] for output in outputs], dtype=np.float64)


def expected(signals, count=3) -> np.ndarray:
    return np.array([answers(signal, count) for signal in signals])


def replaced(operator: str, *inputs: str, **options):
    """Put another operator behind the last one of a graph."""

    def change(model):
        model.graph.node[-1].output[:] = ["rows"]
        model.graph.node.append(onnx.helper.make_node(operator, ["rows", *inputs], ["logits"], **options))

    return change


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"shape": ("samples",)},
        {"shape": ("samples",), "squeezed": True},
        {"shape": (1, "samples"), "lengths": "length"},
        {"external": "weights.bin"},
        {"frames": ("hidden",)},
    ],
)
def test_predictions_are_what_the_graph_computes(project, form):
    onnx_model(project.folder / "m.onnx", **form)
    signals = noises(800, 1600, 800, 3000, 900)
    alone = np.concatenate([numbers(project.answers(PLAIN, [signal])) for signal in signals])
    assert np.abs(alone - expected(signals)).max() < 1e-6
    assert np.abs(numbers(project.answers(BATCH, signals)) - alone).max() < 1e-6


def test_sizes_of_outputs_are_looked_at_in_each_call(project):
    session = runtime.InferenceSession(str(onnx_model(project.folder / "m.onnx")))
    graph = Graph(session, "here", batch=8, rate=16000)
    session.run = lambda names, given: [np.zeros((1, 2), np.float32)]
    with pytest.raises(ValueError, match="the output 'logits' has 2 numbers instead of 3"):
        graph.values(noises(800), ["logits"])


def test_signals_that_change_each_other_go_alone(project):
    def mix(model):  # what batch normalisation that is still being trained does
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.array([0]), "all"))
        replaced("Sub", "mean")(model)
        mean = onnx.helper.make_node("ReduceMean", ["rows", "all"], ["mean"], keepdims=1)
        model.graph.node.insert(len(model.graph.node) - 1, mean)

    onnx_model(project.folder / "m.onnx", change=mix)
    assert np.array_equal(numbers(project.answers(BATCH, noises(800, 800))), np.zeros((2, 3)))


@pytest.mark.parametrize("length", [300, 2500])
def test_pieces_of_a_fixed_length(project, length):
    onnx_model(project.folder / "m.onnx", shape=("n", 1000))
    signals = noises(length, 1000)
    size = -(-length // 1000) * 1000
    silent = np.append(signals[0], np.zeros(size - length, np.float32))
    for fill, pieces in (("repeat", np.resize(signals[0], size)), ("zeros", silent)):
        wanted = np.stack([expected(pieces.reshape(-1, 1000)).mean(axis=0), answers(signals[1], 3)])
        for text in (PLAIN, BATCH):
            outputs = project.answers(f"{text[:-1]}, pieces: {fill}}}", signals)
            assert np.abs(numbers(outputs) - wanted).max() < 1e-6


def test_signals_are_resampled(project):
    onnx_model(project.folder / "m.onnx")
    (signal,) = noises(1600)
    outputs = numbers(project.answers(PLAIN.replace("}", ", sampling_rate: 8000}"), [signal]))
    assert np.abs(outputs - answers(resampled(signal, 16000, 8000), 3)).max() < 1e-6


def test_which_numbers_are_those_of_a_task(project):
    for outputs, text, places in (
        (
            {"a": 3, "b": 2, "vector": 5},
            "tasks: [valence, embedding, arousal], "
            "outputs: {a: [x, valence, y], b: [arousal, z], vector: embedding}",
            {"valence": (3, 1), "embedding": (5, slice(None)), "arousal": (2, 0)},
        ),
        # Outputs called like tasks need no words.
        ({"arousal": 1, "vector": 4}, "tasks: [arousal]", {"arousal": (1, 0)}),
    ):
        onnx_model(project.folder / "m.onnx", outputs)
        (signal,) = noises(800)
        (output,) = project.answers(f"{{onnx: m.onnx, {text}}}", [signal])
        for task, (count, place) in places.items():
            assert np.abs(output[task] - answers(signal, count)[place]).max() < 1e-6


def test_classes_and_their_probabilities(project):
    signals = noises(*range(800, 830)) + [np.full(800, level, np.float32) for level in (-1, -0.5, 0.5, 1)]
    names = ["anger", "happiness", "neutral"]
    onnx_model(project.folder / "m.onnx", {"logits": 4})
    plain = project.answers(EMOTION, signals)
    emotions = [answer["emotion"] for answer in plain]
    assert emotions == [names[answers(signal, 4)[:3].argmax()] for signal in signals] and len({*emotions}) > 1
    softmax = project.answers(EMOTION[:-1] + ", probabilities: softmax}", signals)
    (wrong,) = project.answers(EMOTION[:-1] + ", probabilities: given}", signals[:1])
    assert "emotion is probabilities" in check_output(wrong, [BUILTIN["emotion"]])[1]
    onnx_model(project.folder / "m.onnx", {"logits": 4}, change=replaced("Softmax", axis=-1))
    given = project.answers(EMOTION[:-1] + ", probabilities: given}", signals)
    for signal, one, other, label in zip(signals, softmax, given, plain, strict=True):
        shares = np.exp(answers(signal, 4)[:3])
        wanted = dict(zip(names, shares / shares.sum(), strict=True))
        assert one["emotion"] == pytest.approx(wanted, abs=1e-6)
        assert other["emotion"] == pytest.approx(wanted, abs=1e-6)
        assert check_output(one, [BUILTIN["emotion"]])[0]["emotion"] == label["emotion"]


def test_the_file_may_say_what_classes_are(project):
    classes, (signal,) = BUILTIN["emotion"].classes, noises(800)
    for key, value, labels in (
        ("classes", '["Anger", "ang", "neutral", "sad"]', ", labels: {ang: happiness, sad: sadness}"),
        ("id2label", '{"0": "anger", "1": "happiness", "2": "neutral", "3": "sadness"}', ""),
    ):
        onnx_model(project.folder / "m.onnx", {"logits": 4}, metadata={key: value})
        (output,) = project.answers(f"{{onnx: m.onnx, tasks: [emotion]{labels}}}", [signal])
        assert output["emotion"] == classes[answers(signal, 4).argmax()]


def test_numbers_that_are_none_are_no_predictions(project):
    def divide(model):  # by nothing, where a signal is silent
        replaced("Mul", "one")(model)
        division = onnx.helper.make_node("Div", ["all abs", "all abs"], ["one"])
        model.graph.node.insert(len(model.graph.node) - 1, division)

    silence, noise = np.zeros(800, np.float32), noises(800)[0]
    for text, count, task in ((BATCH, 3, "arousal"), (EMOTION, 4, "emotion")):
        onnx_model(project.folder / "m.onnx", {"logits": count}, change=divide)
        first, second = (
            check_output(output, [BUILTIN[task]]) for output in project.answers(text, [silence, noise])
        )
        assert first[0] == {} and first[1].startswith(f"{task} is nan, not ") and second[1] == ""


OBJECT = "$audonnx.core.model.Model==0.5.2:\n  path: model.onnx\n  labels:\n    logits:\n    - valence\n"
OBJECT += "    - Arousal\n    - dominance\n  transform: null\n"


@pytest.fixture
def folder(project):
    def folder(outputs: dict[str, int], **texts: str):
        (project.folder / "folder").mkdir()
        onnx_model(project.folder / "folder" / "model.onnx", outputs)
        for name, text in texts.items():
            (project.folder / "folder" / f"{name}.yaml").write_text(text)

    return folder


@pytest.mark.parametrize(
    ("texts", "order"),
    [
        ({"labels": "logits: [valence, Arousal, dominance]\n"}, ["valence", "arousal", "dominance"]),
        ({"labels": "x: [a]", "model": OBJECT}, ["valence", "arousal", "dominance"]),
        ({}, DIMENSIONS),  # a folder without labels is a file
    ],
)
def test_labels_of_a_folder_are_tasks(project, folder, texts, order):
    folder({"hidden": 7, "logits": 3} if texts else {"logits": 3}, **texts)
    (signal,) = noises(800)
    assert np.abs(numbers(project.answers(FOLDER, [signal]), order) - expected([signal])).max() < 1e-6
    entry, suite = project.read(FOLDER)
    files = [path.name for path in entry.about.named_files(entry, suite)]
    assert sorted(files) == sorted(["model.onnx", *(f"{name}.yaml" for name in texts)])
    if "model" in texts:  # the suite adds to the labels
        text = "{onnx: folder, tasks: [arousal, embedding], outputs: {hidden: embedding}}"
        (output,) = project.answers(text, [signal])
        assert abs(output["arousal"] - answers(signal, 3)[1]) < 1e-6
        assert abs(output["embedding"] - answers(signal, 7)).max() < 1e-6


def test_real_weights(tmp_path):
    """DNSMOS: three regression tasks, from signals of 144160 samples."""
    source = installed_file("speechmos", "dnsmos_models", "sig_bak_ovr.onnx")
    (tmp_path / "dnsmos.onnx").write_bytes(source.read_bytes())
    tasks = ", ".join(f"{name}: {{type: regression, range: [1, 5]}}" for name in ("sig", "bak", "ovr"))
    text = "{onnx: dnsmos.onnx, tasks: [ovr, sig, bak], pieces: repeat, "
    text += "outputs: {'Identity:0': [sig, bak, ovr]}}"
    (signal,) = noises(50000)
    (output,) = Project(tmp_path, f"{{{tasks}}}").answers(text, [signal])
    session = runtime.InferenceSession(str(tmp_path / "dnsmos.onnx"))
    (direct,) = session.run(None, {"input_1": np.resize(signal, 144160)[None]})[0]
    assert np.abs(numbers([output], ["sig", "bak", "ovr"])[0] - direct).max() < 1e-6


def test_it_is_no_code_and_computes_with_one_thread(project):
    onnx_model(project.folder / "m.onnx")
    refuse_code(project.read(PLAIN)[1])
    options = project.load(PLAIN).graph._session.get_session_options()
    assert (options.intra_op_num_threads, options.inter_op_num_threads) == (1, 1)
    assert options.use_deterministic_compute
