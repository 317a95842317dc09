"""The command ``rebalance-kit logs``: the only place of this room that starts a session by itself.

It reads, writes the tables (beside their place first, then renamed), prints a report or JSON, and
answers with an exit status.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from rebalance_kit.model.errors import DataError, RebalanceKitError

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from typing import TextIO


def run_logs(
    paths: Sequence[str | os.PathLike[str]],
    out_dir: str | os.PathLike[str] | None = None,
    master: str | None = None,
    as_json: bool = False,
    out: TextIO | None = None,
) -> int:
    """Answer ``rebalance-kit logs``: read ``paths``, write tables to ``out_dir``, print the report.

    Returns 0, or 2 when something is missing or damaged beyond use (said on standard error).
    """
    from rebalance_kit.pipeline import accounting, inquiry, output, report

    stream = out or sys.stdout
    try:
        with tempfile.TemporaryDirectory(prefix="rebalance-kit-") as scratch:
            require_paths(paths)
            from rebalance_kit.pipeline.session import spark_session

            spark = spark_session(master)
            result = inquiry.forensics(spark, paths, Path(scratch))
            books = [tuple(row) for row in result.lines.orderBy("path", "file").collect()]
            accounting.require_balance(books)
            if out_dir is not None:
                output.write_tables(result.tables(), Path(out_dir))
            if as_json:
                report.print_json(result, stream)
            else:
                report.print_report(result, books, stream)
            result.kept.unpersist()
    except RebalanceKitError as problem:
        sys.stderr.write(f"rebalance-kit logs: {problem}\n")
        return 2
    return 0


def require_paths(paths: Sequence[str | os.PathLike[str]]) -> None:
    """Refuse a missing path before Spark is started for it."""
    for path in paths:
        if not Path(path).exists():
            raise DataError(f"no such file or folder: {path}; expected logs of Kafka brokers or clients")
