"""Turns executed notebooks and written pages into the book."""
