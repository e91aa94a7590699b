"""Templates of pages, cards and sheets: Jinja2 with our escaping of everything that is printed.

- Whatever ``{{ }}`` prints is escaped by the function of its medium, unless it is :class:`Html`, which is
  finished. Nobody can forget it, and ``|safe`` is not used.
- Attributes stand in quotes. Addresses go through ``|local``, which refuses those that lead out of the site.
- Templates loop, choose and format; what they print is computed before.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import jinja2
from markupsafe import Markup

from soundcheck.common.messages import escape

FOLDER = Path(__file__).parents[1] / "templates"
FILTERS: dict[str, Callable] = {}  # report/formats.py and publish/markdown.py put theirs here


class Html(Markup):
    """Finished HTML, or finished text of another medium; notebooks display it, templates do not escape it."""

    def __add__(self, other: str) -> Html:
        return Html(str(self) + str(self.escape(other)))

    @classmethod
    def escape(cls, value: object) -> Html:
        """Escape what is not finished."""
        return cls(value) if hasattr(value, "__html__") else cls(escape(value, None))

    def _repr_html_(self) -> str:
        return str(self)

    def _repr_pretty_(self, printer: object, _: bool) -> None:
        printer.text(type(self).__name__)  # not all of it once more in each notebook


def html(name: str, **context: object) -> Html:
    """Render ``NAME.html.j2``; texts longer than a page shows are cut, ``|whole`` keeps them."""
    return _rendered(f"{name}.html.j2", escape, context)


def text(name: str, escaped: Callable[[object], str], **context: object) -> str:
    """Render a template of another medium, such as ``card.md``, whose texts ``escaped`` makes harmless."""
    return str(_rendered(f"{name}.j2", escaped, context))


def ready(text: str) -> Html:
    """Mark text that is of the medium already, such as a line of YAML: a template takes it as it is."""
    return Html(text)


def _rendered(name: str, escaped: Callable[[object], str], context: dict) -> Html:
    environment = _environment(escaped)
    environment.filters |= FILTERS  # a module may have come since
    return Html(environment.get_template(name).render(context))


@functools.cache
def _environment(escaped: Callable[[object], str]) -> jinja2.Environment:
    def finished(value: object) -> Html:
        if hasattr(value, "__html__"):
            return Html(value)
        return Html("" if value is None else escaped(value))

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=True,
        finalize=finished,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["whole"] = lambda value: Html(escape(value, None))
    return environment
