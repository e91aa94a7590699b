"""The page of a corpus: what is in it, what is wrong with it, how it sounds; tables of groups and files.

- What is known of files comes from their headers, what is known of segments from the table.
- A range goes from the 5th to the 95th percentile; it describes segments and is no confidence interval.
- Of more than a page can show, the most frequent comes first and the rest is counted.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pandas.api.types import is_numeric_dtype

from soundcheck.book import pages
from soundcheck.common import templates
from soundcheck.common.media import MediaStore
from soundcheck.common.messages import counted, duration, heading, shorten, some
from soundcheck.common.tasks import Task
from soundcheck.corpora.audio import SAMPLING_RATE, read
from soundcheck.corpora.columns import MEASURES, SAMPLE_SECONDS, SAMPLE_SOUNDS, Measured, measured_sounds
from soundcheck.corpora.load import Corpus, SoundFormat
from soundcheck.evaluation.corpus_audit import SHARE, Audit
from soundcheck.report import style
from soundcheck.report.formats import Cell, digits_for, number, p_value, span, value_cell, values
from soundcheck.report.html import Html, caveats_notice, element, folded, join, notes, synthetic_notice
from soundcheck.report.players import player, row
from soundcheck.report.style import BLUE, grid, label, look
from soundcheck.report.verdict_tables import anchor_of
from soundcheck.report.views import table
from soundcheck.results.record import CorpusRecord
from soundcheck.suite.corpus_format import MOST_ADJUSTED, number_of, numbers_of

SOUNDS = ("level", "signal_to_noise", "bandwidth")  # that are measured of every corpus, at least on a sample
ALIKE = 3  # items that are named of those that are left out for the same reason
MOST_LEFT_OUT = 20  # reasons that are shown at once
EXAMPLES = 4  # segments of a corpus to listen to


def cells(
    about: CorpusRecord,
    corpus: Corpus,
    tasks: Mapping[str, Task],
    media: MediaStore,
    cache: Path,
    audit_: Audit | None = None,
) -> list[dict]:
    """Make the page of a corpus, as it was recorded and as it was loaded.

    ``cache`` keeps what is measured for this page; there is no audit of sentences that Soundcheck made.
    """
    listens, count = corpus.entry.audio, len(about.left_out)
    facts = facts_of(corpus.segments, corpus.formats, tasks, listens)
    facts["left out"] = f"{many(count, 'item')}, listed below" if count else "nothing"
    facts["source"] = f"{about.format}, digest of all sounds {about.digest[:16]}"
    top = [
        synthetic_notice(about.synthetic),
        caveats_notice(corpus.caveats),
        templates.html("facts", facts=facts),
        notes([*about.unlabelled, *about.notices]),
    ]
    sections = {
        "Audit": audited(audit_, listens) if audit_ else Html(),
        "At a glance": join(_pictures(corpus, tasks, cache, media)),
        "Segments to listen to": _examples(corpus, media) if listens else Html(),
        "Details": join(_details(about, corpus)),
    }
    title = pages.markdown(f"# Corpus {heading(about.name)}")
    return [title, pages.output(join(top)), *pages.sections(sections)]


def _columns(corpus: Corpus) -> list[str]:
    """Name the columns whose values are people or circumstances, not labels."""
    columns = dict.fromkeys((*COLUMNS, *corpus.groups))
    return [name for name in columns if name in corpus.segments and corpus.segments[name].notna().any()]


def _pictures(corpus: Corpus, tasks: Mapping[str, Task], cache: Path, media: MediaStore) -> Iterator[Html]:
    sounds = measured_sounds(corpus, SOUNDS, cache)
    if drawn := pictures(corpus.segments, _columns(corpus), tasks, sounds):
        yield style.show(media, *drawn)
    if sampled := [name for name, measured in sounds.items() if not measured.whole]:
        names = ", ".join(MEASURES[name].title for name in sampled).capitalize()
        count = many(sounds[sampled[0]].asked, "segment")
        limits = f"at most {SAMPLE_SOUNDS} and {SAMPLE_SECONDS / 60:.0f} minutes"
        yield element("p", f"{names}: of {count} drawn by content, {limits}.", class_="sc-note", limit=None)


def _details(about: CorpusRecord, corpus: Corpus) -> Iterator[Html]:
    if about.description:
        yield folded("Description", [element("p", about.description, limit=None)])
    caption = "Median of the segments, and below it where the middle 90 % of them lie"
    groups = group_table(summary(corpus.segments, _columns(corpus)), caption)
    yield folded("Groups, and what was measured", [groups])
    if corpus.formats:
        yield folded("Files", [format_table(corpus.formats)])
    if about.left_out:
        items = pd.DataFrame(about.left_out).groupby(["stage", "reason"], sort=False)["item"].agg(list)
        columns = {"item": lambda row: some(row.item, ALIKE), "stage": "stage", "reason": "reason"}
        yield folded("Left out", [table(items.reset_index(), columns, first=MOST_LEFT_OUT)])


def _examples(corpus: Corpus, media: MediaStore) -> Html:
    """Play a few segments, spread evenly over the corpus."""
    step = max(1, len(corpus.segments) // EXAMPLES)
    players = []
    for segment in corpus.segments.iloc[step // 2 :: step].head(EXAMPLES).to_dict("records"):
        signal = read(corpus.root / segment["file"], segment["start"], segment["end"])
        about = (segment.get(name) for name in ("speaker", "sex", "language", "emotion", "transcript"))
        caption = ", ".join(text for text in about if isinstance(text, str) and text)
        players.append(player(media, signal, SAMPLING_RATE, segment["file"], caption=caption))
    return row(players)


SENTENCES = 12  # differences that are written out
MOST_NAMED = 3  # on a page of fairness, of a column
MOST_LISTED = 30  # recordings that are there more than once
FILES = 3  # of such a recording that are named

# Measures that are unknown where nothing stands out from the noise.
_STANDING_OUT = ("signal_to_noise", "silence")


def audited(audit: Audit, audio: bool) -> Html:
    """Show what an audit found: sentences, tables of means behind lines that open them, copies."""
    repeats, known = audit.repeats, [audit.measured[name] for name in _STANDING_OUT if name in audit.measured]
    audible, measured = min(known, key=lambda repeats: repeats[0] / max(1, repeats[1]), default=(0, 0))
    same = [f"{title} {_with_unit(number(value), unit)}" for title, value, unit in audit.unchanging]
    copies, compared = repeats.recordings, audit.frame[audit.frame["gap"].notna()]
    details = {
        "of them in several splits": sum(len(copy.splits) > 1 for copy in copies),
        "under the names of several speakers": sum(len(copy.speakers) > 1 for copy in copies),
        "with labels that differ": sum(bool(copy.differing) for copy in copies),
    }
    unsure = compared[compared["noticed"] & ~compared["found"]].itertuples()
    about = {"audit": audit, "repeats": repeats, "audio": audio, "many": many, "counted": counted}
    about |= {"compared": len(compared), "tested": int(compared["adjusted"].notna().sum())}
    about |= {"differences": [_difference(row) for row in audit.differences.itertuples()], "most": SENTENCES}
    about |= {"unsure": [f"{_group(row)} ({row.title})" for row in unsure], "some": some}
    about |= {"copies": sum(len(copy.files) for copy in copies), "unchanging": ", ".join(same)}
    about |= {"details": [(count, what) for what, count in details.items()]}
    about["noise"] = (
        f"{measured - audible:,} of {many(measured, 'segment')}" if audible < measured / 2 else ""
    )
    about["units"] = many(audit.blocks, audit.block)
    about["shared"] = some([shorten(name, 40) for name in audit.shared], 5)
    parts = [templates.html("audit", **about)]
    for recorded, what in ((True, "recordings"), (False, "labels")):
        rows = audit.frame[audit.frame["recorded"].eq(recorded)]
        groups = rows.loc[rows["column"].ne(""), ["column", "group"]].drop_duplicates()
        title = f"Means of {what} by group, with 95 % intervals: {counted(len(groups), 'group')}"
        parts += [folded(title, [table(rows, _MEANS, first=MOST_LISTED)])] if len(rows) else []
    caption = "Recordings that are there more than once"
    return join([*parts, table(copies, _COPIES, caption=caption, first=MOST_LISTED, none="")])


def _names(names: Sequence[str], limit: int = 40) -> str:
    return some([shorten(name, limit) for name in names], FILES)


_MEANS = {
    "group": lambda row: f"{row.column.replace('_', ' ')}: {row.group}" if row.column else ALL,
    "quantity": lambda row: f"{row.title} ({row.unit})" if row.unit else row.title,
    "mean (95 %)": values(),
    "difference to the others (95 %)": values("gap"),
    "significant": lambda row: p_value(row.adjusted) if row.found else "",
    "segments": "segments",
    "speakers": "speakers",
}
_COPIES = {
    "files": lambda row: _names(row.files, 60),
    "segments": lambda row: len(row.files),
    "what is equal": lambda row: "the bytes" if row.identical else "the sound",
    "speakers": lambda row: _names(row.speakers),
    "splits": lambda row: _names(row.splits),
    "labels that differ": lambda row: ", ".join(row.differing),
}


def recorded_otherwise(rows: pd.DataFrame, audits: Mapping[str, Audit], addresses: Mapping[str, str]) -> Html:
    """Say at the top of a page of fairness which of its groups were recorded differently; empty if none.

    ``rows`` are those of the page in the results; ``audits`` and ``addresses`` are by corpus.
    """
    lines = []
    compared = rows[rows["group"].fillna("").ne("") & rows["value"].notna()]
    columns = compared["group"].map(lambda group: group.partition(": ")[0])
    for (corpus, column), gaps in compared.groupby([compared["corpus"], columns], sort=True):
        if corpus not in audits:
            continue
        groups, adjust = {group.partition(": ")[2] for group in gaps["group"]}, audits[corpus].adjust
        differences = audits[corpus].differences.query("recorded and column == @column")
        if len(groups) != 2:  # of two groups one stands for both
            differences = differences[differences["group"].isin(groups)]
        if differences.empty:
            continue
        adjusted = gaps[gaps["adjusted_by"].fillna("").ne("") & differences["name"].isin(adjust).any()]
        missing = [name for name in differences["name"].unique() if name not in adjust]
        named = shorten(column, 40), shorten(corpus, 40)
        each = [f"{shorten(row.group, 40)}: {_both(row)}" for row in differences.itertuples()]
        line = {"title": f"Groups of {named[0]} in {named[1]} were recorded differently"}
        line |= {"differences": some(each, MOST_NAMED), "page": addresses[corpus]}
        line["adjusted"] = f"#{anchor_of(next(adjusted.itertuples()))}" if len(adjusted) else ""
        adjustable = missing and gaps["gap"].notna().any()
        lines.append(line | {"keys": [*adjust, *missing][:MOST_ADJUSTED] if adjustable else []})
    return templates.html("recorded_otherwise", lines=lines) if lines else Html()


def _both(row: object) -> str:
    """Write ``level −30.1 dB, the others −20.5 dB``."""
    digits = digits_for(row.value, row.others)
    inside, others = (_with_unit(number(value, digits), row.unit) for value in (row.value, row.others))
    return f"{row.title} {inside}, the others {others}"


def _with_unit(text: str, unit: str) -> str:
    return text if unit in ("", SHARE) else f"{text} {unit}"


def _group(row: object) -> str:
    return f"{shorten(row.column, 40).replace('_', ' ')} {shorten(row.group, 40)}"


def _difference(row: object) -> str:
    ends = span(row.gap_low, row.gap_high, digits_for(row.value, row.others))
    sure = f" (difference {_with_unit(ends, row.unit)}, {p_value(row.adjusted)})" if ends else ""
    return f"{_group(row)}: {_both(row)}{sure}"


COLUMNS = ("sex", "language", "accent", "condition", "split")
ALL = "all"
NAMED = 6  # values that a fact names
FIRST_ROWS = 30  # rows of it that are not folded
MOST_BARS = 12
MOST_PANELS = 18
_RANGE = (0.05, 0.5, 0.95)


def facts_of(
    segments: pd.DataFrame, formats: Sequence[SoundFormat], tasks: Mapping[str, Task], audio: bool
) -> dict[str, str]:
    """Say what is in a corpus: name of a fact -> the fact."""
    length = numbers_of(segments, "duration")
    unknown = int(np.isnan(length).sum())
    total = f"{many(len(segments), 'segment')} of {many(segments['file'].nunique(), 'file')}"
    unmeasured = f", length not known of {unknown:,}" if unknown else ""
    facts = {"speech": f"{duration(np.nansum(length))} in {total}{unmeasured}"}
    facts["speakers"] = "not known"
    if _known(segments, "speaker"):
        each = segments["speaker"].value_counts()
        more = int(segments["speaker"].isna().sum())
        without = f"; {many(more, 'segment')} without a speaker" if more else ""
        spoken = f"median {each.median():g} segments each, {each.min():,} to {each.max():,}"
        facts["speakers"] = f"{len(each):,}; {spoken}{without}"
    facts |= {name: _values(segments, name) for name in COLUMNS[:3] if _known(segments, name)}
    labels = {name: segments[name].notna().sum() for name in labelled(segments, tasks)}
    facts |= {"labels": ", ".join(f"{name} ({count:,})" for name, count in labels.items())} if labels else {}
    stored = dict.fromkeys(f"{sound.name}, {sound.sampling_rate / 1000:g} kHz" for sound in formats)
    facts |= {"files": some(list(stored), NAMED)} if stored else {}
    if not audio:
        facts["audio"] = "none here: models that need sound are not tested on this corpus"
    return facts


def labelled(segments: pd.DataFrame, tasks: Mapping[str, Task]) -> list[str]:
    """Name the tasks of which any segment has a label."""
    return [name for name, task in tasks.items() if task.is_labelled and _known(segments, name)]


def _known(segments: pd.DataFrame, column: str) -> bool:
    return column in segments and bool(segments[column].notna().any())


def _length(row: object) -> Cell:
    known = not np.isnan(row.seconds)
    return Cell(duration(row.seconds) if known else "", row.seconds if known else None, "sc-number")


def many(count: int, noun: str) -> str:
    """Write a number with its noun, thousands apart."""
    return counted(count, noun).replace(str(count), f"{count:,}", 1)


def _values(segments: pd.DataFrame, column: str) -> str:
    """Write ``female (20 speakers, 488 segments), male (...)``, the most frequent first."""
    counts, missing, texts = segments[column].value_counts(), int(segments[column].isna().sum()), []
    speakers = segments.groupby(column)["speaker"].nunique() if "speaker" in segments else None
    for value, count in counts.head(NAMED).items():
        who = "" if speakers is None else f"{many(speakers[value], 'speaker')}, "
        texts.append(f"{shorten(str(value), 60)} ({who}{many(count, 'segment')})")
    if rest := int(counts.iloc[NAMED:].sum()):
        texts.append(f"and {len(counts) - NAMED:,} more ({many(rest, 'segment')})")
    return ", ".join(texts) + (f", not known of {many(missing, 'segment')}" if missing else "")


def format_table(formats: Sequence[SoundFormat]) -> Html:
    """List how files are stored, a row a way, and what models get of them."""
    columns = {"format": "name", "channels": "channels", "bits a sample": "bits", "files": "files"}
    columns["sampling rate in kHz"] = lambda row: row.sampling_rate / 1000
    columns |= {"segments": "segments", "models get": _used_as}
    columns["length"] = _length
    frame = pd.DataFrame([vars(sound) | {"name": sound.name, "bits": sound.bits or "–"} for sound in formats])
    return table(frame, columns, first=FIRST_ROWS)


def _used_as(row: object) -> str:
    highest = min(row.sampling_rate, SAMPLING_RATE) / 2000
    resampled = f"resampled to {SAMPLING_RATE / 1000:g} kHz, nothing above {highest:g} kHz"
    parts = [resampled] if row.sampling_rate != SAMPLING_RATE else []
    parts += [f"mean of {row.channels} channels"] if row.channels > 1 else []
    return "; ".join(parts) or "the file as it is"


def measured_in(segments: pd.DataFrame) -> dict[str, str]:
    """List what was measured: name of the measure -> column of the segment table with its numbers."""
    columns = {}
    for name in MEASURES:
        for column in (name, number_of(name)):
            if column in segments and is_numeric_dtype(segments[column]):
                columns[name] = column
    return columns


def summary(segments: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Sum up each measured column for all segments and for each group.

    Gives ``group`` (:data:`ALL`, or column and value), ``segments``, ``speakers`` (0 = not known),
    ``seconds``, ``measure``, ``measured`` (segments that have a number), ``low``, ``median``, ``high``;
    where nothing is measured, a row a group.
    """
    result = []
    for group, rows in _groups(segments, columns):
        speakers = int(rows["speaker"].nunique()) if "speaker" in rows else 0
        seconds = pd.Series(numbers_of(rows, "duration")).sum(min_count=1)
        about = {"group": group, "segments": len(rows), "speakers": speakers, "seconds": seconds}
        for name, column in (measured_in(segments) or {"": ""}).items():
            values = rows[column] if column else pd.Series(dtype=float)
            low, median, high = values.quantile(_RANGE)
            numbers = {"measured": int(values.count()), "low": low, "median": median, "high": high}
            result.append(about | {"measure": name} | numbers)
    return pd.DataFrame(result)


def _groups(segments: pd.DataFrame, columns: Sequence[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    yield ALL, segments
    for column in columns:
        for value in sorted(segments[column].dropna().unique(), key=str):
            yield f"{column}: {value}", segments[segments[column].eq(value)]
        if segments[column].isna().any():
            yield f"{column} not known", segments[segments[column].isna()]


def group_table(measures: pd.DataFrame, caption: str = "") -> Html:
    """Show a :func:`summary`: a row a group, a column a measure."""
    measured = measures.groupby("measure")["measured"].sum()
    names = [name for name in MEASURES if measured.get(name, 0)]
    cells = {(row.group, row.measure): _median(row) for row in measures.itertuples()}
    columns = {"group": lambda row: row.group.replace("_", " "), "segments": "segments"}
    columns["speakers"] = lambda row: row.speakers or ""
    if "seconds" in measures and measures["seconds"].notna().any():
        columns["length"] = _length
    for name in names:
        title = f"{MEASURES[name].title} ({MEASURES[name].unit})"
        columns[title] = lambda row, name=name: cells[row.group, name]
    return table(
        measures.drop_duplicates("group"), columns, caption=caption if names else "", first=FIRST_ROWS
    )


def _median(row: object) -> Cell:
    """Write the median with the range below it, and how many segments have no number."""
    missing = row.segments - row.measured
    below = f"; {missing:,} not measurable" if missing else ""
    return value_cell(row.median, row.low, row.high, below=below) if row.measured else Cell("not measurable")


def pictures(
    segments: pd.DataFrame, columns: Sequence[str], tasks: Mapping[str, Task], sounds: Mapping[str, Measured]
) -> tuple[Figure, str] | None:
    """Draw a panel for all that is known of segments, speakers and labels; also says what is shown.

    Numbers are histograms; of words it is counted how many speakers have them, or segments where no speaker
    is known, of at most 12. What is the same everywhere is left out.
    """
    of, people = "segments", segments
    panels = [("duration", "s", pd.Series(numbers_of(segments, "duration")), "segments")]
    if _known(segments, "speaker"):
        of, people = "speakers", segments.dropna(subset="speaker").drop_duplicates("speaker")
        panels.append(("segments a speaker", "", segments["speaker"].value_counts(), of))
    for name, measured in sounds.items():
        panels.append((MEASURES[name].title, MEASURES[name].unit, pd.Series(measured.values), "segments"))
    for name in (number_of("age"), "age"):
        if name in people and is_numeric_dtype(people[name]):
            panels.append(("age", "years", people[name], of))
    panels += [(name, "", segments[name], "segments") for name in labelled(segments, tasks)]
    for name in columns:
        each = segments.drop_duplicates(["speaker", name]) if of == "speakers" else segments
        panels.append((name.replace("_", " "), "", each[name], of))
    panels = [panel for panel in panels if panel[2].nunique() > 1][:MOST_PANELS]
    if not panels:
        return None
    with look():
        figure, places = grid(len(panels), 3, 3.1, 2.4)
        for axes, (title, unit, values, noun) in zip(places, panels, strict=False):
            about = _distribution(axes, values.dropna(), unit, noun)
            axes.set_title(f"{label(title, 30)}\n{about}", loc="left", fontsize=9)
    return figure, f"Distributions of {', '.join(title for title, *_ in panels)}"


def _distribution(axes: Axes, values: pd.Series, unit: str, noun: str) -> str:
    """Draw a histogram of numbers, bars of words; says what a title adds."""
    import seaborn  # late: it brings scipy.stats

    if not is_numeric_dtype(values):
        counts = values.value_counts()
        bars = counts.iloc[:MOST_BARS].rename(lambda name: label(name, 18))
        bars.plot.barh(ax=axes, color=BLUE, width=0.7, fontsize=8, xlabel=noun, ylabel="")
        axes.set_ylim(max(5, len(bars)) - 0.4, -0.6)
        axes.xaxis.get_major_locator().set_params(integer=True)
        return f"the first {MOST_BARS} of {len(counts):,} values" if len(counts) > MOST_BARS else ""
    values = values.round(9)  # numbers that differ by rounding alone cannot be divided into bins
    whole = values.eq(values.round()).all() and np.ptp(values) < 40
    bins = {"discrete": True} if whole else {"bins": 30}
    axes.ticklabel_format(useOffset=False)
    seaborn.histplot(x=values.to_numpy(), element="step", color=BLUE, alpha=1, ax=axes, **bins)
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.set(xlabel=unit, ylabel=noun)
    middle = f"{values.median():.4g} {unit}".strip().replace("-", "−")
    return f"median of {values.count():,} {noun}: {middle}"
