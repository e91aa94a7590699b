"""What a reader has to know before the numbers of a page: notes, caveats, synthetic speech."""

from collections.abc import Sequence

from soundcheck.common.caveats import Caveat
from soundcheck.report.html import Html, element, folded

MOST_CAVEATS = 5  # that a reader sees without asking for more
SYNTHETIC = "Synthetic speech: the numbers show how the tests work, not how a model does on people."


def notes(texts: Sequence[str]) -> Html:
    """List what a reader must know; what stands between backticks is code."""
    return element("ul", *map(_item, texts), class_="sc-note") if texts else Html()


def _item(text: str) -> Html:
    parts = text.split("`") if text.count("`") % 2 == 0 else [text]
    marked = (element("code", part, limit=None) if n % 2 else part for n, part in enumerate(parts))
    return element("li", *marked, limit=None)


def caveats_notice(caveats: Sequence[Caveat]) -> Html:
    """Say what makes the numbers of a page doubtful, above them."""
    if not caveats:
        return Html()
    items = [_item(f"{caveat}.") for caveat in caveats]
    parts = [element("strong", "Read this before the numbers:"), element("ul", *items[:MOST_CAVEATS])]
    if more := items[MOST_CAVEATS:]:
        parts.append(folded(f"{len(more)} more", [element("ul", *more)]))
    return element("div", *parts, class_="sc-notice", role="note", limit=None)


def synthetic_notice(synthetic: bool) -> Html:
    """Say that the speech behind the numbers is synthetic, if it is."""
    return element("div", SYNTHETIC, class_="sc-notice", role="note") if synthetic else Html()
