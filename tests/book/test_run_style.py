"""Each page, and each sheet of paper, says of which run it is; a title stays text, whatever is in it."""

import datetime
from types import SimpleNamespace

from soundcheck.book.site import run_style

DAY = datetime.date(2026, 2, 3)


def style(title: str) -> str:
    return run_style(SimpleNamespace(title=title, run="0123456789ab", version="1.2.3"), DAY)


def test_title_day_digest_and_version_are_named():
    told = style("Demo")
    for part in ("Demo", "run of 2026-02-03, results 0123456789ab", "Soundcheck 1.2.3, page ", "@page"):
        assert part in told


def test_a_title_cannot_leave_its_string():
    plain = style("Demo")
    for title in ('"; } * { display: none', "a\\", "line\nbreak", "</style>", "\u202eزمن 🎙", "x" * 5000):
        told = style(title)
        assert told.isascii() and len(told) < 3000
        for character in '"{}\n<>':
            assert told.count(character) == plain.count(character), title
