"""Tables of what a family works with: thresholds, also for groups of the tested sizes, and sounds."""

from collections.abc import Iterator, Mapping

import pandas as pd

from soundcheck.augment.registry import drawable, kind_of_sounds, missing
from soundcheck.augment.sounds import BASE, Sounds, SoundSet
from soundcheck.common import templates
from soundcheck.common.tasks import BUILTIN
from soundcheck.common.wording import some
from soundcheck.report import views
from soundcheck.report.formats import Cell, measure, number, stacked
from soundcheck.report.html import Html, element, join
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
        (one.kind, ", ".join(used[one.kind]), len(one.sounds), round(one.duration, 1), one.source)
        for one in groups
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
    rows = [(one.label, one.distance, "; ".join(used.get(one.name, ())), one.name) for one in group.sounds]
    frame = pd.DataFrame(rows, columns=["label", "distance", "used", "name"])
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
