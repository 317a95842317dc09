"""The command ``rebalance-kit logs``: the only place of this room that starts a session by itself.

It reads, writes the tables (beside their place first, then renamed), prints a report or JSON, and
answers with an exit status.
"""

from __future__ import annotations

import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rebalance_kit.model.errors import ConfigError, DataError, RebalanceKitError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from typing import TextIO

    from rebalance_kit.forensics.lines.layouts import Reading
    from rebalance_kit.pipeline.forensics import Forensics


@dataclass(frozen=True, slots=True)
class Told:
    """What the command line says about the logs: a file of layouts, year, zone, ``GLOB=+2.5s`` a clock."""

    layouts: Path | None = None
    year: int | None = None
    time_zone: str | None = None
    offsets: tuple[str, ...] = ()


def reading_of(told: Told) -> Reading:
    """The words of the command line, checked; ``ConfigError`` says what was expected."""
    from zoneinfo import ZoneInfo

    from rebalance_kit.forensics.lines.layouts import Reading, load_layouts

    if told.time_zone is not None:
        try:
            ZoneInfo(told.time_zone)
        except (KeyError, ValueError, OSError) as problem:
            raise ConfigError(
                f"--time-zone {told.time_zone!r} is unknown; expected a name such as Europe/Berlin or UTC"
            ) from problem
    if told.year is not None and not 1970 <= told.year <= 9998:
        raise ConfigError(f"--year {told.year}; expected a year from 1970 to 9998")
    layouts = load_layouts(told.layouts) if told.layouts is not None else ()
    return Reading(layouts, told.year, told.time_zone, tuple(_offset(text) for text in told.offsets))


def _offset(text: str) -> tuple[str, int]:
    """``broker-2/*=+2.5s`` as a pattern of paths and milliseconds to add."""
    found = re.fullmatch(r"(.+)=([+-]?\d+(?:\.\d+)?)(ms|s)", text)
    if found is None:
        raise ConfigError(f"--offset {text!r}; expected PATTERN=SECONDS, for instance 'broker-2*=+2.5s'")
    return found[1], round(float(found[2]) * (1 if found[3] == "ms" else 1000))


def run_logs(
    paths: Sequence[str | os.PathLike[str]],
    out_dir: str | os.PathLike[str] | None = None,
    master: str | None = None,
    as_json: bool = False,
    out: TextIO | None = None,
    page: Callable[[Forensics, Path], object] | None = None,
    told: Told | None = None,
) -> int:
    """Answer ``rebalance-kit logs``: read ``paths``, write tables to ``out_dir``, print the report.

    ``page`` is asked to write a page beside the tables (this room draws none itself); ``told`` is what the
    reader says about the logs.

    Returns 0, or 2 when something is missing or damaged beyond use (said on standard error).
    """
    from rebalance_kit.pipeline import forensics as inquiry
    from rebalance_kit.pipeline import output, report
    from rebalance_kit.pipeline.lines import accounting

    stream = out or sys.stdout
    try:
        with tempfile.TemporaryDirectory(prefix="rebalance-kit-") as scratch:
            require_paths(paths)
            reading = reading_of(told or Told())
            from rebalance_kit.pipeline.spark.session import spark_session

            spark = spark_session(master)
            result = inquiry.forensics(spark, paths, Path(scratch), reading)
            books = [tuple(row) for row in result.lines.orderBy("path", "file").collect()]
            accounting.require_balance(books)
            if out_dir is not None:
                output.write_tables(result.tables(), Path(out_dir))
                if page is not None:
                    page(result, Path(out_dir))
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
