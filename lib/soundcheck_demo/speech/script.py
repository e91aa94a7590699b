"""What the demo's speakers say: neutral everyday sentences, different ones for training and for testing.

Conventions
-----------
A sentence takes Praat's synthesiser two to four seconds at a usual rate. Its words say nothing about the
emotion in which it is spoken, so that a model can only go by the voice.
"""

from __future__ import annotations

import csv
from pathlib import Path

with Path(__file__).with_name("script.csv").open(encoding="utf-8", newline="") as _file:
    _rows = list(csv.DictReader(_file))
SPLITS = {
    split: tuple(row["sentence"] for row in _rows if row["split"] == split) for split in ("train", "test")
}
TRAIN, TEST = SPLITS["train"], SPLITS["test"]
