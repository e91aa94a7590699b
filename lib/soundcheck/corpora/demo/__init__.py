"""The synthetic demo corpus."""
