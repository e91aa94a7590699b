"""How corpora lie in files and folders: readers of what the formats of suites name."""
