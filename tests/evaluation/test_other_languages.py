"""Which speech in another language a recogniser is judged by."""

from types import SimpleNamespace

import pytest

from soundcheck.augment.sounds import Sound, SoundSet
from soundcheck.evaluation.unspoken import unjudged


@pytest.mark.parametrize(
    ("names", "synthetic", "languages", "reason"),
    [
        (["de/a.wav", "fr/b.wav"], True, ("en",), ""),
        (["de/a.wav", "fr/b.wav"], True, (), "the sounds are in de, fr; name its languages under card"),
        (["a.wav", "b.wav"], False, (), ""),
        (["a.wav", "radio/b.wav"], False, ("en",), ""),
        (["German/deep/a.wav", "fr/b.wav"], False, ("de", "en"), "the recogniser knows de, and some"),
    ],
)
def test_sounds_are_judged_unless_the_recogniser_may_know_their_language(names, synthetic, languages, reason):
    sounds = SoundSet("other_language", tuple(map(Sound, names)), synthetic=synthetic)
    found = unjudged(SimpleNamespace(languages=languages), sounds)
    assert (reason in found) if reason else not found
