"""What others wrote in a README stays; what is ours is found again; what cannot be kept is refused."""

import json
import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.common.messages import InputError
from soundcheck.publish.cards.formats.huggingface import BEGIN, END, updated
from soundcheck.publish.cards.records import MARK


def ours(value=1.0, name="calls"):
    dataset = {"type": name, "name": "--- {{ x }} | 'y': [z] # \""}
    metric = {"type": "wer", "value": value, "args": {"low": 0.5, MARK: "f" * 64}}
    return {"task": {"type": "asr", "name": "transcript"}, "dataset": dataset, "metrics": [metric]}


def put(text, results=(), keys=None, model="m"):
    return updated(text, "README.md", keys or {}, model, list(results), "new\nlines")


def data(text):
    """Read the metadata."""
    return yaml.safe_load(re.split(r"^\ufeff?\s*---(?:\r\n|\r|\n)|(?<=[\r\n])---(?=[\r\n]|$)", text)[1])


def results_of(text):
    return [entry["results"] for entry in data(text)["model-index"]]


OLD, OWN = ours(0.1, "old"), {"license": "mit"}
ABOVE = """\
# ours since 2024
license:   mit   # checked
'tags': [a, "b",]
text: |
  ---
  two lines

odd: &x {a: 1, b: [~, 0x10, 1_000]}
again: *x
"""
INDEX = """\
model-index:
  # all by hand
  - name: Their Model
    results:
      - task: {type: asr} # first
        dataset: {type: theirs, name: "Their's"}
        metrics:
          - {type: wer, value: 12.0}

    # the second
      - task: {type: asr}
        dataset: {type: other, name: other}
        metrics: [{type: wer, value: 13.0, name: Test WER}]
"""
BELOW = """\
# about the end
last:   1
---
# Their words
no newline at the end"""
OTHERS = f"---\n{ABOVE}{INDEX}{BELOW}"
REFERENCES = "".join(f"a{n}: [{'*a, ' * 9}*a]\n" for n in range(9))


def test_results_of_others_stay():
    once = put(OTHERS, [OLD])
    assert once.startswith(f"---\n{ABOVE}{INDEX}") and BELOW in once and results_of(once)[0][2:] == [OLD]
    new = [ours(2.0), ours(3.0, "more")]
    twice = put(once, new)
    assert twice.startswith(f"---\n{ABOVE}{INDEX}") and BELOW in twice and "old" not in twice
    assert results_of(twice)[0][2:] == new
    assert put(twice, new) == twice and put(twice, []).startswith(OTHERS)
    made = put(OTHERS, [], {"license": "apache-2.0", "language": ["en", "no"]})
    wanted = OTHERS.replace("license:   mit   # checked", "license: apache-2.0 # checked")
    assert made.startswith(wanted.replace("last:   1\n", "last:   1\nlanguage:\n- en\n- 'no'\n"))
    for value in ("\n- en\n- fr", " ~", " >\n  en\n  fr", " [en,\n fr]"):
        made = put(f"---\nlanguage:{value}\nother: 1 # stays\n---\nbody\n", [], {"language": ["de"]})
        assert data(made) == {"language": ["de"], "other": 1} and "other: 1 # stays\n---\nbody\n" in made
    # References and tags mean nothing.
    tagged = f"---\na: &a 1\n{REFERENCES}b: !!python/object/apply:os.getcwd []\n---\n"
    assert put(tagged, [], OWN).startswith(tagged.replace("[]\n---", "[]\nlicense: mit\n---"))


@pytest.mark.parametrize(
    ("text", "keys", "begins"),
    [
        ("# Title\r\n", OWN, "---\r\nlicense: mit\r\n---\r\n# Title\r\n"),
        ("# Title\n", {}, "# Title\n\n<!--"),
        ("---\n---\nbody", OWN, "---\nlicense: mit\n---\nbody"),
    ],
)
def test_without_metadata_they_are_put_first(text, keys, begins):
    assert put(text, [], keys).startswith(begins)
    assert results_of(put(text, [OLD], keys)) == [[OLD]]
    assert put("\ufeff# Title\n", [OLD]).startswith("\ufeff---\nmodel-index:\n- name: m\n")


def test_an_index_of_ours_alone_is_written_anew_and_removed():
    text = put("---\na: 1\n---\n", [OLD])
    assert put(text, [ours(2.0)]).count("results:") == 1 and put(text, []).startswith("---\na: 1\n---\n")
    assert "\nb: 2\n---\n" in put("---\nmodel-index: []\nb: 2\n---\n", [OLD])


def test_several_models():
    entry = (
        "- name: {}\n  results:\n  - {{task: {{type: asr}}, dataset: {{type: x, name: x}}, metrics: []}}\n"
    )
    two = f"---\nmodel-index:\n{entry.format('a')}{entry.format('b')}---\n"
    assert [len(results) for results in results_of(put(two, [OLD], model="b"))] == [1, 2]
    added = put(two, [OLD], model="c")
    assert [model["name"] for model in data(added)["model-index"]] == ["a", "b", "c"]
    assert put(added, [], model="c").startswith(two)  # a model that we have put there goes with its results
    assert [len(results) for results in results_of(put(added, [OLD], model="a"))] == [2, 1]


NO_LIST, UNREADABLE = "is no list of lines", "the metadata between the two lines --- cannot be read"
REFUSED = [
    ("---\na: 1\n# no end\n", "line 1: the metadata begin with --- and end nowhere"),
    ("\n--- \na: 1\n---\n", "line 2: the metadata begin with --- and end nowhere, or there are blanks"),
    ("---\na: [1\nb: 2\n---\n", f"line 3: {UNREADABLE}"),
    ("---\na: 1\nb: \x07\n---\n", "line 3: the metadata"),
    ("---\n{license: mit}\n---\n", NO_LIST),
    ("---\nb: 1\nlicense: a\nlicense: b\n---\n", "line 4: the metadata between"),
    ("---\na: 1\nmodel-index: [{name: a}]\n---\n", "line 3: model-index is no list of models with results"),
    ("---\nlicense: &x mit\nb: *x\n---\n", "cannot be changed without changing more"),
    ("---\n" + "a: {" * 2000 + "\n---\n", "cannot be read"),
    (f"---\n{REFERENCES}---\n", "cannot be read"),
    (f"---\na: 1\n---\na\n{BEGIN}\nb", "README.md line 5: the markers are no pair: "),
    (f"{END}\nx\n{BEGIN}", "README.md line 1, 3: the markers are no pair: "),
    (f"{BEGIN}\n{BEGIN}\n{END}\n{END}\n", "README.md line 1, 2, 3, 4: the markers are no pair: "),
    (f"x {BEGIN}\n{END}", "README.md line 1, 2: the markers are no pair: "),
    (f"{BEGIN}\n<!-- Soundcheck: stop -->", "README.md line 1, 2: the markers are no pair: "),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_what_is_refused(text, message):
    with pytest.raises(InputError) as caught:
        put(text, [OLD], {"license": "apache-2.0"})
    assert message in str(caught.value) and "README.md" in str(caught.value)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
keys = st.text("abcd -:#'", min_size=1, max_size=6)


@given(
    st.dictionaries(keys, values, min_size=1, max_size=4),
    st.lists(st.booleans(), min_size=1, max_size=4),
    st.booleans(),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from([2, 4, 7]),
)
def test_whatever_others_wrote_is_kept(others, which, flow, lines, indent):
    theirs = {"task": {"type": "asr"}, "dataset": {"type": "t", "name": "t"}, "metrics": [others]}
    index = {"model-index": [{"name": "x", "results": [OLD if is_ours else theirs for is_ours in which]}]}
    style = {"indent": indent, "default_flow_style": None if flow else False, "sort_keys": False}
    plain = json.loads(json.dumps(others | index | {"z": 1}))  # nothing in it is a reference
    written = yaml.safe_dump(plain, **style)
    made = put(f"---\n{written}---\nbody".replace("\n", lines), [ours(7.0)], OWN)
    became = data(made)
    (entry,) = became.pop("model-index")
    assert entry["results"] == [theirs for is_ours in which if not is_ours] + [ours(7.0)]
    assert became == others | {"z": 1, "license": "mit"} and f"---{lines}body" in made
    assert put(made, [ours(7.0)], OWN) == made


texts = st.text(st.sampled_from("ab#<!- >\r\n\té\u2028"), max_size=30)


@given(texts, texts, st.sampled_from(["\n", "\r\n", "\r"]))
def test_all_bytes_around_the_block_stay(before, after, lines):
    before, after = (part.replace("<!--", "").replace("---", "") for part in (before, after))
    before = before + lines if before else ""
    made = put(f"{before}{BEGIN}{lines}old{lines}{END}{lines}{after}")
    assert made.startswith(before + BEGIN) and made.endswith(f"{END}{lines}{after}")
    assert "old" not in made and put(made) == made
