"""Log lines of a Java consumer under the classic protocol, row by row, and those that both protocols share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from rebalance_kit.assignors.java_order import hash_map_order, partition_hash
from rebalance_kit.logs.lines import Said, bracketed, listed, say
from rebalance_kit.model.config import ClientConfig
from rebalance_kit.model.topology import TopicPartition, parse_partition
from rebalance_kit.model.trace import Detail, TraceRow
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


Render = Callable[[TraceRow, ClientState], tuple[Said, ...]]
STICKY = frozenset({"sticky", "cooperative-sticky"})
KICKED_OUT = (
    "Offset commit cannot be completed since the consumer is not part of an active group for auto partition assignment; "
    "it is likely that the consumer was kicked out of the group."
)
FENCED = "encountered FENCED_INSTANCE_ID from HEARTBEAT response"
LEAVING = "consumer pro-actively leaving the group"


# --- both protocols ----------------------------------------------------------------------------------
def subscribed(row: TraceRow, state: ClientState, kind: str) -> tuple[Said, ...]:
    """subscribe(): topics, a pattern that the client matches, or one that the broker resolves."""
    held = row.detail
    if held.get("server_pattern"):
        return state.say("subscribed_regex_consumer", pattern=held["server_pattern"])
    if held.get("pattern"):
        return state.say(f"subscribed_pattern_{kind}", pattern=held["pattern"])
    return state.say(f"subscribed_{kind}", topics=", ".join(held["topics"]))


def acted(row: TraceRow, state: ClientState) -> tuple[Said, ...]:
    """A later call of subscribe(), once the process runs."""
    held = row.detail
    if held["do"] != "subscribe" or state.ended or state.config is None:
        return ()
    said = state.say(f"subscribed_{state.config.protocol}", topics=", ".join(held["topics"]))
    if not state.frozen:
        return said
    state.asked += said
    return ()


def thawed(row: TraceRow, state: ClientState) -> tuple[Said, ...]:
    """What the application did first when it ran again."""
    said, state.asked = state.asked, ()
    return said


def callback_line(row: TraceRow, state: ClientState) -> tuple[Said, ...]:
    """The invoker's line; partitions sorted as Kafka prints them."""
    return state.say(str(row.detail["callback"]), partitions=listed(row.detail["partitions"], state.version))


def fetched(row: TraceRow, state: ClientState) -> tuple[Said, ...]:
    """Where reading begins: the rows of one moment are held until all of them are there."""
    partition = f"{row.topic}-{row.partition}"
    if row.detail["position"] is not None and partition not in state.fetching:
        state.starting.append(row)
    state.fetching.add(partition)
    return ()


def positions(state: ClientState) -> tuple[Said, ...]:
    """What was held: partitions without a committed offset, those with one, and where the former begin."""
    held, state.starting = state.starting, []
    rows = {TopicPartition(row.topic or "", row.partition or 0): row for row in held}
    ordered = [rows[tp] for tp in hash_map_order(list(rows), partition_hash)]
    unknown = [row for row in ordered if row.detail["committed"] is None]
    return (
        *(
            one
            for row in unknown
            for one in state.say(f"no_offset_{row.protocol}", partition=f"{row.topic}-{row.partition}")
        ),
        *(
            one
            for row in ordered
            if row.detail["committed"] is not None
            for one in _position("set_offset", row, "Optional[0]", state)
        ),
        *(one for row in unknown for one in _position("reset_offset", row, "Optional.empty", state)),
    )


def _position(name: str, row: TraceRow, epoch: str, state: ClientState) -> tuple[Said, ...]:
    partition = f"{row.topic}-{row.partition}"
    return state.say(
        name, partition=partition, position=row.detail["position"], epoch=epoch, leader=state.broker
    )


# --- starting and joining ------------------------------------------------------------------------------
def _started(row: TraceRow, state: ClientState) -> tuple[Said, ...]:
    return (
        *state.say("banner"),
        *state.say("version", release=state.version),
        *subscribed(row, state, "classic"),
    )


def _sent(row: TraceRow, state: ClientState) -> tuple[Said, ...]:
    held = row.detail
    state.sent[int(held["corr"])] = row
    if held["api"] == "JoinGroup":
        state.preparing = False
        found = () if state.discovered else state.say("discovered_classic", node=state.node)
        late, state.after_id = state.after_id if state.discovered else (), ()
        state.discovered = True
        return (*found, *late, *state.say("joining"))
    if held["api"] == "LeaveGroup":
        return state.say("leaving", member=row.member_id, node=state.node, reason=held["reason"])
    if held["api"] == "SyncGroup" and state.skips_assignment:
        state.skips_assignment = False
        return state.say("skipped_assignment", generation=row.generation)
    return ()


def _requested(row: TraceRow, state: ClientState) -> tuple[Said, ...]:
    reason = row.detail["reason"]
    if state.dying and reason != FENCED and not str(reason).startswith("rebalance failed"):
        return ()
    said = state.say("rejoin", reason=reason)
    if reason == FENCED:
        state.dying = True
        return (*said, *state.say("fenced_in_thread", instance=state.optional_instance))
    return said


def _prepared(row: TraceRow, state: ClientState) -> tuple[Said, ...]:
    """onJoinPrepare: after a reset the commit fails at once, is logged and ignored."""
    state.preparing = True
    if row.detail["revokes"] or not (state.read and state.auto_commits and state.away):
        return ()
    late = state.say("auto_commit_failed", offsets=state.held_offsets(), message=KICKED_OUT)
    state.after_id = late
    return (*state.say("commit_failing"), *state.say("auto_commit_ignored", message=KICKED_OUT))


def _joined(row: TraceRow, state: ClientState) -> tuple[Said, ...]:
    held = row.detail
    state.assignors[row.generation or 0] = str(held["assignor"])
    state.skips_assignment = bool(held["leader"])
    return state.say("joined", stamp=state.stamp(row.generation, row.member_id))


def _computed(row: TraceRow, state: ClientState) -> tuple[Said, ...]:
    held = row.detail
    state.skips_assignment = False
    said: tuple[Said, ...] = ()
    if held["assignor"] in STICKY:
        shares = held["printed"] or held["lists"]
        said = state.say(
            "final_assignment",
            shares=f"{{{', '.join(f'{who}={bracketed(given)}' for who, given in shares.items())}}}",
        )
    finished = ", ".join(
        f"{who}=Assignment(partitions={bracketed(given)})" for who, given in held["lists"].items()
    )
    return (*said, *state.say("finished_assignment", generation=row.generation, shares=f"{{{finished}}}"))


def as_read(partitions: Sequence[str]) -> list[str]:
    """A list as it comes out of a message, where each topic stands once (``ConsumerProtocolAssignment``)."""
    by_topic: dict[str, list[str]] = {}
    for one in partitions:
        by_topic.setdefault(parse_partition(one).topic, []).append(one)
    return [one for given in by_topic.values() for one in given]


def block(held: Detail) -> dict[str, str]:
    """The four lists of "Updating assignment with" and "Reconciling assignment"."""
    return {key: bracketed(held[key]) for key in ("assigned", "owned", "added", "revoked")}


def _synced(row: TraceRow, state: ClientState) -> tuple[Said, ...]:
    held = row.detail
    update = state.say("updating", **block(held)) if held["cooperative"] else ()
    # COOPERATIVE hands the assignor its share after the revoked callback, when there is one
    notify = state.say("notifying", assigned=bracketed(as_read(held["listed"])), user_data="")
    state.notify = notify if held["revoked"] else ()
    return (
        *state.say("synced", stamp=state.stamp(row.generation, row.member_id)),
        *update,
        *(() if held["revoked"] else notify),
    )


def _callback(row: TraceRow, state: ClientState) -> tuple[Said, ...]:
    kind = row.detail["callback"]
    if kind == "assigned":
        notify, state.notify = state.notify, ()
        return (*notify, *callback_line(row, state))
    if kind == "lost" and state.preparing:
        return (*state.say("giving_away"), *callback_line(row, state))
    if kind == "lost" and state.read and state.auto_commits and state.away:  # close() of a fenced consumer
        failed = state.say("sync_commit_failed", offsets=state.held_offsets(), message=KICKED_OUT)
        return (*state.say("commit_failing"), *failed, *callback_line(row, state))
    return callback_line(row, state)


# --- losing membership and ending ------------------------------------------------------------------------
def _reset(row: TraceRow, state: ClientState) -> tuple[Said, ...]:
    return state.say(
        "resetting",
        also="" if row.detail["member_id_kept"] else "and member id ",
        reason=row.detail["reason"],
    )


def _lost(row: TraceRow, state: ClientState) -> tuple[Said, ...]:
    """A broken connection is told apart from an answer and from silence (``markCoordinatorUnknown``)."""
    cause = str(row.detail["cause"])
    if state.refusal is not None:
        cause, disconnected = f"error response {state.refusal}", False
        state.refusal = None
    else:
        disconnected = cause in {"coordinator unavailable", "request timed out"}
        cause = "coordinator unavailable" if disconnected else cause
    state.timed_out = cause.startswith("session timed out")
    said = state.say(
        "unavailable_classic", node=state.node, cause=cause, disconnected=str(disconnected).lower()
    )
    return said if disconnected else (*said, *state.say("disconnecting", node=state.node))


def _found(row: TraceRow, state: ClientState) -> tuple[Said, ...]:
    """A look-up just after the connection was closed finds a coordinator that is unavailable (``ensureCoordinatorReady``)."""
    found = state.say("discovered_classic", node=state.node)
    if not state.timed_out:
        return found
    state.timed_out = False
    again = state.say(
        "unavailable_classic", node=state.node, cause="coordinator unavailable", disconnected="false"
    )
    return (*found, *again, *state.say("disconnecting", node=state.node), *found)


def _overdue(row: TraceRow, state: ClientState) -> tuple[Said, ...]:
    return state.say("poll_expired_classic")


def _ended(row: TraceRow, state: ClientState) -> tuple[Said, ...]:
    """close() gives the generation up, dynamic member or static."""
    if row.detail["how"] == "crash":
        return ()
    late = state.say("close_timed_out", count=1) if state.close_refused else ()
    return (
        *state.say("resetting", also="and member id ", reason=LEAVING),
        *state.say("rejoin", reason=LEAVING),
        *late,
        *state.say("unregistered", client=state.client),
    )


BOTH: Mapping[str, Render] = MappingProxyType(
    {"fetch_resumed": fetched, "progress": fetched, "action": acted, "process_thawed": thawed}
)
CLASSIC: Mapping[str, Render] = MappingProxyType(
    {
        **BOTH,
        "process_started": _started,
        "request": _sent,
        "rejoin_requested": _requested,
        "join_prepared": _prepared,
        "joined": _joined,
        "assignment_computed": _computed,
        "synced": _synced,
        "callback_begin": _callback,
        "generation_reset": _reset,
        "coordinator_lost": _lost,
        "coordinator_found": _found,
        "poll_timeout": _overdue,
        "process_ended": _ended,
    }
)
"""The lines for each kind of row of a classic consumer."""
