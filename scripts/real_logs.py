#!/usr/bin/env python
"""Measure what the forensics understand of logs that people pasted: one folder per excerpt, read where they lie.

Each folder holds ``log.txt`` and ``meta.json`` (``family`` or ``client``, ``cause``).  Counted are the lines that
are about a group, and how many of them became events.  Nothing is copied.

    python scripts/real_logs.py FOLDER [--missing]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

from rebalance_kit.forensics.lines.anchors import speaks_of_a_group
from rebalance_kit.forensics.lines.files import Text
from rebalance_kit.forensics.look import look


def main(arguments: list[str] | None = None) -> int:
    """Print a row per excerpt and the sums per kind of client."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--missing", action="store_true", help="print the lines that were not understood")
    wishes = parser.parse_args(arguments)
    sums: dict[str, Counter[str]] = {}
    for folder in sorted(path for path in wishes.folder.iterdir() if (path / "meta.json").exists()):
        told = json.loads((folder / "meta.json").read_text("utf-8"))
        family = str(told.get("family") or told.get("client") or "?").split(" (")[0]
        about, understood, missing = measured(folder)
        sums.setdefault(family, Counter()).update(excerpts=1, about=about, understood=understood)
        print(
            f"{folder.name:40} {family[:28]:28} {understood:4} of {about:4}   {str(told.get('cause'))[:80]}"
        )
        if wishes.missing:
            print("".join(f"      - {line[:260]}\n" for line in missing), end="")
    print()
    for family, count in sorted(sums.items()):
        share = 100 * count["understood"] / max(1, count["about"])
        print(
            f"{family[:40]:40} {count['excerpts']:3} excerpts {count['understood']:5} of {count['about']:5} lines ({share:.0f} %)"
        )
    about, understood = (sum(count[name] for count in sums.values()) for name in ("about", "understood"))
    print(f"all: {understood} of {about} lines ({100 * understood / max(1, about):.0f} %)")
    return 0


def measured(folder: Path) -> tuple[int, int, list[str]]:
    """Lines about a group, those of them that became events, and the others."""
    files = [path for path in sorted(folder.iterdir()) if path.name != "meta.json" and path.is_file()]
    about, understood, missing = 0, 0, []
    result = look(files)
    events = {(row["file"], row["line"]) for row in result.rows("events")}
    for path in files:
        for number, line in enumerate(text_of(path).split("\n"), start=1):
            if speaks_of_a_group(line):
                about += 1
                if (str(path), number) in events:
                    understood += 1
                else:
                    missing.append(line)
    return about, understood, missing


def text_of(path: Path) -> str:
    """The lines of a file as the forensics read them: those that a terminal had wrapped are whole."""
    return b"".join(Text(path).pieces()).decode("utf-8", "replace")


if __name__ == "__main__":
    sys.exit(main())
