"""The command ``rebalance-kit logs``: which engine reads, and what is printed and written.

It reads, writes the tables (beside their place first, then renamed), prints a report or JSON, and
answers with an exit status.
"""

from __future__ import annotations

import re
import sys
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from rebalance_kit.model.errors import ConfigError, DataError, RebalanceKitError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from typing import TextIO

    from rebalance_kit.forensics.lines.layouts import Reading
    from rebalance_kit.forensics.look import Look
    from rebalance_kit.forensics.tables import Tables
    from rebalance_kit.pipeline.inquiry import Forensics


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """What the command line says about the logs: a file of layouts, year, zone, ``GLOB=+2.5s`` a clock."""

    layouts: Path | None = None
    year: int | None = None
    time_zone: str | None = None
    offsets: tuple[str, ...] = ()


def reading_of(options: ReadingOptions) -> Reading:
    """The words of the command line, checked; ``ConfigError`` says what was expected."""
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
    """``broker-2/*=+2.5s`` as a pattern of paths and milliseconds to add."""
    found = re.fullmatch(r"(.+)=([+-]?\d+(?:\.\d+)?)(ms|s)", text)
    if found is None:
        raise ConfigError(f"--offset {text!r}; expected PATTERN=SECONDS, for instance 'broker-2*=+2.5s'")
    return found[1], round(float(found[2]) * (1 if found[3] == "ms" else 1000))


#: Which engine reads the logs: by their size, this process, or Spark.
ENGINES = ("auto", "local", "spark")

#: Up to about so many lines, this process is done before Spark has started and read them.
FEW_FOR_SPARK = 1_000_000

#: How long a line of a log is, about, and how much a packed one shrinks.
_BYTES_A_LINE, _PACKED = 140, 12


def run_logs(
    paths: Sequence[str | os.PathLike[str]],
    out_dir: str | os.PathLike[str] | None = None,
    master: str | None = None,
    as_json: bool = False,
    out: TextIO | None = None,
    page: Callable[[Tables, Path], object] | None = None,
    options: ReadingOptions | None = None,
    engine: str = "auto",
) -> int:
    """Answer ``rebalance-kit logs``: read ``paths``, write tables to ``out_dir``, print the report.

    ``page`` is asked to write a page beside the tables (this room draws none itself); ``options`` is what the
    reader says about the logs.  ``engine`` is one of ``ENGINES``; a ``master`` means Spark.

    Returns 0, or 2 when something is missing or damaged beyond use (said on standard error).
    """
    stream = out or sys.stdout
    try:
        require_paths(paths)
        reading = reading_of(options or ReadingOptions())
        if chosen(engine, master, paths) == "local":
            from rebalance_kit.forensics.look import look

            found = look(paths, reading)
            if out_dir is not None:
                from rebalance_kit.pipeline.output import write_rows

                _write(found, lambda folder: write_rows(found, folder), Path(out_dir), page)
            _answer(found, stream, as_json=as_json)
        else:
            _with_spark(paths, out_dir, master, reading, stream, as_json=as_json, page=page)
    except RebalanceKitError as problem:
        sys.stderr.write(f"rebalance-kit logs: {problem}\n")
        return 2
    return 0


def read_logs(
    *paths: str | os.PathLike[str], engine: str = "auto", reading: Reading | None = None
) -> Look | Forensics:
    """Read the logs under ``paths`` with the engine that suits their size; ``rows(name)`` gives a table.

    >>> read_logs("logs/").rows("findings")  # doctest: +SKIP
    """
    require_paths(paths)
    if chosen(engine, None, paths) == "local":
        from rebalance_kit.forensics.look import look

        return look(paths, reading)
    from rebalance_kit.pipeline.inquiry import forensics
    from rebalance_kit.pipeline.spark.session import spark_session

    return forensics(spark_session(), paths, reading=reading)


def chosen(engine: str, master: str | None, paths: Sequence[str | os.PathLike[str]]) -> str:
    """``local`` or ``spark``: as asked for, else by the size of the files; ``ConfigError`` for another word."""
    if engine not in ENGINES:
        raise ConfigError(f"--engine {engine!r}; expected {', '.join(ENGINES)}")
    if master is not None:
        if engine == "local":
            raise ConfigError(f"--engine local has no use for --master {master}; leave one of them out")
        return "spark"
    if engine != "auto":
        return engine
    few = lines_about(paths) <= FEW_FOR_SPARK or find_spec("pyspark") is None
    return "local" if few else "spark"


def lines_about(paths: Sequence[str | os.PathLike[str]]) -> int:
    """How many lines the files have, guessed by their sizes."""
    from rebalance_kit.forensics.lines.files import collect

    found, _ = collect(paths)
    return (
        sum(path.stat().st_size * (_PACKED if path.suffix == ".gz" else 1) for _, _, path in found)
        // _BYTES_A_LINE
    )


def _answer(result: Tables, stream: TextIO, *, as_json: bool) -> None:
    from rebalance_kit.forensics import report

    report.require_balance(result.rows("lines"))
    (report.print_json if as_json else report.print_report)(result, stream)


def _write(
    result: Tables,
    write: Callable[[Path], object],
    folder: Path,
    page: Callable[[Tables, Path], object] | None,
) -> None:
    """Write tables and page, unless lines were lost."""
    from rebalance_kit.forensics.report import require_balance

    require_balance(result.rows("lines"))
    write(folder)
    if page is not None:
        page(result, folder)


def _with_spark(
    paths: Sequence[str | os.PathLike[str]],
    out_dir: str | os.PathLike[str] | None,
    master: str | None,
    reading: Reading,
    stream: TextIO,
    *,
    as_json: bool,
    page: Callable[[Tables, Path], object] | None,
) -> None:
    from rebalance_kit.pipeline import output
    from rebalance_kit.pipeline.inquiry import forensics
    from rebalance_kit.pipeline.spark.session import spark_session

    with tempfile.TemporaryDirectory(prefix="rebalance-kit-") as scratch:
        result = forensics(spark_session(master), paths, Path(scratch), reading)
        if out_dir is not None:
            _write(result, lambda folder: output.write_tables(result.tables(), folder), Path(out_dir), page)
        _answer(result, stream, as_json=as_json)
        result.kept.unpersist()


def require_paths(paths: Sequence[str | os.PathLike[str]]) -> None:
    """Refuse a missing path before Spark is started for it."""
    for path in paths:
        if not Path(path).exists():
            raise DataError(f"no such file or folder: {path}; expected logs of Kafka brokers or clients")
