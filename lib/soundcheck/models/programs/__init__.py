"""Models that are programs, started with a command."""
