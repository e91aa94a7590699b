"""Bad inputs of readers, see ``refused.yml``, and cells of segments as plain values."""

from pathlib import Path

import yaml

from soundcheck.corpora.load import Corpus

_REFUSED = yaml.safe_load(Path(__file__).with_name("refused.yml").read_text("utf-8"))


def refusals(*readers: str) -> list[list]:
    """List the bad inputs of readers, each with its reader first if there are several."""
    return [[reader, *row][len(readers) == 1 :] for reader in readers for row in _REFUSED[reader]]


def rows(corpus: Corpus, *names: str) -> list[tuple]:
    """Give the cells of some columns, a tuple a segment; ``None`` where there is nothing."""
    table = corpus.segments[list(names)].astype(object)
    return [tuple(None if cell != cell else cell for cell in row) for row in table.itertuples(index=False)]
