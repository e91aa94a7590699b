"""The demo models."""
