"""Asks models about segments, clean and changed: cached, in parallel, resumable."""
