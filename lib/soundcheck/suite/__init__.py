"""Reads suite.yml and threshold files into checked, frozen objects."""
