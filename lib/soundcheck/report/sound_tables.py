"""Tables of the noises and impulse responses that a family works with."""

from collections.abc import Iterator

import pandas as pd

from soundcheck.augment.registry import drawable, kind_of_sounds, missing
from soundcheck.augment.sounds import BASE, Sounds, SoundSet
from soundcheck.common import templates
from soundcheck.common.wording import some
from soundcheck.report import views
from soundcheck.report.html import Html, element, join
from soundcheck.suite.entries import RESPONSE_KINDS
from soundcheck.suite.families import Family, Perturbation

MOST = 5  # files left out that are named


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
