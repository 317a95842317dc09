"""A run as the page plays it: tracks of states by number, so that time moves without the kernel.

Every distinct state stands once in a table; a track is ``[wait, state, wait, state, ...]`` with waits
in ms. The page looks states up, counts seconds, and draws; it knows no rule of Kafka. ``docs/film.md``
describes every key; the page refuses a film of another version than its own.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.board.group_records import PARKING, PHASES
from rebalance_kit.view.board.states import GroupState, MemberState, PartitionState
from rebalance_kit.view.board.track import Track
from rebalance_kit.view.kinds import SEATS
from rebalance_kit.view.style.theme import looks
from rebalance_kit.view.words.moment import sentence

VERSION = 5
"""Of the format; raised with every change of it, here and in ``page/lab/film/format.js``."""
POSITIONS_UP_TO = 64
MESSAGES_UP_TO = 4000
SENTENCES_UP_TO = 600
POLL_MS = 300_000
"""max.poll.interval.ms unless it is set (ConsumerConfig)."""
HEARTBEATS = {"classic": "Heartbeat", "consumer": "ConsumerGroupHeartbeat"}
APIS = {
    **dict.fromkeys(HEARTBEATS.values(), "heartbeat"),
    "OffsetCommit": "commit",
    **dict.fromkeys(sorted(PARKING), "waits"),
}
"""What the page treats alike: heartbeats, commits, and requests whose answer may be kept waiting."""
QUIET = frozenset(api for api, kind in APIS.items() if kind in {"heartbeat", "commit"})
STEPS = {
    "classic": ["Empty", "PreparingRebalance", "CompletingRebalance", "Stable"],
    "consumer": ["Empty", "Assigning", "Reconciling", "Stable"],
}
"""States of a group in the order in which a rebalance goes through them."""
H = TypeVar("H", bound=Hashable)


class _Table(Generic[H]):
    """Distinct values by number, in order of first use."""

    def __init__(self) -> None:
        self.rows: dict[H, int] = {}

    def number(self, value: H) -> int:
        return self.rows.setdefault(value, len(self.rows))

    def values(self) -> list[H]:
        return list(self.rows)


def film(boards: Boards, since_ms: int = 0) -> dict[str, object]:
    """Everything the page needs to play a run, as JSON values; sentences from ``since_ms`` on."""
    return {**what_happens(boards), **what_sessions_decide(boards, since_ms)}


def what_sessions_decide(boards: Boards, since_ms: int) -> dict[str, object]:
    """The part of a film that other session timeouts change before anything happens otherwise."""
    members: _Table[tuple[object, ...]] = _Table()
    tracks = [_coded(_with_session(boards, name), members) for name in boards.names]
    return {
        "end": boards.end_ms,
        "memberStates": [list(state) for state in members.values()],
        "memberTracks": tracks,
        "sentences": _sentences(boards, since_ms),
    }


def what_happens(boards: Boards) -> dict[str, object]:
    """All the rest of a film."""
    number = {name: index for index, name in enumerate(boards.names)}
    partitions: _Table[PartitionState] = _Table()
    groups: _Table[tuple[object, ...]] = _Table()
    partition_tracks = [_coded(track, partitions) for track in boards.partitions.values()]
    group_track = _group_track(boards, groups)
    return {
        "version": VERSION,
        "label": boards.trace.label,
        "group": boards.group_name,
        "settled": boards.settled_ms() or 0,
        "steps": STEPS,
        "heartbeats": HEARTBEATS,
        "apis": APIS,
        "seats": SEATS,
        "members": [
            [look.name, look.label, (look.number - 1) % 12 + 1, (look.number - 1) // 12 % 5]
            for look in looks(boards.names).values()
        ],
        "partitions": list(boards.partitions),
        "partitionStates": [_numbered(state, number) for state in partitions.values()],
        "groupStates": [list(state) for state in groups.values()],
        "seatTracks": _seat_tracks(boards),
        "partitionTracks": partition_tracks,
        "groupTrack": group_track,
        "beats": [_waits(_thinned(boards, name)) for name in boards.names],
        "polls": _silent(boards),
        "positions": _positions(boards),
        "marks": [list(mark) for mark in boards.marks],
        "deliveries": _deliveries(boards, number),
        "callbacks": _waits(sorted({row.at_ms for row in boards.trace.of("callback_begin")})),
        "messages": _messages(boards, number),
    }


def glance_bytes(boards: Boards, since_ms: int, end_ms: int) -> bytes:
    """The film of a run that is known only up to ``boards.end_ms``; before ``since_ms`` it says no sentences."""
    return deflated({**film(boards, since_ms), "end": end_ms, "known": boards.end_ms}, 1)


def film_bytes(boards: Boards, since_ms: int = 0, level: int = 9) -> bytes:
    """The film as compact JSON, deflated (the page inflates it); the same bytes for the same run.

    It says sentences from ``since_ms`` on; a lower ``level`` deflates faster.
    """
    return deflated(film(boards, since_ms), level)


class Deflated:
    """The film of a run as far as it is known, deflated but for what sessions decide: with other ones it is soon made."""

    def __init__(self, boards: Boards, since_ms: int) -> None:
        self._since_ms = since_ms
        begun = zlib.compressobj(1)
        self._head = begun.compress(compact(what_happens(boards))[:-1] + b",")
        self._begun = begun

    def film(self, boards: Boards, end_ms: int) -> bytes:
        """The film of ``boards``, which differ in their sessions alone, of a run that ends then."""
        rest = {**what_sessions_decide(boards, self._since_ms), "end": end_ms, "known": boards.end_ms}
        more = self._begun.copy()
        return self._head + more.compress(compact(rest)[1:]) + more.flush()


def deflated(content: object, level: int) -> bytes:
    """Values as compact JSON, deflated."""
    return zlib.compress(compact(content), level)


def compact(content: object) -> bytes:
    """Values as compact JSON."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def _coded(track: Track[H], table: _Table[H]) -> list[int]:
    flat: list[int] = []
    before = 0
    for at_ms, state in zip(track.times, track.states, strict=True):
        flat += (at_ms - before, table.number(state))
        before = at_ms
    return flat


def _with_session(boards: Boards, name: str) -> Track[tuple[object, ...]]:
    """A member's states, each with the session timeout that the coordinator counts.

    0: a parked JoinGroup or SyncGroup holds it. None: there is no session.
    """

    def session_ms(state: MemberState) -> int | None:
        if state.standing not in {"member", "away"}:
            return None
        return 0 if state.parked is not None else boards.session_ms(name, state.protocol)

    track = boards.members[name]
    return Track(track.times, [(*state, session_ms(state)) for state in track.states])


def _group_track(boards: Boards, table: _Table[tuple[object, ...]]) -> list[int]:
    """The group without its waiting room, which the seats of the members tell."""
    bare: Track[tuple[object, ...]] = Track()
    for at_ms, state in zip(boards.group.times, boards.group.states, strict=True):
        row = (
            state.state,
            state.protocol,
            state.generation,
            state.target_epoch,
            state.assignor,
            state.reason,
        )
        bare.push(at_ms, (*row, int(state.up), PHASES.get(state.state), len(state.former)))
    return _coded(bare, table)


def _seat_tracks(boards: Boards) -> list[list[int]]:
    """Of each member: its place in the waiting room, as numbers of ``SEATS``."""
    tracks: dict[str, Track[int]] = {name: Track([0], [0]) for name in boards.names}
    seated: dict[str, int] = {}
    for at_ms, state in zip(boards.group.times, boards.group.states, strict=True):
        now = _seats(state)
        for name in {name for name, _ in seated.items() ^ now.items()}:
            if name in tracks:
                tracks[name].push(at_ms, now.get(name, 0))
        seated = now
    return [_numbered_track(track) for track in tracks.values()]


def _seats(state: GroupState) -> dict[str, int]:
    """Who is in the waiting room; a member that is on its way and awaited is awaited."""
    coming = dict.fromkeys(state.coming, SEATS.index("coming"))
    awaited = dict.fromkeys(state.awaited, SEATS.index("awaited"))
    return {**coming, **awaited, **dict.fromkeys(state.joined, SEATS.index("joined"))}


def _numbered_track(track: Track[int]) -> list[int]:
    return [number for pair in zip(_waits(track.times), track.states, strict=True) for number in pair]


def _waits(times: Iterable[int]) -> list[int]:
    waits, before = [], 0
    for at_ms in times:
        waits.append(at_ms - before)
        before = at_ms
    return waits


def _numbered(state: PartitionState, number: dict[str, int]) -> list[object]:
    """A partition's state with members by number: owner, word, flows, last owner, target, also."""

    def of(name: str | None) -> int:
        return -1 if name is None else number.get(name, -1)

    return [
        of(state.owner),
        state.word,
        int(state.flows),
        of(state.last_owner),
        of(state.target),
        [of(name) for name in state.also],
    ]


def _thinned(boards: Boards, name: str) -> list[int]:
    """Heartbeats of a member; those of one moment once."""
    return sorted(set(boards.beats.get(name, ())))


def _silent(boards: Boards) -> list[list[int]]:
    """Of each member whose application once did not call poll(): max.poll.interval.ms, then from when until when."""
    limits: dict[str, int] = {}
    begun: dict[str, int] = {}
    spans: dict[str, list[int]] = {}
    for row in boards.trace.of(
        "process_started", "stall_begin", "stall_end", "poll_timeout", "process_ended"
    ):
        name = row.actor
        if row.kind == "process_started":
            limits[name] = int(row.detail.get("configs", {}).get("max.poll.interval.ms", POLL_MS))
        if row.kind == "stall_begin":
            begun[name] = row.at_ms
            continue
        since = begun.pop(name, None)
        if row.kind == "poll_timeout":
            spans.setdefault(name, []).extend((row.at_ms - row.detail["limit_ms"], row.at_ms))
        elif since is not None:
            spans.setdefault(name, []).extend((since, row.at_ms))
    for name, since in begun.items():
        spans.setdefault(name, []).extend((since, boards.end_ms))
    return [[limits.get(name, POLL_MS), *spans[name]] if name in spans else [] for name in boards.names]


def _sentences(boards: Boards, since_ms: int) -> dict[str, object]:
    """Sentences by number, and when which one is said; a long run speaks at even steps."""
    words: _Table[str] = _Table()
    track: list[int] = []
    last: tuple[int, int] | None = None
    before = 0
    for board in boards.walk(_speaking_times(boards, since_ms)):
        spoken, at_ms = sentence(board), board.at_ms
        now = (words.number(spoken.cause), words.number(spoken.effect))
        if now != last:
            track += (at_ms - before, *now)
            before, last = at_ms, now
    return {"words": words.values(), "track": track}


def _speaking_times(boards: Boards, since_ms: int) -> list[int]:
    times = [at_ms for at_ms in boards.change_times if at_ms >= since_ms]
    if len(times) <= SENTENCES_UP_TO:
        return list(times)
    step = max(20, boards.end_ms // (SENTENCES_UP_TO * 4))
    last_of_step = {at_ms // step: at_ms for at_ms in times}
    spoken = sorted(last_of_step.values())
    thin = max(1, len(spoken) // SENTENCES_UP_TO)
    return spoken[::thin] if spoken[-1] in spoken[::thin] else [*spoken[::thin], spoken[-1]]


def _positions(boards: Boards) -> list[list[int]] | None:
    """Looks at each partition: wait, position, log end, committed (-1: none), each as a difference."""
    if len(boards.partitions) > POSITIONS_UP_TO:
        return None
    looked_at = []
    for name in boards.partitions:
        flat: list[int] = []
        last = (0, 0, 0, 0)
        for at_ms, position in boards.positions.get(name, ()):
            now = (
                at_ms,
                position.position,
                position.log_end,
                -1 if position.committed is None else position.committed,
            )
            flat += (after - earlier for after, earlier in zip(now, last, strict=True))
            last = now
        looked_at.append(flat)
    return looked_at


def _deliveries(boards: Boards, number: dict[str, int]) -> list[list[object]]:
    """Records that come twice or are skipped: moment, kind, partition and member by number, how many, first offset."""
    places = {name: index for index, name in enumerate(boards.partitions)}
    return [
        [each.at_ms, each.kind, places[each.partition], number[each.member], each.records, each.first_offset]
        for each in boards.deliveries
        if each.partition in places
    ]


def _messages(boards: Boards, number: dict[str, int]) -> list[list[object]]:
    """Messages: sent, flight (-1: lost), member, api, request or answer, error, news or not."""
    messages = [message for message in boards.messages if message.member in number]
    if len(messages) > MESSAGES_UP_TO:
        messages = [
            message
            for message in messages
            if message.api not in QUIET or message.news or message.error is not None
        ][:MESSAGES_UP_TO]
    return [
        [
            message.sent_ms,
            -1 if message.arrives_ms is None else message.arrives_ms - message.sent_ms,
            number[message.member],
            message.api,
            int(message.request),
            message.error,
            int(message.news),
        ]
        for message in messages
    ]
