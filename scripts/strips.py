"""Write the first picture of notebook 00, ``notebooks/images/three-protocols.svg``, from the engine's run.

It is a file and not a cell's output, because JupyterLab shows no SVG output of a notebook that was never run.
"""

from __future__ import annotations

from pathlib import Path

from rebalance_kit.model.files import write_atomically
from rebalance_kit.notebook import one_clock, three

TARGET = Path(__file__).resolve().parent.parent / "notebooks" / "images" / "three-protocols.svg"


def drawn() -> str:
    """The picture as SVG."""
    return one_clock(three("restaurant"), event="Dan goes home").svg + "\n"


if __name__ == "__main__":
    write_atomically(TARGET, drawn())
    print(TARGET)
