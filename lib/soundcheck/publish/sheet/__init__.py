"""The page for a meeting: its content, as HTML and as PDF."""
