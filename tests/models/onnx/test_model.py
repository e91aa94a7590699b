"""ONNX graphs as models: against what they compute, against ONNX Runtime itself, and what is refused."""

import numpy as np
import pytest
import yaml
from library_models import Project, forgetting, noises
from networks import answers, installed_file, onnx_model
from pages import example

from soundcheck.common.tasks import BUILTIN
from soundcheck.models.answers import check_output
from soundcheck.models.library_model import resampled
from soundcheck.models.onnx.inputs import Graph
from soundcheck.run.selection import refuse_code

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

DIMENSIONS = ["arousal", "dominance", "valence"]
PLAIN = "{onnx: m.onnx, tasks: [arousal, dominance, valence]}"
EMOTION = "{onnx: m.onnx, tasks: [emotion], outputs: {logits: {emotion: [ang, Happiness, neutral, oth]}}, "
EMOTION += "labels: {ang: anger, oth: }}"


@pytest.fixture
def project(tmp_path):
    with forgetting():
        yield Project(tmp_path)


def numbers(found: list[dict], names=DIMENSIONS) -> np.ndarray:
    return np.array([[answer[name] for name in names] for answer in found], dtype=np.float64)


def expected(signals, count=3) -> np.ndarray:
    return np.array([answers(signal, count) for signal in signals])


# What goes in -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"shape": (1, "samples")},
        {"shape": ("samples",)},
        {"shape": ("samples",), "squeezed": True},
        {"lengths": "signal_lens"},
        {"shape": (1, "samples"), "lengths": "length"},
        {"external": "weights.bin"},
        {"frames": ("hidden",)},
    ],
)
def test_answers_are_what_the_graph_computes(project, form):
    onnx_model(project.folder / "m.onnx", **form)
    signals = noises(800, 1600, 800, 3000, 900)
    alone = np.concatenate([numbers(project.answers(PLAIN, [signal])) for signal in signals])
    together = numbers(project.answers(PLAIN.replace("{", "{batch: 8, ", 1), signals))
    assert np.abs(alone - expected(signals)).max() < 1e-6
    assert np.abs(together - alone).max() < 1e-6


class Counting:
    """A session that notes what it was given."""

    def __init__(self, session):
        self.session, self.calls = session, []

    def run(self, names, given):
        self.calls.append({name: array.shape for name, array in given.items()})
        return self.session.run(names, given)

    def __getattr__(self, name):
        return getattr(self.session, name)


@pytest.mark.parametrize(
    ("form", "calls"),
    [
        ({}, [(1, 900), (2, 800)]),  # together only what is equally long
        ({"lengths": "lens"}, [(1, 900), (2, 800)]),
        ({"shape": (1, "samples")}, [(1, 800), (1, 800), (1, 900)]),
    ],
)
def test_how_often_the_graph_is_called(project, form, calls):
    path = onnx_model(project.folder / "m.onnx", **form)
    session = Counting(runtime.InferenceSession(str(path)))
    graph = Graph(session, "here", batch=8, rate=16000)
    session.calls.clear()
    graph.values(noises(800, 900, 800), ["logits"])
    assert sorted(call["signal"] for call in session.calls) == calls


def test_signals_that_change_each_other_go_alone(project):
    def mix(model):  # what batch normalisation that is still being trained does
        for node in model.graph.node:
            node.output[:] = ["rows" if name == "logits" else name for name in node.output]
        constant = onnx.numpy_helper.from_array(np.array([0]), "all")
        model.graph.initializer.append(constant)
        mean = onnx.helper.make_node("ReduceMean", ["rows", "all"], ["mean"], keepdims=1)
        model.graph.node.extend([mean, onnx.helper.make_node("Sub", ["rows", "mean"], ["logits"])])

    onnx_model(project.folder / "m.onnx", change=mix)
    signals = noises(800, 800)
    found = numbers(project.answers(PLAIN.replace("{", "{batch: 8, ", 1), signals))
    assert np.array_equal(found, np.zeros((2, 3)))


@pytest.mark.parametrize("batch", ["", "batch: 3, "])
@pytest.mark.parametrize("length", [300, 1000, 2500])
def test_pieces_of_a_fixed_length(project, batch, length):
    onnx_model(project.folder / "m.onnx", shape=("n", 1000))
    signals = noises(length, 1000)
    text = f"{{{batch}onnx: m.onnx, tasks: [arousal, dominance, valence], pieces: "
    size = -(-length // 1000) * 1000
    repeated = np.concatenate([signals[0]] * 4)[:size].reshape(-1, 1000)
    silent = np.append(signals[0], np.zeros(size - length, np.float32)).reshape(-1, 1000)
    for fill, pieces in (("repeat", repeated), ("zeros", silent)):
        found = numbers(project.answers(f"{text}{fill}}}", signals))
        wanted = np.stack([expected(pieces).mean(axis=0), answers(signals[1], 3)])
        assert np.abs(found - wanted).max() < 1e-6


def test_signals_are_resampled(project):
    onnx_model(project.folder / "m.onnx")
    (signal,) = noises(1600)
    found = numbers(project.answers(PLAIN.replace("}", ", sampling_rate: 8000}"), [signal]))
    assert np.abs(found - answers(resampled(signal, 16000, 8000), 3)).max() < 1e-6
    assert np.abs(found - answers(signal, 3)).max() > 1e-3


# What comes out ---------------------------------------------------------------------------------------------


def test_the_suite_says_what_numbers_are(project):
    onnx_model(project.folder / "m.onnx", {"a": 3, "b": 2, "vector": 5})
    text = "{onnx: m.onnx, tasks: [valence, embedding, arousal], "
    text += "outputs: {a: [x, valence, y], b: [arousal, z], vector: embedding}}"
    (signal,) = noises(800)
    (found,) = project.answers(text, [signal])
    assert abs(found["valence"] - answers(signal, 3)[1]) < 1e-6
    assert abs(found["arousal"] - answers(signal, 2)[0]) < 1e-6
    assert np.abs(found["embedding"] - answers(signal, 5)).max() < 1e-6
    assert check_output(found, [BUILTIN[name] for name in ("valence", "embedding", "arousal")])[1] == ""


def test_classes_are_those_with_the_highest_score(project):
    onnx_model(project.folder / "m.onnx", {"logits": 4})
    signals = noises(*range(800, 830)) + [np.full(800, level, np.float32) for level in (-1, -0.5, 0.5, 1)]
    found = [answer["emotion"] for answer in project.answers(EMOTION, signals)]
    names = ["anger", "happiness", "neutral"]
    assert found == [names[answers(signal, 4)[:3].argmax()] for signal in signals]
    assert len(set(found)) > 1


def test_classes_have_probabilities_if_the_suite_says_what_scores_are(project):
    def share(model):
        model.graph.node[-1].output[:] = ["scores"]
        model.graph.node.append(onnx.helper.make_node("Softmax", ["scores"], ["logits"], axis=-1))

    signals, names = noises(*range(800, 830)), ["anger", "happiness", "neutral"]
    onnx_model(project.folder / "m.onnx", {"logits": 4})
    plain = project.answers(EMOTION, signals)
    softmax = project.answers(EMOTION[:-1] + ", probabilities: softmax}", signals)
    (wrong,) = project.answers(EMOTION[:-1] + ", probabilities: given}", signals[:1])
    assert "emotion is probabilities" in check_output(wrong, [BUILTIN["emotion"]])[1]
    onnx_model(project.folder / "m.onnx", {"logits": 4}, change=share)
    given = project.answers(EMOTION[:-1] + ", probabilities: given}", signals)
    for signal, one, other, named in zip(signals, softmax, given, plain, strict=True):
        shares = np.exp(answers(signal, 4)[:3])
        expected = dict(zip(names, shares / shares.sum(), strict=True))
        assert one["emotion"] == pytest.approx(expected, abs=1e-6)
        assert other["emotion"] == pytest.approx(expected, abs=1e-6)
        answer, problem = check_output(one, [BUILTIN["emotion"]])
        assert not problem and answer["emotion"] == named["emotion"]
        assert answer["emotion.anger"] == one["emotion"]["anger"]


def test_answers_from_before_are_those_of_models_that_say_nothing(project):
    onnx_model(project.folder / "m.onnx", {"logits": 4})
    model = project.load(EMOTION)
    assert "probabilities" in model.entry.options
    silent = model.fingerprint
    del model.entry.options["probabilities"]
    assert model.fingerprint == silent != project.load(EMOTION[:-1] + ", probabilities: softmax}").fingerprint


@pytest.mark.parametrize("key", ["labels", "classes", "id2label"])
def test_the_file_may_say_what_classes_are(project, key):
    said = {
        "labels": "anger, happiness, neutral, sadness",
        "classes": '["anger", "happiness", "neutral", "sadness"]',
        "id2label": '{"0": "anger", "1": "happiness", "2": "neutral", "3": "sadness"}',
    }
    onnx_model(project.folder / "m.onnx", {"logits": 4}, metadata={key: said[key]})
    (signal,) = noises(800)
    (found,) = project.answers("{onnx: m.onnx, tasks: [emotion]}", [signal])
    assert found["emotion"] == BUILTIN["emotion"].classes[answers(signal, 4).argmax()]


def test_outputs_called_like_tasks_need_no_words(project):
    onnx_model(project.folder / "m.onnx", {"valence": 1, "arousal": 1, "embedding": 4})
    (signal,) = noises(800)
    (found,) = project.answers("{onnx: m.onnx, tasks: [arousal, embedding]}", [signal])
    assert abs(found["arousal"] - answers(signal, 1)[0]) < 1e-6
    assert np.abs(found["embedding"] - answers(signal, 4)).max() < 1e-6


def test_numbers_that_are_none_are_no_answers(project):
    def divide(model):  # by nothing, where a signal is silent
        model.graph.node[-1].output[:] = ["rows"]
        model.graph.node.append(onnx.helper.make_node("Div", ["mean abs", "mean abs"], ["one"]))
        model.graph.node.append(onnx.helper.make_node("Mul", ["rows", "one"], ["logits"]))

    onnx_model(project.folder / "m.onnx", change=divide)
    silence, noise = np.zeros(800, np.float32), noises(800)[0]
    found = project.answers(PLAIN.replace("{", "{batch: 2, ", 1), [silence, noise])
    tasks = [BUILTIN[name] for name in DIMENSIONS]
    problem = "arousal is nan, not a number; dominance is nan, not a number; valence is nan, not a number"
    assert check_output(found[0], tasks) == ({}, problem)
    assert check_output(found[1], tasks)[1] == ""
    onnx_model(project.folder / "m.onnx", {"logits": 4}, change=divide)
    (answer,) = project.answers(EMOTION, [silence])
    assert check_output(answer, [BUILTIN["emotion"]]) == ({}, "emotion is nan, not the name of a class")


# What is refused --------------------------------------------------------------------------------------------


def foreign(model):
    model.graph.node[0].domain, model.graph.node[0].op_type = "com.acme", "Fourier"


def unknown(model):
    model.graph.node[0].op_type = "NoSuchOperator"


def elsewhere(model):
    tensor = model.graph.initializer[-1]
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="../weights.bin")


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


ONE = "{onnx: m.onnx, tasks: [arousal]}"


@pytest.mark.parametrize(
    ("text", "outputs", "form", "words"),
    [
        (PLAIN, {"logits": 3}, {"shape": (4, "t")}, "always 4 signals at once. Save the model for one"),
        (PLAIN, {"logits": 3}, {"kind": "DOUBLE", "change": None}, "onnxruntime cannot load it"),
        (PLAIN, {"logits": 3}, {"shape": (1, 1000)}, "exactly 1000 samples (0.0625 s). Say how"),
        (PLAIN[:-1] + ", pieces: zeros}", {"logits": 3}, {}, "takes signals of any length. Remove pieces"),
        (PLAIN, {"logits": 3}, {"change": whole}, "numbers. Save the model with floating-point numbers th"),
        (PLAIN, {"logits": 3}, {"change": foreign}, "of a library, which is code: 'com.acme:Fourier'"),
        (PLAIN, {"logits": 3}, {"change": unknown}, "onnxruntime cannot load it: "),
        (PLAIN, {"logits": 3}, {"change": elsewhere}, "weights lie in '../weights.bin', outside of its f"),
        (PLAIN, {"logits": 3}, {"change": second_input}, "'attention_mask' tensor(int64) (n, samples); a si"),
        (PLAIN, {"logits": 3}, {"change": frames_in_a_row}, "16000 or 8000 numbers, depending on the signal"),
        (PLAIN, {"logits": 2}, {}, "outputs: 'logits' (2 numbers). Write outputs: {logits: [arousal, domin"),
        (ONE[:-1] + ", outputs: {logit: [arousal]}}", {"logits": 3}, {}, "'logit'. Did you mean 'logits'?"),
        (ONE[:-1] + ", outputs: {logits: [arousal]}}", {"logits": 3}, {}, "has 3 numbers, and 1 are named"),
        (ONE[:-1] + ", outputs: {logits: [arosal, b, c]}}", {"logits": 3}, {}, "nothing says where the answ"),
        (ONE[:-1] + ", outputs: {logits: arosal}}", {"logits": 1}, {}, "names 'arosal', which is no task"),
        (ONE[:-1] + ", probabilities: softmax}", {"arousal": 1}, {}, "no task with classes. Remove the key"),
        (ONE[:-1] + ", outputs: {a: [arousal], b: [arousal]}}", {"a": 1, "b": 1}, {}, "by 'a' and 'b'. N"),
        (ONE[:-1] + ", outputs: {a: {arousal: [b]}}}", {"a": 1}, {}, "arousal has no classes"),
        (
            ONE[:-1] + ", outputs: {hidden: [arousal]}}",
            {"logits": 1},
            {"frames": ("hidden",)},
            "the output 'hidden' cannot be used: it has the shape (1, 160, 100) for 1 signal. Save",
        ),
        ("{onnx: m.onnx, tasks: [emotion]}", {"logits": 4}, {}, "{emotion: [anger, happiness, ...]}}, clas"),
        (ONE, {"logits": 3}, {}, "Write outputs: {logits: [arousal, ...]}, 3 names in their order"),
        (
            "{onnx: m.onnx, tasks: [emotion]}",
            {"logits": 2},
            {"metadata": {"labels": "joy, wut"}},
            "calls its numbers 'joy', 'wut', and none of these is a class of emotion. Say what they",
        ),
        (
            "{onnx: m.onnx, tasks: [emotion], outputs: {o: [emotion]}}",
            {"o": 1},
            {},
            "emotion is not a single number of the output 'o'. Write outputs: {o: {emotion: [anger, happ",
        ),
        (EMOTION.replace("ang: anger", "ang: angr"), {"logits": 4}, {}, "is to mean 'angr', no class of emo"),
        (EMOTION, {"logits": 3}, {}, "the output 'logits' has 3 numbers, and 4 are named. Name them all"),
        (
            "{onnx: m.onnx, tasks: [embedding, arousal]}",
            {"o": 4},
            {},
            "for embedding is; the graph's outputs",
        ),
        (PLAIN[:-1] + ", device: cuda}", {"logits": 3}, {}, "has no CUDAExecutionProvider. Install onnxru"),
    ],
)
def test_refused(project, text, outputs, form, words):
    onnx_model(project.folder / "m.onnx", outputs, **form)
    message = project.refused(text)
    assert words in message
    assert message.startswith("suite.yml, models.mine.onnx, m.onnx: ")


def test_features_are_no_signal(project):
    source = installed_file("speechmos", "dnsmos_models", "sig.onnx")
    (project.folder / "m.onnx").write_bytes(source.read_bytes())
    assert "tensor(float) (N, 901, 161); signals have the shape" in project.refused(ONE)


def test_a_wrong_number_in_the_middle_is_a_failure(project):
    """Sizes are looked at in each call, not only when the model is loaded."""
    path = onnx_model(project.folder / "m.onnx")
    session = Counting(runtime.InferenceSession(str(path)))
    graph = Graph(session, "here", rate=16000)
    session.run = lambda names, given: [np.zeros((1, 2), np.float32)]
    with pytest.raises(ValueError, match="the output 'logits' has 2 numbers instead of 3"):
        graph.values(noises(800), ["logits"])


# Real weights, and what pages show --------------------------------------------------------------------------


@pytest.fixture
def quality(tmp_path):
    """DNSMOS: three regression tasks, from signals of 144160 samples."""
    source = installed_file("speechmos", "dnsmos_models", "sig_bak_ovr.onnx")
    (tmp_path / "dnsmos.onnx").write_bytes(source.read_bytes())
    tasks = ", ".join(f"{name}: {{type: regression, range: [1, 5]}}" for name in ("sig", "bak", "ovr"))
    with forgetting():
        yield Project(tmp_path, f"{{{tasks}}}")


def test_real_weights(quality):
    text = "{onnx: dnsmos.onnx, tasks: [ovr, sig, bak], outputs: {'Identity:0': [sig, bak, ovr]}, "
    text += "pieces: repeat}"
    signals = noises(144160, 50000, 200000)
    found = quality.answers(text, signals)
    session = runtime.InferenceSession(str(quality.folder / "dnsmos.onnx"))
    for signal, answer in zip(signals, found, strict=True):
        pieces = np.resize(signal, -(-len(signal) // 144160) * 144160).reshape(-1, 144160)
        direct = np.mean([session.run(None, {"input_1": piece[None]})[0][0] for piece in pieces], axis=0)
        assert np.abs(numbers([answer], ["sig", "bak", "ovr"])[0] - direct).max() < 1e-6


@pytest.mark.parametrize("number", [0, 1, 2])
def test_what_the_page_shows_can_be_used(project, number):
    ((_, entry),) = yaml.safe_load(example("models", "ONNX", number=number))["models"].items()
    path = project.folder / entry["onnx"]
    path.parent.mkdir(parents=True)
    if path.suffix:
        outputs = {
            name: len(item[entry["tasks"][0]] if isinstance(item, dict) else item)
            for name, item in entry["outputs"].items()
        }
        onnx_model(path, outputs)
    else:
        path.mkdir()
        onnx_model(path / "model.onnx")
        (path / "labels.yaml").write_text("logits: [arousal, dominance, valence]\n")
    text = yaml.safe_dump(entry, default_flow_style=True, width=1000).replace("null", "")
    found = project.answers(text, noises(800, 1600))
    assert [set(answer) for answer in found] == [set(entry["tasks"])] * 2


def test_it_is_no_code(project):
    onnx_model(project.folder / "m.onnx")
    entry, suite = project.read(PLAIN)
    refuse_code(suite)


def test_one_thread(project):
    onnx_model(project.folder / "m.onnx")
    model = project.load(PLAIN)
    options = model.graph._session.get_session_options()
    assert (options.intra_op_num_threads, options.inter_op_num_threads) == (1, 1)
    assert options.use_deterministic_compute
