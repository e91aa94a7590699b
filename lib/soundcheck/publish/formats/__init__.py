"""Formats of cards, one module each; see :mod:`soundcheck.publish.card_format`."""
