"""Lines per second from log text to typed events: Spark, DuckDB and plain Python on one input, in one run.

The input is the recorded runs (without the flood of rebootstrap lines), repeated up to the number of
lines asked for.  All three apply the same layouts and the same table of templates to every line and
must find the same number of events.

    python benchmarks/pipeline.py [--lines 1000000] [--threads 2]
"""

from __future__ import annotations

import argparse
import os
import re
import tempfile
import time
from pathlib import Path

from rebalance_kit.pipeline.grammar import CLUES, CLUES_AT_START, MESSAGES, NOISE, UNLAID, parse_message
from rebalance_kit.pipeline.layouts import LAYOUTS
from rebalance_kit.records.pack import run_names, unpack

_CLIENT = re.compile(
    r"(?s)^\[(?:Consumer|Worker) (?:instanceId=(.*?), )?clientId=(.*?), groupId=(.*?)\] ?(.*)$"
)
_BROKER = re.compile(r"^\[Group(?:Coordinator|MetadataManager) [^\]]*\]:? ")


def write_input(folder: Path, lines: int) -> list[Path]:
    """Plain files of about ``lines`` lines together, a sixteenth of them each."""
    import gzip

    unpack(folder / "runs")
    text = []
    for run in run_names():
        if not run.startswith("coordinator-restart"):
            for path in sorted((folder / "runs" / run).glob("*.log.gz")):
                text += gzip.decompress(path.read_bytes()).decode("utf-8").splitlines(keepends=True)
    files = []
    for place in range(16):
        path = folder / f"{place:02}.log"
        with path.open("w", encoding="utf-8") as out:
            wanted = lines // 16
            start = place * wanted
            for line in range(start, start + wanted):
                out.write(text[line % len(text)])
        files.append(path)
    return files


def with_spark(spark, files: list[Path]) -> int:
    from rebalance_kit.pipeline import silver
    from rebalance_kit.pipeline.intake import take_in
    from rebalance_kit.pipeline.survey import LogFile

    known = [LogFile("bench", path.name, path, 0) for path in files]
    taken = take_in(spark, known)
    classified = taken.classified.persist()
    found = silver.events(classified, taken.blocks).localCheckpoint().count()
    classified.unpersist()
    return found


def with_python(files: list[Path]) -> int:
    found = 0
    for path in files:
        with path.open(encoding="utf-8", newline="\n") as stream:
            for raw in stream:
                line = raw.rstrip("\n")
                if (
                    not (line.startswith(CLUES_AT_START) or any(clue in line for clue in CLUES))
                    or NOISE[0] in line
                ):
                    continue
                message, table = _message(line)
                found += bool(message and "event" in (parse_message(message, table) or {}))
    return found


_LAYOUTS = [(re.compile(one.whole), one.groups("message")) for one in LAYOUTS if one.pattern]


def _message(line):
    for pattern, groups in _LAYOUTS:
        fit = pattern.match(line)
        if fit:
            message = "".join(fit[group] or "" for group in groups)
            client = _CLIENT.match(message)
            return (client[4] if client else _BROKER.sub("", message)), MESSAGES
    return line, UNLAID


def with_duckdb(files: list[Path], threads: int) -> int:
    import duckdb

    q = lambda text: "'" + text.replace("'", "''") + "'"  # noqa: E731
    clues = " or ".join(
        [f"starts_with(text, {q(clue)})" for clue in CLUES_AT_START]
        + [f"contains(text, {q(clue)})" for clue in CLUES]
    )
    written = [one for one in LAYOUTS if one.pattern]
    layout = "".join(
        f"when {' or '.join(f'text like {q(_like(shape))}' for shape in one.begins)} then {q(one.name)} "
        for one in written
    )
    take = "".join(
        f"when layout = {q(one.name)} then "
        + " || ".join(f"regexp_extract(text, {q(one.whole)}, {place})" for place in one.groups("message"))
        + " "
        for one in written
    )
    branches = {table: _branches(table, q) for table in (MESSAGES, UNLAID)}
    query = f"""
    with lines as (select text from read_csv({[str(path) for path in files]}, columns={{'text': 'varchar'}}, delim='\x07',
                   quote='', escape='', header=false, auto_detect=false, null_padding=true)),
    hot as (select text, case {layout} end as layout from lines where ({clues}) and not contains(text, {q(NOISE[0])})),
    heads as (select layout, case {take} else text end as message from hot),
    bare as (select layout, regexp_replace(regexp_replace(message, '^\\[Group(?:Coordinator|MetadataManager) [^\\]]*\\]:? ', ''),
             '(?s)^\\[(?:Consumer|Worker) (?:instanceId=.*?, )?clientId=.*?, groupId=.*?\\] ?', '') as message from heads),
    fields as materialized (select case when layout is not null then case {branches[MESSAGES]} end else case {branches[UNLAID]} end end as fields from bare)
    select count(*) from fields where starts_with(fields, chr(1))
    """
    connection = duckdb.connect(config={"threads": threads})
    return connection.execute(query).fetchone()[0]


def _like(shape: str) -> str:
    return shape.replace("%", "_").replace("#", "_").replace("?", "_") + "%"


def _branches(table, q) -> str:
    parts = []
    for template in table:
        start, pieces = template.literals
        tests = [f"starts_with(message, {q(start)})"] if start else []
        tests += [f"contains(message, {q(piece)})" for piece in pieces]
        replacement = re.sub(r"\$(\d+)", r"\\\1", template.replacement)
        parts.append(
            f"when {' and '.join(tests)} then regexp_replace(message, {q(template.pattern)}, {q(replacement)}) "
        )
    return "".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    asked = parser.parse_args()
    from rebalance_kit.pipeline.session import spark_session

    with tempfile.TemporaryDirectory() as scratch:
        files = write_input(Path(scratch), asked.lines)
        spark = spark_session(f"local[{asked.threads}]")
        with_spark(spark, files[:1])  # class loading and compilation are measured apart
        jobs = {
            "Spark": lambda: with_spark(spark, files),
            "DuckDB": lambda: with_duckdb(files, asked.threads),
            "plain Python": lambda: with_python(files),
        }
        for name, job in jobs.items():
            begun = time.perf_counter()
            found = job()
            took = time.perf_counter() - begun
            print(f"{name:14} {took:8.2f} s  {asked.lines / took:12,.0f} lines/s  {found:,} events")
        spark.stop()


if __name__ == "__main__":
    main()
