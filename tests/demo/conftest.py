"""Speech of the demo corpus, as models get it."""

import audiofile
import pandas as pd
import pytest

from soundcheck_demo.speech import corpus


@pytest.fixture(scope="session")
def speech_of():
    """Give table and signals of the test split of a corpus, by its folder."""

    def read(folder):
        table = pd.read_csv(folder / corpus.TABLE, keep_default_na=False).query("split == 'test'")
        return table.reset_index(drop=True), [audiofile.read(folder / name)[0] for name in table["file"]]

    return read
