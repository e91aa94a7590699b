"""Models whose answers exist already: tables, transcripts and scores, and whom they belong to."""
