"""Tables of the sound material that a family works with.

Public: :func:`material`.
"""

from __future__ import annotations

from soundcheck.augment.registry import kind_of_sounds
from soundcheck.families import Family
from soundcheck.report.html import Html, element, join
from soundcheck.report.tables import table
from soundcheck.sounds.sound import Sounds

SYNTHETIC = (
    "Synthesised or computed sounds show how a model reacts to such disturbances in principle. "
    "They do not replace recordings, which a suite names under sounds."
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
    for name, change in [*family.changes.items(), *_sweeps(family)]:
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
        if group.left_out:
            named = "; ".join(f"{name}: {reason}" for name, reason in group.left_out[:MOST])
            more = f"; and {len(group.left_out) - MOST} more" if len(group.left_out) > MOST else ""
            text = f"{len(group.left_out)} files of {group.kind} cannot be used: {named}{more}"
            shown.append(element("p", text, limit=None))
    if any(group.synthetic for group, _ in groups):
        shown.append(element("p", SYNTHETIC, class_="sc-note", limit=None))
    return join(shown)


def _sweeps(family: Family) -> list:
    return [(sweep.name, step) for sweep in family.sweeps.values() for step in sweep.steps.values()]
