"""From a folder of logs to the tables, in one call.

``read_events`` stops at silver and ``forensics`` continues to gold.  Both take the caller's session and
return DataFrames.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rebalance_kit.forensics.lines.files import PassedOver, Survey, survey
from rebalance_kit.forensics.tables import Row, in_order, require_table
from rebalance_kit.model.files import scratch_folder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from pyspark.sql import DataFrame, SparkSession

    from rebalance_kit.forensics.lines.layouts import Reading
    from rebalance_kit.pipeline.lines.tables import Blocks

    #: One path or several, to files and folders.
    Paths: TypeAlias = Sequence[str | os.PathLike[str]] | str | os.PathLike[str]


#: Up to this many lines, and events for the gold tables, code generation does not pay (``session.without_codegen``).
FEW_LINES, FEW_EVENTS = 20_000, 200_000


@dataclass(frozen=True, slots=True, repr=False)
class Forensics:
    """The tables of some logs; ``survey`` says which files they come from.

    ``lines`` (one row per file: lines, parsed, ignored, rejected), ``events`` (silver), ``rejected``
    (lines with the reason), and gold: ``rebalances``, ``gaps``, ``storms``, ``members``,
    ``findings``, ``groups``.  ``kept`` is as in ``Events``.
    """

    survey: Survey
    lines: DataFrame
    events: DataFrame
    rejected: DataFrame
    rebalances: DataFrame
    gaps: DataFrame
    storms: DataFrame
    members: DataFrame
    findings: DataFrame
    groups: DataFrame
    kept: DataFrame

    def __repr__(self) -> str:
        """The files and the tables with their columns; computes nothing."""
        files = self.survey.files
        lines = [f"Forensics of {len(files)} files, {sum(file.lines for file in files):,} lines; its tables:"]
        lines += [f"  .{name:<11} {', '.join(table.columns)}" for name, table in self.tables().items()]
        return "\n".join([*lines, "Try .findings.select('sentence', 'do').show(truncate=False)"])

    @property
    def period(self) -> None:
        """Not told: lines of no group are dropped before their times are read."""
        return

    @property
    def passed_over(self) -> tuple[PassedOver, ...]:
        """Files that were not read, and why."""
        return self.survey.passed_over

    def rows(self, name: str) -> list[Row]:
        """The rows of a table as dictionaries, in the table's order; for tables that a driver can hold."""
        require_table(name)
        return in_order(name, [row.asDict(recursive=True) for row in self.tables()[name].collect()])

    def tables(self) -> dict[str, DataFrame]:
        """The tables under the names of their files."""
        return {
            "lines": self.lines,
            "events": self.events,
            "rejected": self.rejected,
            "rebalances": self.rebalances,
            "gaps": self.gaps,
            "storms": self.storms,
            "members": self.members,
            "findings": self.findings,
            "groups": self.groups,
        }


@dataclass(frozen=True, slots=True)
class Events:
    """The silver tables: ``lines`` (line counts, one row per file), ``events``, ``rejected``.

    ``kept`` is the table that Spark caches for them; call ``kept.unpersist()`` after their last use.
    ``blocks`` is what is known of their files, ``folded`` the rows of the gold tables where they were folded at once.
    """

    survey: Survey
    lines: DataFrame
    events: DataFrame
    rejected: DataFrame
    kept: DataFrame
    blocks: Blocks
    folded: DataFrame | None = None


def read_events(
    spark: SparkSession,
    paths: Paths,
    salvage: Path | None = None,
    reading: Reading | None = None,
    *,
    fold: bool = False,
) -> Events:
    """Read the logs under ``paths`` up to silver: what each line is, and the events.

    ``paths`` are files and folders (every folder that holds logs is one run).  The readable part of a
    damaged file is copied into ``salvage`` (default: a temporary folder that exists as long as the process).
    ``reading`` adds what the lines do not say: layouts, year, time zone, clock offsets.  ``fold``: the gold tables
    will be asked for, so runs that are small enough are folded where they are read.  Raises ``DataError`` for a path
    that is missing or unreadable.
    """
    from rebalance_kit.pipeline.gold import one_task_each
    from rebalance_kit.pipeline.lines.classify import read_packets
    from rebalance_kit.pipeline.spark.session import without_codegen

    several = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    surveyed = survey(several, salvage or scratch_folder("logs"))
    with without_codegen(spark, small=sum(file.lines for file in surveyed.files) <= FEW_LINES):
        if fold and one_task_each(spark, surveyed.files):
            return _folded(spark, surveyed, reading)
        return silver_tables(spark, surveyed, read_packets(spark, surveyed.files, reading), reading)


def silver_tables(
    spark: SparkSession, surveyed: Survey, packets: DataFrame, reading: Reading | None
) -> Events:
    """The silver tables of packets (``classify``), from a folder or from a stream's store."""
    from rebalance_kit.pipeline.lines.tables import blocks_of

    kept = packets.persist()
    return _silver(spark, surveyed, kept, blocks_of(kept, surveyed.files, reading))


def _folded(spark: SparkSession, surveyed: Survey, reading: Reading | None) -> Events:
    """Silver and gold tables at once; whoever asks for events has the files read once more."""
    from rebalance_kit.pipeline.gold import fold_runs, pieces_of
    from rebalance_kit.pipeline.lines.classify import read_packets
    from rebalance_kit.pipeline.lines.tables import blocks_by_pieces

    folded = fold_runs(spark, surveyed.files, reading)
    blocks = blocks_by_pieces(pieces_of(folded), surveyed.files, reading)
    kept = read_packets(spark, surveyed.files, reading).persist()
    return replace(_silver(spark, surveyed, kept, blocks), folded=folded)


def _silver(spark: SparkSession, surveyed: Survey, kept: DataFrame, blocks: Blocks) -> Events:
    from rebalance_kit.pipeline.lines import tables as silver

    return Events(
        survey=surveyed,
        lines=silver.line_counts(spark, surveyed.files, blocks),
        events=silver.events(kept, blocks),
        rejected=silver.rejected(kept, blocks),
        kept=kept,
        blocks=blocks,
    )


def forensics(
    spark: SparkSession, paths: Paths, salvage: Path | None = None, reading: Reading | None = None
) -> Forensics:
    """Read the logs under ``paths`` and return their tables, silver and gold (see ``read_events``).

    >>> result = forensics(spark_session(), "logs/")             # doctest: +SKIP
    >>> result.rebalances.select("cause", "duration_ms").show()  # doctest: +SKIP
    """
    return gold(read_events(spark, paths, salvage, reading, fold=True))


def gold(silver: Events) -> Forensics:
    """The gold tables of silver ones, from a folder or from a stream's store."""
    from rebalance_kit.pipeline.gold import gold_tables, tables_in
    from rebalance_kit.pipeline.spark.session import without_codegen

    with without_codegen(silver.kept.sparkSession, small=silver.blocks.events <= FEW_EVENTS):
        return Forensics(
            survey=silver.survey,
            lines=silver.lines,
            events=silver.events,
            rejected=silver.rejected,
            kept=silver.kept,
            **(
                gold_tables(silver.kept, silver.blocks) if silver.folded is None else tables_in(silver.folded)
            ),
        )
