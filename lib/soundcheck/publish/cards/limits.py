"""What a run found that limits the use of a model, in sentences: for cards that have a place for no more.

Lists are cut after :data:`MOST` sentences, the largest first, and say how many are left out; the results
table and the book have all of them.
"""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from soundcheck.common.wording import counted
from soundcheck.publish.facts import ModelFacts
from soundcheck.results.standing import HOLLOW
from soundcheck.results.states import counted as counted_rows
from soundcheck.results.summary import ASPECTS, aspects, tally

MOST = 20


def cut(texts: Iterable[str], most: int = MOST) -> list[str]:
    """Keep the first sentences, and say how many more there are.

    Examples
    --------
    >>> cut("abcd", 2)
    ['a', 'b', 'and 2 more, see results.csv']
    """
    texts = list(texts)
    more = len(texts) - most
    return [*texts[:most], f"and {more} more, see results.csv"] if more > 0 else texts


def counts(rows: pd.DataFrame, what: str) -> str:
    """Say what became of tests, all of them counted but the second row of pairs of groups.

    Parameters
    ----------
    rows
        Rows of the results table.
    what
        What they are about, such as ``"fairness"``.
    """
    return f"{counted(len(counted_rows(rows)), f'{what} test')}: {tally(rows)}"


def sentences(facts: ModelFacts, rows: pd.DataFrame) -> list[str]:
    """Write what rows say, in their order."""
    return [facts.sentence(row) for row in rows.itertuples()]


def limits_found(facts: ModelFacts) -> list[str]:
    """List what limits the use of a model: kind of speech, counts, what failed, and what nobody knows."""
    synthetic = [corpus.name for corpus in facts.corpora if corpus.synthetic]
    told = []
    if synthetic:
        told.append(f"tested on synthetic speech, which says little about people: {', '.join(synthetic)}")
    found = aspects(facts.rows)
    told += [counts(facts.rows[found.eq(name)], name) for name in ASPECTS if found.eq(name).any()]
    told += cut(sentences(facts, facts.failing[facts.failing["group"].eq("")]))
    if len(facts.few):
        told.append(f"{counted(len(facts.few), 'difference')} with too few speakers to generalise")
        told += cut(sentences(facts, facts.few), 5)
    no_better = facts.rows.loc[facts.rows["standing"].eq(HOLLOW), "task"].drop_duplicates()
    told += [
        f"no better than chance at {task}: fairness and robustness at it mean nothing" for task in no_better
    ]
    told += [f"tests of {family} did not come to their end" for family in facts.failed]
    model = facts.model
    if model.failed or model.unusable:
        told.append(f"no usable answer for {model.failed + model.unusable} of {model.inputs} inputs")
    return [*map(str, facts.caveats), *told, *model.notes]


def worse_off(facts: ModelFacts) -> list[tuple[str, list[str]]]:
    """List groups that failures are about, the largest first, each with what they say."""
    rows = facts.failing[facts.failing["group"].ne("")]
    found = {group: sentences(facts, own) for group, own in rows.groupby("group", sort=False)}
    return [(group, cut(told, 5)) for group, told in found.items()]
