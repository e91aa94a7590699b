"""Random references draw once: the next run takes their tables as they are, unless anything has changed."""

import types

from soundcheck.predict.report import PredictionReport
from soundcheck.run import predictions
from soundcheck.run.derived import Derived
from soundcheck.run.output import Output


def test_answers_of_a_reference_are_drawn_again_only_if_anything_changed(tmp_path):
    output = Output(tmp_path)
    table, draws = output.predictions / "guess" / "c.parquet", []
    asked = types.SimpleNamespace(
        entry=types.SimpleNamespace(name="guess"), fingerprint="f", corpora=[types.SimpleNamespace(name="c")]
    )

    def draw() -> PredictionReport:
        draws.append(1)
        table.parent.mkdir(parents=True, exist_ok=True)
        table.write_text("drawn")
        return PredictionReport("guess", "f", {"c": table}, inputs=3, computed=3, notices=("said",))

    def run(depends: object) -> PredictionReport:
        derived = Derived(output)
        report = predictions._drawn(asked, depends, derived, draw)
        derived.save()
        return report

    first, again = run("one"), run("one")
    assert again == first == draw() and len(draws) == 2
    run("other")
    table.write_text("edited")
    assert run("other") == first and table.read_text() == "drawn"
    assert len(draws) == 4
