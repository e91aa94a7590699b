"""Whether the values of a test in two runs may be joined by a line, and whether they may be compared at all.

Conventions
-----------
- *Not compared* is what does not measure the same thing: another rule, another version of the family, other
  noises, another definition of the task, another normaliser of transcripts.
- *Compared, not joined* is the same measure of other things: other segments, sounds or labels (*unpaired*
  then), or judged by another threshold.
- To another model, whose code, options or files changed, the line breaks, and the reason says so; the values
  are compared all the same. Another version of Soundcheck has a mark.
- Of a table without a record nobody knows on what data it rests: compared, not joined.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator

from soundcheck.history.past_runs import PastRun
from soundcheck.results.judged import Judged
from soundcheck.results.verdict import Verdict
from soundcheck.statistics.rules import of_gap

_ROBUSTNESS = "robustness"  # category of tests whose values depend on noises and rooms
_TRANSCRIPT = "transcript"  # task whose values depend on the normaliser


@dataclasses.dataclass(frozen=True)
class Step:
    """How two values of a test stand to each other.

    Parameters
    ----------
    measures_differ
        Why the values do not measure the same thing; empty if they do.
    data_differ
        In what their data differ; empty if they are the same.
    other
        What else keeps them from being joined.
    same_seed
        Whether the runs have the same seed, or nobody knows.
    same_draws
        Whether replicates were drawn with the same weights, so that they may be paired.
    other_model
        What made the model another one; empty if it is the same, or if nobody knows.
    """

    measures_differ: tuple[str, ...] = ()
    data_differ: tuple[str, ...] = ()
    other: tuple[str, ...] = ()
    same_seed: bool = True
    same_draws: bool = True
    other_model: str = ""

    @property
    def compared(self) -> bool:
        """Whether a difference of the values means something."""
        return not self.measures_differ

    @property
    def reason(self) -> str:
        """Why the line from one value to the other breaks; empty if it does not."""
        model = (f"another model ({self.other_model})",) if self.other_model else ()
        return "; ".join((*self.measures_differ, *self.data_differ, *self.other, *model))

    @property
    def joined(self) -> bool:
        """Whether a line leads from one to the other, perhaps to another model."""
        return not (self.measures_differ or self.data_differ or self.other)


class Comparability:
    """Compares what two runs say about what they tested.

    Parameters
    ----------
    before, after
        An earlier and a later run.
    """

    def __init__(self, before: PastRun, after: PastRun) -> None:
        self._before, self._after = before, after
        self._unknown = not (before.known and after.known)
        self._families = [run.finished.part("families") for run in (before, after)]
        self._sounds = [run.finished.part("sounds", "kind") for run in (before, after)]
        self._found: dict[tuple[str, ...], tuple[tuple[str, ...], tuple[str, ...]]] = {}
        self._same_seed = before.finished.about.get("seed") == after.finished.about.get("seed")
        self._other_model = functools.cache(functools.partial(after.finished.changed_model, before.finished))

    def step(self, before: Judged, after: Judged) -> Step:
        """Say how two values of a test stand to each other."""
        one, other = before.verdict, after.verdict
        key = (other.family, other.category, other.task, other.corpus)
        if key not in self._found:
            self._found[key] = (tuple(self._measures(*key[:3])), tuple(self._data(other.corpus)))
        measures, data = self._found[key]
        if of_gap(one.rule) != of_gap(other.rule):
            measures = (*measures, f"another rule ({one.rule or 'none'} then, {other.rule or 'none'} now)")
        if one.segments != other.segments:
            data = (*data, f"other segments ({one.segments} then, {other.segments} now)")
        elif before.segments and after.segments and before.segments != after.segments:
            data = (*data, f"other segments ({other.segments} both times)")
        further = () if not self._unknown else ("no record of the data",)
        if (one.threshold, one.rule) != (other.threshold, other.rule):
            further = (*further, f"another threshold ({_limit(one)} then, {_limit(other)} now)")
        other_model = self._other_model(other.model, one.model)
        same_draws = self._same_seed and not data and not self._unknown
        return Step(measures, data, further, self._same_seed or self._unknown, same_draws, other_model)

    def _measures(self, family: str, category: str, task: str) -> Iterator[str]:
        digests = [known.get(family, {}).get("digest") for known in self._families]
        if digests[0] != digests[1] and None not in digests:
            yield "another version of the family"
        runs = (self._before, self._after)
        if _differ(*(run.setting("tasks", task) for run in runs)):
            yield "another definition of the task"
        normalisers = [run.setting("normaliser") for run in runs]
        if task == _TRANSCRIPT and _differ(*normalisers):
            yield f"another normaliser ({normalisers[0]} then, {normalisers[1]} now)"
        if category == _ROBUSTNESS:
            one, other = self._sounds
            kinds = [
                k for k in sorted(one.keys() & other.keys()) if one[k].get("digest") != other[k].get("digest")
            ]
            if kinds:
                yield f"other noises or rooms ({', '.join(kinds)})"

    def _data(self, corpus: str) -> Iterator[str]:
        runs = self._before.finished, self._after.finished
        recorded = [run.part("corpora").get(corpus, {}).get("digest") for run in runs]
        if _differ(*recorded):
            yield "other sounds"
        if _differ(*(run.tables.get(corpus) for run in (self._before, self._after))):
            yield "other labels"


def _differ(one: object, other: object) -> bool:
    return one is not None and other is not None and one != other


def _limit(verdict: Verdict) -> str:
    return "none" if verdict.threshold is None else f"{verdict.rule} {verdict.threshold:g}"
