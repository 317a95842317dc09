"""State that a client's lines need beyond their own row: its prefix, its generation, requests in flight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rebalance_kit.assignors.java_order import hash_map_order, partition_hash
from rebalance_kit.logs.lines import Said, say
from rebalance_kit.model.config import ClientConfig
from rebalance_kit.model.topology import parse_partition
from rebalance_kit.model.trace import TraceRow
from rebalance_kit.model.versions import has

PORT = "127.0.0.1:9092"


@dataclass(slots=True, eq=False)
class ClientState:
    """Follows the rows of one member's process; renderers read it and print through ``say``."""

    name: str
    version: str
    meta: Mapping[str, Any]
    config: ClientConfig | None = None
    group: str = ""
    instance: str | None = None
    native: bool = False
    client: str = ""
    who: str = ""
    assignors: dict[int, str] = field(default_factory=dict)
    sent: dict[int, TraceRow] = field(default_factory=dict)
    positions: dict[str, int] = field(default_factory=dict)
    owned: tuple[str, ...] = ()
    generation: int | None = None
    discovered: bool = False
    preparing: bool = False
    dying: bool = False
    away: bool = False
    """The generation was reset and the group not joined since."""
    revoking: tuple[Said, ...] = ()
    close_ms: int = 30_000
    interrupted: bool = False
    """It left in the middle of a reconciliation."""
    close_refused: bool = False
    """The commit of close() was refused, and tried again until the time was up."""
    polled_ms: int = 0
    over_limit_ms: int = 0
    leaving: tuple[Said, ...] = ()
    after_id: tuple[Said, ...] = ()
    skips_assignment: bool = False
    notify: tuple[Said, ...] = ()
    refusal: str | None = None
    """The error of the answer that made the coordinator unknown, if it was an answer."""
    timed_out: bool = False
    """The coordinator was lost because heartbeats had no answer; its connection was then closed."""
    fetching: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    """Owned partitions whose records have come: their positions are valid, so that a commit names them."""
    starting: list[TraceRow] = field(default_factory=list)
    deleted: set[str] = field(default_factory=set)
    told: str | None = None
    """What the coordinator said with its last refusal."""
    ended: bool = False
    frozen: bool = False
    asked: tuple[Said, ...] = ()
    """Calls that the application makes when its frozen process runs again."""

    def __post_init__(self) -> None:
        self.client = self.client or self.name

    def next_life(self, row: TraceRow) -> ClientState:
        """The state of the process that begins with that row: it remembers nothing of the one before."""
        born = ClientState(self.name, self.version, self.meta)
        held = row.detail
        born.deleted, born.native = self.deleted, held["client"] == "librdkafka"
        born.group = str(held["group"])
        configs = {"client.id": self.name, "group.id": born.group, **held["configs"]}
        version = str(self.meta.get("kafka_version", self.version))
        born.config = ClientConfig.of(configs, version, self.name, str(held["client"]))
        born.instance = born.config.instance_id
        client = born.client = str(born.config.get("client.id") or self.name)
        instance = "" if born.instance is None else f"instanceId={born.instance}, "
        born.who = f"[Consumer {instance}clientId={client}, groupId={born.group}] "
        return born

    def see(self, row: TraceRow) -> None:
        """Take a row of this process into account after its own lines were written."""
        if row.kind == "owned":
            self.owned = tuple(row.detail["partitions"])
            self.fetching &= set(self.owned)
            self.read &= set(self.owned)
        elif row.kind == "joined" and row.generation is not None:
            self.generation, self.away = row.generation, False
        elif row.kind == "generation_reset":
            self.generation, self.away = None, True
        elif (
            row.kind in {"fetch_resumed", "fetch_stopped", "progress"} and row.detail["position"] is not None
        ):
            self.positions[f"{row.topic}-{row.partition}"] = int(row.detail["position"])
            if row.kind == "fetch_resumed":
                self.read.add(f"{row.topic}-{row.partition}")
        elif row.kind == "action" and row.detail["do"] == "close":
            self.close_ms = int(row.detail.get("timeout_ms") or self.close_ms)
        elif row.kind == "stall_begin":
            self.polled_ms = row.at_ms
        elif row.kind in {"process_frozen", "process_thawed"}:
            self.frozen = row.kind == "process_frozen"
        elif row.kind == "process_ended":
            self.ended = True

    @property
    def broker(self) -> str:
        """The broker's node as this version prints it."""
        return f"{PORT} (id: 1 rack: null{self._fenced})"

    @property
    def node(self) -> str:
        """The coordinator's node: 2147483647 less the broker's id."""
        return f"{PORT} (id: 2147483646 rack: null{self._fenced})"

    @property
    def _fenced(self) -> str:
        return " isFenced: false" if has("node-is-fenced", self.version) else ""

    def stamp(self, generation: int | None, member_id: str | None) -> str:
        """A generation as the client prints it (``AbstractCoordinator.Generation``)."""
        if generation is None:
            return f"Generation{{generationId=-1, memberId='{member_id or ''}', protocol='null'}}"
        return f"Generation{{generationId={generation}, memberId='{member_id}', protocol='{self.assignors.get(generation, 'null')}'}}"

    @property
    def optional_instance(self) -> str:
        """The group.instance.id as a Java Optional."""
        return "Optional.empty" if self.instance is None else f"Optional[{self.instance}]"

    def offsets(self, partitions: Mapping[str, Any]) -> str:
        """Offsets of a commit as Java prints a ``HashMap`` of them."""
        ordered = hash_map_order([parse_partition(str(tp)) for tp in partitions], partition_hash)
        inside = ", ".join(
            f"{tp}=OffsetAndMetadata{{offset={partitions[str(tp)]}, leaderEpoch=0, metadata=''}}"
            for tp in ordered
        )
        return f"{{{inside}}}"

    def held_offsets(self) -> str:
        """What a commit of everything consumed would name."""
        return self.offsets({tp: self.positions.get(tp, 0) for tp in self.owned if tp in self.read})

    @property
    def auto_commits(self) -> bool:
        """Whether the client commits by itself."""
        return self.config is None or self.config.auto_commit

    def say(self, name: str, **values: object) -> tuple[Said, ...]:
        """A line of this client."""
        return say(name, self.version, who=self.who, **values)
