"""Lists of trials: pairs of utterances that speaker verification compares."""
