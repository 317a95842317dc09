"""The groups of a first screen: their table where a coordinator's lines were read, their names else, and how each stands at the end."""

from __future__ import annotations

import re
from collections import Counter
from math import inf
from operator import itemgetter
from typing import TYPE_CHECKING

from rebalance_kit.forensics.answer.listed import wrapped
from rebalance_kit.forensics.findings.unplaced import UNTIMED
from rebalance_kit.forensics.report import clock
from rebalance_kit.forensics.words import LEAVES_BY_ITSELF

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rebalance_kit.forensics.answer.selected import Selected
    from rebalance_kit.forensics.answer.verdict import Verdict
    from rebalance_kit.forensics.tables import Row

#: So many groups are told.
GROUPS = 5

#: In longer logs nobody looks for what is not told.
LINES = 400_000
_DAY_MS = 86_400_000


def moment(at_ms: int) -> str:
    """Day and clock; the clock alone of lines that hold no day."""
    told = clock(at_ms)
    return told[11:] if -_DAY_MS <= at_ms < 2 * _DAY_MS else told


def coordinated(result: Selected) -> bool:
    """Whether a coordinator's lines are among those that were read: only they tell of a whole group."""
    return any(row["side"] == "broker" and row["group"] for row in result.rows("events"))


#: A group in the prefix of a client's line.
_GROUP_ID = re.compile(r", groupId=([^\],\s]{1,249})\]")


def names_of(rows: Sequence[Row], rest: Sequence[Row]) -> list[str]:
    """The groups of a short log, whose members' lines tell below what they tell; ``rest``: lines that were not read."""
    others = [found[1] for row in rest if (found := _GROUP_ID.search(row["text"])) and found[1] != "null"]
    names = [*dict.fromkeys([*(str(row["group"]) for row in rows), *others])]
    more = f" and {len(names) - GROUPS} more" if len(names) > GROUPS else ""
    return wrapped(f"  {'group' if len(names) == 1 else 'groups':9} ", ", ".join(names[:GROUPS]) + more)


def table_of(result: Selected, rows: Sequence[Row], said: Verdict) -> Iterator[str]:
    """The table of groups: members, rebalances, generation, unread time, and how each stands at the end; ``?`` where no line tells."""
    unread: Counter[tuple[str, str]] = Counter()
    for gap in result.rows("gaps"):
        unread[gap["path"], gap["group"]] += max(0, gap["duration_ms"])
    several = len({row["path"] for row in rows}) > 1
    yield f"  {'group':36} members  rebalances  {'generation':>10}  {'unread':>12}  state at the end"
    native, ends, timeless = _unread_untold(result), _ends(result), _timeless(result)
    ranked = sorted(
        rows,
        key=lambda row: (-unread[row["path"], row["group"]], -len(row["rebalances"] or []), row["group"]),
    )
    for row in ranked[:GROUPS]:
        begun = row["rebalances"] or []
        last = begun[-1] if begun else None
        numbers = [*row["generations"], *row["epochs"]] or [one["after"] for one in begun if one["after"]]
        end = ends.get((row["path"], row["group"]))
        gone = None if end is not None and end["event"] == "died" else _gone(result, row, last)
        if gone or end is None or last is None or not _is_news(end, last):
            # Of lines that were not understood some may tell how it went on.
            state = gone or (
                _state(last, row) if said.understood.wholly or last is None or last["end_ms"] else "?"
            )
            members = None if last is None else last["members"]
        else:
            members = {"died": 0, "stabilized": last["members"]}.get(end["event"])
            state = _after(end)
            numbers = [*numbers, end["generation"]] if end["generation"] is not None else numbers
        if last is not None and (last["after"] or 0) > (numbers[-1] if numbers else 0):
            numbers = [*numbers, last["after"]]
        cost = unread[row["path"], row["group"]]
        numbers = numbers or timeless.get((row["path"], row["group"]), [])
        name = f"{row['group']} ({row['path'].rsplit('/', 1)[-1]})" if several else str(row["group"])
        yield (
            f"  {name if len(name) <= 36 else name[:33] + '...':36} {'?' if members is None else members:>7}  {len(begun) or '?':>10}  "
            f"{numbers[-1] if numbers else '?':>10}  {_unread(cost, untold=row['group'] in native):>12}  {state}"
        )


def _timeless(result: Selected) -> dict[tuple[str, str | None], list[int]]:
    """Groups whose lines hold no time, with the generations that they tell."""
    told: dict[tuple[str, str | None], list[int]] = {
        (row["path"], row["group"]): [] for row in result.rows("findings") if row["finding"] == UNTIMED
    }
    if told:
        for row in result.rows("events"):
            if (row["path"], row["group"]) in told and (row["generation"] or 0) > 0:
                told[row["path"], row["group"]].append(row["generation"])
    return told


def _unread(cost: int, *, untold: bool) -> str:
    return f"{cost / 1000:,.1f} part-s" if cost else "?" if untold else "-"


def _unread_untold(result: Selected) -> set[str | None]:
    """Groups of librdkafka's clients, whose lines name no partitions that come and go."""
    if sum(row["lines"] for row in result.rows("lines")) > LINES:
        return set()
    return {
        row["group"]
        for row in result.rows("events")
        if row["event"] in {"rd_callback", "rd_rebalance", "rd_state"}
    }


_UNASSIGNED = "joined, not assigned yet at"
#: What the last lines of a group may tell although its last rebalance had ended.
_AFTER = {
    "died": "dead",
    "join_refused": "a member refused at",
    **dict.fromkeys(("preparing", "joining", "worker_rebalance", "rejoin_requested"), "rebalancing at"),
    **dict.fromkeys(("member_failed", "session_expired", "left"), "a member removed at"),
    **dict.fromkeys(("heartbeat_failed", "heartbeat_unknown", "lost", "fenced"), "a member lost it at"),
    **dict.fromkeys(
        ("poll_timeout", "poll_late", "other_unknown_member", "other_session_expired"), "a member lost it at"
    ),
    **dict.fromkeys(("leaving", "left_group", "epoch_left", "static_away"), "a member left it at"),
    **dict.fromkeys(("coordinator_lost", "coordinator_left"), "a member without coordinator at"),
    **dict.fromkeys(("stabilized", "assignment_finished"), _UNASSIGNED),
    **dict.fromkeys(("revoking", "revoked"), "a member gave up partitions at"),
    **dict.fromkeys(("member_id_given", "member_added", "static_added"), "a member asked to join at"),
}
#: The same of the states of a member of a consumer group.
_AFTER_STATE = {
    "JOINING": "a member asked to join at",
    **dict.fromkeys(("RECONCILING", "ACKNOWLEDGING"), "rebalancing at"),
    **dict.fromkeys(("PREPARE_LEAVING", "LEAVING", "UNSUBSCRIBED"), "a member left it at"),
    **dict.fromkeys(("STALE", "FENCED", "FATAL"), "a member lost it at"),
}
_OVER = frozenset(
    "stabilized assignment_received emptied joined synced assigned worker_joined coordinator_found bumped reconciling".split()
)


def _ends(result: Selected) -> dict[tuple[str, str | None], Row]:
    """Of each group what its last lines tell after its last rebalance: it began another, lost a member, or is dead. Its coordinator's lines go before what members wrote until then."""
    if sum(row["lines"] for row in result.rows("lines")) > LINES:
        return {}
    rows = [
        row
        for row in result.rows("events")
        if row["at_ms"] is not None
        and (row["event"] in {"transitioned", *_OVER} or _left_open(row) is not None)
    ]
    rows.sort(key=lambda row: (row["at_ms"], row["file"], row["line"]))
    coordinated = {(row["path"], row["group"]): row["at_ms"] for row in rows if row["side"] == "broker"}
    last: dict[tuple[str, str | None], dict[str | None, Row]] = {}
    names = {row["group"] for row in result.rows("groups")}
    for row in rows:
        place = row["path"], row["group"] or (next(iter(names)) if len(names) == 1 else None)
        if row["side"] == "broker" or row["at_ms"] > coordinated.get(place, -inf):
            mine = last.setdefault(place, {})
            before = mine.get(row["client"])
            # A member that is to join again is told what it keeps.
            keeps = (
                row["event"] == "assigned" and before is not None and before["event"] == "rejoin_requested"
            )
            # That more than a request was begun, a coordinator would tell.
            asks = place in coordinated and row["event"] in {"joining", "rejoin_requested"}
            if not keeps:
                mine[row["client"]] = {**row, "event": "member_id_given"} if asks else row
    open_at = {
        place: [row for row in of_clients.values() if _left_open(row) is not None]
        for place, of_clients in last.items()
    }
    return {place: max(found, key=lambda row: row["at_ms"]) for place, found in open_at.items() if found}


def _is_news(end: Row, last: Row) -> bool:
    """Whether it came after the last rebalance; of a group that was empty by then only its end is."""
    later: bool = end["at_ms"] >= (last["end_ms"] or last["start_ms"])
    return later and (last["members"] != 0 or end["event"] == "died")


def _left_open(row: Row) -> str | None:
    """What is said of a group after a line; None where the line leaves nothing open."""
    if LEAVES_BY_ITSELF in (row["reason"] or ""):
        return "a member left it at"
    if row["event"] == "joined":
        # A later client writes of its JoinGroup's answer alone; the assignment comes with another.
        return _UNASSIGNED if "Generation{" in row["text"] else None
    if row["event"] == "transitioned":
        return _AFTER_STATE.get(row["state_to"])
    return _AFTER.get(row["event"])


def _after(end: Row) -> str:
    told = _left_open(end)
    return told if told == "dead" else f"{told} {moment(end['at_ms'])}"


#: A consumer group's metadata where nobody subscribes to a topic that exists.
_NO_TOPICS = " with metadata hash 0."


def _gone(result: Selected, group: Row, last: Row | None) -> str | None:
    """What is said of a consumer group that everybody left, after which no line ends its last rebalance; None for others."""
    if (
        last is None
        or last["end_ms"] is not None
        or sum(row["lines"] for row in result.rows("lines")) > LINES
    ):
        return None
    if last["protocol"] != "consumer":
        return None
    place = group["path"], group["group"]
    bumps = [
        row
        for row in result.rows("events")
        if row["event"] == "bumped" and (row["path"], row["group"]) == place
    ]
    if bumps and _NO_TOPICS in max(bumps, key=itemgetter("at_ms", "line"))["text"]:
        return "nobody is left, or subscribes to a topic"
    lives = [one["end"] for one in result.rows("members") if (one["path"], one["group"]) == place]
    return "every member told of has gone" if lives and {*lives} <= {"left", "expired"} else None


def _state(last: Row | None, group: Row) -> str:
    if last is None:
        return "?"
    if last["end_ms"] is None:
        return "rebalancing: no end in these logs"
    if last["members"] == 0:
        return "empty"
    if last["protocol"] == "consumer" and last["at_least"]:
        return "target computed, no end told" if group["targets"] else "stable, by its members told of"
    return "settled"
