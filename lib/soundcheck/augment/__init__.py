"""Changes of a signal: signal in, signal out; and the sounds that they draw from."""
