"""One run: its output folder, its notebooks, its record."""
