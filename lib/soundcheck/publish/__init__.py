"""What leaves the book: cards, records and the one-page summary, all computed from a finished run alone."""
