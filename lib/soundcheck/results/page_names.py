"""Names of the pages of a book, without extension, as links and files have them."""

from __future__ import annotations

from soundcheck.common import files


def result_page(model: str, family: str) -> str:
    """Name the page of a model and family."""
    return f"results/{files.slug(model)}/{files.slug(family)}"


def model_page(slug: str) -> str:
    """Name the page of a model."""
    return f"models/{slug}"


def corpus_page(slug: str) -> str:
    """Name the page of a corpus."""
    return f"corpora/{slug}"


def comparison_page(slug: str) -> str:
    """Name the page of a comparison."""
    return f"comparisons/{slug}"


def model_sheet(slug: str) -> str:
    """Name the one-page summary of a model."""
    return f"sheets/{slug}"


def comparison_sheet(slug: str) -> str:
    """Name the one-page summary of a comparison."""
    return f"sheets/comparisons/{slug}"
