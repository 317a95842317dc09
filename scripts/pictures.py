"""Copy the pictures of the documents from where the browser tests have put them into docs/images.

python -m pytest tests/browser/test_lab_pictures.py && python scripts/pictures.py
"""

from __future__ import annotations

import sys
from pathlib import Path

from rebalance_kit.model.files import write_atomically

ROOT = Path(__file__).resolve().parents[1]
MADE = ROOT / "build" / "screenshots"
SHOWN = ROOT / "docs" / "images"
PICTURES = ("board", "compare", "timeline", "messages", "why", "fifty")


def main() -> int:
    """Copy all six, or none and say which is missing."""
    missing = [name for name in PICTURES if not (MADE / f"doc-{name}.png").is_file()]
    if missing:
        print(
            f"not there: {', '.join(missing)}; run tests/browser/test_lab_pictures.py first", file=sys.stderr
        )
        return 1
    SHOWN.mkdir(parents=True, exist_ok=True)
    for name in PICTURES:
        write_atomically(SHOWN / f"lab-{name}.png", (MADE / f"doc-{name}.png").read_bytes())
    print(f"copied: {', '.join(f'lab-{name}.png' for name in PICTURES)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
