"""A page of evidence in the order of Annex IV of Regulation (EU) 2024/1689: points 2(g), 3 and 4.

The page supports technical documentation; it does not say that anything complies, and what no test can tell
is left to people. They write into the page and sign it, so its last line holds a digest of all above, and a
page that people have changed is never replaced.
"""

import hashlib
import re

from soundcheck.common.messages import input_error
from soundcheck.publish.cards import content
from soundcheck.publish.cards.card_format import CardContext, CardFormat
from soundcheck.results.facts import ModelFacts

_SEAL = "<!-- soundcheck: sha256 of all above: {} -->"
_SEALED = re.compile(r"(.*)<!-- soundcheck: sha256 of all above: ([0-9a-f]{64}) -->\n*", re.DOTALL)


class AnnexIV(CardFormat):
    """A Markdown page: procedures, data, metrics, accuracy, robustness, groups, logs, and a place to sign."""

    keyword = "annex-iv"
    file = "evidence_annex_iv.md"

    def text(self, facts: ModelFacts, context: CardContext) -> str:
        """Write the page."""
        text = content.text("annex-iv.md", facts, context) + "\n"
        return f"{text}{_SEAL.format(_digest(text))}\n"

    def updated(self, existing: str, name: str, facts: ModelFacts, context: CardContext) -> str:
        """Replace a page that nobody has changed; one into which people have written is refused."""
        sealed = _SEALED.fullmatch(existing.replace("\r\n", "\n"))
        if existing.strip() and (sealed is None or _digest(sealed[1]) != sealed[2]):
            what = "people have written into this page, or signed it"
            raise input_error(name, what, "Move it elsewhere, or choose another folder with --out")
        return self.text(facts, context)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
