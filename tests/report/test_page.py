"""What notebooks show with one call: everything is displayed, in order, with alternative texts."""

from types import SimpleNamespace

import pytest

from soundcheck.common.media import MediaStore
from soundcheck.report import figures, page

pytestmark = pytest.mark.slow

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def shown(monkeypatch):
    """Give the list of what is displayed, as text."""
    displayed = []
    monkeypatch.setattr(page, "display", lambda *parts: displayed.extend(map(str, parts)))
    return displayed


def test_verdicts_come_with_their_notes(shown, tmp_path, monkeypatch):
    monkeypatch.setattr(page, "verdict_table", lambda frame, _, blocks: f"{blocks}s: {frame}")
    told = {"notes": [f"{HOSTILE} was drawn"], "scales": [], "synthetic": True}
    evaluation = SimpleNamespace(frame=lambda: "rows", block_names="file", **told)
    page.opening(evaluation)
    page.verdicts(evaluation)
    opening, verdicts, notes = shown
    assert "ynthetic" in opening and verdicts == "files: rows"
    assert "was drawn" in notes and HOSTILE not in notes


def test_a_figure_is_stored_and_has_an_alternative_text(shown, tmp_path):
    evaluation = SimpleNamespace(media=MediaStore(tmp_path))
    figure = figures.truth_and_prediction([0, 1], [0.2, 0.8])
    page.show(evaluation, figure, HOSTILE)
    (text,) = shown
    assert HOSTILE not in text and "alt=" in text and len(list(tmp_path.iterdir())) == 1
