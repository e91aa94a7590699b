"""What is said about labels that are no classes can be written into suite.yml as it stands."""

import re

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.common.errors import Problems
from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.corpora.labels import MOST_CLASSES, class_remedy, task_snippets
from soundcheck.suite.entries import CorpusEntry
from soundcheck.suite.yaml_reader import read_yaml

EMOTION = BUILTIN["emotion"]
TEXTS = st.text(st.characters(exclude_categories=("C", "Zl", "Zp")), min_size=1, max_size=20)


def entry(**changes) -> CorpusEntry:
    return CorpusEntry(name="calls", format="csv", path=None, **changes)


def texts(value):
    """Plain texts of what was read, lists and mappings kept."""
    if isinstance(value, dict):
        return {str(key): texts(item) for key, item in value.items()}
    return [texts(item) for item in value] if isinstance(value, list) else str(value)


@settings(max_examples=30, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=6, unique=True), TEXTS)
def test_snippets_are_yaml_of_the_same_texts(tmp_path_factory, classes, column):
    tasks, columns = task_snippets("feeling", classes, column)
    file = tmp_path_factory.mktemp("yaml") / "x.yml"
    file.write_text(f"tasks: {tasks}\ncolumns: {columns}\n", encoding="utf-8")
    problems = Problems()
    read = texts(read_yaml(file, "x.yml", problems).data)
    problems.raise_if_any()
    assert read == {
        "tasks": {"feeling": {"type": "classification", "classes": classes}},
        "columns": {"feeling": column},
    }


def told(labels, tasks=None, columns=None, **further) -> str:
    table = pd.DataFrame({"emotion": labels, **further}, dtype=object)
    return class_remedy(EMOTION, table, entry(columns=columns or {}), {**BUILTIN, **(tasks or {})})


def test_all_classes_are_named_and_the_column_of_the_data():
    found = told(["boredom", "anger", "", "boredom"], columns={"emotion": "felt as"})
    assert "To test all 2, declare" in found
    assert "`tasks: {feeling: {type: classification, classes: [anger, boredom]}}`" in found
    assert found.endswith("under corpora.calls `columns: {feeling: felt as}`")


def test_a_name_that_is_taken_is_not_proposed():
    other = Task("feeling", "classification", ("a", "b"))
    assert "`tasks: {felt: " in told(["boredom"], {"feeling": other})
    assert "`tasks: {own_emotion: " in told(["boredom"], {"feeling": other, "felt": other})


def test_a_task_that_has_all_of_them_is_named():
    whole = Task("mood", "classification", ("anger", "joy"))
    assert told(["joy", "anger"], {"mood": whole}, mood=["joy", "anger"]) == "The task mood has all of them"
    assert told(["joy", "anger"], {"mood": whole}, mood=["anger", "joy"]).endswith("{joy: happiness}}`")
    assert "declare a task" in told(["joy", "fear"], {"mood": whole}, mood=["joy", "fear"])


def test_a_declared_task_is_not_declared_again():
    mood = Task("mood", "classification", ("anger", "joy"))
    found = class_remedy(mood, pd.DataFrame({"mood": ["fear"]}), entry(), {"mood": mood})
    assert found == "Add them to `classes` of tasks.mood in the suite, or correct them"


@pytest.mark.parametrize("count", [MOST_CLASSES, MOST_CLASSES + 1])
def test_a_long_list_is_left_to_the_reader(count):
    found = told([f"word {n}" for n in range(count)])
    assert bool(re.search("classes: \\[word 0,", found)) == (count == MOST_CLASSES)
