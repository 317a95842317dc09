"""Lines a second of the local engine, beside plain Python with the same grammar, on one input, in one run and one process each.

The input comes from the log maker (the mix of ``pipeline.py``).  Plain Python finds rebalances and storms alone; the
local engine makes all tables: gaps, members, findings, books.  Both must find as many rebalances and storms.

    python benchmarks/local.py [--lines 1000000]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from pipeline import timed, with_local, write_input
from shared.pipeline_peers import with_python
from shared.tables import publish

WANTED_A_SECOND = 250_000


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=1_000_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        files, lines = write_input(Path(scratch) / "logs", asked.lines)
        jobs = {
            "plain Python: rebalances and storms": lambda: with_python(files),
            "local engine: all tables": lambda: with_local(Path(scratch) / "logs"),
        }
        took = {name: timed(job) for name, job in jobs.items()}
    assert len({found for *_, found in took.values()}) == 1, took
    rows = [
        (name, f"{wall:.1f}", f"{processor:.1f}", f"{lines / wall:,.0f}", f"{lines / processor:,.0f}")
        for name, (wall, processor, _) in took.items()
    ]
    rebalances, storms = took["local engine: all tables"][2]
    publish(
        "Forensics: lines a second in one process",
        ("", "wall, s", "processor, s", "lines a second", "lines per second of processor time"),
        rows,
        f"{lines:,} lines to {rebalances:,} rebalances and {storms:,} storms. Wanted: the local engine at least "
        f"{WANTED_A_SECOND:,} lines a second.",
    )


if __name__ == "__main__":
    main()
