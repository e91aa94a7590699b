"""What a suite brings, what packages make, and what may be missing."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from soundcheck.augment.registry import missing
from soundcheck.common.errors import InputError
from soundcheck.sounds import load
from soundcheck.suite.thresholds import read_family


def test_a_run_needs_no_speech_in_other_languages(tmp_path, monkeypatch):
    monkeypatch.setattr(load, "SOUND_SOURCES", {})
    suite = SimpleNamespace(file=Path("suite.yml"), audio_limit=60.0, sounds={})
    with pytest.raises(InputError, match="nobody has sounds of music, which"):
        load.load_sounds(suite, {"music", "other_language"}, tmp_path)
    sounds = load.load_sounds(suite, {"other_language"}, tmp_path)
    changes = read_family("asr_hallucination").changes
    assert "no sounds of the kind other_language; a suite names" in missing(changes["Other Language"], sounds)
    assert not missing(changes["Silence"], sounds)
