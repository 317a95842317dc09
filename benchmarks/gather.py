"""Write docs/benchmarks.md from the tables of the last ``make bench``."""

from __future__ import annotations

import os
from pathlib import Path

from tables import FOLDER

HEAD = """# Benchmarks

Made by `make bench` on one machine; peers ran beside the kit in the same run. Speed is never asserted by a test.

"""


def main() -> int:
    parts = [file.read_text(encoding="utf-8") for file in sorted(FOLDER.glob("*.md"))]
    target = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
    beside = target.with_suffix(".md.new")
    beside.write_text(HEAD + "\n".join(parts), encoding="utf-8")
    os.replace(beside, target)
    print(f"wrote {target.name} from {len(parts)} tables")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
