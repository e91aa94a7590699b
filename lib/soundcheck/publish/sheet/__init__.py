"""The one-page summary of a model or a comparison: its content, as HTML and as PDF."""
