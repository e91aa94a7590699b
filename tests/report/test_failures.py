"""What a row of the results is about, in words."""

from types import SimpleNamespace

from soundcheck.report.failures import subject


def test_a_change_is_named_after_the_task():
    about = {"task": "valence", "group": "", "label": ""}
    row = SimpleNamespace(test="Percentage Unchanged Predictions Babble Noise", **about)
    assert subject(row) == "share of unchanged predictions of valence under babble noise"
    row = SimpleNamespace(test="Spearmans Rho", **about | {"label": "(0.25, 0.5]"})
    assert subject(row) == "Spearman's rho of valence, 0.25 to 0.5"
    row = SimpleNamespace(test="Change Eer Gain", task="embedding", group="", label="")
    assert subject(row) == "change of EER under gain"
