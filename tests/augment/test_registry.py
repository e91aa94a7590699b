"""What holds for every transform, whatever it does; how changes are checked, drawn and applied."""

import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
import yaml
from tests.augment.made_sounds import sound, sounds

from soundcheck.augment import level, registry
from soundcheck.augment.base import TRANSFORMS
from soundcheck.augment.sounds import BASE, KINDS, OTHER
from soundcheck.common import resources
from soundcheck.suite.families import Perturbation
from soundcheck.suite.thresholds import read_family

REFUSED = yaml.safe_load(Path(__file__).with_name("refused.yml").read_text("utf-8"))
RATE = 16000
rng = np.random.default_rng(0)
NOISES = [
    sound(f"sound {n}", rng.uniform(-0.5, 0.5, 30 * (n + 1)), role=OTHER if n else BASE) for n in range(3)
]
SOUNDS = sounds(**dict.fromkeys(KINDS, NOISES))


def shipped():
    """All changes and steps of sweeps of the shipped families."""
    for name in resources.names("thresholds", ".yml"):
        family = read_family(name)
        yield from family.changes.values()
        for sweep in (*family.sweeps.values(), *family.transformations.values()):
            yield from sweep.steps.values()


SHIPPED = list(shipped())
# One change of each transform, kind of sounds and codec, but those that take the place of speech.
ASIDE = {"silence", "sound_alone", "followed_by_silence", "cut_and_looped"}
CHANGES = {
    (change.transform, *registry.kind_of_sounds(change), change.options.get("direction"), str(codec)): change
    for change in SHIPPED
    for codec in [change.options.get("name")]
    if change.transform not in ASIDE
}
every_change = pytest.mark.parametrize("change", CHANGES.values(), ids=lambda change: change.name)
TONE = Perturbation("Tone", "additive_tone", {"frequency": {"from": 5000, "to": 7000}, "snr_db": [40, 45]})
NOISE = Perturbation("Noise", "white_noise", {"snr_db": [35, 40, 45]})


def apply(change, signal, *, seed=0, content="a"):
    return registry.apply(change, signal, RATE, seed=seed, content=content, sounds=SOUNDS)


def read_only(signal):
    signal = np.array(signal, dtype=np.float32)
    signal.flags.writeable = False
    return signal


def test_every_transform_is_shipped_without_problems_and_can_be_sent_to_workers():
    assert set(TRANSFORMS) == {change.transform for change in SHIPPED}
    assert {registry.check_change(change) for change in (*SHIPPED, TONE, NOISE)} == {""}
    for entry in TRANSFORMS.values():
        assert pickle.loads(pickle.dumps(entry.function)) is entry.function


@every_change
def test_odd_signals_give_no_warning_and_come_back_new_finite_and_float32(change, rng):
    odd = (np.zeros(4000), np.ones(1), np.linspace(-1, 1, 10), np.eye(1, 4000)[0], np.tile([1.0, -1.0], 2000))
    odd += (np.full(4000, 1e-42), np.full(4000, 1e30), rng.uniform(-0.5, 0.5, 3000))
    for signal in odd:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            changed, drawn = apply(change, read_only(signal))
        assert changed.dtype == np.float32 and changed.ndim == 1 and changed.size
        assert changed.flags.c_contiguous and np.isfinite(changed).all()
        assert signal.any() or not changed.any()
    again, drawn_again = apply(change, signal)
    assert not (np.shares_memory(again, signal) and again.flags.writeable)
    assert np.array_equal(changed, again) and drawn == drawn_again
    strided = apply(change, signal[::2])[0]
    assert np.array_equal(strided, apply(change, signal[::2].astype(np.float32))[0])


def test_signals_and_results_that_are_refused(rng):
    for signal in (np.zeros(0), np.zeros((1, 5))):
        with pytest.raises(ValueError, match="one channel with samples is needed"):
            level.gain(signal, RATE, rng, gain_db=1)
    with pytest.raises(ValueError, match="gain gives samples that are not finite numbers"):
        apply(Perturbation("Gain", "gain", {"gain_db": 2}), np.full(3, 3e38, dtype=np.float32))
    babble = Perturbation("Babble", "background_noise", {"noise": "babble", "snr_db": 20})
    with pytest.raises(ValueError, match="there are no sounds of the kind babble"):
        registry.apply(babble, np.ones(99, np.float32), RATE, seed=0, content="a")


def test_draws_depend_on_content_and_seed_only(rng):
    signal = rng.uniform(-0.5, 0.5, 2000).astype(np.float32)
    contents = [f"audio {n}" for n in range(20)]

    def run(change, order, seed=0):
        results = {content: apply(change, signal, seed=seed, content=content) for content in order}
        return {content: (changed.tobytes(), drawn) for content, (changed, drawn) in results.items()}

    forward = run(NOISE, contents)
    assert run(NOISE, contents[::-1]) == forward
    assert len({changed for changed, _ in forward.values()}) == len(contents)
    assert len({drawn["snr_db"] for _, drawn in forward.values()}) == 3
    reseeded = run(NOISE, contents, seed=1)
    assert all(reseeded[content][0] != changed for content, (changed, _) in forward.items())
    swapped = {"snr_db": [40, 45], "frequency": {"to": 7000, "from": 5000}}  # nor on the order of options
    assert run(Perturbation("Another name", "additive_tone", swapped), contents) == run(TONE, contents)


def test_draws_are_uniform_and_reach_both_ends_and_fixed_options_use_no_chance(rng):
    options = {"range": {"from": -1, "to": 1}, "list": ["a", "b", "c"]}
    drawn = [registry.draw(options, rng) for _ in range(3000)]
    for name, values in {"range": (-1, 0, 1), "list": ("a", "b", "c")}.items():
        counts = [sum(choice[name] == value for choice in drawn) for value in values]
        assert sum(counts) == 3000 and min(counts) > 900
    assert type(drawn[0]["range"]) is int  # can be written as JSON
    state, fixed = rng.bit_generator.state, {"snr_db": 20, "direction": "upward"}
    assert registry.draw(fixed, rng) == fixed and rng.bit_generator.state == state


def test_a_bad_change_is_found_before_anything_runs():
    for name, options, problem in [*REFUSED["changes"], ("gain", {"gain_db": 10**400}, "is not a number")]:
        message = registry.check_change(Perturbation("Mine", name, options))
        assert problem in message and message.endswith(".") and ".." not in message, (name, options)
        if name in TRANSFORMS and not any(isinstance(value, list | dict) for value in options.values()):
            with pytest.raises((ValueError, TypeError)):  # nor is it ever applied, to silence either
                apply(Perturbation("Mine", name, options), np.zeros(9, np.float32))


def test_full_scale_is_kept_unless_a_change_clips_there(rng):
    signal, options = rng.uniform(-0.9, 0.9, 500).astype(np.float32), {"factor": 2.0}
    loud, clipped = (
        apply(Perturbation("Loud", "scaled_amplitude", options | more), signal)[0]
        for more in ({}, {"full_scale": "clipped"})
    )
    assert np.abs(loud).max() > 1.7 and np.array_equal(clipped, np.clip(loud, -1, 1))
    wrong = Perturbation("Loud", "scaled_amplitude", options | {"full_scale": "cut"})
    assert "'cut' is not allowed" in registry.check_change(wrong)
