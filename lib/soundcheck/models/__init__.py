"""One small interface, and the adapters that speak it."""
