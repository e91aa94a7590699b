"""Cards of a small run through the real command: numbers are those of the record, words of others stay."""

import json
import re

import numpy as np
import pytest

from soundcheck.results.facts import counts
from soundcheck.results.table import read_results

pytestmark = pytest.mark.slow

yaml = pytest.importorskip("yaml")

HOSTILE = "<b>m</b> | `x` [y](javascript:z) {{ w }}"
GROUP = "<i>g|h</i> `---` {{ u }}"
CARDS = {
    "suite": "card: {owner: Speech team, license: Apache-2.0, limitations: 'Not for <b>all</b> | x'}\n",
    "model": ", card: {languages: [en, de], id: us/best, version: '2.1', license: Our own}",
    "corpus": ", benchmark: {id: us/board, task_id: mean_ccc, revision: v1}",
}
SUITE = """\
title: "Ours --- <b>"
corpora:
  calls: {{format: csv, path: segments.csv, audio: false, title: "Calls | all"{corpus}}}
models:
  {name}: {{predictions: good.csv, tasks: [arousal], description: "Hears --- {{{{ x }}}}"{model}}}
  other: {{predictions: bad.csv, tasks: [arousal]}}
families: [correctness_regression, fairness_groups]
groups: [team]
replicates: 100
studies: false
sweeps: false
{suite}"""


def write(folder, **cards):
    told = dict.fromkeys(CARDS, "") | cards
    (folder / "suite.yml").write_text(SUITE.format(name=json.dumps(HOSTILE), **told))


@pytest.fixture(scope="module")
def project(tmp_path_factory, undrawn):
    folder = tmp_path_factory.mktemp("cards")
    rng = np.random.default_rng(0)
    lines = {
        "segments": ["file,speaker,duration,arousal,team"],
        "good": ["file,arousal"],
        "bad": ["file,arousal"],
    }
    for number in range(240):
        speaker, arousal = number % 24, rng.uniform(0.1, 0.9)
        group = f'"{GROUP}"' if speaker % 2 else "rest"
        lines["segments"].append(f"{number}.wav,s{speaker},2.5,{arousal:.3f},{group}")
        off = 0.3 if speaker % 2 else 0.0  # that group gets too much
        lines["good"].append(f"{number}.wav,{np.clip(arousal + off + rng.normal(0, 0.05), 0, 1):.4f}")
        lines["bad"].append(f"{number}.wav,{rng.uniform():.4f}")
    for name, text in lines.items():
        (folder / f"{name}.csv").write_text("\n".join(text) + "\n")
    write(folder, **CARDS)
    done = undrawn("run", "suite.yml", "--out", "out", "--no-book", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def card(command, folder, *arguments, **environment):
    return command("card", "out", *arguments, cwd=folder, SOURCE_DATE_EPOCH="1790000000", **environment)


@pytest.fixture(scope="module")
def written(project, command):
    done = card(
        command, project, "--model", HOSTILE, "--book-url", "https://example.org/b/", "--out", "cards"
    )
    assert done.returncode == 0, done.stderr
    return (project / "cards" / "README.md").read_text(encoding="utf-8"), done.stdout


def test_results_do_not_depend_on_what_people_say(project, undrawn):
    write(project)
    done = undrawn("run", "suite.yml", "--out", "plain", "--no-book", cwd=project)
    assert done.returncode == 0, done.stderr
    with_cards, without = ((project / out / "results.csv").read_bytes() for out in ("out", "plain"))
    assert with_cards == without
    record = json.loads((project / "out" / "run.json").read_text())
    assert record["card"]["owner"] == "Speech team" and record["models"][0]["card"]["id"] == "us/best"
    assert record["corpora"][0]["benchmark"]["task_id"] == "mean_ccc"


def test_the_metadata_are_those_of_the_record(project, written):
    hub = pytest.importorskip("huggingface_hub", reason="pip install huggingface_hub")
    text, _ = written
    found = hub.ModelCard(text).data
    record = json.loads((project / "out" / "run.json").read_text())
    figure = next(one for one in record["figures"] if one["model"] == HOSTILE)
    (result,) = found.eval_results
    assert result.metric_value == pytest.approx(figure["value"], rel=1e-3)
    args = result.metric_args
    assert (args["low"], args["high"]) == pytest.approx((figure["low"], figure["high"]), rel=1e-3)
    assert (args["blocks"], args["segments"]) == (24, 240)
    assert (result.dataset_type, result.dataset_name, result.dataset_revision) == (
        "us/board",
        "Calls | all",
        "v1",
    )
    assert result.verified is None and result.source_url.startswith("https://example.org/b/models/")
    assert found.language == ["en", "de"] and found.license == "other" and found.license_name == "Our own"
    assert found.model_name == "best"  # its name on the hub


def test_the_card_says_what_came_out(project, written):
    text, told = written
    frame = read_results(project / "out" / "results.csv")
    own = frame[frame["model"].eq(HOSTILE)]
    found = counts(own)
    assert found["fail"] and f"Tests: {found}." in text
    assert "no one else has verified" in text and "2026-09-21" in text
    assert "Speech team" in text and "Not stated: intended use, training data" in text
    assert "missing: intended use, training data, contact" in told
    for page in re.findall(r"\]\(([^)]*)\)", text):
        assert page.startswith("https://example.org/b/")


def test_nothing_of_the_data_is_markup(written):
    markdown_it = pytest.importorskip("markdown_it", reason="pip install markdown-it-py")
    text, _ = written
    body = text.split("---\n", 2)[2]
    html = markdown_it.MarkdownIt("commonmark").enable("table").render(body)
    html = html.replace("<!-- soundcheck:begin -->", "").replace("<!-- soundcheck:end -->", "")
    known = {"h1", "h2", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "a", "code"}
    assert set(re.findall(r"</?([a-z0-9]+)", html)) == known
    assert "&lt;i&gt;g|h&lt;/i&gt;" in html and "javascript:" not in "".join(re.findall(r"<a[^>]*>", html))
    rows = [line for line in html.split("<tr>") if "g|h" in line]
    assert rows and "{{" in html and "Not for &lt;b&gt;all&lt;/b&gt; | x" in html


def test_results_for_leaderboards(project, written):
    hub = pytest.importorskip("huggingface_hub", reason="pip install huggingface_hub")
    text = (project / "cards" / ".eval_results" / "soundcheck.yaml").read_text()
    (entry,) = hub.parse_eval_result_entries(yaml.safe_load(text))
    assert (entry.dataset_id, entry.task_id, entry.dataset_revision) == ("us/board", "mean_ccc", "v1")
    assert "95 %" in entry.notes and "24 speakers" in entry.notes and entry.date == "2026-09-21"
    assert entry.verify_token is None


def test_words_of_others_stay(project, command, written):
    text, _ = written
    folder = project / "cards"
    mine = text.replace("\n# ", "\n# By hand ", 1).replace("license: other", "# why\nlicense: other")
    (folder / "README.md").write_bytes((mine + "\nThe end").replace("\n", "\r\n").encode())
    before = (folder / "README.md").read_bytes()
    arguments = ("--model", HOSTILE, "--book-url", "https://example.org/b", "--out", "cards")
    done = card(command, project, *arguments)
    assert done.returncode == 0, done.stderr
    assert (folder / "README.md").read_bytes() == before  # the same run says the same
    done = card(command, project, *arguments[:2], *arguments[4:])  # without the book
    after = (folder / "README.md").read_bytes()
    assert b"example.org" not in after and after.endswith(b"\r\nThe end") and b"# why\r\nlicense" in after
    (folder / "README.md").write_bytes(after.replace(b"soundcheck:end", b"soundcheck:emd"))
    (folder / ".eval_results" / "soundcheck.yaml").unlink()
    done = card(command, project, *arguments)
    line = after[: after.index(b"<!-- soundcheck:end")].count(b"\r\n") + 1
    assert done.returncode == 2 and f", {line}: the markers are no pair" in done.stderr
    assert not (folder / ".eval_results" / "soundcheck.yaml").exists()  # nothing is written


def test_without_a_choice_all_that_apply(project, command):
    done = card(command, project, "--model", "other", "--format", "huggingface")
    assert done.returncode == 0, done.stderr
    text = (project / "out" / "cards" / "other" / "README.md").read_text()
    assert "license: apache-2.0" in text and "no better than chance" in text and "](http" not in text


def test_bad_input(project, command, tmp_path):
    for arguments, told in (
        ((), "the run has 2 models"),
        (("--model", "othr"), "Did you mean 'other'?"),
        (("--model", "other", "--format", "huggingfac"), "Did you mean 'huggingface'?"),
        (("--model", "other", "--book-url", "C:\\book"), "--book-url"),
    ):
        done = card(command, project, *arguments, "--out", str(tmp_path / "new"))
        assert done.returncode == 2 and told in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "new").exists()
