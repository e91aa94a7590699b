"""Which trials are compared: the list that a corpus brings, or one that is made of its speakers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from soundcheck.common.tasks import Task
from soundcheck.corpora.corpus import Corpus
from soundcheck.corpora.trials.trial_design import generate
from soundcheck.corpora.trials.trial_table import TrialTable
from soundcheck.suite.entries import Suite
from soundcheck.suite.families import Family


def trial_lists(
    suite: Suite, families: Sequence[Family], corpora: Iterable[Corpus]
) -> dict[tuple[str, str], TrialTable]:
    """Find or make the trials of each corpus for each family that compares utterances.

    - ``suite``: for its seed and models.
    - Returns name of the corpus and of the family -> trials; nothing for corpora with neither list nor
      speakers, and if no model that embeds recordings would be compared.
    """
    found = {}
    made: dict[tuple[object, ...], TrialTable] = {}  # families that ask for the same share it
    for corpus in corpora:
        for family in families:
            compared = family.trials and corpus.entry.is_for(family.name)
            if not compared or not any(
                entry.is_for(family.name)
                and entry.listens_to(corpus.entry)
                and any(_compares(family, suite.tasks[name]) for name in entry.tasks)
                for entry in suite.models.values()
            ):
                continue
            if corpus.trials is not None:
                found[corpus.name, family.name] = corpus.trials
            elif "speaker" in corpus.segments.columns:
                asked = (corpus.name, *sorted(family.trials.items()))
                if asked not in made:
                    made[asked] = generate(corpus.segments, suite.seed, **family.trials)
                if len(made[asked].frame):
                    found[corpus.name, family.name] = made[asked]
    return found


def _compares(family: Family, task: Task) -> bool:
    return task.is_embedding and family.applies_to(task)
