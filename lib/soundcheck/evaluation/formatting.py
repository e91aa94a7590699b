"""Transcripts as they were written: punctuation, capitals, and names, numbers and other entities.

Of several wordings of a reference the first counts. Marks and capitals are compared with a column
``transcript_written``; entities with it or with the transcript, whichever has fewer errors. Segments in
another language than English have names as entities, and no others.
"""

import dataclasses
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd

from soundcheck.corpora.labels import match_languages
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Measure, Predictions, Subset, once
from soundcheck.metrics import word_rates
from soundcheck.metrics.additive import Statistic
from soundcheck.metrics.alternatives import WordingReader
from soundcheck.metrics.combinators import stack
from soundcheck.metrics.entities import Entity, closest, compare_entities, find_entities, read
from soundcheck.metrics.formatting import MARKS, format_errors, has_capitals, has_marks, split_marks
from soundcheck.metrics.normalisation import NORMALISERS, fold_case
from soundcheck.metrics.word_errors import MIXED, WORD, Counts, unit_of, without_blanks, word_errors

WRITTEN = "transcript_written"
NO_MARKS = "no reference has punctuation"
NO_CAPITALS = "no reference has capitals beside other letters"
NO_ENTITIES = "no reference has an entity"
NO_WORDS = "the references are written without blanks, so words cannot be told apart"


class Formatting:
    """The transcripts of a recogniser as they were written, and what is measured on them."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation, self.normaliser = evaluation, evaluation.normaliser
        prepare = self.normaliser.prepare
        self._first = WordingReader(NORMALISERS["none"], evaluation.texts.alternatives, prepare=prepare).plain
        named = [(name, kind) for kind, names in evaluation.entities.items() for name in names]
        self.names = {read(name, english).tokens: kind for name, kind in named for english in (False, True)}
        self.entities = once(self._entities)

    def subsets(self) -> Iterator[Subset]:
        """Give the segments of each corpus with their texts as they were written."""
        for subset in self.evaluation.subsets(as_written=True):
            truth = _each(self._first, subset.truth)
            if WRITTEN in subset.segments:
                written = subset.segments[WRITTEN].to_numpy(dtype=object)
                truth = np.where(pd.isna(written), truth, _each(self._first, written))
            result = dataclasses.replace(subset, truth=truth)
            random = Predictions(self.evaluation.random_predictions(result), random=True)
            result = dataclasses.replace(result, reference=random)
            without = without_blanks(truth)
            if without.any() and unit_of(truth) == MIXED:
                text = f"{without.sum()} of {len(truth)} references are written without blanks between words"
                self.evaluation.note(f"{text}; they are left out", subset)
                result = result.take(~without)
            yield result

    def references(self, subset: Subset) -> list[np.ndarray]:
        """Give the written references, and the spoken ones of a corpus that has both."""
        spoken = [_each(self._first, subset.segments[subset.task.name])] if WRITTEN in subset.segments else []
        return [subset.truth, *spoken]

    def by_reference(self, subset: Subset, write: Callable[[str], str]) -> dict[str, Counts]:
        """Count word errors against spoken, written and closer references of segments that have both."""
        written, *spoken = self.references(subset)
        if not spoken or unit_of(written) != WORD:
            return {}
        both = pd.notna(spoken[0]) & pd.notna(subset.segments[WRITTEN].to_numpy(dtype=object))
        hypotheses = _each(write, subset.predictions.clean)
        sides = [np.where(both, _each(write, side), None) for side in (spoken[0], written)]
        of_spoken, of_written = (word_errors(side, hypotheses) for side in sides)
        closer = np.where(of_spoken.errors < of_written.errors, *sides)
        closest_errors = word_errors(closer, hypotheses)
        result = {"spoken": of_spoken, "written": of_written, "whichever is closer": closest_errors}
        return result if both.any() else {}

    def english(self, subset: Subset) -> np.ndarray:
        """Say which segments are in English, bool ``(segments,)``: all of which nothing else is known."""
        if "language" not in subset.segments:
            return np.ones(len(subset), dtype=bool)
        languages = subset.segments["language"].to_numpy(dtype=object)
        return pd.isna(languages) | (match_languages(languages, ["eng"]) == "eng")

    def _entities(self, subset: Subset, predictions: Predictions) -> list[list[Entity] | None]:
        """Say what became of the entities of each segment; ``None`` without an answer."""
        result = []
        rows = zip(predictions.clean, self.english(subset).tolist(), *self.references(subset), strict=True)
        for text, english, *references in rows:
            if text is None:
                result.append(None)
                continue
            hypothesis = read(text, english)
            reference = closest([read(text, english) for text in dict.fromkeys(references)], hypothesis)
            result.append(compare_entities(reference, hypothesis, self.names))
        return result

    def classes(self, subset: Subset) -> list[str]:
        """List the classes of the entities of the references, in alphabetical order."""
        english = self.english(subset).tolist()
        pairs = {pair for texts in self.references(subset) for pair in zip(texts, english, strict=True)}
        return sorted({kind for pair in pairs for kind, *_ in find_entities(read(*pair), self.names)})

    @property
    def measures(self) -> dict[str, Measure]:
        """Measures of the tests, in their order; words are compared without punctuation."""

        def words(write: Callable[[str], str]) -> Measure:
            return lambda s, p: word_rates.wer(_each(write, s.truth), _each(write, p.clean))

        return {
            "Punctuation Error Rate": _punctuation,
            "Punctuation Error Rate Per Mark": _each_mark,
            "Capital Error Rate": _capitals,
            "Word Error Rate With Capitals": words(lambda text: " ".join(split_marks(text)[0])),
            "Word Error Rate Without Capitals": words(plain),
            "Entity Error Rate": self._lost_entities,
        }

    def _lost_entities(self, subset: Subset, predictions: Predictions) -> Statistic:
        result = self.entities(subset, predictions)

        def counts(kind: str, *right: bool) -> list[float]:
            return [
                np.nan if row is None else sum(item.kind == kind and item.right in right for item in row)
                for row in result
            ]

        rates = {
            kind: word_rates.ratio_of_sums(counts(kind, False), counts(kind, False, True), NO_ENTITIES)
            for kind in self.classes(subset)
        }
        return stack(rates)


def _punctuation(subset: Subset, predictions: Predictions) -> Statistic:
    result = format_errors(subset.truth, predictions.clean)
    errors, marks = result.mark_errors, result.marks[:, :, 0]
    return word_rates.ratio_of_sums(errors.sum(axis=1), marks.sum(axis=1), NO_MARKS)


def _each_mark(subset: Subset, predictions: Predictions) -> Statistic:
    result = format_errors(subset.truth, predictions.clean)
    present = format_errors(subset.truth, subset.truth).marks[:, :, 0].sum(axis=0)
    pairs = zip(MARKS, result.mark_errors.T, result.marks[:, :, 0].T, strict=True)
    rates = {name: word_rates.ratio_of_sums(errors, marks, NO_MARKS) for name, errors, marks in pairs}
    return stack({name: rates[name] for name, some in zip(MARKS, present, strict=True) if some})


def _capitals(subset: Subset, predictions: Predictions) -> Statistic:
    result = format_errors(subset.truth, predictions.clean)
    nothing = "no word with a capital was recognised"
    return word_rates.ratio_of_sums(result.capital_errors, result.capitals, nothing)


def _each(write: Callable[[str], str], texts: Sequence[str | None]) -> np.ndarray:
    return np.fromiter((None if pd.isna(text) else write(text) for text in texts), dtype=object)


def plain(text: str) -> str:
    """Write a text in lower case without punctuation."""
    return fold_case(" ".join(split_marks(text)[0]))


def errors_of(formatting: Formatting, subset: Subset) -> np.ndarray:
    """Count errors of marks and capitals and entities lost of each segment; NaN without an answer."""
    result = format_errors(subset.truth, subset.predictions.clean)
    lost = [
        np.nan if entities is None else sum(not item.right for item in entities)
        for entities in formatting.entities(subset, subset.predictions)
    ]
    return result.mark_errors.sum(axis=1) + result.capital_errors + lost


def plain_writer(subset: Subset) -> Predictions:
    """Give the references in lower case without marks: every word right, and nothing formatted."""
    return Predictions(_each(plain, subset.truth))


def formatting_tests(formatting: Formatting) -> Iterator[tuple[Subset, dict[str, Measure]]]:
    """Give each corpus and the tests that its references allow; the others are skipped, with the reason."""
    evaluation = formatting.evaluation
    for subset in formatting.subsets():
        apart = unit_of(subset.truth) == WORD
        obstacles = {
            "Punctuation": "" if any(map(has_marks, subset.truth)) else NO_MARKS,
            "Entity": "" if formatting.classes(subset) else NO_ENTITIES,
        }
        no_capitals = "" if any(map(has_capitals, subset.truth)) else NO_CAPITALS
        tests = dict(formatting.measures)
        for test in formatting.measures:
            why = obstacles.get(test.split()[0], no_capitals)
            if why or not apart:
                evaluation.skip(subset, why if apart else NO_WORDS, test)
                del tests[test]
        what = "segments are not in English, of them only names are entities"
        evaluation.note_share(subset.corpus, ~formatting.english(subset), what)
        yield subset, tests
