"""Problems collected and shown, text from data that stays text, and how far a step is."""

import html
import pickle
import re
import unicodedata
from html.parser import HTMLParser
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.common import messages
from soundcheck.common.messages import InputError, Problem, Problems, input_error
from soundcheck.common.progress import EVERY, Progress


def test_a_problem_is_one_sentence_with_place_and_remedy():
    problem = Problem("a.csv line 5, column arousal", "'high' is not a number", "Give a number")
    assert str(problem) == "a.csv line 5, column arousal: 'high' is not a number. Give a number."
    assert not {"\n", "\x1b", "\u202e"} & {*str(Problem("a\nb", "x\x1b[31m", "y\u202e"))}


def test_all_problems_at_once_and_from_another_process():
    problems = Problems()
    problems.raise_if_any()
    problems.add("a", "first")
    problems.extend(input_error("b", "second"))
    with pytest.raises(InputError, match=r"a: first\.\nb: second\.") as caught:
        problems.raise_if_any()
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.problems) == (str(caught.value), caught.value.problems)


def test_twenty_are_told_and_one_cause_is_reported_once():
    """Problems that differ in names and numbers are one kind: its count, and three examples."""
    text = str(InputError(Problem("f", n * "p") for n in range(57)))
    assert text.count("\n") == 20 and text.endswith("... and 37 more.")
    what = "the file 'b{}.wav' does not exist"
    missing = [Problem(f"a.csv line {n}", what.format(n), "Look") for n in range(2, 294)]
    assert str(InputError([*missing, Problem("c", "else")])).split("\n") == [
        "a.csv line 2: the file 'b2.wav' does not exist. Look. There are 292 of this kind, also "
        "a.csv line 3, the file 'b3.wav' does not exist; a.csv line 4, the file 'b4.wav' does not exist.",
        "c: else.",
    ]
    assert str(InputError(missing[:3])).count("Look") == 3


ANY = st.text(st.characters(), max_size=60)  # surrogates and controls included
HOSTILE = ["<img src=x onerror=alert(1)>", "' onmouseover='x", '"><script>']


class Collector(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.text = [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, attrs))


@given(ANY)
@pytest.mark.parametrize("hostile", HOSTILE)
def test_escape_leaves_no_live_html(hostile, text):
    parser = Collector()
    parser.feed(f'<p title="{messages.escape(hostile + text)}">{messages.escape(text + hostile)}</p>')
    parser.close()
    assert [tag for tag, _ in parser.tags] == ["p"]
    assert [name for name, _ in parser.tags[0][1]] == ["title"]


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), max_size=100))
def test_escape_shows_ordinary_text_as_written(text):
    assert html.unescape(messages.escape(text)) == text
    assert messages.escape("a" * 300) == "a" * 199 + "…"
    assert messages.escape("a" * 300, limit=None) == "a" * 300


@given(ANY)
def test_what_each_medium_carries(text):
    for function in (messages.escape, messages.xml_text, messages.terminal, messages.quoted):
        function(text).encode("utf-8")
    printed = messages.terminal(text)
    assert all(c == "\n" or unicodedata.category(c) not in ("Cc", "Cs") for c in printed)
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", printed)
    quoted = messages.quoted(text)
    assert "\n" not in quoted and len(quoted) <= messages.VALUE_LIMIT + 2
    element = ElementTree.Element("x")
    element.text = messages.xml_text(text)
    ElementTree.fromstring(ElementTree.tostring(element))
    assert messages.spreadsheet(text)[:1] not in ("=", "+", "-", "@", "\t", "\r")
    heading = messages.heading(text)
    assert heading.strip() and not set(re.sub("&#[0-9]+;", "", heading)) & set("\\`*_{}[]<>#|~$&@\n\r")
    assert html.unescape(heading) == messages.one_line(text)


def test_names_keep_the_letters_of_all_scripts_and_never_look_the_same():
    for name, displayed in {
        "R&D: Émotions – 50 % C++": "R&D: Émotions – 50 % C++",
        "مدل\u200cها": "مدل\u200cها",  # the joiner is part of the word
        "\u202erev\u200f\u2069": r"\u202erev\u200f\u2069",
        "a\nb\tc\0\ud800\u2028": r"a\u000ab\u0009c\u0000\ud800\u2028",
        "a  b ": "a \xa0b\xa0",
        " ": "unnamed",
    }.items():
        assert messages.one_line(name) == html.unescape(messages.heading(name)) == displayed
    for one, other in (("a b", "a  b"), ("a", "a\u200b"), ("x" * 80, "x" * 79 + "y"), ("a_b", "a b")):
        assert messages.heading(one) != messages.heading(other)


@pytest.fixture
def log(capsys, monkeypatch):
    """Report steps that take so many seconds; gives the lines of a log."""

    def report(stage, things, total, seconds, size=1):
        now = [100.0]
        monkeypatch.setattr("soundcheck.common.progress.time", SimpleNamespace(monotonic=lambda: now[0]))
        with Progress(stage, things, total) as bar:
            for step in seconds:
                now[0] += step
                bar.update(size)
        return capsys.readouterr().err.splitlines()

    return report


def test_a_log_gets_a_line_each_half_minute_with_the_time_left(log):
    assert log("predictions", "inputs of prosody", 3400, [1] * 60, size=10) == [
        "predictions: 300 of 3400 inputs of prosody, about 5 min 10 s left",
        "predictions: 600 of 3400 inputs of prosody, about 4 min 40 s left",
    ]
    assert not log("notebooks", "of families", 50, [(EVERY - 1) / 50] * 50)  # it ends sooner
    (line,) = log("looking at audio", "files of \x1b[2Jcalls", 1, [40])
    assert line.startswith("looking at audio: 1 of 1 files of ") and line.endswith("calls")  # nothing is left
    assert "\x1b" not in line
