"""The command ``rebalance-kit logs``: chooses the engine, writes the tables, prints a report or JSON lines."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from rebalance_kit.forensics.answer.answer import Answer
from rebalance_kit.forensics.answer.wishes import Wishes
from rebalance_kit.forensics.lines.pipes import STANDARD_INPUT
from rebalance_kit.forensics.tables import PAGE, TABLES
from rebalance_kit.model.errors import ConfigError, DataError, RebalanceKitError, require_kind
from rebalance_kit.model.files import scratch_for
from rebalance_kit.pipeline.output import note_written, refuse_foreign

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TextIO

    from rebalance_kit.forensics.lines.layouts import Reading
    from rebalance_kit.forensics.look import Look
    from rebalance_kit.forensics.tables import Tables
    from rebalance_kit.pipeline.inquiry import Events, Forensics


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
    match = re.fullmatch(r"(.+)=([+-]?[0-9]{1,12}(?:\.[0-9]{1,9})?)(ms|s|m|h)", text)
    if match is None:
        raise ConfigError(
            f"--offset {text!r}; expected PATTERN=SECONDS, for instance 'broker-2*=+2.5s' or 'c1*=-2h'"
        )
    return match[1], round(float(match[2]) * {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}[match[3]])


#: Which engine reads the logs: by their size, this process, or Spark.
ENGINES = ("auto", "local", "spark")

#: Up to about this many lines, Spark is started small.
FEW_FOR_SPARK = 1_000_000

#: Measured on two cores with 2 M lines (local 5.1 to 5.4 s, Spark 19.2 s) and, beside others, 8 M (32.6 and 44.4 s): seconds a line of this process, which other processes
#: read for; Spark's seconds a line and core, and until it reads; what the local engine holds of a line in memory.
_SECONDS_A_LINE, _SPARK_SECONDS_A_LINE, _SPARK_STARTS_S, _HELD_BYTES = 2.7e-6, 3.2e-6, 16.0, 450

#: From so many lines on, processes of their own read them: each takes 0.25 s to start.
_MANY = 150_000

#: The mean length of a line, and the usual ratio of compression.
_BYTES_PER_LINE, _GZIP_RATIO = 140, 12


def run_logs(
    paths: Sequence[str | os.PathLike[str]],
    out_dir: str | os.PathLike[str] | None = None,
    master: str | None = None,
    as_json: bool = False,
    out: TextIO | None = None,
    page: Callable[[Tables, Path], object] | None = None,
    options: ReadingOptions | None = None,
    engine: str = "auto",
    books: bool = False,
    answer: Answer | None = None,
) -> int:
    """Run ``rebalance-kit logs``: read ``paths``, write tables to ``out_dir``, print the report.

    ``page`` writes a page beside the tables.  ``engine`` is one of ``ENGINES``; a ``master`` means Spark.
    ``answer`` says what is printed and what counts as trouble (as it stands: the whole report, and nothing does).
    Returns its status (see ``forensics.answer.verdict``), or 2 with a message on standard error when an input is
    missing or damaged beyond use.
    """
    stream = out or sys.stdout
    wanted = answer or Answer(
        "json" if as_json else "report", Wishes(fail_on="never"), books=books, strict=False
    )
    try:
        wanted.wishes.check()
        require_paths(paths)
        if out_dir is not None:
            refuse_foreign(Path(out_dir), (*TABLES, PAGE))
        reading = reading_of(options or ReadingOptions())
        if chosen(engine, master, paths) == "local":
            result = _look(paths, reading)
            if out_dir is not None:
                from rebalance_kit.pipeline.output import write_rows

                _write(result, lambda folder: write_rows(result, folder), Path(out_dir), page)
            status = _print(result, stream, wanted)
            if result.interrupted:
                raise KeyboardInterrupt
        else:
            status = _with_spark(paths, out_dir, master, reading, stream, wanted, page)
    except RebalanceKitError as problem:
        sys.stderr.write(f"rebalance-kit logs: {problem}\n")
        return 2
    return status


def _look(paths: Sequence[str | os.PathLike[str]], reading: Reading) -> Look:
    """A look with a bar at a terminal; Ctrl-C ends it, and what is known by then is told."""
    from rebalance_kit.forensics.lines.pipes import standard_input_ended_early
    from rebalance_kit.forensics.look import Listener, look
    from rebalance_kit.forensics.progress import Progress, stop_signals

    progress = Progress(lines_about(paths))
    with stop_signals() as stop:
        listener = Listener(progress.on_lines, progress.on_run, stop.is_set)
        result = look(paths, reading, listener, readers_for(lines_about(paths)))
    progress.done()
    result.interrupted = result.interrupted or standard_input_ended_early()
    return result


def read_logs(
    *paths: str | os.PathLike[str], engine: str = "auto", reading: Reading | None = None
) -> Look | Forensics:
    """Read the logs under ``paths`` with the engine that suits their size; ``rows(name)`` gives a table.

    >>> read_logs("logs/").rows("findings")  # doctest: +SKIP
    """
    require_paths(paths)
    if chosen(engine, None, paths) == "local":
        from rebalance_kit.forensics.look import look

        return look(paths, reading, processes=readers_for(lines_about(paths)))
    from rebalance_kit.pipeline.inquiry import forensics
    from rebalance_kit.pipeline.spark.session import spark_session

    return forensics(spark_session(), paths, reading=reading)


def chosen(engine: str, master: str | None, paths: Sequence[str | os.PathLike[str]]) -> str:
    """``local`` or ``spark``: as asked for, else by the size of the files (standard input is read here).

    ``ConfigError`` for another word.
    """
    if engine not in ENGINES:
        raise ConfigError(f"--engine {engine!r}; expected {', '.join(ENGINES)}")
    if master is not None:
        if engine == "local":
            raise ConfigError(f"--engine local has no use for --master {master}; leave one of them out")
        return "spark"
    if engine != "auto":
        return engine
    piped = any(os.fspath(path) == STANDARD_INPUT for path in paths)
    if piped or find_spec("pyspark") is None:
        return "local"
    return "local" if local_is_quicker(lines_about(paths), _cores(), _free_bytes()) else "spark"


def readers_for(lines: int) -> int:
    """How many processes read so many lines: one for each core, or this one alone where they are soon read."""
    return 1 if lines < _MANY or sys.platform == "emscripten" else _cores()


def _cores() -> int:
    """The cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def local_is_quicker(lines: int, cores: int, free_bytes: int | None) -> bool:
    """Whether this process reads so many lines sooner than Spark would on so many cores, in half of the free memory.

    >>> local_is_quicker(2_000_000, 2, 16 << 30), local_is_quicker(20_000_000, 8, 16 << 30), local_is_quicker(2_000_000, 2, 1 << 30)
    (True, False, False)
    """
    alone = lines * _SECONDS_A_LINE
    by_spark = _SPARK_STARTS_S + lines * _SPARK_SECONDS_A_LINE / max(1, cores)
    fits = free_bytes is None or lines * _HELD_BYTES <= free_bytes // 2
    return fits and alone <= by_spark


def _free_bytes() -> int | None:
    """The memory that is free; None where the system does not tell."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def lines_about(paths: Sequence[str | os.PathLike[str]]) -> int:
    """An estimate of the number of lines, from the sizes of the files."""
    from rebalance_kit.forensics.lines.files import collect

    files, _ = collect(paths, damaged_too=True)
    return (
        sum(path.stat().st_size * (_GZIP_RATIO if path.suffix == ".gz" else 1) for _, _, path in files)
        // _BYTES_PER_LINE
    )


def _print(result: Tables, stream: TextIO, answer: Answer) -> int:
    """Print the answer; returns its status."""
    from rebalance_kit.forensics.report import require_balance

    require_balance(result.rows("lines"))
    if answer.form == "json":
        for one in result.passed_over:
            if one.damaged:
                sys.stderr.write(f"rebalance-kit logs: {one.path} {one.why}\n")
    return answer.tell(result, stream)


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
        refuse_foreign(folder, (PAGE,))
        page(result, folder)
        note_written(folder, (PAGE,))


def _with_spark(
    paths: Sequence[str | os.PathLike[str]],
    out_dir: str | os.PathLike[str] | None,
    master: str | None,
    reading: Reading,
    stream: TextIO,
    answer: Answer,
    page: Callable[[Tables, Path], object] | None,
) -> int:
    from rebalance_kit.pipeline import output
    from rebalance_kit.pipeline.inquiry import gold, read_events
    from rebalance_kit.pipeline.spark.session import command_session

    silver: Events | None = None
    few = lines_about(paths) <= FEW_FOR_SPARK
    with scratch_for("logs") as scratch, command_session(master, few=few) as spark:
        try:
            silver = read_events(spark, paths, scratch, reading, fold=True)
            result = gold(silver)
            if out_dir is not None:
                _write(
                    result, lambda folder: output.write_tables(result.tables(), folder), Path(out_dir), page
                )
            status = _print(result, stream, answer)
        except KeyboardInterrupt:
            if answer.form in {"screen", "report"}:
                _print_known(silver, stream)
            raise
        result.kept.unpersist()
    return status


def _print_known(silver: Events | None, stream: TextIO) -> None:
    """What an interrupted look knows: with Spark the groups come together at the end, the lines' sums before."""
    if silver is None:
        print(
            "Interrupted while the lines were read: nothing is known yet. With --engine local each file is "
            "known when it is read.",
            file=stream,
        )
        return
    parsed, ignored, rejected, lines = (
        sum(row[name] for row in silver.lines.collect())
        for name in ("parsed", "ignored", "rejected", "lines")
    )
    print(
        f"Interrupted before the groups were told. Known: {parsed} parsed + {ignored} ignored + {rejected} "
        f"rejected = {lines} lines, of {len(silver.survey.files)} files.",
        file=stream,
    )


def require_paths(paths: Sequence[str | os.PathLike[str]]) -> None:
    """Refuse a missing path before Spark is started for it."""
    for path in paths:
        require_kind(path, (str, os.PathLike), "a path", "a file or folder of logs; give several one by one")
        if os.fspath(path) != "-" and not Path(path).exists():
            raise DataError(f"no such file or folder: {path}; expected logs of Kafka brokers or clients")
