"""A page of evidence in the order of Annex IV of Regulation (EU) 2024/1689: points 2(g), 3 and 4.

Conventions
-----------
- The page supports technical documentation; it does not say that anything complies.
- What no test can tell is asked for under *What people have to add*, and in its place.
- People write into the page and sign it. So its last line holds a digest of all above, and a page that people
  have changed is never replaced.
"""

from __future__ import annotations

import hashlib
import re

from soundcheck.common.errors import input_error
from soundcheck.common.escaping import heading
from soundcheck.publish.cards import evidence
from soundcheck.publish.cards.card_format import CardFormat
from soundcheck.publish.cards.context import CardContext
from soundcheck.publish.cards.groups import groups
from soundcheck.publish.cards.measurements import interval_methods
from soundcheck.publish.facts import ModelFacts
from soundcheck.publish.markdown import bullets, inline, paragraphs, table
from soundcheck.results.states import INCONCLUSIVE
from soundcheck.results.summary import CORRECTNESS, FAIRNESS, ROBUSTNESS, tally

_TO_ADD = "*To be added by people.*"
_SEAL = "<!-- soundcheck: sha256 of all above: {} -->"
_SEALED = re.compile(r"(.*)<!-- soundcheck: sha256 of all above: ([0-9a-f]{64}) -->\n*", re.DOTALL)
_PEOPLE = (  # what Annex IV asks for beside what a run can find out
    "2(g): changes of the system that were determined beforehand, and how they were tested (2(f))",
    "2(g): when the tests were run and who answers for them; date and signatures",
    "3: outcomes that are not intended but foreseeable, and risks to health, safety and fundamental rights",
    "3: measures of human oversight (Article 14), and what helps deployers to interpret outputs",
    "3: specifications of the input, as far as they matter",
    "4: why these metrics and thresholds suit the intended purpose",
)


class AnnexIV(CardFormat):
    """A Markdown page: procedures, data, metrics, accuracy, robustness, groups, logs, and a place to sign."""

    keyword = "annex-iv"
    title = "Evidence for Annex IV"

    def filename(self, facts: ModelFacts) -> str:
        """Name the file."""
        return "evidence_annex_iv.md"

    def text(self, facts: ModelFacts, context: CardContext) -> str:
        """Write the page."""
        parts = [
            f"# Evidence from tests: {heading(facts.model.name)}",
            "This page supports the technical documentation of Annex IV of Regulation (EU) 2024/1689, points "
            "2(g), 3 and 4. It reports what was measured, with intervals and counts, and what was not. It is "
            "no assessment of conformity: that is for those who sign it.",
            _about(facts, context),
            "## What people have to add",
            bullets([*(f"{name} (`card:` of the suite)" for name in context.card.missing), *_PEOPLE]),
            "## 2(g) Validation and testing",
            *_procedures(facts, context),
            "## 3 Capabilities and limitations",
            *_capabilities(facts, context),
            "## 4 Appropriateness of the metrics",
            f"Why they suit the intended purpose: {_TO_ADD} What they are:",
            evidence.measure_table(facts, context),
        ]
        text = "\n\n".join(filter(None, parts)) + "\n\n"
        return f"{text}{_SEAL.format(_digest(text))}\n"

    def updated(self, existing: str, shown: str, facts: ModelFacts, context: CardContext) -> str:
        """Replace a page that nobody has changed.

        Raises
        ------
        InputError
            If people have written into it.
        """
        sealed = _SEALED.fullmatch(existing.replace("\r\n", "\n"))
        if existing.strip() and (sealed is None or _digest(sealed[1]) != sealed[2]):
            what = "people have written into this page, or signed it"
            raise input_error(shown, what, "Move it elsewhere, or choose another folder with --out")
        return self.text(facts, context)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _about(facts: ModelFacts, context: CardContext) -> str:
    card, record = context.card, facts.record
    rows = [
        ("Model", inline(facts.model.name)),
        ("Version", inline(card.version) or _TO_ADD),
        ("Owner", inline(card.owner) or _TO_ADD),
        ("Contact", inline(card.contact) or _TO_ADD),
        ("Licence", inline(card.license) or _TO_ADD),
        ("Fingerprint of the model", evidence.code(facts.model.fingerprint)),
        ("Date of this page", str(context.date)),
        ("Suite and run", f"{inline(record.title or 'no title')}, run {evidence.code(record.run)}"),
        ("Results table", f"`results.csv`, SHA-256 `{facts.sha256}`"),
        ("Tested with", f"Soundcheck {inline(record.version)}"),
    ]
    if context.book_url:
        rows.append(("Book with all results", evidence.to_page("pages of the model", facts.page(), context)))
    return table(["", ""], rows)


def _procedures(facts: ModelFacts, context: CardContext) -> list[str]:
    record = facts.record
    synthetic = [inline(corpus.name) for corpus in facts.corpora if corpus.synthetic]
    sounds = evidence.sounds_table(facts)
    return [
        "### Procedure",
        f"{len(facts.families)} families of tests, {len(facts.rows)} tests, seed {record.seed}. "
        f"Intervals are of 95 %: {', '.join(interval_methods(facts))}, {record.replicates} replicates. "
        "A test *fails* if its value is on the wrong side, or a difference is "
        "beyond its margin, and this is significant after correction: false discovery rate 5 % over all "
        "tests of the model in a category (Benjamini and Hochberg, 1995). A test that is neither a pass nor "
        "a failure is *inconclusive*, which is no pass.",
        "### Testing data and their main characteristics",
        f"**Synthetic speech: {', '.join(synthetic)}.** It says little about people." if synthetic else "",
        evidence.corpora_table(facts),
        evidence.descriptions(facts),
        *(["Sounds with which the run changes signals:", sounds] if sounds else []),
        f"Training data: {_written(context.card.training_data)}",
        "### Metrics and what they have to meet",
        evidence.threshold_table(facts, context),
        "### Accuracy",
        evidence.figure_table(facts, context),
        *_aspect(facts, context, CORRECTNESS),
        "### Robustness",
        *_aspect(facts, context, ROBUSTNESS),
        "### Potentially discriminatory impacts",
        *_aspect(facts, context, FAIRNESS),
        "### Test logs and reports",
        _logs(facts, context),
        table(["Name", "Role", "Date", "Signature"], [["&nbsp;"] * 4] * 2),
    ]


def _aspect(facts: ModelFacts, context: CardContext, aspect: str) -> list[str]:
    table_of_families = evidence.family_table(facts, context, aspect)
    told = [evidence.outcome(facts, aspect), table_of_families]
    if table_of_families:
        told.append(evidence.failure_list(facts, context, aspect))
    return told


def _logs(facts: ModelFacts, context: CardContext) -> str:
    record, model = facts.record, facts.model
    versions = ", ".join(f"{name} {version}" for name, version in record.versions.items())
    told = [
        f"`results.csv`: all tests, SHA-256 `{facts.sha256}`",
        f"`run.json`: what was tested, with which versions, seeds and data; run {evidence.code(record.run)}",
        f"Book: {evidence.to_page('all results', 'all_results.html', context)}" if context.book_url else "",
        f"Inputs: {model.inputs}; without answer {model.failed}, with an answer of no use {model.unusable}",
        f"Answers kept from {inline(', '.join(sorted(model.days)))}" if model.days else "",
        *(
            f"Tests of {inline(name)} did not come to their end: they are missing here"
            for name in facts.failed
        ),
        *(inline(note) for note in model.notes),
        f"Versions: {inline(versions, None)}",
        f"When the tests were run: {_TO_ADD}",
    ]
    return bullets(filter(None, told))


def _capabilities(facts: ModelFacts, context: CardContext) -> list[str]:
    card = context.card
    skipped = evidence.skipped_table(facts)
    return [
        f"Intended use: {_written(card.intended_use)}",
        f"Limitations that are known: {_written(card.limitations)}",
        f"Languages: {inline(', '.join(card.languages)) or _TO_ADD}",
        "Overall accuracy on the testing data: see *Accuracy* above. Whether it is the accuracy to be "
        f"expected in the intended use: {_TO_ADD}",
        "### Accuracy for specific groups",
        groups(facts, context),
        "### What could not be concluded",
        f"Inconclusive: {tally(facts.rows)[INCONCLUSIVE]}. Not evaluated: {len(facts.not_evaluated)}.",
        skipped,
        "### Unintended outcomes, human oversight, input",
        f"Foreseeable unintended outcomes and sources of risk: {_TO_ADD}",
        f"Human oversight (Article 14), and what helps to interpret outputs: {_TO_ADD}",
        f"Specifications of the input: {_TO_ADD}",
    ]


def _written(text: str) -> str:
    return paragraphs(text) if text else _TO_ADD
