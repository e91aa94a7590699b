"""The benchmark of large tables: its suite is one that runs."""

from benchmarks.large_tables import make_utterances

from soundcheck.corpora.load import load_corpus
from soundcheck.metrics.additive import value
from soundcheck.metrics.word_errors import word_error_rate, word_errors
from soundcheck.suite.suite_file import read_suite


def test_the_suite_can_be_read_and_its_models_answer(tmp_path):
    suite = read_suite(make_utterances(tmp_path, 400))
    corpus = load_corpus(suite.corpora["calls"], suite, tmp_path / "cache")
    assert len(corpus.segments) == 400 and corpus.segments["speaker"].nunique() == 20
    assert corpus.segments["duration"].notna().all() and not corpus.left_out
    rates = []
    for entry in suite.models.values():
        answers, problems = entry.about.load(entry, suite).look_up(corpus, "")
        assert not any(problems)
        counts = word_errors(corpus.segments["transcript"], answers["transcript"])
        rates.append(value(word_error_rate(counts.words, counts.errors)))
    assert 0.05 < rates[0] < 0.1 and 0.07 < rates[1] < 0.13
