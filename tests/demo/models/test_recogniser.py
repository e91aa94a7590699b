"""The demo's recognisers: what they hear, and that nothing confuses or crashes them."""

import subprocess
import sys

import audiofile
import numpy as np
import pandas as pd
import pytest
from rapidfuzz.distance import Levenshtein

from soundcheck.common.tasks import BUILTIN
from soundcheck.models.answers import check_output
from soundcheck_demo.models import recogniser
from soundcheck_demo.speech import commands, corpus

pytestmark = pytest.mark.slow

ALL = (recogniser.grammar, recogniser.hurried, recogniser.gated, recogniser.words, recogniser.digits)
VOCABULARIES = {
    recogniser.grammar: set(commands.grammar_words()),
    recogniser.hurried: set(commands.grammar_words()),
    recogniser.gated: set(commands.grammar_words()),
    recogniser.words: set(commands.vocabulary()),
    recogniser.digits: set(recogniser.DIGITS),
}


@pytest.fixture(scope="module")
def heard(shared_cache):
    """Signals and table of the small corpus of commands, with the answers of both recognisers."""
    folder = corpus.build(shared_cache, size="small", part="commands", jobs=2)
    table = pd.read_csv(folder / "segments.csv")
    signals = [audiofile.read(folder / name)[0] for name in table["file"]]
    for model in (recogniser.grammar, recogniser.words):
        table[model.__name__] = [model(signal, 16000)["transcript"] for signal in signals]
    return table, signals


def word_errors(table, column):
    pairs = list(zip(table["transcript"].str.split(), table[column].str.split(), strict=True))
    return sum(Levenshtein.distance(*pair) for pair in pairs) / sum(len(said) for said, _ in pairs)


def transcript(model, signal, rate=16000):
    answer = model(np.asarray(signal, dtype=np.float32), rate)
    said = ["words"] if model is recogniser.words and answer["transcript"] else []
    assert list(answer) == ["transcript", *said]
    assert check_output(answer, [BUILTIN["transcript"]])[1] == ""
    assert set(answer["transcript"].split()) <= VOCABULARIES[model]
    return answer["transcript"]


def test_word_errors(heard):
    table, _ = heard
    errors = {
        model: {accent: word_errors(own, model) for accent, own in table.groupby("accent")}
        for model in ("grammar", "words")
    }
    assert errors["grammar"]["american"] < 0.3
    assert errors["words"]["american"] < 0.6
    assert errors["grammar"]["german"] > errors["grammar"]["american"] + 0.2
    assert word_errors(table, "words") > word_errors(table, "grammar") + 0.1 > 0.1


def test_answers_do_not_depend_on_the_order(heard):
    """Scores tell more than words: they differ as soon as anything of an earlier signal is left."""
    _, signals = heard
    rng = np.random.default_rng(1)
    signals = [*signals, 0.3 * rng.standard_normal(16000)]
    signals += [signal + 0.02 * rng.standard_normal(len(signal)) for signal in signals[::3]]
    for model in (recogniser.grammar, recogniser.hurried, recogniser.words):
        heard_first = {}
        for order in (range(len(signals)), *(rng.permutation(len(signals)) for _ in range(2))):
            for number in order:
                found = model(signals[number], 16000), score(model)
                assert heard_first.setdefault(number, found) == found, (model.__name__, number)


def score(model):
    best = recogniser._decoder(model.__name__).hyp()
    return best and best.best_score


def test_answers_are_those_of_a_new_decoder(heard):
    table, signals = heard
    for number in (3, 11, 20):
        recogniser._decoder.cache_clear()
        assert transcript(recogniser.grammar, signals[number]) == table["grammar"][number]


def test_models_do_not_disturb_each_other(heard):
    table, signals = heard
    for number in (1, 8):
        assert transcript(recogniser.words, signals[number]) == table["words"][number]
        transcript(recogniser.digits, signals[number])
        assert transcript(recogniser.grammar, signals[number]) == table["grammar"][number]


@pytest.mark.parametrize("model", ALL)
def test_silence_and_very_short_signals(model, heard):
    for samples in (0, 1, 159, 410, 1000, 48000):
        assert transcript(model, np.zeros(samples)) == ""
        if samples <= 1000:
            assert transcript(model, heard[1][0][4000 : 4000 + samples]) == ""


@pytest.mark.parametrize("model", ALL)
def test_strange_signals(model, heard):
    _, signals = heard
    rng = np.random.default_rng(2)
    speech = signals[0]
    strange = [
        100 * speech,  # clipped
        np.sign(speech),
        1e-4 * speech,  # a few steps of 16 bits
        1e-6 * speech,  # less than one
        np.full(16000, 0.3),
        np.full(16000, np.nan),
        np.full(16000, -np.inf),
        np.where(np.arange(len(speech)) % 100, speech, np.nan),
        rng.standard_normal(32000),
        np.eye(1, 16000)[0],
        np.tile(speech, 8),
        np.concatenate([speech, np.zeros(16000)]),
    ]
    for signal in strange:
        transcript(model, signal)
    assert transcript(model, strange[3]) == transcript(model, strange[5]) == ""


def test_another_rate_is_resampled(heard):
    import audresample

    table, signals = heard
    found = [
        transcript(recogniser.grammar, audresample.resample(signal, 16000, 48000)[0], 48000)
        for signal in signals[:8]
    ]
    assert word_errors(table[:8].assign(found=found), "found") < 0.3


def test_digits(tmp_path):
    from soundcheck_demo.speech import synthesis
    from soundcheck_demo.speech.emotions import UNMOVED, settings
    from soundcheck_demo.speech.voices import BY_NAME

    speaker, rng = BY_NAME["c04"], np.random.default_rng(4)
    said = ["four", "seven two nine", "zero eight one five", "six three"]
    signals = [synthesis.speak(speaker, text, settings(speaker, UNMOVED, rng), rng) for text in said]
    table = pd.DataFrame({"transcript": said, "found": [transcript(recogniser.digits, x) for x in signals]})
    assert word_errors(table, "found") < 0.4


def test_nothing_is_printed():
    code = (
        "import numpy as np; from soundcheck_demo.models import recogniser as r; "
        "noise = np.random.default_rng(0).standard_normal(16000).astype('float32'); "
        "[f(x, 16000) for f in (r.grammar, r.words, r.digits) for x in (noise, noise[:100], 0 * noise)]"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_fingerprint_names_the_recogniser():
    assert recogniser.fingerprint().startswith("pocketsphinx 5.")


def test_the_gate_lets_speech_in_and_keeps_steady_sounds_out(heard):
    table, signals = heard
    for number in range(0, 24, 4):
        assert transcript(recogniser.gated, signals[number]) == table["grammar"][number]
    voices = sum(np.roll(np.resize(signals[n], 32000), 4000 * n) for n in range(6))
    assert transcript(recogniser.gated, voices) == ""
