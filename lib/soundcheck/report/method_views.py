"""What pages about methods show: thresholds and sounds of a family, spectra, and recorded studies.

The studies, in which the truth is known, are benchmarks; their tables travel with the book, and a comment at
the top of each says how it was made.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
import scipy  # scipy.signal is loaded when first used: it takes a second
from matplotlib.figure import Figure
from matplotlib.ticker import FormatStrFormatter, LogLocator

from soundcheck.augment.level import rms
from soundcheck.augment.registry import drawable, kind_of_sounds, missing
from soundcheck.augment.sounds import BASE, Sounds, SoundSet
from soundcheck.common import resources, templates
from soundcheck.common.messages import some
from soundcheck.common.tasks import BUILTIN
from soundcheck.report import formats, views
from soundcheck.report.formats import Cell, measure, number, stacked
from soundcheck.report.html import Html, element, join
from soundcheck.report.style import BLUE, GREY, RED, look, new
from soundcheck.statistics.evidence import LEVEL
from soundcheck.suite.entries import RESPONSE_KINDS
from soundcheck.suite.families import Family, Perturbation, TestDefinition

MOST = 5  # files left out that are named


def threshold_table(family: Family) -> Html:
    """Show the tests of a family with their thresholds, those of the suite marked as such, and the source."""
    given = dict.fromkeys(name for test in family.tests.values() for name in test.thresholds)
    limit = family.options.get("bin_minimum")
    fewest = f"{limit['count']} for groups of {limit['segments']:,}" if limit else ""
    # A key of the bibliography, one word, is cited by the page's own text; it would tell a reader nothing.
    sources = list(dict.fromkeys(test.source for test in family.tests.values() if " " in test.source))
    rows = []
    for test in family.tests.values():
        row = {"test": Cell(measure(test.name), test.name, "sc-test")}
        for name in sorted(given, key=lambda name: [*BUILTIN, *given].index(name)):
            row[_HEADS.get(name, name)] = _threshold(test, name)
        row["fewest segments in a bin"] = fewest if "minimum_per_bin" in test.simulation else ""
        few = f"For {test.classes} classes; with more or fewer, values are reported."
        note = f"{test.note} {'' if test.classes is None else few}".strip()
        row["note"] = element("span", ". ".join(filter(None, (test.off, note))), limit=None)
        row["source"] = test.source if len(sources) > 1 and test.source in sources else ""
        row["largest of 1000 unbiased random models"] = _simulation(test.simulation)
        rows.append(row)
    table = views.table(rows)
    if len(sources) != 1:
        return table
    source = "Source of what this suite does not change" if family.of_suite else "Source"
    return table + element("p", f"{source}: {sources[0]}", class_="sc-note", limit=None)


_HEADS = {"regression": "values", "classification": "classes", "transcription": "transcripts"}


def _threshold(test: TestDefinition, name: str) -> Cell:
    threshold, change = test.thresholds.get(name), test.change_of(name)
    text = "" if threshold is None else f"{test.rule} {threshold:g}".replace("-", "−")
    return Cell(stacked(text, change), threshold, None if change else "sc-rule")


def _simulation(setting: Mapping) -> Cell:
    maximum = setting.get("maximum")
    if not isinstance(maximum, int | float):
        return Cell("")
    groups = f"{setting.get('groups', '?')} groups of {setting.get('samples', '?')}"
    return Cell(stacked(number(maximum, 5), groups), maximum, "sc-number")


def simulated_thresholds(frame: pd.DataFrame, source: str) -> Html:
    """Show published thresholds beside those for groups of the tested sizes.

    ``frame`` is from :meth:`soundcheck.evaluation.evaluation.Evaluation.simulated`; ``source`` says which
    decide: ``"published"``, ``"simulated"``, or ``"gap"`` for neither.
    """
    if frame.empty:
        return Html()
    frame = frame.drop_duplicates([name for name in frame.columns if name not in ("corpus", "task")])

    columns: dict[str, views.Column] = {
        "test": lambda row: measure(row.test),
        "groups × segments": lambda row: Cell(f"{row.groups} × {row.samples:,}", row.samples, "sc-number"),
        "published": "published",
        "simulated": "simulated",
        "99.9 % stay below": "here",
        "at the published size": "published_size",
    }
    table = views.table(frame.sort_values(["test", "samples"], kind="stable"), columns)
    return templates.html("simulated_thresholds", table=table, source=source)


def material(family: Family, sounds: Sounds) -> Html:
    """Say which noises and impulse responses the changes of a family draw from."""
    used: dict[str, dict[str, None]] = {}
    for name, _, change in _changes(family, sounds):
        for kind in kind_of_sounds(change):
            used.setdefault(kind, {})[name] = None
    groups = [sounds.sets[kind] for kind in sorted(used) if kind in sounds]
    if not groups:
        return element("p", "No sound material is needed: everything that is added is computed.")
    rows = [
        (group.kind, ", ".join(used[group.kind]), len(group.sounds), round(group.duration, 1), group.source)
        for group in groups
    ]
    heads = ["Kind", "Used for", "Sounds", "Seconds in all", "Where they come from"]
    parts = [views.listed(rows, heads, caption="Sound material")]
    for group in groups:
        parts += _measured(family, sounds, group) if group.kind in RESPONSE_KINDS else []
        if group.left_out:
            named = some([f"{name}: {reason}" for name, reason in group.left_out], MOST)
            text = f"{len(group.left_out)} files of {group.kind} cannot be used: {named}"
            parts.append(element("p", text, limit=None))
    return join([*parts, templates.html("sounds", synthetic=any(group.synthetic for group in groups))])


def _measured(family: Family, sounds: Sounds, group: SoundSet) -> Iterator[Html]:
    """Say where impulse responses were measured, and what each is used for."""
    used: dict[str, list[str]] = {}
    for _, step, change in _changes(family, sounds):
        if group.kind in kind_of_sounds(change) and not missing(change, sounds):
            for sound in drawable(change, sounds):
                used.setdefault(sound.name, []).append(step)
    rows = [(sound.label, sound.distance, sound.name) for sound in group.sounds]
    frame = pd.DataFrame(rows, columns=["label", "distance", "name"])
    frame["used"] = ["; ".join(used.get(name, ())) for name in frame["name"]]
    places = frame.groupby(["label", "distance", "used"])["name"].agg(["first", "size"]).reset_index()
    columns = {
        group.kind[:-1].capitalize(): "label",
        "Distance in m": lambda row: f"{row.distance:g}" if row.distance else "unknown",
        "Impulse response": lambda row: row.first + (f" and {row.size - 1} more" if row.size > 1 else ""),
        "Used for": lambda row: row.used or "nothing",
    }
    yield views.table(places, columns, caption=f"Impulse responses: {group.kind}")
    if group.kind == "rooms" and not sounds.of(group.kind, BASE)[0].distance:
        yield templates.html("sounds", no_distances=True)


def _changes(family: Family, sounds: Sounds) -> Iterator[tuple[str, str, Perturbation]]:
    """Give name, step and change; of sweeps that are shown, which have two possible steps."""
    for name, change in family.changes.items():
        yield name, name, change
    for least, every in ((1, family.transformations), (2, family.sweeps)):
        for series in every.values():
            steps = [step for step in series.steps.values() if not missing(step, sounds)]
            if len(steps) >= least:
                yield from ((series.name, step.name, step) for step in steps)


LENGTH = 256  # samples of a frame
LOWEST_DB = -40.0  # magnitude of a filter that is still shown
RESOLUTION = 8  # points of a response for each tap of its filter
LEAST = 1e-30  # power of silence


def spectra(signals: Mapping[str, np.ndarray], sampling_rate: int) -> Figure:
    """Draw the mean magnitude spectra of signals, brought to the same root mean square; silent ones not."""
    audible = {name: signal / rms(signal) for name, signal in signals.items() if rms(signal)}
    return _drawn({name: _spectrum(signal) for name, signal in audible.items()}, sampling_rate)


def magnitude_responses(filters: Mapping[str, np.ndarray], sampling_rate: int) -> Figure:
    """Draw the magnitude responses of filters, given by their impulse responses, in decibel."""
    curves = {}
    for name, taps in filters.items():
        hertz, response = scipy.signal.freqz(taps, worN=RESOLUTION * len(taps), fs=1, include_nyquist=True)
        curves[name] = hertz, 20 * np.log10(np.maximum(np.abs(response), LEAST))
    figure = _drawn(curves, sampling_rate)
    figure.axes[0].axhline(0, color=GREY, linewidth=0.8)
    figure.axes[0].set_ylim(LOWEST_DB, 10)
    return figure


def _drawn(curves: Mapping[str, tuple[np.ndarray, np.ndarray]], sampling_rate: int) -> Figure:
    """Draw levels in dB against frequencies as shares of the sampling rate."""
    rows = [
        (share * sampling_rate / 1000, level, name)
        for name, curve in curves.items()
        for share, level in zip(*curve, strict=True)
    ]
    frame = pd.DataFrame(rows, columns=["kHz", "value", "name"]).astype({"kHz": float, "value": float})
    figure = views.lines(frame, "kHz", hue="name", xlabel="frequency in kHz", ylabel="magnitude in dB")
    figure.axes[0].set_xlim(0, sampling_rate / 2000)
    return figure


def _spectrum(signal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Average the power of half overlapping frames, in decibel."""
    signal = np.pad(np.asarray(signal, dtype=np.float64), (0, max(0, LENGTH - len(signal))))
    shares, power = scipy.signal.welch(signal, nperseg=LENGTH, detrend=False, scaling="spectrum")
    return shares, 10 * np.log10(np.maximum(power, LEAST))


COVERED = "intervals that contain the truth"
SIZES = (20, 60, 200, 1000)  # segments a group that are named


def recorded(name: str) -> tuple[pd.DataFrame, str]:
    """Read a table of ``book/tables``, and how it was made: command, seed, replicates, versions, date."""
    path = resources.root() / "book" / "tables" / f"{name}.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    _, *made = [line.removeprefix("# ") for line in lines if line.startswith("#")]
    return pd.read_csv(path, comment="#"), "; ".join(made)


def monte_carlo_error(data_sets: int) -> float:
    """Give the standard error of a coverage near that of intervals that so many data sets estimate."""
    return float(np.sqrt(LEVEL * (1 - LEVEL) / data_sets))


def percent(column: str, digits: int = 1) -> views.Column:
    """Make a column of shares in per cent; empty where there are none."""
    return lambda row: Cell(formats.percent(getattr(row, column), digits), getattr(row, column), "sc-number")


def interval_bars(frame: pd.DataFrame, unit: str) -> Figure:
    """Draw the intervals of data sets, one panel a way, with the true value as a line.

    ``frame`` has the columns ``way, data_set, low, high`` (NaN where withheld) and ``true``.
    """
    with look():
        figure, panels = new(8, 5.4, frame["way"].nunique(), 1, sharex=True, sharey=True)
        for axes, (name, sets) in zip(panels, frame.groupby("way", sort=False), strict=True):
            misses = (sets["low"] > sets["true"]) | (sets["high"] < sets["true"])
            covers = sets["low"].notna() & ~misses
            for part, text, color, line in (
                (sets[covers], "contains the true value", BLUE, "-"),
                (sets[misses], "misses it", RED, ":"),
            ):
                bars = {"color": color, "linestyle": line, "label": f"{text}: {len(part)}"}
                axes.vlines(part["data_set"], part["low"], part["high"], linewidth=2.5, **bars)
            axes.axhline(sets["true"].iloc[0], color="black", linewidth=1)
            axes.set_title(name, loc="left")
            axes.set(ylabel=unit, xlabel="data set")
            axes.legend(loc="lower left", bbox_to_anchor=(0.55, 1.0), ncols=2, fontsize=9)
    return figure


def coverage_by_correlation(frame: pd.DataFrame) -> Figure:
    """Draw how often ordinary and blockwise intervals contain the truth, beside what is published."""
    ways = ("blockwise", ""), ("blockwise", "published_"), ("ordinary", ""), ("ordinary", "published_")
    rows = [
        frame.assign(way=f"{way}, published" if by else way, coverage=frame[f"{by}{way}_coverage"])
        for way, by in ways
    ]
    drawn = pd.concat(rows).sort_values("correlation", kind="stable")
    drawn["panel"] = "blocks of " + drawn["block_size"].astype(str) + " utterances"
    about = {"xlabel": "correlation within a block", "ylabel": COVERED, "threshold": LEVEL}
    return views.lines(drawn, "correlation", y="coverage", hue="way", panels="panel", **about)


def coverage_by_speakers(frame: pd.DataFrame) -> Figure:
    """Draw how often intervals contain the truth against the number of speakers, one panel a metric.

    ``frame`` has the columns ``metric, speakers, way`` and ``coverage``.
    """
    drawn = frame.sort_values("speakers", kind="stable").astype({"speakers": str})
    about = {"xlabel": "speakers", "ylabel": COVERED, "threshold": LEVEL}
    return views.lines(drawn, "speakers", y="coverage", hue="way", panels="metric", **about)


def certainties(counts: Mapping[str, Sequence[int]]) -> Figure:
    """Draw how many data sets have a share of passing replicates in each tenth; even lines are right."""
    tenths = [f"{n / 10:g} to {(n + 1) / 10:g}" for n in range(10)]
    frame = pd.DataFrame(counts, index=tenths)
    shares = (frame / frame.sum().clip(lower=1)).rename_axis("tenth").reset_index()
    drawn = shares.melt("tenth", var_name="metric", value_name="share")
    about = {"xlabel": "share of replicates that pass", "ylabel": "share of data sets", "threshold": 0.1}
    return views.lines(drawn, "tenth", y="share", hue="metric", **about)


def simulated_maxima(
    panels: Mapping[str, pd.DataFrame], marked: Mapping[str, Sequence[tuple[int, float, int]]]
) -> Figure:
    """Draw the largest simulated difference against the size of the groups, one line a number of groups.

    ``panels`` are titles -> rows of :func:`soundcheck.statistics.simulation.recorded`; ``marked``
    titles -> published thresholds: segments a group, threshold, number of groups. They are stars and named.
    """
    frame = pd.concat([rows.assign(panel=title) for title, rows in panels.items()])
    frame = frame.sort_values(["groups", "samples"], kind="stable")
    frame["line"] = frame["groups"].astype(str) + " groups"
    frame["panel"] = pd.Categorical(frame["panel"], list(panels))
    about = {"xlabel": "segments a group", "ylabel": "largest of 1000"}
    figure = views.lines(frame, "samples", y="maximum", hue="line", panels="panel", **about)
    for axes, title in zip(figure.axes, panels, strict=False):
        stars = sorted(marked.get(title, ()))
        for samples, threshold, _ in stars:
            axes.plot(samples, threshold, marker="*", color="black", markersize=11, zorder=4)
        named = [f"★ {threshold:g}: {groups} groups of {n:,}" for n, threshold, groups in stars]
        ground = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1}
        axes.text(0.03, 0.04, "\n".join(named), transform=axes.transAxes, fontsize=8, bbox=ground, zorder=5)
        axes.set(xscale="log", yscale="log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(FormatStrFormatter("%g"))
        axes.set_xticks(SIZES, [str(size) for size in SIZES])
        axes.minorticks_off()
    return figure
