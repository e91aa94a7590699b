"""Formats of cards, one module each; see :mod:`soundcheck.publish.cards.card_format`."""
