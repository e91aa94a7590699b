"""What a run would do: inputs with and without an answer, seconds a call, and the time of it all.

Corpora are loaded and a few inputs of each model are asked, which only the cache remembers.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from soundcheck.common.errors import InputError
from soundcheck.common.escaping import quoted
from soundcheck.common.wording import counted, duration
from soundcheck.corpora.corpus import Corpus
from soundcheck.predict.forecast import ModelForecast, forecast_model
from soundcheck.predict.request import Share
from soundcheck.results.record import RunRecord
from soundcheck.run.material import Material
from soundcheck.run.output import Output
from soundcheck.run.predictions import request_of

NOTICES = 10  # of a corpus, at most


def forecast(
    material: Material,
    output: Output,
    *,
    jobs: int,
    took: float,
    fresh: bool = False,
    share: Share | None = None,
) -> str:
    """Say what a run would do, as lines for a terminal; ``took`` are the seconds in which all was loaded."""
    lines = [
        f"Plan of {f'shard {share}' if share else 'a run'} into {output.display_name}. "
        "Nothing was run, and nothing written but the cache."
    ]
    models: dict[str, ModelForecast] = {}
    with tempfile.TemporaryDirectory(prefix="soundcheck-") as scratch:
        for entry in material.suite.models.values():
            about = request_of(entry, material, output, material.corpora)
            if not entry.about.needs_audio:
                lines.append(f"{entry.name}: looked up, nothing to predict")
            elif about.corpora:
                model = forecast_model(about, scratch=Path(scratch), jobs=jobs, fresh=fresh, share=share)
                models[entry.name] = model
                lines.append(_of_model(entry.name, model, len(about.changes)))
    families = [family.name for family in material.families]
    lines.append(f"Families: {len(families)} ({', '.join(families)})")
    lines += [line for corpus in material.corpora for line in _of_corpus(corpus)]
    lines += material.plan.notices
    if any(family.probes for family in material.families):
        lines.append("Words around lost keywords are synthesised and recognised later, and are not counted")
    if not any(model.asked for model in models.values()):
        lines.append(
            "Nothing is left to predict: a run would repeat a few inputs and use cached predictions."
        )
    return "\n".join([*lines, _time(models, output, jobs, took, share)])


def _of_model(name: str, model: ModelForecast, changes: int) -> str:
    under = f"{model.changed} under {counted(changes, 'change')}"
    line = f"{name}: {model.inputs} inputs ({model.clean} clean, {under}), "
    line += f"of them {model.kept} cached and {model.asked} to predict"
    if model.problem:
        return f"{line}; no prediction for {counted(model.timed, 'input')}: {model.problem}"
    if not model.timed:
        return line
    speed = f"{model.clean_seconds:.2g} s a clean input, {model.changed_seconds:.2g} s a changed one"
    return f"{line}; {speed}, {model.start:.1f} s to start, timed with {counted(model.timed, 'input')}"


def _of_corpus(corpus: Corpus) -> list[str]:
    """Say what a reader of results must know of a corpus, in sentences, and what would be left out."""
    lines = [*corpus.notices, *corpus.unlabelled]
    if corpus.left_out:
        count, first = counted(len(corpus.left_out), "item"), corpus.left_out[0]
        lines.append(f"{count} would be left out, the first {quoted(first.item)}: {first.reason}")
    if len(lines) > NOTICES:
        lines[NOTICES:] = [f"{len(lines) - NOTICES} notices more, which the page of the corpus shows"]
    return [f"{corpus.name}: {line}" for line in lines]


def _time(
    models: dict[str, ModelForecast], output: Output, jobs: int, took: float, share: Share | None
) -> str:
    """Estimate the time; what notebooks and book take, the last run tells."""
    predictions = sum(model.seconds(jobs) for model in models.values())
    basis = "timed" if any(model.asked for model in models.values()) else "nothing to predict"
    if any(model.problem for model in models.values()):
        basis = "without models that gave no prediction"
    total, parts = took + predictions, [f"corpora {duration(took)} (at most, as just now)"]
    parts.append(f"predictions {duration(predictions)} ({basis})")
    if share is None:
        try:
            last = RunRecord.read(output.record).seconds
        except InputError:
            parts.append("notebooks and book unknown, as there was no run yet")
        else:
            rest = sum(last.get(stage, 0.0) for stage in ("notebooks", "results", "book"))
            total += rest
            parts.append(f"notebooks and book {duration(rest)} (at most, as in the last run)")
    return f"Time: about {duration(total)}: {', '.join(parts)}"
