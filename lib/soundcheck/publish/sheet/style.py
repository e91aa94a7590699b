"""The look of the page for a meeting, light and dark, screen and A4, and how large it may be."""

from pathlib import Path

MOST_BYTES = 2_000_000  # of the whole file, sounds included

# Without any character that HTML escapes: a style sheet is read as it is.
STYLE = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
