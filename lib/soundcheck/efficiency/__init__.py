"""Time, memory and size of models, measured beside a run and never part of its results."""
