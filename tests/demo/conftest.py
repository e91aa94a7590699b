"""Speech of the demo corpus, as models get it."""

import audiofile
import pandas as pd
import pytest

from soundcheck_demo.speech import corpus


@pytest.fixture(scope="session")
def full_corpus(full_cache):
    """The full demo corpus with all its speakers, but a third of its segments."""
    counted = corpus.speakers
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpus, "speakers", lambda *of: [(who, count // 3) for who, count in counted(*of)])
        return corpus.build(full_cache, jobs=2)


@pytest.fixture(scope="session")
def speech_of():
    """Give table and signals of the test split of a corpus, by its folder."""

    def read(folder):
        table = pd.read_csv(folder / corpus.TABLE, keep_default_na=False).query("split == 'test'")
        return table.reset_index(drop=True), [audiofile.read(folder / name)[0] for name in table["file"]]

    return read
