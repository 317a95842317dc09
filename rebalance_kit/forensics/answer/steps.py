"""What lines tell in which no rebalance is told of: steps by kind, in words."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from rebalance_kit.forensics.words import LEAVES_BY_ITSELF, counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rebalance_kit.forensics.tables import Row

#: Kinds of line in words; those that say the same in several clients have one.
_WORDS = {
    "a member leaves": "left epoch_left pending_left static_away",
    "a member expires": "member_failed session_expired pending_failed transition_expired",
    "a rebalance begins": "preparing bumped",
    "a generation is settled": "stabilized computed emptied",
    "asks to join": "member_id_given joining rd_joining member_added joins",
    "has joined": "joined synced other_joined rd_join_answer worker_joined",
    "heartbeat": "rd_heartbeat rd_epoch_heartbeat rd_epoch_answer",
    "subscribes": "subscribed",
    "finds its coordinator": "coordinator_found other_coordinator",
    "finds no broker to ask for its coordinator": "rd_no_broker",
    "starts": "process_started",
    "gives up partitions": "revoking revoked other_revoked container_revoked",
    "is given partitions": "assigned other_assigned container_assigned rd_callback",
    "changes its state": "rd_state transitioned streams_state rd_steady",
    "waits, before it closes": "rd_close_waits",
    "is closed": "process_closed",
    "kafka-consumer-groups found the group rebalancing": "tool_rebalancing",
    "leaves": "leaving rd_leave other_leaving",
    "group metadata loaded": "metadata_loaded loaded member_loaded",
    "is told that the group is rebalancing": "other_rebalancing",
    "asks to join again": "rejoin_requested join_retried",
    "a heartbeat fails": "other_heartbeat_failed rd_heartbeat_error",
    "fails to join": "other_join_failed",
    "finds no coordinator": "other_no_coordinator",
    "a commit fails": "other_commit_failed commit_failed auto_commit_failed",
}
_BY_KIND = {kind: words for words, kinds in _WORDS.items() for kind in kinds.split()}
_MOST = 5

#: Steps after which a group is rebalanced, or in which it is, or with which that is over.
OF_REBALANCES = frozenset(
    kind
    for words, kinds in _WORDS.items()
    if (words.startswith("a ") and "fails" not in words) or words in {"has joined", "gives up partitions"}
    for kind in kinds.split()
)

_REBALANCING = re.compile(r"to (?:REBALANCING|PARTITIONS_REVOKED)\b")


def tells_of_rebalance(row: Row) -> bool:
    """Whether a line tells of a rebalance, be it of its beginning, its middle or its end."""
    return row["event"] in OF_REBALANCES or (
        row["event"] == "streams_state" and _REBALANCING.search(row["text"]) is not None
    )


#: What ends a line about partitions that are none, before its logger.
_NONE = re.compile(r"\[\](?: \([\w.$:]+\))?\s*$")


#: What librdkafka waits for: an answer of its application, or so many of something.
_AWAITED_CALL = re.compile(r"rebalance_cb|\bcall\b")
_AWAITED = re.compile(r"\b([1-9]\d{0,5}) (toppar|commit)\(s\)")


def _awaited(detail: str) -> str:
    if _AWAITED_CALL.search(detail):
        return ", for its application to answer the rebalance callback"
    found = [
        counted(int(number), "partition" if of == "toppar" else of) for number, of in _AWAITED.findall(detail)
    ]
    return f" ({', '.join(found)})" if found else ""


def _words(row: Row) -> str:
    words = _BY_KIND.get(row["event"], "")
    if row["event"] == "rd_close_waits":
        return words + _awaited(row["detail"] or "")
    if row["event"] == "rejoin_requested" and LEAVES_BY_ITSELF in (row["reason"] or ""):
        return "leaves by itself"
    if row["event"] == "streams_state" and _REBALANCING.search(row["text"]):
        return "a rebalance begins"
    if row["reason"] and ("fails" in words or words == "asks to join again"):
        return f"{words} ({row['reason'][:80]})"
    return words.replace(" partitions", " no partition") if _NONE.search(row["text"]) else words


def steps(events: Iterable[Row]) -> str:
    """The steps, the most telling (those with words of their own) first."""
    rows = list(events)
    count = Counter(map(_words, rows))
    others = count.pop("", 0)
    said = [words if times == 1 else f"{words} ({times} times)" for words, times in count.most_common(_MOST)]
    if others:
        said.append(counted(others, "further step" if said else "step"))
    numbers = [row["generation"] for row in rows if row["generation"] is not None]
    if numbers:
        first, last = min(numbers), max(numbers)
        said.append(f"generation {first}" if first == last else f"generations {first} to {last}")
    return ", ".join(said)
