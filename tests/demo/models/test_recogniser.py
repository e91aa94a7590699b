"""The demo's recognisers: what they hear, and that nothing confuses or crashes them."""

import subprocess
import sys

import audiofile
import audresample
import numpy as np
import pandas as pd
import pytest
from rapidfuzz.distance import Levenshtein

from soundcheck.common.tasks import BUILTIN
from soundcheck.models.answers import check_output
from soundcheck_demo.models import recogniser
from soundcheck_demo.speech import corpus, synthesis, texts
from soundcheck_demo.speech.voices import BY_NAME, UNMOVED, settings

slow = pytest.mark.slow

GRAMMAR = set(texts.grammar_words())
VOCABULARIES = {
    recogniser.grammar: GRAMMAR,
    recogniser.hurried: GRAMMAR,
    recogniser.gated: GRAMMAR,
    recogniser.words: set(texts.vocabulary()),
    recogniser.digits: set(recogniser.DIGITS),
}


@pytest.fixture(scope="module")
def spoken(shared_cache):
    """Table and signals of the small corpus of commands, with the transcripts of both recognisers."""
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
    with_words = ["words"] if model is recogniser.words and answer["transcript"] else []
    assert list(answer) == ["transcript", *with_words]
    assert check_output(answer, [BUILTIN["transcript"]])[1] == ""
    assert set(answer["transcript"].split()) <= VOCABULARIES[model]
    return answer["transcript"]


@slow
def test_word_errors(spoken):
    table, signals = spoken
    errors = {
        model: {accent: word_errors(rows, model) for accent, rows in table.groupby("accent")}
        for model in ("grammar", "words")
    }
    assert errors["grammar"]["american"] < 0.3 and errors["words"]["american"] < 0.6
    assert errors["grammar"]["german"] > errors["grammar"]["american"] + 0.2
    assert word_errors(table, "words") > word_errors(table, "grammar") + 0.1 > 0.1
    at_48 = [audresample.resample(signal, 16000, 48000)[0] for signal in signals[:8]]
    result = [transcript(recogniser.grammar, signal, 48000) for signal in at_48]
    assert word_errors(table[:8].assign(at_48=result), "at_48") < 0.3
    speaker, rng = BY_NAME["c04"], np.random.default_rng(4)
    said = ["four", "seven two nine", "zero eight one five", "six three"]
    digits = [synthesis.speak(speaker, text, settings(speaker, UNMOVED, rng), rng) for text in said]
    result = [transcript(recogniser.digits, signal) for signal in digits]
    assert word_errors(pd.DataFrame({"transcript": said, "digits": result}), "digits") < 0.4
    # The gate lets speech in and keeps steady sounds out.
    assert transcript(recogniser.gated, signals[4]) == table["grammar"][4]
    voices = sum(np.roll(np.resize(signals[n], 32000), 4000 * n) for n in range(6))
    assert transcript(recogniser.gated, voices) == ""


@slow
def test_transcripts_do_not_depend_on_what_came_before(spoken):
    """Scores tell more than words: they differ as soon as anything of an earlier signal is left."""
    table, signals = spoken
    rng = np.random.default_rng(1)
    signals = [*signals[:8], 0.3 * rng.standard_normal(16000)]
    signals += [signal + 0.02 * rng.standard_normal(len(signal)) for signal in signals[::3]]
    for model in (recogniser.grammar, recogniser.hurried, recogniser.words):
        first: dict = {}
        for order in (range(len(signals)), rng.permutation(len(signals))):
            for number in order:
                text, best = model(signals[number], 16000), recogniser._decoder(model.__name__).hyp()
                result = text, best and best.best_score
                assert first.setdefault(number, result) == result, (model.__name__, number)
    transcript(recogniser.digits, signals[3])  # nor on another model or a new decoder
    recogniser._decoder.cache_clear()
    assert transcript(recogniser.grammar, signals[3]) == table["grammar"][3]


@slow
@pytest.mark.parametrize("model", VOCABULARIES)
def test_odd_signals(model, spoken):
    speech = spoken[1][0]
    silent = [np.zeros(samples) for samples in (0, 1, 410, 48000)]
    silent += [speech[4000:4159], 1e-6 * speech, np.full(16000, np.nan)]  # short, below a step of 16 bits
    assert {transcript(model, signal) for signal in silent} == {""}
    odd = [100 * speech, np.full(16000, -np.inf), np.where(np.arange(len(speech)) % 100, speech, np.nan)]
    for signal in odd:
        transcript(model, signal)


@slow
def test_nothing_is_printed_at_any_signal():
    code = (
        "import numpy as np; from soundcheck_demo.models import recogniser as r; "
        "noise = np.random.default_rng(0).standard_normal(16000).astype('float32'); "
        "[f(x, 16000) for f in (r.grammar, r.words, r.digits) for x in (noise, noise[:100], 0 * noise)]"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert recogniser.fingerprint().startswith("pocketsphinx 5.")
