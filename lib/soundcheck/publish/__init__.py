"""What leaves the book: cards, records and the page for a meeting, all computed from a finished run alone."""
