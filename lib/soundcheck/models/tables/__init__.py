"""Models whose predictions exist already: tables, transcripts and scores, and whom they belong to."""
