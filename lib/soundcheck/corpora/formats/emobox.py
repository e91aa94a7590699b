"""``format: emobox``: the lists of EmoBox for one of its corpora, with its folds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from soundcheck.suite import schema
from soundcheck.suite.corpus_format import Folder, TableFormat, TableKeys


class EmoboxKeys(TableKeys):
    """Keys of a folder of lists; ``speaker_pattern`` finds the speaker in the name of an utterance."""

    path: Folder = ""
    fold: schema.whole(1, 1000) | None = None
    speaker_pattern: schema.Text = ""


class EmoboxFormat(TableFormat):
    """Lists of EmoBox; see :mod:`soundcheck.corpora.layouts.emobox_lists`."""

    keyword = "emobox"
    reader = "soundcheck.corpora.layouts.emobox_lists:read_lists"
    keys = EmoboxKeys
    values: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "emotion": {"Angry": "anger", "Happy": "happiness", "Neutral": "neutral", "Sad": "sadness"},
    }

    @classmethod
    def problems(cls, keys: EmoboxKeys) -> Iterator[tuple[str, str, str]]:
        """Refuse a pattern that is none."""
        import re

        yield from super().problems(keys)
        try:
            if re.compile(keys.speaker_pattern).groups > 1:
                yield "speaker_pattern", "the pattern has several groups", "Put the speaker into one"
        except re.error as error:
            yield (
                "speaker_pattern",
                f"this is no regular expression ({error})",
                "Write for example '[fm][1-3]'",
            )
