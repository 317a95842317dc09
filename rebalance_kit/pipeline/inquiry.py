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

from rebalance_kit.pipeline.survey import Survey, survey

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from pyspark.sql import DataFrame, SparkSession

    #: One path or several, to files and folders.
    Paths: TypeAlias = Sequence[str | os.PathLike[str]] | str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Forensics:
    """The tables of one look at some logs; ``survey`` says which files they come from.

    ``lines`` (one row a file: lines, parsed, ignored, rejected), ``events`` (silver), ``rejected``
    (lines with the reason), and gold: ``rebalances``, ``pauses``, ``members``, ``findings``,
    ``groups``.  ``kept`` as in ``Events``.
    """

    survey: Survey
    lines: DataFrame
    events: DataFrame
    rejected: DataFrame
    rebalances: DataFrame
    pauses: DataFrame
    members: DataFrame
    findings: DataFrame
    groups: DataFrame
    kept: DataFrame

    def tables(self) -> dict[str, DataFrame]:
        """The tables by the names they are written under."""
        return {
            "lines": self.lines,
            "events": self.events,
            "rejected": self.rejected,
            "rebalances": self.rebalances,
            "pauses": self.pauses,
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


def read_events(spark: SparkSession, paths: Paths, salvage: Path | None = None) -> Events:
    """Read the logs under ``paths`` up to silver: what every line is, and the events in them.

    ``paths`` are files and folders (every folder that holds logs is one run).  Damaged files are
    copied, as far as they can be read, into ``salvage`` (default: a temporary folder that lives as
    long as the process).  Raises ``DataError`` for a path that is missing or unreadable.
    """
    from rebalance_kit.pipeline import accounting, bronze, names, silver

    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    found = survey(given, salvage or _salvage_folder())
    classified = silver.classify(bronze.read_lines(spark, found.files)).persist()
    blocks = bronze.measure_blocks(classified)
    # A checkpoint ends the plan: what is joined with itself later starts from rows, not from text.
    parsed = silver.events(classified, blocks).localCheckpoint()
    return Events(
        survey=found,
        lines=accounting.line_counts(spark, classified, found.files),
        events=parsed.transform(names.with_clients).localCheckpoint(),
        rejected=silver.rejected(classified, blocks),
        kept=classified,
    )


def forensics(spark: SparkSession, paths: Paths, salvage: Path | None = None) -> Forensics:
    """Read the logs under ``paths`` and return their tables, silver and gold (see ``read_events``)."""
    from rebalance_kit.pipeline import fates, findings, groups, members, names, pauses, rebalances

    silver = read_events(spark, paths, salvage)
    events = silver.events
    known = names.member_names(events).localCheckpoint()
    explained = (
        rebalances.rebalances(events, known)
        .localCheckpoint()
        .transform(lambda table: fates.with_fates(table, events))
        .transform(lambda table: fates.with_topics(table, events))
        .localCheckpoint()
        .transform(lambda table: fates.with_subscriptions(table, events))
        .transform(fates.with_cause)
        .localCheckpoint()
    )
    told = findings.findings(events, explained, known).localCheckpoint()
    return Forensics(
        survey=silver.survey,
        lines=silver.lines,
        events=events,
        rejected=silver.rejected,
        rebalances=explained.select(*rebalances.REBALANCES, "fate", "topics"),
        pauses=pauses.pauses(events, known),
        members=members.members(events, known),
        findings=told,
        groups=groups.groups(events, explained, told, known),
        kept=silver.kept,
    )


def _salvage_folder() -> Path:
    folder = tempfile.TemporaryDirectory(prefix="rebalance-kit-")
    _SALVAGED.append(folder)
    return Path(folder.name)


#: Kept only so that the folders live until the process ends, and are removed then.
_SALVAGED: list[tempfile.TemporaryDirectory[str]] = []
