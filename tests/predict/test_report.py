"""What became of inputs that were asked about in two rounds."""

from pathlib import Path

from soundcheck.predict.report import PredictionReport


def test_rounds_are_joined():
    told, odd = [("a", "x", "", "why")], {"odd": 1}
    first = PredictionReport("m", "f", {"a": Path("a")}, 5, 2, 1, 1, 1, told, 1, odd, 4, 1, 1.5, ("note",))
    second = PredictionReport(
        "m", "f", {"b": Path("b")}, 3, 1, 1, 0, 1, told, 0, {"odd": 2}, 2, 0, 1.0, ("note", "b")
    )
    both = first.joined(second)
    assert (both.model, both.fingerprint, list(both.tables)) == ("m", "f", ["a", "b"])
    assert both.inputs == 8 == both.computed + both.reused + both.failed + both.unusable
    assert both.failures == told * 2 and odd == {"odd": 1}
    assert both.unknown_classes == {"odd": 3} and both.out_of_range == 1
    assert (both.repeated, both.repeated_different, both.seconds) == (6, 1, 2.5)
    assert both.notices == ("note", "b")
