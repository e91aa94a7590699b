"""What the page on histories says of marks is what was simulated."""

import pandas as pd

from soundcheck.common import resources

BOOK = resources.root() / "book"


def test_the_page_tells_the_recorded_simulation():
    text = " ".join((BOOK / "history.md").read_text(encoding="utf-8").split())
    frame = pd.read_csv(BOOK / "tables" / "histories.csv", comment="#").set_index(["planted", "tests"])
    same, planted = frame.loc[0], frame.loc[0.15]
    assert same["histories"].eq(1000).all() and same["marked"].max() <= 0.05
    shares = [f"{100 * share:.1f} %" for share in same["marked"]]
    assert f"{shares[0]} marked anything with independent tests, {shares[1]} with correlated" in text
    assert f"ones and {shares[2]} with other speakers" in text
    found, wrong = ([f"{100 * share:.0f}" for share in planted[name]] for name in ("found", "wrong"))
    assert f"{found[0]}, {found[1]} and {found[2]} % of these were marked" in text
    assert f"{wrong[0]}, {wrong[1]} and {wrong[2]} % of the marks were wrong" in text
