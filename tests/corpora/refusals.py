"""Bad inputs of readers, see ``refused.yml``."""

from pathlib import Path

import yaml

_REFUSED = yaml.safe_load(Path(__file__).with_name("refused.yml").read_text("utf-8"))


def refusals(*readers: str) -> list[list]:
    """List the bad inputs of readers, each with its reader first if there are several."""
    return [[reader, *row][len(readers) == 1 :] for reader in readers for row in _REFUSED[reader]]
