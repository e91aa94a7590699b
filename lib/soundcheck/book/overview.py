"""The first page and those of models, of failures and of provenance: what was tested and what came of it.

The first page says how good models are, for whom worse, what breaks them, where they fail, what is unknown.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from soundcheck.book import methods, pages
from soundcheck.common import templates
from soundcheck.common.day import today
from soundcheck.common.manifest import MANIFEST
from soundcheck.common.messages import counted, heading, some
from soundcheck.report import failures, key_figures, views
from soundcheck.report.failures import for_groups, standing_notes_in_short, under_changes
from soundcheck.report.formats import STATE, Cell, label, significant, state_bar, state_mark, value_cell
from soundcheck.report.formats import sentence as capitalised
from soundcheck.report.html import Html, caveats_notice, element, join, notes, synthetic_notice
from soundcheck.report.verdict_tables import anchor_of
from soundcheck.results.facts import ModelFacts, counts, few_speakers, findings, headline
from soundcheck.results.finished_run import FinishedRun
from soundcheck.results.gate import hard_bars, of_pairs, test_name
from soundcheck.results.record import (
    PROVENANCE,
    FailedInput,
    KeyFigure,
    RunRecord,
    result_page,
)
from soundcheck.results.states import FAIL, HOLLOW, PASS, aspects

HEADS = ("Model", "How good (95 %)", "Works worse for", "Breaks under", "Tests")
FINDINGS, MODEL_FINDINGS, FEW, MOST_KINDS = 8, 5, 5, 8  # that are listed, the others one link away
WIDTH, EDGE = 190, 6  # of the drawing of a number against chance
EVERY = "all_results"
LISTED = 200  # inputs without a prediction that a page lists before it only counts
ROOT = "../"  # from the page of a model to the first page
MOST_LINKS = 50  # models that a method page links to
SHORT = re.compile(r"^(Correctness|Fairness|Robustness) (of|by|to|in|between) (the |an? )?")


def cells(record: RunRecord, results: pd.DataFrame, facts: Mapping[str, ModelFacts]) -> list[dict]:
    """Make the first page; ``facts`` are from :func:`soundcheck.results.facts.facts_by_model`."""
    tested = [model for model in facts.values() if not model.random]
    rows = pd.concat([model.counted for model in tested]) if tested else results.iloc[:0]
    none = paragraph(f"{headline(rows)}.")
    sections = {
        "Hard bars": missed_bars(FinishedRun(Path(), results, record)),
        "Where they fail": heat_map(record, tested),
        "The largest findings": largest(tested) if rows["state"].eq(FAIL).any() else none,
        failures.FEW_TITLE: of_few_speakers(record, rows),
        "What could not be concluded": unknown_groups(tested),
        "Comparisons": compared(record),
        "What is missing": missing(record, rows),
    }
    corpora = "1 corpus" if len(record.corpora) == 1 else f"{len(record.corpora)} corpora"
    named = [("how to read", "reading"), ("all results", EVERY), ("statistics", "statistics")]
    top = [
        links(f"{counted(len(tested), 'model')}, {corpora}: ", named),
        caveats_notice(record.caveats),
        synthetic_notice(any(corpus.synthetic for corpus in record.corpora)),
        Html() if rows["state"].isin((PASS, FAIL)).any() else none,
        models_table(tested),
        references([model for model in facts.values() if model.random]),
    ]
    title = pages.markdown(f"# {heading(record.title, 'Soundcheck')}")
    return [title, pages.output(join(top)), *pages.sections(sections)]


def missed_bars(run: FinishedRun) -> Html:
    """List hard bars that are missed or did not run, for each of which ``soundcheck check`` fails."""
    frame = run.frame.assign(block=run.frame["corpus"].map(run.record.block_of))
    reasons, absent = hard_bars(frame, run)
    missed = of_pairs(frame, reasons).loc[lambda reason: reason.ne("")]
    items = [element("li", text, limit=None) for text in absent]
    for row in frame.loc[missed.index].assign(why=missed).itertuples():
        link = element("a", row.model, href=f"{result_page(row.model, row.family)}.html#{anchor_of(row)}")
        why = row.why.replace("hard bar: ", "", 1)
        items.append(element("li", link, f", {test_name(row)}: {why}", limit=None))
    return paragraph("Missed, so soundcheck check fails:") + element("ul", *items) if items else Html()


def compared(record: RunRecord) -> Html:
    """List the comparisons of a run with what they found."""
    entries = record.comparisons
    return templates.html("comparisons", comparisons=entries) if entries else Html()


def paragraph(text: str) -> Html:
    """Write a sentence."""
    return element("p", text, limit=None)


def links(before: str, named: Sequence[tuple[str, str]]) -> Html:
    """Write links to pages in a line."""
    parts = Html(" · ").join(element("a", text, href=f"{page}.html") for text, page in named)
    return element("p", before, parts, class_="sc-note", limit=None)


def models_table(every: Sequence[ModelFacts], root: str = "") -> Html:
    """Show a row a model: how good it is, for whom it is worse, what breaks it, its tests by state."""
    rows = []
    for facts in every:
        figure = facts.headline
        row = {"name": facts.model.name, "address": f"{root}{facts.model.page}.html"}
        row["about"] = re.split(r"[.:;] ", facts.model.description, maxsplit=1)[0]
        row["notes"] = standing_notes_in_short(facts)
        row["dot"] = None if figure is None or figure.value is None else dot(figure)
        row["further"] = [] if figure is None else list(filter(None, further(facts, figure)))
        row |= {"groups": for_groups(facts), "changes": under_changes(facts), "bar": state_bar(facts.counts)}
        rows.append(row)
    return templates.html("models", heads=HEADS, models=rows) if rows else Html()


def dot(figure: KeyFigure) -> dict:
    """Place a number, its interval and chance on a line from 0 to 1; what lies beyond stands at its end."""
    places = {"value": figure.value, "low": figure.low, "high": figure.high, "chance": figure.guessing}
    for name, number in places.items():
        if number is not None:
            places[name] = round(EDGE + min(max(number, 0.0), 1.0) * (WIDTH - 2 * EDGE), 1)
    span = key_figures.interval(figure) or figure.reason or "no interval"
    if figure.low is None and (here := key_figures.interval(figure, sample=True)):
        span = f"{here} for these speakers"
    if figure.guessing is not None:
        span += f"; chance {key_figures.value(figure, figure.guessing)}"
    about = {"name": key_figures.name(figure), "written": key_figures.value(figure), "span": span}
    return places | about | {"said": f"{key_figures.sentence(figure)}; {span}"}


def further(facts: ModelFacts, main: KeyFigure) -> Iterator[str]:
    """Write the other numbers of a model on the corpus of its headline, and the class that it finds least."""
    others = [figure for figure in facts.figures if figure.corpus == main.corpus and figure != main]
    numbers = [key_figures.short(figure).removeprefix(f"{figure.measure} of ") for figure in others]
    yield ", ".join(filter(None, numbers))
    classes = facts.classes[facts.classes["corpus"].eq(main.corpus) & facts.classes["task"].eq(main.task)]
    for row in classes.head(1).itertuples():
        yield f"lowest recall: {label(row.label)} {significant(row.value)}"


def references(every: Sequence[ModelFacts]) -> Html:
    """Write the numbers of random references in a line."""
    numbers = [f"{facts.model.name} {key_figures.short(facts.headline)}".strip() for facts in every]
    words = f"Random references: {some(numbers, FINDINGS)}."
    return element("p", words, class_="sc-note", limit=None) if every else Html()


def heat_map(record: RunRecord, every: Sequence[ModelFacts]) -> Html:
    """Show the state of each family for each model, with the number of tests that fail, as links."""
    notebooks = {(notebook.model, notebook.family): notebook for notebook in record.notebooks}
    sections: dict[str, list[dict]] = {}
    for family in sorted(record.families, key=lambda family: methods.place(family.name, family.category)):
        cells = []
        for facts in every:
            if (notebook := notebooks.get((facts.model.name, family.name))) is None:
                cells.append(None)
                continue
            state, fails = facts.state_of(family)
            words = "failed to run" if notebook.failed else f"{state}, tests that fail: {fails}"
            cell = {"state": STATE[state], "fails": words if notebook.failed else fails or ""}
            cell |= {"address": f"{notebook.page}.html"}
            cells.append(cell | {"said": f"{facts.model.name}, {family.title}: {words}"})
        if any(cells):
            row = {"title": capitalised(SHORT.sub("", family.title)), "cells": cells}
            section = methods.SECTIONS[methods.section(family.name, family.category)]
            sections.setdefault(section, []).append(row)
    models = [facts.model.name for facts in every]
    return templates.html("heat_map", models=models, sections=sections) if sections else Html()


def largest(facts: Sequence[ModelFacts], most: int = FINDINGS, root: str = "") -> Html:
    """List the largest findings, of each model and aspect first the largest, so that none hides another."""
    failing = pd.concat([model.failing for model in facts])
    every = findings(failing)
    later = every.groupby(["model", aspects(every)]).cumcount().gt(0)
    first = later.sort_values(kind="stable").index[:most]
    accepted = int(failing["accepted"].ne("").sum())
    words = paragraph(f"{accepted} of {counted(len(failing), 'failure')} accepted.") if accepted else Html()
    rows = every[every.index.isin(first)]
    return words + listed(facts[0].record, rows, root, len(every) - len(rows), alone=len(facts) == 1)


def listed(record: RunRecord, rows: pd.DataFrame, root: str = "", left: int = 0, alone: bool = False) -> Html:
    """List rows in words with the way to each, on the page of one model ``alone`` named by their family.

    ``root`` is the way to the first page; ``left`` counts what is not listed.
    """
    several = set(rows.groupby("model")["corpus"].nunique().loc[lambda number: number > 1].index)
    titles = {family.name: family.title for family in record.families}
    items = []
    for row in rows.itertuples():
        fact = failures.finding(row, record.block_of(row.corpus))
        more = getattr(row, "more", 0)
        further_ = counted(int(more), "more measure") if more else ""
        rests = [fact.rests, fact.limit, failures.both_rules(row).partition(";")[0], further_]
        items.append(
            {
                "name": titles[row.family] if alone else row.model,
                "address": f"{root}{result_page(row.model, row.family)}.html#{anchor_of(row)}",
                "who": fact.who,
                "fails": row.state == FAIL,
                "corpus": row.corpus if row.model in several else "",
                "says": f"{fact.measured} is {fact.says}" if fact.rests else fact.says,
                "rests": "; ".join(filter(None, rests)),
                "accepted": getattr(row, "accepted", ""),
            }
        )
    return templates.html("findings", findings=items, left=left, address=f"{root}{EVERY}.html")


def of_few_speakers(record: RunRecord, rows: pd.DataFrame, root: str = "", alone: bool = False) -> Html:
    """List the differences that have too few speakers to generalise, the largest first; empty without any."""
    few = few_speakers(rows)
    return listed(record, few.head(FEW), root, max(0, len(few) - FEW), alone) if len(few) else Html()


def unknown_groups(every: Sequence[ModelFacts]) -> Html:
    """Say by kind of group how many speakers would decide half of the tests that are inconclusive."""
    unknown = []
    for facts in every:
        frame = facts.unknown.sort_values("needed", kind="stable")
        plans = [failures.planned(row.needed, row.blocks) for row in frame.itertuples()]
        kinds = frame.assign(plan=plans, kind=frame["kind"].str.replace("_", " "))
        lines = [
            f"{some(list(groups), MOST_KINDS)}: {plan}"
            for plan, groups in kinds.groupby("plan", sort=False)["kind"]
        ]
        unknown += [(facts.model, "; ".join(lines))] if lines else []
    return templates.html("unknown", unknown=unknown) if unknown else Html()


def tested(record: RunRecord, family: str) -> Html:
    """Link from a method page to the results of its family."""
    models = [entry.model for entry in record.notebooks if entry.family == family][:MOST_LINKS]
    if not models:
        return paragraph("No model of this book was tested with this family.")
    return links("Results: ", [(name, f"../{result_page(name, family)}") for name in models])


def missing(record: RunRecord, results: pd.DataFrame) -> Html:
    """Count what was left out, failed or not evaluated, with the way to the details."""
    html = templates.html("missing", record=record, counts=counts(results))
    nothing = paragraph("Nothing was left out, nothing failed, everything was evaluated.")
    return html if "<li>" in html else nothing


def model_cells(facts: ModelFacts) -> list[dict]:
    """Make the page of a model: its row of the first page, families, worst findings, values, what it is."""
    model, record = facts.model, facts.record
    about = templates.html("model", model=model, given=model.given(today()))
    sections = {
        "Families": families_table(facts),
        "The largest findings": largest([facts], MODEL_FINDINGS, ROOT) if len(facts.failing) else Html(),
        failures.FEW_TITLE: of_few_speakers(record, facts.counted, ROOT, alone=True),
        "How good it is": figures_table(facts),
        "Values of groups and classes": parts_table(facts),
        "About the model": about + notes(model.notes),
        "Inputs without a prediction": failures_table(model.failures),
    }
    standing = key_figures.standing_notes(record.figures, model.name, model.tasks)
    top = [
        caveats_notice(facts.caveats),
        synthetic_notice(facts.synthetic),
        models_table([facts], ROOT),
        Html() if facts.counts[PASS] + facts.counts[FAIL] else paragraph(f"{headline(facts.counted)}."),
        notes([] if facts.random else standing),
    ]
    summary = [] if facts.random else [summary_link(model.sheet)]
    title = pages.markdown(f"# Model {heading(model.name)}")
    return [title, *summary, pages.output(join(top)), *pages.sections(sections)]


def summary_link(name: str) -> dict:
    """Make the cell that leads from the page of a model or a comparison to its one-page summary."""
    address = element("a", "One-page summary", href=f"../{name}.html")
    return pages.output(element("p", address, ": results, figures and sounds in one file, to print or send."))


def families_table(facts: ModelFacts) -> Html:
    """Show each family with the state of its headline test and the states of all its tests."""
    lines = []
    for family, rows in facts.families:
        page = f"{ROOT}{result_page(facts.model.name, family.name)}.html"
        left = int(facts.uncounted["family"].eq(family.name).sum())
        bar = state_bar(counts(rows.drop(facts.uncounted.index, errors="ignore")))
        if left:
            words = f"{left} not counted: {key_figures.EXPLAINED[HOLLOW]}"
            bar += element("small", words, class_="sc-line")
        title, state = element("a", family.title, href=page), state_mark(facts.state_of(family)[0])
        lines.append({"family": title, "headline test": state, "all tests": bar})
    return views.table(lines, sortable=False, none="")


def figures_table(facts: ModelFacts) -> Html:
    """Show its key figures with their intervals, and whether they are better than chance."""
    rows = []
    for figure in facts.figures:
        row = {"measure": key_figures.name(figure), "corpus": figure.corpus}
        row["value"] = key_figures.value(figure) or "–"
        row["95 %"] = key_figures.interval(figure) or figure.reason
        row["95 % for these speakers"] = key_figures.interval(figure, sample=True)
        row["chance"] = "" if figure.guessing is None else key_figures.value(figure, figure.guessing)
        row |= {"segments or trials": figure.segments, "speakers": figure.blocks}
        row["that is"] = key_figures.against_chance(figure)
        if figure.threshold is not None:
            row["that is"] = f"at the threshold in use, {key_figures.significant(figure.threshold, 3)}"
        rows.append(row)
    return views.table(rows, sortable=False, stacked=True, none="")


def parts_table(facts: ModelFacts) -> Html:
    """Show how good it is for each group and class: values of the tables of estimates, the worst first."""
    classes = facts.classes.assign(title="recall", part=facts.classes["label"])
    frame = pd.concat([facts.group_values, classes])
    columns = {
        "measure": lambda row: row.title if row.title in key_figures.RATES else f"{row.title} of {row.task}",
        "group or class": lambda row: failures.people(row.part),
        "corpus": "corpus",
        "value": _value,
        "segments or trials": "segments",
        "speakers": "speakers",
    }
    return views.table(frame, columns, first=20, filters={"measure": "measure"}, none="")


def _value(row: object) -> Cell:
    """Show the value of a group or class with its interval, for these speakers where there is no other."""
    few = pd.isna(row.low) and not pd.isna(row.low_sample)
    low, high = (row.low_sample, row.high_sample) if few else (row.low, row.high)
    unit = "%" if row.title in key_figures.RATES else ""
    return value_cell(row.value, low, high, unit, "for these speakers" * few)


def failures_table(entries: Sequence[FailedInput]) -> Html:
    """List inputs that a model gave no prediction for."""
    columns = {"corpus": "corpus", "segment": "item", "change": lambda row: row.change or "–"}
    columns |= {"reason": "reason"}
    table = views.table(pd.DataFrame(entries[:LISTED]), columns, none="")
    more = f"… and {len(entries) - LISTED} more; left_out.csv lists all."
    return table + paragraph(more) if len(entries) > LISTED else table


def failures_cells(record: RunRecord) -> list[dict]:
    """Make the page of notebooks that failed; their tests are skipped rows of the results."""
    columns = {
        "notebook": lambda row: element("a", row.entry.display_name, href=f"{row.entry.page}.html"),
        "how": lambda row: row.entry.status,
        "error": lambda row: row.entry.error.partition("\n")[0],
    }
    words = "# Failed notebooks\n\nTheir tests are not evaluated. Each page shows how far its notebook came."
    rows = [{"entry": entry} for entry in record.failed]
    return [pages.markdown(words), pages.output(views.table(rows, columns))]


def provenance_cells(record: RunRecord) -> list[dict]:
    """Make the page that says with what the book was made."""
    digest = {"digest": lambda row: row.digest[:16]}
    sounds = {name: name for name in ("kind", "sounds", "seconds", "source")} | digest
    tables = {
        "Versions": (record.versions.items(), {"package": "0", "version": "1"}),
        "Sounds\n\nNoises and impulse responses that signals were changed with.": (record.sounds, sounds),
        "Threshold files": (record.families, {"family": "name", "title": "title"} | digest),
    }
    sections = {
        title: views.table(pd.DataFrame(rows).rename(columns=str), columns, sortable=False, none="")
        for title, (rows, columns) in tables.items()
    }
    words = "# Provenance\n\nWith what this book was made. The same suite and data give the same results."
    top = templates.html("provenance", record=record, manifest=MANIFEST, provenance=PROVENANCE)
    return [pages.markdown(words), pages.output(top), *pages.sections(sections)]
