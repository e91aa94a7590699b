"""What a recogniser writes into sounds that hold no speech, and after speech has ended.

A *kind* is one of the family's changes; segments of a corpus in a language that the recogniser does not know
are one of their own, as unspoken as noise. Where speech is looped or reversed nothing is unspoken. A missing
prediction counts as one with words: nothing was gained by it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath

import numpy as np
import pandas as pd

from soundcheck.augment.edits import seconds_heard
from soundcheck.augment.registry import drawn_options, kind_of_sounds
from soundcheck.augment.sounds import SoundSet
from soundcheck.corpora.labels import match_languages
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Measure, Predictions, Subset
from soundcheck.metrics import word_rates
from soundcheck.metrics.additive import Statistic, value
from soundcheck.metrics.combinators import stack
from soundcheck.metrics.word_errors import word_errors
from soundcheck.metrics.word_rates import character_counts, most_repeated, per_minute, word_counts
from soundcheck.suite.entries import SPEECH_KINDS


@dataclasses.dataclass(frozen=True, eq=False)
class Kind:
    """The answers to one kind of sound."""

    # its ``predictions.changed`` are the answers, ``predictions.clean`` those to the speech as it is
    subset: Subset
    seconds: np.ndarray  # that are heard, float64 ``(segments,)``
    unspoken: np.ndarray
    looped: bool  # whether a piece of the speech is repeated, so that words have to repeat as well

    def of_speech(self) -> Kind:
        """Give the answers to the speech of the same segments as it is, under an empty name."""
        subset = dataclasses.replace(self.subset.unchanged(), change="")
        seconds = subset.segments["duration"].to_numpy(dtype=np.float64)
        return Kind(subset, seconds, np.zeros(len(seconds)), looped=False)

    @property
    def name(self) -> str:
        """Name of the change."""
        return self.subset.change

    @property
    def silent(self) -> bool:
        """Whether nobody speaks at any time."""
        return bool((self.unspoken == self.seconds).all())

    @property
    def followed(self) -> bool:
        """Whether speech is followed by a time without any."""
        return bool((self.unspoken > 0).all()) and not self.silent

    def summary(self, limit: float, repeats: dict[str, int]) -> dict[str, float]:
        """Count what the recogniser wrote."""
        texts = self.subset.predictions.changed
        predicted = [text for text in texts if text is not None]
        counts = character_counts(texts)
        return {
            "answers": len(predicted),
            "missing": len(texts) - len(predicted),
            "empty": sum(not text.split() for text in predicted),
            "words": value(per_minute(word_counts(texts), self.seconds)),
            "characters": value(per_minute(counts, self.seconds)),
            "runaway": int(np.nansum(60 * counts / self.seconds > limit)),
            "repeating": sum(most_repeated(text, repeats["words"]) >= repeats["times"] for text in predicted),
        }


def kinds(evaluation: Evaluation) -> list[Kind]:
    """Give the answers to each kind of sound for each corpus; missing ones are noted."""
    result = []
    for change in evaluation.family.changes.values():
        spoken = set(kind_of_sounds(change)) & set(SPEECH_KINDS)
        sounds = next(filter(None, map(evaluation.sounds.sets.get, spoken)), None)
        if sounds and (why := unjudged(evaluation, sounds)):
            evaluation.note(f"{change.name} is not judged: {why}")
            continue
        for subset in evaluation.subsets(change.name, unchanged=True):
            lengths = []
            for content, seconds in zip(subset.segments["audio"], subset.segments["duration"], strict=True):
                drawn, _ = drawn_options(change, seed=evaluation.seed, content=content)
                lengths.append(seconds_heard(change.transform, drawn, float(seconds)))
            heard, unspoken = np.array(lengths, dtype=np.float64).reshape(-1, 2).T
            result.append(Kind(subset, heard, unspoken, change.transform == "cut_and_looped"))
            transcribed = [text for text in subset.predictions.clean if text is not None]
            nothing = sum(not text.split() for text in transcribed)
            if transcribed and nothing > len(transcribed) / 2:  # then empty answers are no merit
                what = f"nothing is written for {nothing} of {len(transcribed)} segments of speech either"
                evaluation.note(f"{what}, so empty predictions say little", subset)
    for subset in evaluation.subsets():
        if foreign := of_corpus(evaluation, subset):
            seconds = foreign.segments["duration"].to_numpy(dtype=np.float64)
            result.append(Kind(foreign, seconds, seconds, looped=False))
    for kind in result:
        missing = [text is None for text in kind.subset.predictions.changed]
        what = "predictions are missing or were too long to be kept; they do not count as empty"
        evaluation.note_share(f"{kind.subset.corpus}: {kind.name}", missing, what)
    return result


def empty(predictions: Predictions) -> Statistic:
    """Share of empty answers."""
    # Without transcripts the random reference has nothing to say: that is no answer with words.
    return word_rates.empty_answers(predictions.changed, missing=np.nan if predictions.random else 0.0)


def judge_kinds(evaluation: Evaluation, kinds: Sequence[Kind]) -> None:
    """Judge the answers to each kind of sound, which is named in the row.

    Inserted is what the answer has more than that to the speech alone, for each minute that nobody speaks.
    """

    def inserted(kind: Kind) -> Callable[[Predictions], Statistic]:
        return lambda p: per_minute(word_errors(p.clean, p.changed).insertions, kind.unspoken)

    repeats = evaluation.family.options["repeats"]
    judged = [(kind, test, measure) for kind in kinds for test, measure in _measures(kind, repeats).items()]
    judged += [(kind, "Inserted Words Per Minute", inserted(kind)) for kind in kinds if kind.followed]

    def named(name: str, measure: Callable[[Predictions], Statistic]) -> Measure:
        return lambda _, predictions: stack({name: measure(predictions)})

    for kind, test, measure in judged:
        evaluation.judge(kind.subset, test, named(kind.name, measure))


def _measures(kind: Kind, repeats: Mapping[str, int]) -> dict[str, Callable[[Predictions], Statistic]]:
    result = {"Characters Per Minute": lambda p: per_minute(character_counts(p.changed), kind.seconds)}
    if kind.silent:
        result["Share Of Empty Answers"] = empty
        result["Words Per Minute"] = lambda p: per_minute(word_counts(p.changed), kind.seconds)
    if not kind.looped:
        limits = repeats["words"], repeats["times"]
        result["Repeated Words"] = lambda p: word_rates.repeating_answers(p.changed, *limits)
    return result


IN_CORPUS = "Other Language Of The Corpus"
MOST = 8  # languages that are named


def unjudged(evaluation: Evaluation, sounds: SoundSet) -> str:
    """Say why the answers to speech in another language cannot be judged; empty if they can."""
    named = [parts[0] for sound in sounds.sounds if (parts := PurePosixPath(sound.name).parts[:-1])]
    known = sorted(set(match_languages(named, evaluation.languages)) - {None})
    if known:
        return f"the recogniser knows {', '.join(known)}, and some of the sounds are in that"
    if sounds.synthetic and not evaluation.languages:
        spoken = ", ".join(sorted(set(named)))
        return (
            f"the suite does not say which languages the recogniser knows, and the sounds are in {spoken}; "
            "name its languages under card, or a folder other_language under sounds"
        )
    return ""


def of_corpus(evaluation: Evaluation, subset: Subset) -> Subset | None:
    """Give the segments in languages that the recogniser does not know, as a change; ``None`` without any."""
    if not evaluation.languages or "language" not in subset.segments:
        return None
    spoken = subset.segments["language"].to_numpy(dtype=object)
    foreign = pd.notna(spoken) & pd.isna(match_languages(spoken, evaluation.languages))
    if not foreign.any():
        return None
    result = subset.take(foreign)
    names = sorted(result.segments["language"].unique())
    text = f"{len(result)} of {len(subset)} segments are in {', '.join(names[:MOST])}"
    text += f" and {len(names) - MOST} other languages" if len(names) > MOST else ""
    evaluation.note(f"{text}, which the recogniser does not know", subset)
    return dataclasses.replace(result.unchanged(), change=IN_CORPUS)
