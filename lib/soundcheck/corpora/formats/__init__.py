"""Formats of corpora, a module each; see :mod:`soundcheck.suite.corpus_format`."""
