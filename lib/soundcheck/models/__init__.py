"""One small interface, and the kinds of model that speak it."""
