"""What a run works with: families, corpora, sounds and models, loaded and checked."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from soundcheck.augment.recordings import load_sounds
from soundcheck.augment.sounds import Sounds
from soundcheck.common.errors import InputError, Problems
from soundcheck.common.store import CACHE_VARIABLE
from soundcheck.corpora.group_columns import add_groups, check_groups, measured_columns
from soundcheck.corpora.load import Corpus, load_corpus
from soundcheck.corpora.measured import check_installed, measure
from soundcheck.corpora.trials.trial_design import trial_lists
from soundcheck.corpora.trials.trial_table import TrialTable
from soundcheck.models.base import check_model
from soundcheck.run import planning
from soundcheck.run.output import Output
from soundcheck.run.selection import Plan
from soundcheck.suite.entries import Suite
from soundcheck.suite.families import Family


@dataclasses.dataclass(frozen=True)
class Material:
    """What a run works with."""

    plan: Plan
    families: Sequence[Family]
    corpora: Sequence[Corpus]  # loaded, with measured columns and groups
    sounds: Sounds  # noises and impulse responses
    fingerprints: Mapping[str, str]  # of the models
    lists: Mapping[tuple[str, str], TrialTable]  # corpus and family -> trials
    unloaded: Mapping[str, str]  # model that cannot be loaded here, but was elsewhere or earlier -> why

    @property
    def suite(self) -> Suite:
        """What the book is about."""
        return self.plan.suite


def load(
    plan: Plan,
    families: Sequence[Family],
    output: Output,
    jobs: int,
    answered: Mapping[str, str] | None = None,
) -> Material:
    """Load all corpora and sounds, check the models, and name all problems at once.

    A model whose fingerprint is known, of a shard (``answered``) or of the book that is added to, need not
    load here.

    Raises InputError: if anything that the suite names cannot be used.
    """
    os.environ[CACHE_VARIABLE] = str(output.cache)  # for models that keep things, and for all children
    suite, problems = plan.suite, Problems()
    known = {**plan.fingerprints, **(answered or {})}
    sounds = Sounds()
    corpora, fingerprints, unloaded = [], {}, {}
    # Threads only wait: models are imported, and train themselves on first use, in processes of their own.
    with ThreadPoolExecutor(max(1, jobs)) as pool:
        entries = suite.models.values()
        checked = {e.name: pool.submit(check_model, e, suite) for e in entries if e.about.needs_audio}
        for entry in suite.corpora.values():
            with problems.collected():
                corpora.append(load_corpus(entry, suite, output.cache, jobs, progress=True))
        if not len(problems):
            with problems.collected():
                check_groups(suite, corpora)
        others = (entry for entry in entries if entry.name not in checked)
        checked |= {entry.name: pool.submit(check_model, entry, suite, corpora) for entry in others}
    for name in suite.models:
        try:
            fingerprints[name] = checked[name].result()
        except InputError as error:
            if name in known:
                fingerprints[name], unloaded[name] = known[name], str(error)
            else:
                problems.extend(error)
    measured = [measured_columns(corpus.entry, families, suite.measured) for corpus in corpora]
    with problems.collected():
        check_installed(name for names in measured for name in names)
    if suite.sounds or not len(problems):  # nothing is synthesised for a suite that is refused
        with problems.collected():
            kinds = planning.sounds_of(families)
            sounds = load_sounds(suite, kinds, output.cache, jobs=jobs, progress=True)
    problems.raise_if_any()
    corpora = [
        measure(corpus, names, output.cache, jobs, progress=True)
        for corpus, names in zip(corpora, measured, strict=True)
    ]
    corpora = [add_groups(corpus) for corpus in corpora]
    lists = trial_lists(suite, families, corpora)
    return Material(plan, families, corpora, sounds, fingerprints, lists, unloaded)
