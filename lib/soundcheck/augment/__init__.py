"""Changes of a signal: signal in, signal out."""
