"""The command ``rebalance-kit logs``: reads logs, writes the tables, prints a report or JSON lines.

Only the commands of this room start a session by themselves.
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
class ReadingOptions:
    """Command-line options about the logs: a file of layouts, year, time zone, clock offsets (``GLOB=+2.5s``)."""

    layouts: Path | None = None
    year: int | None = None
    time_zone: str | None = None
    offsets: tuple[str, ...] = ()


def reading_of(options: ReadingOptions) -> Reading:
    """Check the options of the command line; ``ConfigError`` names the value and what was expected."""
    from zoneinfo import ZoneInfo

    from rebalance_kit.forensics.lines.layouts import Reading, load_layouts

    if options.time_zone is not None:
        try:
            ZoneInfo(options.time_zone)
        except (KeyError, ValueError, OSError) as problem:
            raise ConfigError(
                f"--time-zone {options.time_zone!r} is unknown; expected a name such as Europe/Berlin or UTC"
            ) from problem
    if options.year is not None and not 1970 <= options.year <= 9998:
        raise ConfigError(f"--year {options.year}; expected a year from 1970 to 9998")
    layouts = load_layouts(options.layouts) if options.layouts is not None else ()
    return Reading(layouts, options.year, options.time_zone, tuple(_offset(text) for text in options.offsets))


def _offset(text: str) -> tuple[str, int]:
    """``broker-2/*=+2.5s`` as a path pattern and the milliseconds to add."""
    match = re.fullmatch(r"(.+)=([+-]?\d+(?:\.\d+)?)(ms|s)", text)
    if match is None:
        raise ConfigError(f"--offset {text!r}; expected PATTERN=SECONDS, for instance 'broker-2*=+2.5s'")
    return match[1], round(float(match[2]) * (1 if match[3] == "ms" else 1000))


def run_logs(
    paths: Sequence[str | os.PathLike[str]],
    out_dir: str | os.PathLike[str] | None = None,
    master: str | None = None,
    as_json: bool = False,
    out: TextIO | None = None,
    page: Callable[[Forensics, Path], object] | None = None,
    options: ReadingOptions | None = None,
) -> int:
    """Run ``rebalance-kit logs``: read ``paths``, write tables to ``out_dir``, print the report.

    ``page`` writes a page beside the tables.  Returns 0, or 2 with a message on standard error when an input
    is missing or damaged beyond use.
    """
    from rebalance_kit.pipeline.forensics import forensics

    try:
        require_paths(paths)
        reading = reading_of(options or ReadingOptions())
        from rebalance_kit.pipeline.spark.session import spark_session

        with tempfile.TemporaryDirectory(prefix="rebalance-kit-") as scratch:
            result = forensics(spark_session(master), paths, Path(scratch), reading)
            _write_and_print(result, out_dir, page, as_json, out or sys.stdout)
            result.kept.unpersist()
    except RebalanceKitError as problem:
        sys.stderr.write(f"rebalance-kit logs: {problem}\n")
        return 2
    return 0


def _write_and_print(
    result: Forensics,
    out_dir: str | os.PathLike[str] | None,
    page: Callable[[Forensics, Path], object] | None,
    as_json: bool,
    out: TextIO,
) -> None:
    from rebalance_kit.pipeline import output, report
    from rebalance_kit.pipeline.lines import accounting

    counts = accounting.checked_counts(result.lines)
    if out_dir is not None:
        output.write_tables(result.tables(), Path(out_dir))
        if page is not None:
            page(result, Path(out_dir))
    if as_json:
        report.print_json(result, out)
    else:
        report.print_report(result, counts, out)


def require_paths(paths: Sequence[str | os.PathLike[str]]) -> None:
    """Refuse a missing path before Spark is started for it."""
    for path in paths:
        if not Path(path).exists():
            raise DataError(f"no such file or folder: {path}; expected logs of Kafka brokers or clients")
