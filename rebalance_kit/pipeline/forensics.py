"""From a folder of logs to the tables, in one call.

``read_events`` goes as far as silver, ``forensics`` on to gold.  Both take the caller's session and
return DataFrames.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rebalance_kit.forensics.lines.files import Survey, survey

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from pyspark.sql import DataFrame, SparkSession

    from rebalance_kit.forensics.lines.layouts import Reading

    #: One path or several, to files and folders.
    Paths: TypeAlias = Sequence[str | os.PathLike[str]] | str | os.PathLike[str]


#: Up to so many lines, and events for the tables of gold, a plan is run as it is (see ``session.plainly``).
FEW_LINES, FEW_EVENTS = 20_000, 200_000


@dataclass(frozen=True, slots=True, repr=False)
class Forensics:
    """The tables of one look at some logs; ``survey`` says which files they come from.

    ``lines`` (one row a file: lines, parsed, ignored, rejected), ``events`` (silver), ``rejected``
    (lines with the reason), and gold: ``rebalances``, ``gaps``, ``storms``, ``members``,
    ``findings``, ``groups``.  ``kept`` as in ``Events``.
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
        """What was read, and the tables with their columns; nothing is computed for it."""
        files = self.survey.files
        lines = [f"Forensics of {len(files)} files, {sum(file.lines for file in files):,} lines; its tables:"]
        lines += [f"  .{name:<11} {', '.join(table.columns)}" for name, table in self.tables().items()]
        return "\n".join([*lines, "Try .findings.select('sentence', 'do').show(truncate=False)"])

    def tables(self) -> dict[str, DataFrame]:
        """The tables by the names they are written under."""
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
    """The silver tables: ``lines`` (one row a file, the books), ``events``, ``rejected``.

    ``kept`` is what Spark holds for them; ``kept.unpersist()`` gives it back when they are done with.
    """

    survey: Survey
    lines: DataFrame
    events: DataFrame
    rejected: DataFrame
    kept: DataFrame


def read_events(
    spark: SparkSession, paths: Paths, salvage: Path | None = None, reading: Reading | None = None
) -> Events:
    """Read the logs under ``paths`` up to silver: what every line is, and the events in them.

    ``paths`` are files and folders (every folder that holds logs is one run).  Damaged files are
    copied, as far as they can be read, into ``salvage`` (default: a temporary folder that lives as
    long as the process).  ``reading`` says what the lines do not: layouts, year, zone, clocks.  Raises
    ``DataError`` for a path that is missing or unreadable.
    """
    from rebalance_kit.pipeline.lines.classify import read_classified
    from rebalance_kit.pipeline.spark.session import plainly

    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    found = survey(given, salvage or _salvage_folder())
    with plainly(spark, small=sum(file.lines for file in found.files) <= FEW_LINES):
        return settle(spark, found, read_classified(spark, found.files, reading).persist(), reading)


def settle(spark: SparkSession, found: Survey, classified: DataFrame, reading: Reading | None) -> Events:
    """The silver tables of classified lines (``intake.classify``), wherever those come from."""
    from rebalance_kit.pipeline.lines import accounting, silver
    from rebalance_kit.pipeline.lines.classify import blocks_of

    blocks = blocks_of(classified, found.files, reading)
    return Events(
        survey=found,
        lines=accounting.line_counts(spark, classified, found.files),
        # A checkpoint ends the plan: what is joined with itself later starts from rows, not from text.
        events=silver.events(classified, blocks, reading).localCheckpoint(),
        rejected=silver.rejected(classified, blocks),
        kept=classified,
    )


def forensics(
    spark: SparkSession, paths: Paths, salvage: Path | None = None, reading: Reading | None = None
) -> Forensics:
    """Read the logs under ``paths`` and return their tables, silver and gold (see ``read_events``).

    >>> result = forensics(spark_session(), "logs/")             # doctest: +SKIP
    >>> result.rebalances.select("cause", "duration_ms").show()  # doctest: +SKIP
    """
    return gold(read_events(spark, paths, salvage, reading))


def gold(silver: Events) -> Forensics:
    """The gold tables of silver ones, wherever those come from: a folder, or a stream's store."""
    from rebalance_kit.pipeline.spark.session import plainly

    with plainly(silver.events.sparkSession, small=silver.events.count() <= FEW_EVENTS):
        return _gold(silver)


def _gold(silver: Events) -> Forensics:
    from rebalance_kit.pipeline.findings import table as findings
    from rebalance_kit.pipeline.gold import (
        gaps,
        groups,
        members,
        movements,
        rebalances,
        storms,
        subscriptions,
    )
    from rebalance_kit.pipeline.gold import member_fates as fates
    from rebalance_kit.pipeline.gold import member_names as names
    from rebalance_kit.pipeline.gold import topic_causes as motives

    events = silver.events
    known = names.member_names(events).localCheckpoint()
    explained = (
        rebalances.rebalances(events, known)
        .localCheckpoint()
        .transform(lambda table: fates.with_fates(table, events))
        .transform(lambda table: motives.with_native_reasons(table, events))
        .transform(lambda table: motives.with_topics(table, events))
        .localCheckpoint()
        .transform(lambda table: subscriptions.with_subscriptions(table, events))
        .transform(lambda table: fates.with_waits(table, events))
        .transform(fates.with_cause)
        .transform(lambda table: movements.with_movements(table, events))
        .localCheckpoint()
    )
    spells = storms.storms(explained).localCheckpoint()
    told = findings.findings(events, explained, spells, known).localCheckpoint()
    return Forensics(
        survey=silver.survey,
        lines=silver.lines,
        events=events,
        rejected=silver.rejected,
        rebalances=explained.select(*rebalances.REBALANCES),
        gaps=gaps.gaps(events, known).localCheckpoint(),
        storms=spells,
        members=members.members(events, known).localCheckpoint(),
        findings=told,
        groups=groups.groups(events, explained, told, known).localCheckpoint(),
        kept=silver.kept,
    )


def _salvage_folder() -> Path:
    folder = tempfile.TemporaryDirectory(prefix="rebalance-kit-")
    _SALVAGED.append(folder)
    return Path(folder.name)


#: Kept only so that the folders live until the process ends, and are removed then.
_SALVAGED: list[tempfile.TemporaryDirectory[str]] = []
