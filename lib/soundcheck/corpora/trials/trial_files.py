"""Files of speaker verification: lists of trials, their scores, and utterances of enrolled speakers.

Conventions
-----------
- What lines, words, tables and layouts are is said in :mod:`soundcheck.corpora.trials.layouts`.
- Trials: ``1 enrol test`` as in VoxCeleb, ``enrol test target`` as in Kaldi, or columns under a header.
- Scores: ``0.107 enrol test``, ``enrol test 0.107`` or columns under a header; or one number a line, in the
  order of the trials. Labels beside them have to be those of the list.
- Enrolments: ``model utterance utterance ...``, as Kaldi's ``spk2utt``, or columns under a header.
- Labels are 1 or ``target`` for one speaker, 0 or ``nontarget`` for two, or other words of
  :data:`~soundcheck.corpora.trials.layouts.LABELS`, in upper or lower case.
- A trial is a pair in its order: ``a b`` is not ``b a``.
"""

from __future__ import annotations

import csv
import dataclasses
import os
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from soundcheck.common import files
from soundcheck.common.errors import did_you_mean
from soundcheck.common.escaping import quoted
from soundcheck.common.text_table import NUMBER, parse_number
from soundcheck.corpora.trials.layouts import Listing, label_of, mapped, read_listing

PAIR = ["enrol", "test"]
_SPACE = re.compile(r"\s")
_WORDS = ("1", "0", "target", "nontarget", "tgt", "imp", "true", "false")  # labels that messages name
_TRIALS = (
    "Give lines such as `1 enrol.wav test.wav` or `enrol test target`, "
    "or a CSV table with the columns enrol, test and label"
)
_SCORES = (
    "Give lines such as `0.107 enrol.wav test.wav` or `enrol test 0.107`, one number a line, "
    "or a CSV table with the columns enrol, test and score"
)
_ENROLMENTS = (
    "Give lines such as `model utterance1 utterance2`, or a CSV table with the columns model and utterance"
)


def read_trials(path: str | os.PathLike, shown: str, layout: str = "") -> Listing:
    """Read a list of trials.

    - ``layout``: one of :data:`soundcheck.suite.corpus_format.TRIAL_LAYOUTS`; by default the content tells
      it.
    - Returns one row a trial: ``enrol``, ``test`` (str) and ``target`` (bool; whether one person speaks).
      Trials may be repeated.
    - Raises InputError: if it is missing, not a regular file or in no known layout; if a line has too few or
      too many words, an unknown label or an empty name; if a pair has both labels. All problems of the lines
      at once.
    """
    files.require_regular(path, shown)
    return parse_trials(Path(path).read_bytes(), shown, layout)


def parse_trials(content: bytes, shown: str, layout: str = "") -> Listing:
    """Read the bytes of a list of trials; see :func:`read_trials`."""
    trials = read_listing(content, shown, (*PAIR, "label"), _TRIALS, layout)
    labels = trials.frame["label"]
    target = mapped(labels, label_of)
    for line, label in labels[target.isna()].items():
        remedy = did_you_mean(label, _WORDS) + _told(trials, "; if not, set `layout:` of the corpus")
        what = f"{quoted(label)} is not a valid label of a trial"
        trials.problems.add(trials.where(line, "label"), what, remedy)
    trials.check_names()
    trials.problems.raise_if_any()
    trials = dataclasses.replace(trials, frame=trials.frame[PAIR].assign(target=target.astype(bool)))
    remedy = "Look where the two come from, such as two lists in one file, and correct the wrong one"
    trials.check_duplicates(PAIR, "target", "the trial {enrol} {test} has both labels", remedy)
    trials.problems.raise_if_any()
    return trials


def _told(listing: Listing, otherwise: str) -> str:
    """Say which layout a line disagrees with; empty if there is a header to look at."""
    return f". The file is read as {listing.form}{otherwise}" if not listing.headings else ""


def read_scores(path: str | os.PathLike, shown: str) -> Listing:
    """Read scores of trials.

    - Returns one row a pair: ``enrol``, ``test`` (str) and ``score`` (float64, finite), each pair once; with
      one number a line ``score`` alone. ``target`` (bool) if there are labels as well.
    - Raises InputError: if it is missing, not a regular file or in no known layout; if a line has too few or
      too many words, no finite number or an empty name; if a pair has two scores. All problems of the lines
      at once.
    """
    files.require_regular(path, shown)
    return parse_scores(Path(path).read_bytes(), shown)


def parse_scores(content: bytes, shown: str) -> Listing:
    """Read the bytes of a file of scores; see :func:`read_scores`."""
    scores = read_listing(content, shown, (*PAIR, "score"), _SCORES)
    frame, problems = scores.frame, scores.problems
    texts = frame["score"].str.strip()
    decimal = texts.where(texts.str.fullmatch(NUMBER.pattern), "nan")
    numbers = decimal.to_numpy(dtype=object).astype(np.float64)
    for line, text in texts[~np.isfinite(numbers)].items():
        try:
            parse_number(text)
        except ValueError as error:
            remedy = "Give each trial a finite number" + _told(scores, "; a header tells others")
            problems.add(scores.where(line, "score"), str(error), remedy)
    scores.check_names()
    problems.raise_if_any()
    frame = frame.assign(score=numbers)
    if "label" in frame:
        target = mapped(frame.pop("label"), label_of)
        frame = frame if target.isna().any() else frame.assign(target=target.astype(bool))
    scores = dataclasses.replace(scores, frame=frame)
    if "enrol" not in frame:
        return scores
    what = "the trial {enrol} {test} has two scores, {first!r} and {score!r}"
    remedy = "Look where the two come from, such as two systems in one file, and give each a file of its own"
    scores.check_duplicates(PAIR, "score", what, remedy)
    problems.raise_if_any()
    return dataclasses.replace(scores, frame=scores.frame.drop_duplicates(PAIR))


def read_enrolments(path: str | os.PathLike, shown: str) -> dict[str, list[str]]:
    """Read which utterances each speaker is enrolled with.

    - Returns name of a model -> its utterances, at least one, both in the order of the file.
    - Raises InputError: if it is missing, not a regular file or no such list; if a model has no utterance or
      one of them twice; if two lines ``model utterance ...`` are of one model. All problems at once.
    """
    files.require_regular(path, shown)
    listing = read_listing(Path(path).read_bytes(), shown, ("model", "utterance"), _ENROLMENTS)
    listing.check_names()
    if listing.layout == "spk2utt":
        lines = dataclasses.replace(listing, frame=listing.frame[~listing.frame.index.duplicated()])
        lines.check_duplicates(
            ["model"], "", "duplicate model {model}", "Write all its utterances in one line"
        )
        listing.problems.raise_if_any()
    what = "the model {model} has the utterance {utterance} twice"
    listing.check_duplicates(["model", "utterance"], "", what, "Keep it once")
    listing.problems.raise_if_any()
    return listing.frame.groupby("model", sort=False)["utterance"].agg(list).to_dict()


def write_scores(
    path: str | os.PathLike,
    enrol: Sequence[str],
    test: Sequence[str],
    scores: Sequence[float],
    threshold: float = np.nan,
) -> str:
    """Write scores of trials as :func:`score_text` does; returns the digest of the file."""
    return files.write_bytes(path, score_text(enrol, test, scores, threshold)[0])


def score_text(
    enrol: Sequence[str], test: Sequence[str], scores: Sequence[float], threshold: float = np.nan
) -> tuple[bytes, str]:
    """Write scores of trials, ``0.107 enrol test`` a line; as CSV if names would not be read back.

    With a threshold there is a header and two columns more, ``0.107 enrol test reject 0.4``: what is decided
    and the threshold, above which a trial is accepted. :func:`parse_scores` reads such a file as well.

    - ``enrol, test``: names of both sides, ``(T,)``, none empty.
    - ``scores``: finite, ``(T,)``; written in as few digits as give the same float64 back.
    - ``threshold``: the threshold in use, may be infinite; NaN if nothing is decided.
    - Returns ``bytes``: The text, in UTF-8.
    - Returns ``str``: The extension that suits it, ``.txt`` or ``.csv``.
    - Raises ValueError: if lengths differ, a name is empty or has a NUL character, or a score is not finite.
    """
    frame = pd.DataFrame({"score": np.asarray(scores, dtype=np.float64), "enrol": enrol, "test": test})
    if not np.isfinite(frame["score"]).all():
        raise ValueError(f"{int((~np.isfinite(frame['score'])).sum())} scores are not finite.")
    names = {*enrol, *test}
    if any(not name or "\0" in name for name in names):
        raise ValueError("A name is empty or has a NUL character.")
    decided = not np.isnan(threshold)
    if decided:
        frame["decision"] = np.where(frame["score"] > threshold, "accept", "reject")
        frame["threshold"] = float(threshold)
    if not any(label_of(name) is not None or _SPACE.search(name) for name in names):
        text = frame.to_csv(sep=" ", header=decided, index=False, quoting=csv.QUOTE_NONE, lineterminator="\n")
        return text.encode("utf-8", "backslashreplace"), ".txt"
    frame = frame[[*PAIR, *frame.columns.difference(PAIR, sort=False)]]
    text = frame.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    return text.encode("utf-8", "backslashreplace"), ".csv"
