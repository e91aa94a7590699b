"""Tables of the sound material that a family works with."""

from __future__ import annotations

from soundcheck.augment.registry import drawable, kind_of_sounds, missing
from soundcheck.report.html import Html, element, join
from soundcheck.report.tables import table
from soundcheck.sounds.sound import BASE, Sounds, SoundSet
from soundcheck.suite.entries import RESPONSE_KINDS
from soundcheck.suite.families import Family, Perturbation

SYNTHETIC = (
    "Synthesised or computed sounds show how a model reacts to such disturbances in principle. "
    "They do not replace recordings, which a suite names under sounds."
)
NO_DISTANCES = (
    "Nothing tells at which distances the rooms were measured, so all others are compared with the base, "
    "and distances play a part as well. A table impulse_responses.csv with a column distance would tell."
)
MOST = 5  # files left out that are named


def material(family: Family, sounds: Sounds) -> Html:
    """Say which noises and impulse responses the changes of a family draw from.

    Parameters
    ----------
    family
        The family.
    sounds
        The sound material of the suite.
    """
    users: dict[str, list[str]] = {}
    for name, change in [*family.changes.items(), *_swept(family, sounds)]:
        for kind in kind_of_sounds(change):
            if name not in users.setdefault(kind, []):
                users[kind].append(name)
    groups = [(sounds.sets[kind], names) for kind, names in sorted(users.items()) if kind in sounds]
    if not groups:
        return element("p", "No sound material is needed: everything that is added is computed.")
    rows = [
        [group.kind, ", ".join(names), len(group.sounds), f"{group.duration:.1f}", group.source]
        for group, names in groups
    ]
    columns = ["Kind", "Used for", "Sounds", "Seconds in all", "Where they come from"]
    shown = [table(rows, columns, caption="Sound material")]
    for group, _ in groups:
        if group.kind in RESPONSE_KINDS:
            shown += _measured(family, sounds, group)
        if group.left_out:
            named = "; ".join(f"{name}: {reason}" for name, reason in group.left_out[:MOST])
            more = f"; and {len(group.left_out) - MOST} more" if len(group.left_out) > MOST else ""
            text = f"{len(group.left_out)} files of {group.kind} cannot be used: {named}{more}"
            shown.append(element("p", text, limit=None))
    if any(group.synthetic for group, _ in groups):
        shown.append(element("p", SYNTHETIC, class_="sc-note", limit=None))
    return join(shown)


def _measured(family: Family, sounds: Sounds, group: SoundSet) -> list[Html]:
    """Say where impulse responses were measured, and what each is used for."""
    users: dict[str, list[str]] = {}
    steps = [(step.name, step) for _, step in _swept(family, sounds)]
    for name, change in [*family.changes.items(), *steps]:
        if group.kind in kind_of_sounds(change) and not missing(change, sounds):
            for sound in drawable(change, sounds):
                users.setdefault(sound.name, []).append(name)
    places: dict[tuple[str, float, str], list[str]] = {}
    for sound in group.sounds:
        used = "; ".join(users.get(sound.name, ())) or "nothing"
        places.setdefault((sound.label, sound.distance, used), []).append(sound.name)
    rows = [
        [
            label,
            f"{metres:g}" if metres else "unknown",
            f"{names[0]} and {len(names) - 1} more" if names[1:] else names[0],
            used,
        ]
        for (label, metres, used), names in sorted(places.items())
    ]
    shown = [
        table(
            rows,
            [group.kind[:-1].capitalize(), "Distance in m", "Impulse response", "Used for"],
            caption=f"Impulse responses: {group.kind}",
        )
    ]
    base = sounds.of(group.kind, BASE)[0]
    if group.kind == "rooms" and not base.distance:
        shown.append(element("p", NO_DISTANCES, class_="sc-note", limit=None))
    return shown


def _swept(family: Family, sounds: Sounds) -> list[tuple[str, Perturbation]]:
    """List the steps of transformations, and of the sweeps that are shown: those with two possible steps."""
    found = [
        (series.name, step)
        for series in family.transformations.values()
        for step in series.steps.values()
        if not missing(step, sounds)
    ]
    for sweep in family.sweeps.values():
        steps = [(sweep.name, step) for step in sweep.steps.values() if not missing(step, sounds)]
        found += steps if len(steps) > 1 else []
    return found
