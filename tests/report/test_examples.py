"""Behind each number stand the right segments; what is heard is the signal itself, at its own level."""

import dataclasses
import io
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import soundfile
from tests.report.given import HOSTILE, subset, texts

from soundcheck.common.media import EXAMPLES, MediaStore
from soundcheck.evaluation.recognition import TRUTH, RecogniserPair
from soundcheck.evaluation.subset import CLEAN, Predictions
from soundcheck.metrics.differential import NOT_ROBUST, Localised, group_distances
from soundcheck.report import examples, listening, players, severity_views
from soundcheck.report.examples import BEST, TYPICAL, WORST, choose, gaps
from soundcheck.report.players import BANDS, HIGHEST_HZ, LONGEST, Side, player, row, sweep, switched


@pytest.fixture
def evaluation(tmp_path):
    for n in range(3):
        soundfile.write(tmp_path / f"{n}.wav", np.full(800, n / 10), 16000)
    view, media = SimpleNamespace(audio=True, root=tmp_path), MediaStore(tmp_path / "media")
    about = {"model": "m", "guesses": False, "family": SimpleNamespace(changes={})}
    return SimpleNamespace(media=media, view=lambda _: view, seen=view, **about)


def show(evaluation, scenes):
    return str(listening.show(evaluation, scenes, every=True))


def files_of(number, why=None):
    """Give the files of the segments of each side."""
    files = {example.whose: [] for example in number.examples}
    for choice in number.examples:
        files[choice.whose] += [number.subset.segments["file"].iloc[choice.row]] * (why in (None, choice.why))
    return files


def test_worst_typical_and_best_in_any_order(rng):
    scores = np.array([0.0, 0.1, 0.1, 0.4, 0.5, 0.9, 0.9, 0.9, np.nan])
    keys, order = texts("hgfedcbaz"), rng.permutation(9)
    chosen = choose(scores[order], pd.DataFrame({"key": keys[order]}), worst=2, typical=1, best=2)
    # Of the three worst the two with the smallest keys; the median of eight is 0.45, so 0.4 and 0.5 tie.
    assert [(example.why, keys[order][example.row]) for example in chosen] == [
        *((WORST, "a"), (WORST, "b"), (TYPICAL, "d"), (BEST, "h"), (BEST, "f"))
    ]


@pytest.mark.parametrize(
    ("scores", "speakers", "wanted", "rows"),
    [
        ([0.5, np.nan], None, {"worst": 3, "typical": 3, "best": 3}, [0]),  # once, and none without a score
        ([1.0, 2.0], None, {"worst": 1, "mask": np.array([False, False])}, []),
        (np.arange(10.0), None, {"typical": 1, "mask": np.arange(10) < 5}, [2]),  # the median within the mask
        ([9.0, 8.0, 7.0, 6.0, 0.0], list("xxxyz"), {"worst": 2}, [0, 3]),  # speakers in turn
        ([9.0, 8.0, 7.0, 6.0, 0.0], [None] * 5, {"worst": 2}, [0, 1]),
    ],
)
def test_whom_one_hears(scores, speakers, wanted, rows):
    table = pd.DataFrame({"key": list("abcdefghij"[: len(scores)])})
    table = table if speakers is None else table.assign(speaker=speakers)
    mask = [wanted.pop("mask")] if "mask" in wanted else []
    assert [example.row for example in choose(np.array(scores), table, *mask, **wanted)] == rows


def test_groups_with_the_largest_gaps_to_the_others():
    scores = np.array([1.0, 1.0, 0.0, 0.5, 9.0, np.nan])
    masks = {"a": np.arange(6) < 2, "b": np.isin(range(6), [2, 3]), "nothing": np.arange(6) == 5}
    assert gaps(scores, masks) == [(0.75, "a"), (-0.75, "b")] and gaps(scores, {"a": masks["a"]}) == []
    groups = [f"g{n}" for n in range(6)]
    predicted = np.repeat([0.0, 0.0, 0.0, 0.2, 0.5, 0.9], 4) + np.tile([0, 0, 0.01, 0.1], 6)
    worst, second = examples.of_groups(
        subset(np.zeros(24), predicted, sex=np.repeat(groups, 4)), "sex", groups
    )
    assert files_of(worst, WORST) == {"sex: g5": ["23.wav", "22.wav"], "the others": []}
    assert files_of(worst, TYPICAL)["sex: g5"] == ["20.wav"] and "sex: g4" in files_of(second)
    assert "g5: mean error" in worst.title and "(of 6 groups)" in worst.title
    two = subset([0, 0], [0.1, 0.9], sex=["a", "b"])
    assert [len(examples.of_groups(two, "sex", names)) for names in (["a", "b"], ["a"])] == [1, 0]


def test_predictions_without_labels_go_in_the_direction_of_the_gap():
    unlabelled = subset(None, [0.1, 0.2, 0.3, 0.6, 0.7, 0.8], accent=["low"] * 3 + ["high"] * 3)
    (number,) = examples.of_predictions(unlabelled, "accent", ["low", "high"])
    group = next(iter(files_of(number)))
    assert files_of(number, "furthest")[group][0] == {"accent: high": "5.wav", "accent: low": "0.wav"}[group]
    classes = ["anger", "anger", "neutral", "neutral", "neutral", "sadness"]
    classified = subset(None, classes, "emotion", accent=list("aaabbb"))
    (number,) = examples.of_predictions(classified, "accent", ["a", "b"])
    assert "share of anger" in number.title and files_of(number)["accent: a"][0] == "0.wav"
    languages = {"language": ["deu", "deu", "eng", "eng", "dan", "dan"], "sentiment": ["n", "p"] * 3}
    shifted = subset(None, [0.5, 0.5, 0.5, 0.5, 0.5, 0.9], **languages)
    number, _ = examples.of_predictions(shifted, "language", ["deu", "eng", "dan"], "sentiment", "p")
    assert "dan: sentiment p: mean prediction moves +0.200 against the others" in number.title
    assert files_of(number)["language: dan"] == ["5.wav"]
    rated = subset(None, [0.5, 0.9, 0.1, 0.4], category=["anger", "anger", "sadness", "none"])
    outside = examples.of_ranges(rated, {"anger": (0.55, np.inf), "sadness": (-np.inf, 0.05)})
    assert sorted(files_of(outside)[""]) == ["0.wav", "2.wav"]


def test_a_page_plays_a_few_lists_all_and_keeps_what_is_played_as_data(evaluation, tmp_path):
    number = examples.of_errors(subset([0.5] * 3, [0.5, 0.6, 0.9], root=tmp_path, speaker=HOSTILE))
    assert number.size == pytest.approx(0.5 / 3)
    html = listening.show(evaluation, [number])
    assert str(html) == str(listening.show(evaluation, [number]))
    assert str(html).count("<audio") == 3 and "<details" not in html
    assert HOSTILE not in html and "labelled 0.50; predicted 0.90" in html
    (record,) = html._repr_mimebundle_()[EXAMPLES]
    assert (record["corpus"], record["task"], record["words"]) == ("c", "arousal", [])
    assert [sound["label"] for sound in record["sounds"]] == ["2.wav", "1.wav", "0.wav"]
    for sound in record["sounds"]:
        assert all((evaluation.media.folder / sound[kind]).is_file() for kind in ("sound", "picture"))
    evaluation.guesses = True  # of a model that guesses segments are only read
    html = str(listening.show(evaluation, [number]))
    assert "<audio" not in html and "0.wav" in html and html.count("<tr>") == 4
    evaluation.guesses = False
    (tmp_path / "0.wav").unlink()
    html = show(evaluation, [number])
    assert html.count("<audio") == 2 and "the sound cannot be read" in html
    evaluation.seen.audio = False
    assert "cannot be read" not in show(evaluation, [number])


def test_recordings_of_both_conditions_are_the_same_pairs_and_the_most_moved_is_heard_in_turn(
    evaluation, tmp_path
):
    sides = {}
    for condition, factor in (("near", 1.0), ("far", 0.5)):  # pair n is a constant of n hundredths near by
        names = [f"{condition}_{n}.wav" for n in range(50)]
        for n, name in enumerate(names):
            signal = np.full(100, factor * n / 100, np.float32)
            soundfile.write(tmp_path / name, signal, 16000, subtype="FLOAT")
        table = {"file": names, "condition": condition, "start": 0.0, "end": np.nan}
        sides[condition] = pd.DataFrame(table | {"key": [f"{n:02}" for n in range(50)]})
    about = {"partner": sides["far"], "change": "near to far", "root": tmp_path}
    pairs = subset(None, np.zeros(50), changed=np.zeros(50), **sides["near"], **about)
    numbers = {name: signal[::100] for name, signal in severity_views.recordings(pairs, most=5).items()}
    np.testing.assert_allclose(numbers["near"], np.array([0, 12, 24, 37, 49]) / 100, atol=1e-6)
    np.testing.assert_allclose(numbers["far"], numbers["near"] / 2, atol=1e-6)
    pairs.predictions.changed[7] = 0.5
    html = show(evaluation, examples.moved(evaluation, [pairs]))
    assert "near_7.wav under near to far: arousal 0.00 → 0.50" in html
    assert re.findall("<strong>([^<]*)</strong>", html) == ["near", "far"]
    assert "<figcaption>arousal 0.50<br>0.01 s, peak −29.1 dBFS" in html


SPOKEN = ["move on", "move on", "stop", "go up now", "go up now"]
WRITTEN = {
    CLEAN: texts(["move on", "move on", "stop", "go up now", None]),
    ("Noise", 20): texts(["move on", "move on", "stop", "go up now", "go up now"]),
    ("Noise", 0): texts(["on", "", "stop", "go down", "go up now"]),
}


@pytest.fixture
def spoken(evaluation):
    evaluation.seen.audio, evaluation.settings = False, dict.fromkeys(WRITTEN)
    made = subset(SPOKEN, WRITTEN[CLEAN], "transcript", accent=list("aabbb"))
    return dataclasses.replace(made, predictions=Predictions(WRITTEN[CLEAN], settings=WRITTEN))


def test_a_lost_word_is_shown_at_the_worst_level(evaluation, spoken):
    evaluation.family = SimpleNamespace(options={"by": "Noise"})
    lost, safe = Localised("move", 2, 2, NOT_ROBUST), Localised("stop", 1, 0, "robust")
    text = show(evaluation, examples.lost_words(evaluation, spoken, [lost, safe]))
    assert "“move”, lost 2 of 2 times under Noise 0" in text and "stop" not in text
    # Both lost it; the one in which more words change is the worst, the other one is typical.
    assert "<td>worst</td><td>1.wav</td>" in text and ">0.wav<" in text
    assert "no segment to show" in show(evaluation, examples.lost_words(evaluation, spoken, [safe]))
    without = dataclasses.replace(spoken, truth=None)
    text = show(evaluation, examples.lost_words(evaluation, without, [lost]))
    assert "<dt>as it is</dt>" in text and "<dt>said</dt>" not in text


def test_the_group_that_suffers_most_is_shown_where_a_setting_counts(evaluation, spoken):
    pair = RecogniserPair(spoken, "accent", ["a", "b"], TRUTH, "m")
    evaluation.series = lambda subset, name: [subset.truth] * 3 if name == TRUTH else list(WRITTEN.values())
    evaluation.distances = lambda pair: group_distances(WRITTEN.values(), [spoken.truth] * 3, pair.masks)
    scenes = [
        examples.most_violated(evaluation, [pair], {"c": np.full(2, counts)}) for counts in (True, False)
    ]
    text, none = (show(evaluation, scene) for scene in scenes)
    assert "c, accent: a under Noise 0, distance +75.0 points" in text and "the other groups" in text
    assert "<td>worst</td><td>1.wav</td>" in text and "no segment to show" in none


def test_words_broken_and_corrected_by_the_second(evaluation):
    said, first, second = map(texts, (["a b"] * 3, ["a b", "x y", "a b"], ["x b", "a b", "a b"]))
    evaluation.seen.audio = False
    models = {"baseline": first, "candidate": second}
    text = show(evaluation, examples.of_two_recognisers(subset(said, first, "transcript"), models))
    broken, corrected = text.split("most words corrected")
    assert "0.wav" in broken and "1.wav" in corrected and "2.wav" not in text
    assert "1 broken, 0 corrected, 2 words" in broken and text.count("<dl") == 2


HERTZ = 16000


@pytest.fixture
def media(tmp_path):
    return MediaStore(tmp_path, "../media/")


def tone(amplitude, seconds=0.2, hertz=440.0, rate=HERTZ) -> np.ndarray:
    times = np.arange(round(rate * seconds)) / rate
    return (amplitude * np.sin(2 * np.pi * hertz * times)).astype(np.float32)


def sound(media, html) -> np.ndarray:
    name = re.search(r'<audio[^>]*src="../media/([^"]+\.flac)"', html).group(1)
    return soundfile.read(io.BytesIO((media.folder / name).read_bytes()), dtype="float32")[0]


def test_the_level_is_kept_and_said(media):
    html = str(player(media, tone(0.05), HERTZ, "Original", caption="arousal 0.4"))
    np.testing.assert_allclose(sound(media, html), tone(0.05), rtol=0, atol=1 / 32768)  # of 16 bit
    assert 'alt="Waveform and spectrogram of Original: 0.20 s, peak −26.0 dBFS, level ' in html
    for part in ('preload="none"', "controls", 'aria-label="Original"', "arousal 0.4"):
        assert part in html


@pytest.mark.parametrize("text", ['"><script>x</script>', "' onx='1", "\x00\x1b[31m\ud800\u202e\U0001f600"])
def test_text_from_data_stays_text(media, text):
    def said_of(text):
        sides = [Side(tone(0.1), text, text)] * 2
        line = row([player(media, tone(0.1), HERTZ, text, caption=text)], title=text)
        return f"{line}{switched(media, sides, text)}{sweep(media, sides, text)}"

    plain, hostile = said_of("x"), said_of(text)
    assert hostile.count("<") == plain.count("<") and hostile.count('"') == plain.count('"')
    assert not set(hostile) & set("\x00\x1b\ud800\u202e")


def test_degenerate_signals_have_a_player_and_no_samples_are_told(media):
    for signal in (np.zeros(1600, np.float32), np.full(1, 0.5, np.float32)):
        html = str(player(media, signal, HERTZ, "x"))
        assert "dBFS" in html and not re.search("nan|inf", html)
    none = str(player(media, np.zeros(0, np.float32), HERTZ, "<b>", caption="cut"))
    assert "nothing to hear" in none and "<audio" not in none and "&lt;b&gt;" in none and "cut" in none


def test_of_a_long_sound_the_beginning_is_carried_and_said(media):
    html = str(player(media, np.concatenate([tone(0.1, LONGEST), tone(0.5, 10)]), HERTZ, "x"))
    assert "40.00 s, peak −6.0 dBFS" in html  # levels are those of all of it
    assert "drawn and played are the first 30 s" in html and 'data-seconds="30.000"' in html
    assert len(sound(media, html)) == LONGEST * HERTZ


def test_every_side_is_a_plain_player_and_one_without_sound_says_why(media, rng):
    noise = rng.normal(0, 0.1, (3, 1600)).astype(np.float32)
    sides = [Side(signal, name, f"said of {name}") for signal, name in zip(noise, "abc", strict=True)]
    html = str(switched(media, [*sides, Side(None, "Phone <1>", "the codec is missing")], "what they are"))
    assert re.findall("<strong>(.)</strong>", html) == ["a", "b", "c"]
    assert html.count("<audio controls") == html.count("<img") == html.count("dBFS</figcaption>") == 3
    assert all(f"said of {name}<br>" in html for name in "abc")
    assert "<button" not in html  # nothing that does nothing without the script
    assert "<strong>Phone &lt;1&gt;</strong><figcaption>the codec is missing</figcaption>" in html


@pytest.mark.parametrize(("amplitude", "rate"), [(1.0, 8000), (0.1, 48000)])
def test_a_sine_in_the_middle_of_a_band_has_its_level_there(amplitude, rate):
    band = 17
    levels = players.band_levels(tone(amplitude, 1.0, (band + 0.5) * HIGHEST_HZ / BANDS, rate), rate)
    inner = levels[:, 5:-5]  # at the ends the window looks at nothing
    assert (inner.argmax(axis=0) == BANDS - 1 - band).all()
    np.testing.assert_allclose(inner.max(axis=0), 20 * np.log10(amplitude), atol=0.7)
    if rate == 8000:
        assert (levels[: BANDS // 2 - 1] == -150).all()  # above half the rate is nothing
