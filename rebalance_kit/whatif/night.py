"""What logs tell of one group's night: members and their lives, topics, configurations, and what was done to them.

Everything carries its ground: the line that says it, or the word that it is assumed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class Ground(NamedTuple):
    """Where something comes from: a file and a line, or (without a file) why it is assumed."""

    file: str = ""
    line: int = 0
    why: str = ""

    def __str__(self) -> str:
        """``broker.log:1475``, with the reasoning behind it where there is one."""
        place = f"{self.file.rsplit('/', 1)[-1]}:{self.line}" if self.file else "assumed"
        return f"{place}, {self.why}" if self.why else place


@dataclass(slots=True)
class Deed:
    """Something done at ``at_ms`` (of the logs' clock), give or take ``within_ms``; ``do`` is an action of scenarios."""

    at_ms: int
    do: str
    member: str | None
    ground: Ground
    args: Mapping[str, object] = field(default_factory=dict)
    within_ms: int = 0


@dataclass(slots=True)
class Member:
    """A member by the name of its client, with its configuration at its first start."""

    name: str
    client: str = "java"
    #: Kafka's version as its process prints it: its defaults are those of that one.
    version: str = ""
    topics: tuple[str, ...] = ()
    pattern: str | None = None
    configs: dict[str, tuple[str, Ground]] = field(default_factory=dict)
    instance: str | None = None
    #: Whether the log of its process is among the files.
    told: bool = False
    #: Whether it was running when the logs begin.
    before: bool = False

    def milliseconds(self, key: str, default: int) -> int:
        """A setting in ms."""
        found = self.configs.get(key)
        return int(found[0]) if found is not None else default


@dataclass(slots=True)
class Observed:
    """What the logs say happened from the first deed to the end, in the measures of a run."""

    rounds: int = 0
    removals: tuple[tuple[str, str], ...] = ()
    #: When each session ended, and when each rebalance began, in seconds of the night.
    expiries_s: tuple[float, ...] = ()
    began_s: tuple[float, ...] = ()
    partitions_unread: int = 0
    longest_gap_s: float = 0.0
    unread_partition_s: float = 0.0
    #: Seconds from the first line to the last of each rebalance.
    lasted_s: tuple[float, ...] = ()


@dataclass(slots=True)
class Night:
    """One group's night. Times are ms since 1970; ``missing`` and ``outside`` are sentences."""

    group: str
    begin_ms: int
    end_ms: int
    protocol: str
    kafka_version: str
    topics: dict[str, tuple[int, Ground]] = field(default_factory=dict)
    rate_per_s: dict[str, float] = field(default_factory=dict)
    members: dict[str, Member] = field(default_factory=dict)
    deeds: list[Deed] = field(default_factory=list)
    broker: dict[str, tuple[str, Ground]] = field(default_factory=dict)
    #: The one broker that holds every replica, where there is but one.
    only_node: int | None = None
    #: Whether the coordinator's log is there: it says who was expelled, and who left.
    removals_known: bool = False
    observed: Observed = field(default_factory=Observed)
    #: What is assumed for want of a line.
    assumed: list[str] = field(default_factory=list)
    #: What happened and cannot be repeated from these logs: no counterfactual then.
    unknown: str = ""
    #: Logs or lines that would tell more.
    missing: list[str] = field(default_factory=list)
    #: What the logs tell and the engine does not repeat.
    outside: list[str] = field(default_factory=list)

    #: The same night under the other clocks that the lines allow, where they tell none.
    also: tuple[Night, ...] = ()
    #: Whether the clocks chosen here are the defaults, which half of the draws have then.
    plain: bool = False

    @property
    def gaps_known(self) -> bool:
        """Whether every member's own lines say what it was assigned."""
        return all(member.told and member.client == "java" for member in self.members.values())
