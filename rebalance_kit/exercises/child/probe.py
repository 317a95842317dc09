"""Says from behind a wall that it stands: a file that lies outside cannot be read, and the scratch folder can be written to."""

from __future__ import annotations

import sys
from pathlib import Path


def main(outside: Path) -> None:
    """Print the one word that is waited for."""
    Path("probe").write_text("x", "utf-8")
    try:
        outside.read_bytes()
    except OSError:
        print("behind")  # noqa: T201 - whoever asks reads it


if __name__ == "__main__":
    main(Path(sys.argv[1]))
