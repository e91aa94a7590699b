"""Accepted failures: what they cover, until when, and which entries are of no use."""

import datetime

import pytest

from soundcheck.results.accepted import accepted_reasons, failures, matching, remarks
from soundcheck.results.table import to_frame
from soundcheck.results.verdict import Verdict
from soundcheck.suite.own_rules import AcceptedFailure

TODAY = datetime.date(2026, 11, 22)


def verdict(passed: bool | None, **changes) -> Verdict:
    row = dict(model="ours", corpus="c", family="f", category="fairness", task="arousal", test="T")
    row |= dict(value=0.5, threshold=0.1, rule="|value| <", passed=passed)
    row |= {"skipped": "why"} if passed is None else {}
    return Verdict(**(row | changes))


@pytest.fixture
def frame():
    return to_frame(
        [
            verdict(False, group="accent: scottish"),
            verdict(False, group="accent: welsh"),
            verdict(True, group="accent: irish", value=0.0),
            verdict(False, model="theirs"),
            verdict(None, test="U"),
            verdict(True, test="V", value=0.0, state="fail"),
        ]
    )


def test_every_named_key_must_agree(frame):
    def count(**named):
        return int(matching(frame, AcceptedFailure(why="x", **named)).sum())

    assert count(model="ours") == 5 and count(family="f") == 6 and count(family="g") == 0
    assert count(model="ours", group="accent: scottish") == 1
    assert count(model="theirs", group="accent: scottish") == 0
    assert count(test="U", corpus="c", task="arousal") == 1 and count(label="anger") == 0


def test_only_failures_are_accepted_and_the_first_entry_counts(frame):
    entries = [
        AcceptedFailure(group="accent: scottish", why="being collected", until=TODAY),
        AcceptedFailure(model="ours", why="known"),
    ]
    found = accepted_reasons(frame, entries, TODAY)
    by_row = dict(zip(frame["model"] + frame["test"] + frame["group"], found, strict=True))
    assert by_row == {
        "oursTaccent: irish": "",
        "oursTaccent: scottish": "being collected (until 2026-11-22)",
        "oursTaccent: welsh": "known",
        "oursU": "",
        "oursV": "known",  # passes its threshold, and its state is fail
        "theirsT": "",
    }
    assert failures(frame).sum() == 4


def test_the_last_day_counts_and_the_next_does_not(frame):
    entries = [AcceptedFailure(group="accent: welsh", why="x", until=TODAY)]
    tomorrow = TODAY + datetime.timedelta(days=1)
    assert accepted_reasons(frame, entries, TODAY).ne("").sum() == 1
    assert accepted_reasons(frame, entries, tomorrow).eq("").all()
    assert remarks(frame, entries, TODAY) == []
    (told,) = remarks(frame, entries, tomorrow)
    assert told == "accepted until 2026-11-22, which is past: group: accent: welsh: 1 failure counts again."


def test_entries_that_are_of_no_use_are_named(frame):
    entries = [
        AcceptedFailure(model="nobody", why="x"),
        AcceptedFailure(group="accent: irish", why="x"),
        AcceptedFailure(test="U", why="x"),
        AcceptedFailure(model="theirs", why="x"),
    ]
    assert remarks(frame, entries, TODAY) == [
        "accepted, but no test agrees with it: model: nobody. Correct or remove it.",
        "accepted, but nothing fails any more: group: accent: irish: 1 test passed. Remove it.",
        "accepted, but not judged in this run: test: U.",
    ]
