"""What a reader has to know before the numbers of a page: notes, caveats, synthetic speech."""

from collections.abc import Sequence

from soundcheck.common import templates
from soundcheck.common.errors import Caveat
from soundcheck.report.html import Html, element

MOST_CAVEATS = 5  # that a reader sees without asking for more


def notes(texts: Sequence[str]) -> Html:
    """List what a reader must know; what stands between backticks is code."""
    return element("ul", *map(_item, texts), class_="sc-note") if texts else Html()


def _item(text: str) -> Html:
    parts = text.split("`") if text.count("`") % 2 == 0 else [text]
    marked = (element("code", part, limit=None) if n % 2 else part for n, part in enumerate(parts))
    return element("li", *marked, limit=None)


def caveats_notice(caveats: Sequence[Caveat]) -> Html:
    """Say what makes the numbers of a page doubtful, above them."""
    items = [_item(f"{caveat}.") for caveat in caveats]
    return templates.html("caveats", items=items[:MOST_CAVEATS], more=items[MOST_CAVEATS:])


def synthetic_notice(synthetic: bool) -> Html:
    """Say that the speech behind the numbers is synthetic, if it is."""
    return templates.html("synthetic") if synthetic else Html()
