"""What only people know: models win over the suite, and what nobody wrote is named."""

from soundcheck.suite.card import Card


def test_the_model_wins_over_the_suite():
    both = Card(owner="we", version="2").over(Card(owner="all", license="mit", languages=("en",)))
    assert both == Card(owner="we", version="2", license="mit", languages=("en",))


def test_missing_in_words():
    missing = Card(owner="we", languages=("en",)).missing
    assert missing[:2] == ("intended use", "licence") and "owner" not in missing
    assert not any("hub" in words or "base" in words for words in missing)  # a model may have none
