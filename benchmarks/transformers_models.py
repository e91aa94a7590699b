"""How fast models of Transformers answer through a worker, against a plain loop that calls the library.

``python benchmarks/transformers_models.py [--signals 32]`` makes networks of middle size with random weights
and recordings of 2 to 4 seconds. The plain loop reads each file, makes inputs and calls the network, one
signal or a padded batch of eight at a time, with one thread. The worker is that of a run, in this process:
it reads, asks, checks answers and tells them. Seconds are those of the processor, the better of two rounds.
Answers of the plain loop in padded batches are other ones where a network hears the padding (``group``); the
last column says by how much they differ from those of one signal at a time.

Ends with 1 if a worker is slower than 0.95 times the plain loop of one signal at a time.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import soundfile

from soundcheck.augment.sounds import Sounds
from soundcheck.common.tasks import BUILTIN
from soundcheck.models.base import load_model
from soundcheck.predict.opened_files import Watch
from soundcheck.predict.protocol import Call, Item, Result, Setup, Unit
from soundcheck.predict.worker import Worker
from soundcheck.suite.entries import ModelEntry, Suite

TASKS = ("arousal", "dominance", "valence")
BATCH = 8
GOAL = 0.95
RATE = 16000
OPTIONS = {"device": "cpu", "trust_remote_code": False, "labels": {}}


def save(folder: Path, norm: str) -> None:
    """Save a network."""
    import torch
    import transformers

    torch.manual_seed(0)
    config = transformers.Wav2Vec2Config(
        **{"hidden_size": 256, "num_hidden_layers": 6, "num_attention_heads": 4, "intermediate_size": 1024},
        **{"conv_dim": (256,) * 7, "feat_extract_norm": norm, "do_stable_layer_norm": norm == "layer"},
        **{"num_labels": len(TASKS), "id2label": dict(enumerate(TASKS)), "problem_type": "regression"},
    )
    transformers.Wav2Vec2ForSequenceClassification(config).save_pretrained(folder)
    extractor = transformers.Wav2Vec2FeatureExtractor(return_attention_mask=norm == "layer")
    extractor.save_pretrained(folder)


def record(folder: Path, count: int) -> list[Path]:
    """Write recordings, their lengths on a grid of 0.25 s."""
    rng = np.random.default_rng(0)
    files = []
    for number in range(count):
        noise = rng.normal(0, 0.1, RATE * int(rng.integers(8, 17)) // 4).astype(np.float32)
        files.append(folder / f"{number}.wav")
        soundfile.write(files[-1], noise, RATE)
    return files


def plain(network: Path, files: list[Path], size: int) -> tuple[np.ndarray, float]:
    """Call the library, ``size`` signals at a time; gives its numbers ``(files, 3)`` and seconds."""
    import torch
    import transformers

    model = transformers.AutoModelForAudioClassification.from_pretrained(network).eval()
    extractor = transformers.AutoFeatureExtractor.from_pretrained(network)

    def ask() -> Iterator[np.ndarray]:
        for begin in range(0, len(files), size):
            sounds = [soundfile.read(file, dtype="float32")[0] for file in files[begin : begin + size]]
            inputs = extractor(sounds, sampling_rate=RATE, padding=True, return_tensors="pt")
            with torch.inference_mode():
                yield model(**inputs).logits.numpy()

    return timed(lambda: np.concatenate(list(ask())))


class _Parent:
    """What a worker takes for the connection to its parent."""

    def __init__(self) -> None:
        self.results: list[Result] = []

    def send(self, message: tuple) -> None:
        self.results += message[1]


def engine(network: Path, files: list[Path], size: int) -> tuple[np.ndarray, float]:
    """Ask as a run does, ``size`` signals at a time."""
    root = network.parent
    batch = None if size == 1 else size
    entry = ModelEntry("m", "transformers", network.name, TASKS, path=network, batch=batch, options=OPTIONS)
    suite = Suite(models={"m": entry}, tasks=BUILTIN, root=root, file=root / "suite.yml")
    setup = Setup(entry, suite, entry.about, (), Sounds({}))
    model = load_model(entry, suite)
    items = tuple(Item(str(file), None, None, "", (Call(str(file), None),)) for file in files)

    def ask() -> np.ndarray:
        parent = _Parent()
        Worker(parent, setup, model, Watch(root), [0.0] * 4).work(Unit(items))
        return np.array([[result.answer[task] for task in TASKS] for result in parent.results])

    return timed(ask)


def timed(ask: Callable[[], np.ndarray]) -> tuple[np.ndarray, float]:
    """Give what is answered, and the seconds of the processor that it took."""
    ask()  # what is made at first use
    seconds = []
    for _ in range(2):
        begin = time.process_time()
        answers = ask()
        seconds.append(time.process_time() - begin)
    return answers, min(seconds)


def main() -> int:
    """Time all and compare."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--signals", type=int, default=32)
    count = parser.parse_args().signals
    import torch
    import transformers

    torch.set_num_threads(1)
    transformers.logging.disable_progress_bar()
    missed = 0
    with tempfile.TemporaryDirectory(prefix="soundcheck-benchmark-") as name:
        folder = Path(name)
        files = record(folder, count)
        for norm in ("layer", "group"):
            save(folder / norm, norm)
            reference, single = plain(folder / norm, files, 1)
            print(f"{norm} norm, plain loop, 1 at a time: {count / single:.1f} signals/s", flush=True)
            ways = ((plain, BATCH, "plain loop"), (engine, 1, "worker"), (engine, BATCH, "worker"))
            for way, size, shown in ways:
                answers, took = way(folder / norm, files, size)
                missed += way is engine and single / took < GOAL
                apart = np.abs(answers - reference).max()
                print(
                    f"{norm} norm, {shown}, {size} at a time: {count / took:.1f} signals/s, "
                    f"{single / took:.2f} times as fast as the plain loop, answers differ by {apart:.1e}",
                    flush=True,
                )
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
