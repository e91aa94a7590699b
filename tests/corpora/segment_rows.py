"""Cells of a corpus' segments as plain values."""

from soundcheck.corpora.load import Corpus


def rows(corpus: Corpus, *names: str) -> list[tuple]:
    """Give the cells of some columns, a tuple a segment; ``None`` where there is nothing."""
    table = corpus.segments[list(names)].astype(object)
    return [tuple(None if cell != cell else cell for cell in row) for row in table.itertuples(index=False)]
