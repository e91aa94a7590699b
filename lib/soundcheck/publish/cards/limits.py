"""What a run found that limits the use of a model, in sentences: for cards that have a place for no more.

Lists are cut after :data:`MOST` sentences, the gravest first, and say how many are left out; the results
table and the book have all of them.
"""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from soundcheck.common.wording import counted
from soundcheck.publish.facts import ModelFacts
from soundcheck.results.standing import HOLLOW
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
    """Say what came of tests, all of them counted.

    Parameters
    ----------
    rows
        Rows of the results table.
    what
        What they are about, such as ``"fairness"``.
    """
    found = tally(rows)
    return (
        f"{counted(len(rows), f'{what} test')}: failures that hold {found.holds}, "
        f"clear passes {found.clear_pass}, open {found.open} (the data do not settle them), "
        f"shown without verdict {found.shown}, not possible {found.skipped}"
    )


def sentences(facts: ModelFacts, rows: pd.DataFrame) -> list[str]:
    """Write what failures say, in their order."""
    return [facts.sentence(row) for row in rows.itertuples()]


def limits_found(facts: ModelFacts) -> list[str]:
    """List what limits the use of a model: kind of speech, counts, what failed, and what nobody knows."""
    synthetic = [corpus.name for corpus in facts.corpora if corpus.synthetic]
    told = []
    if synthetic:
        told.append(f"tested on synthetic speech, which says little about people: {', '.join(synthetic)}")
    found = aspects(facts.rows)
    told += [counts(facts.rows[found.eq(name)], name) for name in ASPECTS if found.eq(name).any()]
    told += cut(sentences(facts, facts.holding[facts.holding["group"].eq("")]))
    hollow = facts.rows.loc[facts.rows["standing"].eq(HOLLOW), "task"].drop_duplicates()
    told += [
        f"not better than guessing at {task}: fairness and robustness at it mean nothing" for task in hollow
    ]
    told += [f"tests of {family} did not come to their end" for family in facts.failed]
    model = facts.model
    if model.failed or model.unusable:
        told.append(f"no usable answer for {model.failed + model.unusable} of {model.inputs} inputs")
    return [*map(str, facts.caveats), *told, *model.notes]


def worst_served(facts: ModelFacts) -> list[tuple[str, list[str]]]:
    """List groups that failures which hold are about, the gravest first, each with what they say."""
    rows = facts.holding[facts.holding["group"].ne("")]
    found = {group: sentences(facts, own) for group, own in rows.groupby("group", sort=False)}
    return [(group, cut(told, 5)) for group, told in found.items()]
