"""Tasks with texts: transcripts as they are compared, also of other recognisers, and how much these disagree.

- All texts of subsets are normalised, by the language of the segment, see
  :mod:`soundcheck.metrics.normalisation`. A missing one is ``None``, an empty one is a prediction.
- Where references of a corpus are in scripts without blanks, characters of such scripts are words of their
  own on both sides, see :mod:`soundcheck.metrics.word_errors`.
- The transcripts of a corpus are one more opponent of the tested recogniser, :data:`TRUTH`; what is compared
  with them never decides about pairs of recognisers. Names of pairs are in alphabetical order.
"""

import dataclasses
import functools
import itertools
from collections.abc import Callable, Collection, Sequence

import numpy as np
import pandas as pd

from soundcheck.common.messages import counted
from soundcheck.common.tasks import Task
from soundcheck.evaluation.judging import Judging
from soundcheck.evaluation.subset import CorpusView, Measure, Predictions, Subset, read_view
from soundcheck.metrics import differential
from soundcheck.metrics.additive import Statistic, values
from soundcheck.metrics.alternatives import WordingReader
from soundcheck.metrics.combinators import mean_of
from soundcheck.metrics.differential import Setting, distance_table, group_distances, violation_proportions
from soundcheck.metrics.normalisation import NORMALISERS, changed_examples, is_turkic, noise_marks
from soundcheck.metrics.word_errors import WORD, characters_apart, unit_of, without_blanks
from soundcheck.suite.families import Perturbation

TRUTH = "transcripts"  # of the corpus, as an opponent
REFERENCE, HYPOTHESIS = "reference", "hypothesis"
FIRST = "first"  # the first wording of references


class TranscriptReader:
    """Normalises transcripts; each text once."""

    def __init__(self, normaliser: str, alternatives: bool, synonyms: Sequence[tuple[str, str]]) -> None:
        self.normaliser = NORMALISERS[normaliser]
        self._wordings = alternatives, synonyms, self.normaliser.prepare
        self.alternatives = alternatives
        forms = ["alternatives and words in parentheses"] if alternatives else []
        forms += [f"{counted(len(synonyms), 'pair')} of synonyms"] if synonyms else []
        self.several = ", ".join(forms)  # how a reference may allow several wordings, if it may
        self._reader = functools.cache(self._make_reader)
        self._apart: dict[tuple[str, str], bool] = {}
        self._known: dict[tuple[str, str, bool, bool], str] = {}

    def read(
        self, texts: Sequence[str | None] | None, side: str, segments: pd.DataFrame, apart: bool = False
    ) -> np.ndarray | None:
        """Normalise the texts of segments, ``(segments,)``; missing ones are ``None``."""
        if texts is None:
            return None
        turkic = segments["language"].map(is_turkic) if "language" in segments else [False] * len(texts)
        result = np.empty(len(texts), dtype=object)
        for row, (text, small) in enumerate(zip(texts, turkic, strict=True)):
            if text is not None:
                place = (text, side, small, apart)
                if place not in self._known:
                    self._known[place] = self._reader(*place[1:])(text)
                result[row] = self._known[place]
        return result

    def apart(self, view: CorpusView, task: Task) -> bool:
        """Say whether references of a corpus are in scripts without blanks, so that characters are words."""
        place = (view.name, task.name)
        if place not in self._apart:
            self._apart[place] = unit_of(self.read(view.labels(task), REFERENCE, view.segments)) != WORD
        return self._apart[place]

    def examples(self, count: int) -> list[tuple[str, str]]:
        """Give texts that the normaliser changed, and what became of them."""
        became = {text: str(words) for (text, *_), words in self._known.items()}
        return changed_examples(became.__getitem__, became, count)

    def _make_reader(self, side: str, turkic: bool, apart: bool) -> Callable[[str], str]:
        def normalise(text: str) -> str:
            text = self.normaliser(text, turkic=turkic)
            return characters_apart(text) if apart else text

        if side == HYPOTHESIS:
            return normalise
        wordings = WordingReader(normalise, *self._wordings)
        return wordings if side == REFERENCE else wordings.plain


@dataclasses.dataclass(frozen=True, eq=False)
class RecogniserPair:
    """Two that hear the same, and the groups of speakers that they may disagree on; keys by identity."""

    subset: Subset  # the segments, from :meth:`Evaluation.transformed`
    column: str  # column of the segment table that holds the group
    groups: list[str]  # groups with enough segments
    opponent: str  # name of the other recogniser, or :data:`TRUTH`
    recogniser: str  # name of the recogniser

    @property
    def pair(self) -> str:
        """Who is compared."""
        return f"{self.recogniser}–{self.opponent}"

    @property
    def place(self) -> tuple[str, str]:
        """Where they are compared: the corpus, and the column of the groups."""
        return self.subset.corpus, self.column

    @property
    def with_transcripts(self) -> bool:
        """Whether the opponent is what was said, and no recogniser."""
        return self.opponent == TRUTH

    @property
    def masks(self) -> list[np.ndarray]:
        """Which segments belong to each group."""
        return [self.subset.mask(self.column, group) for group in self.groups]

    def counts(self) -> list[tuple[str, int, int | str]]:
        """Give name, segments and speakers of each group."""
        speakers = self.subset.segments.get("speaker")
        return [
            (group, int(mask.sum()), "" if speakers is None else speakers[mask].nunique())
            for group, mask in zip(self.groups, self.masks, strict=True)
        ]


class TextTasks(Judging):
    """What an evaluation knows of texts: read and normalised, also of other recognisers of the suite."""

    def _start_reading(self, views: Sequence[CorpusView]) -> None:
        self.texts = TranscriptReader(self.normaliser, self.alternatives, self.synonyms)
        self.normaliser = self.texts.normaliser
        self._texts_of = functools.cache(self._read_corpus)
        self._distances_of = functools.cache(self._measure_distances)
        self._views = {self.model: {view.name: view for view in views}}
        for name, described in self.others.items():
            self._views[name] = {view.name: read_view(view) for view in described}

    def _normalised(self, subset: Subset) -> Subset:
        if self.texts.several:
            several = f"Transcripts may allow several wordings ({self.texts.several})"
            self.note(f"{several}: the closest one counts")
        truth = self._read(subset, subset.truth, REFERENCE)
        if truth is not None and self._apart(subset):
            what = f"{without_blanks(truth).sum()} of {counted(len(truth), 'reference')} have no blanks"
            counts = "their characters count as words, and groups are compared by characters"
            self.note(f"{what} between words: {counts}", subset)
        marked = [
            sum(map(bool, map(noise_marks, filter(None, [] if texts is None else texts))))
            for texts in (subset.truth, subset.predictions.clean)
        ]
        if any(marked):
            became = "count as words" if self.normaliser.keeps_marks else "are dropped"
            where = " and ".join(map(counted, marked, ("reference", "answer")))
            self.note(f"marks of noises in {where} {became}", subset)

        def read(source: Predictions) -> Predictions:
            side = FIRST if source.random else HYPOTHESIS
            clean, changed = (self._read(subset, each, side) for each in (source.clean, source.changed))
            return dataclasses.replace(source, clean=clean, changed=changed)

        return subset.with_answers(read, truth=truth)

    def _read(self, subset: Subset, texts: np.ndarray | None, side: str) -> np.ndarray | None:
        return self.texts.read(texts, side, subset.segments, self._apart(subset))

    def _apart(self, subset: Subset) -> bool:
        return self.texts.apart(self._views[self.model][subset.corpus], subset.task)

    def words_of(self, subset: Subset, row: int, text: str) -> list[str]:
        """Give the words of a part of what the recogniser wrote for a row."""
        part = dataclasses.replace(subset, segments=subset.segments.iloc[[row]])
        return self._read(part, [text], HYPOTHESIS)[0].split()

    def transcripts(self, subset: Subset, model: str = "", change: Perturbation | None = None) -> np.ndarray:
        """Give what a recogniser wrote for the rows of a subset, object ``(segments,)``; read once."""
        place = model or self.model, subset.corpus, subset.task, change.identity if change else ""
        return np.fromiter(map(self._texts_of(*place).get, subset.segments["key"]), dtype=object)

    def _read_corpus(self, model: str, corpus: str, task: Task, change: str) -> dict[str, str | None]:
        view, apart = self._views[model][corpus], self.texts.apart(self._views[self.model][corpus], task)
        texts = self.texts.read(view.predicted(task, change), HYPOTHESIS, view.segments, apart)
        return dict(zip(view.segments["key"], texts, strict=True))

    def series(self, subset: Subset, model: str = "") -> list[np.ndarray]:
        """Give the transcripts of a subset under all settings, in their order."""
        if model == TRUTH:
            return [subset.truth] * len(self.settings)
        return [self.transcripts(subset, model, change) for change in self.settings.values()]

    def opponents(self, subset: Subset, *, changed: bool = True) -> list[str]:
        """List the other recognisers that were asked about a subset's corpus."""
        views = {name: self._views[name].get(subset.corpus) for name in self.others}
        changes_of = {name: view.predictions["change"] for name, view in views.items() if view is not None}
        return [name for name, changes in changes_of.items() if not changed or changes.ne("").any()]

    def recognisers(self, subset: Subset) -> list[str]:
        """List all recognisers that were asked about a subset's changed segments, in alphabetical order."""
        return sorted([self.model, *self.opponents(subset)])

    def spoken(self, subset: Subset, change: Perturbation) -> Subset | None:
        """Give the sentences that probe the words of a subset's corpus, changed; ``None`` without any."""
        view = self.probes.get(subset.corpus)
        return None if view is None else self._subset(view, subset.task, change)

    # Pairs of recognisers

    def recogniser_pairs(self, subset: Subset) -> list[RecogniserPair]:
        """List who is compared on the groups of a subset."""
        pairs = list(itertools.combinations(self.recognisers(subset), 2))
        pairs += [] if subset.truth is None else [(self.model, TRUTH)]
        answered = {name: self._answered(subset, name) for name in dict.fromkeys(itertools.chain(*pairs))}
        for first, second in list(pairs):
            if not (answered[first] & answered[second]).any():
                pairs.remove((first, second))
                both = f"{first} and {second}"
                self.note(f"{both} are not compared, no segment has both under all settings", subset)
        return [
            RecogniserPair(subset, column, groups, opponent, recogniser)
            for column in self.family.options["groups"]
            if (groups := self.groups(subset, column))
            for recogniser, opponent in pairs
        ]

    def why_no_pair(self, subset: Subset, with_transcripts: bool) -> str:
        """Say why the tested recogniser is compared with nobody on a subset, or not with the transcripts."""
        options = self.family.options
        if not any(self.groups(subset, column) for column in options["groups"]):
            return f"fewer than 2 groups with {options['minimum_segments']} segments"
        if with_transcripts and subset.truth is None:
            return "the corpus has no transcripts"
        if not with_transcripts and not self.opponents(subset):
            return "no other recogniser of the suite hears this corpus"
        return "no segment was answered under all settings by both that are compared"

    def _answered(self, subset: Subset, name: str) -> np.ndarray:
        """Say which segments one side of a pair has under all settings but excluded ones.

        One without any answer has none, even where missing answers count as errors: it would be as far from
        everybody for all groups.
        """
        if name != TRUTH and self._views[name][subset.corpus].predictions["error"].ne("").all():
            return np.zeros(len(subset), dtype=bool)
        texts = np.array(self.series(subset, name), dtype=object).reshape(len(self.settings), len(subset))
        return np.not_equal(texts[self._needed], None).all(axis=0)

    def distances(self, contest: RecogniserPair, *, random: bool = False) -> Statistic:
        """Measure how much two disagree on each group under each setting; computed once."""
        return self._distances_of(contest, random)

    def _measure_distances(self, contest: RecogniserPair, random: bool) -> Statistic:
        names, subset = (contest.recogniser, contest.opponent), contest.subset
        sides = [self.series(subset, name) for name in names]
        if random:
            changes = self.settings.values()
            sides[names.index(self.model)] = [self.random_predictions(subset, change) for change in changes]
        average = self.family.options.get("average", "micro")
        return group_distances(*sides, contest.masks, average, self._needed)

    def distance_table(self, contest: RecogniserPair) -> pd.DataFrame:
        """Measure the distances of a pair; see :func:`soundcheck.metrics.differential.distance_table`."""
        return distance_table(
            values(self.distances(contest)), contest.pair, list(self.settings), contest.groups
        )

    @property
    def excluded(self) -> set[Setting]:
        """Settings that the family's option ``excluded`` names: they do not count, whatever was predicted."""
        return {
            (name, self.family.transformations[name].step(level))
            for name, levels in (self.family.options.get("excluded") or {}).items()
            for level in levels
        }

    @property
    def _needed(self) -> np.ndarray:
        return np.array([setting not in self.excluded for setting in self.settings])

    def judged_settings(self, distances: Sequence[pd.DataFrame]) -> pd.DataFrame:
        """Say which settings count by the options ``excluded``, ``minimum_rating`` and ``destroyed``.

        Ratings say how comprehensible people found a setting, 1 to 10; infinite if nobody was asked.
        """
        options, excluded = self.family.options, self.excluded
        by, limit, rows = ["transformation", "level"], options.get("destroyed"), []
        means = pd.concat(distances).groupby(by)["distance"].mean().to_dict() if distances else {}
        for name, series in self.family.transformations.items():
            ratings = {series.step(level): rated for level, rated in options["ratings"].get(name, {}).items()}
            for setting in ((name, step) for step in series.steps):
                rating, mean, reason = ratings.get(setting[1], np.inf), means.get(setting, np.nan), ""
                if setting in excluded:
                    reason = "excluded"
                elif rating < options["minimum_rating"]:
                    reason = f"rated {rating:g}, below {options['minimum_rating']:g}"
                elif limit is not None and mean > limit:
                    reason = f"mean distance above {limit:g}"
                rows.append((*setting, rating, mean, reason))
        return pd.DataFrame(rows, columns=[*by, "rating", "distance", "left_out"])

    def violation_counts(
        self, recogniser_pairs: Sequence[RecogniserPair], left_out: Collection[Setting] = ()
    ) -> dict[str, pd.DataFrame]:
        """Count the violations of groups over some pairs of recognisers, in the layout of the paper."""
        groups, taus = recogniser_pairs[0].groups, self.family.options.get("taus", differential.TAUS)
        distances = pd.concat([self.distance_table(contest) for contest in recogniser_pairs])
        result = differential.violations(distances, taus, left_out)
        rows = {
            "in all": ("", ["all"]),
            "by τ": ("tau", taus),
            "by pair": ("pair", [contest.pair for contest in recogniser_pairs]),
            "by transformation": ("transformation", list(self.family.transformations)),
        }
        return {title: differential.counts(result, groups, *counted_by) for title, counted_by in rows.items()}


def excluded_settings(settings: pd.DataFrame, least_rating: float = -np.inf) -> set[Setting]:
    """List the settings that do not count."""
    rows = settings[settings["left_out"].ne("") | (settings["rating"] < least_rating)]
    return set(zip(rows["transformation"], rows["level"], strict=True))


VIOLATIONS = {"Violations Against Recognisers": False, "Violations Against Transcripts": True}


def mean_violations(evaluation: TextTasks, pairs: Sequence[RecogniserPair], counted: np.ndarray) -> Measure:
    """Measure how often each group is violated, on average over some pairs, under the settings that count."""

    def measure(_: Subset, predictions: Predictions) -> Statistic:
        result = [(evaluation.distances(pair, random=predictions.random), pair.groups) for pair in pairs]
        tau = evaluation.family.options["tau"]
        return mean_of([violation_proportions(*both, tau, counted) for both in result])

    return measure
