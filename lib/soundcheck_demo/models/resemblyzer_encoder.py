"""A neural speaker embedding: Resemblyzer's voice encoder, whose weights come in its package.

In a suite: ``python: "soundcheck_demo.models.resemblyzer_encoder:predict"``. Needs more packages:
``pip install "soundcheck-speech[neural]"``. The encoder is a recurrent network, trained on thousands of
people to tell their voices apart: Wan, Wang, Papir and Moreno (2018), Generalized end-to-end loss for
speaker verification.

What happens to a signal is what the package does with its defaults:

- It is resampled to 16 kHz.
- Its level (root mean square) is raised to -30 dB relative to full scale; a louder signal keeps its level.
- A voice activity detector shortens long pauses. Speech that is very short, quiet or noisy may be cut to
  nothing; all such signals get the embedding of silence.
- Windows of 1.6 s, about 1.3 a second, are embedded, and the mean of them counts. The last window is filled
  with zeros, or left out if it is filled to less than three quarters.

Only what would break the package is changed before: what is not a number becomes 0, and samples beyond full
scale are cut to it. An answer depends on the signal alone; it is computed on the processor, by one thread.
"""

from __future__ import annotations

import functools
import importlib.metadata
import math
import warnings
from types import ModuleType

import numpy as np

PACKAGES = ("resemblyzer", "torch", "librosa")  # that the answers depend on
SHORTEST = 0.03  # seconds: the detector's window
SILENCE = 1e-6  # peak below which a signal counts as silent: -120 dB


def predict(signal: np.ndarray, sampling_rate: int) -> dict[str, np.ndarray]:
    """Embed the voice of one segment of any length: float32 ``(256,)``, no value below 0, of length 1.

    Raises ImportError: if the packages are not installed; says how to install them.
    """
    package, torch, encoder = _loaded()
    signal = np.clip(np.nan_to_num(np.asarray(signal, dtype=np.float32).ravel()), -1.0, 1.0)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        if np.abs(signal).max(initial=0.0) < SILENCE:
            speech = np.zeros(0, dtype=np.float32)
        else:
            missing = math.ceil(SHORTEST * sampling_rate) - len(signal)
            speech = package.preprocess_wav(np.pad(signal, (0, max(0, missing))), sampling_rate)
        return {"embedding": encoder.embed_utterance(speech).astype(np.float32)}
    finally:
        torch.set_num_threads(threads)


def prepare() -> None:
    """Load the package, so that what is wrong with it is told before the first signal."""
    _loaded()


def fingerprint() -> str:
    """Name what the answers depend on besides this code: the packages; the weights come with them."""
    try:
        return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES)
    except importlib.metadata.PackageNotFoundError as error:
        raise _missing(error) from error


@functools.cache
def _loaded() -> tuple[ModuleType, ModuleType, object]:
    """Import late, because it takes seconds: the package, torch and the encoder with its weights."""
    try:
        with warnings.catch_warnings():  # the packages' own use of what is deprecated
            warnings.simplefilter("ignore")
            import resemblyzer
            import torch

            return resemblyzer, torch, resemblyzer.VoiceEncoder("cpu", verbose=False)
    except ImportError as error:
        raise _missing(error) from error


def _missing(error: ImportError) -> ImportError:
    what = f"Resemblyzer or a package that it needs is not installed ({error})."
    return ImportError(f'{what} Install it: pip install "soundcheck-speech[neural]".')
