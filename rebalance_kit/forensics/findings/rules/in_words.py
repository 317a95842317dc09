"""What a sentence of a finding says that follows from its line: how it stood with a commit, which node, what a broker answered."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING

from rebalance_kit.forensics.lines.anchors import message_behind
from rebalance_kit.forensics.lines.refusals import refusal_in
from rebalance_kit.forensics.words import WHOSE, short

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rebalance_kit.forensics.event import Event

#: What a broker answered instead of a coordinator.
_ANSWERED = {
    "COORDINATOR_LOAD_IN_PROGRESS": "was told that its coordinator is still loading the group",
    "NOT_COORDINATOR": "was told by a broker that it is not the coordinator of the group",
}

#: How it stood with a member whose commit was refused, by the error.
_HOW = {
    "UNKNOWN_MEMBER_ID": " when it was no member of its group (any more)",
    "ILLEGAL_GENERATION": " with a generation that was over",
    "REBALANCE_IN_PROGRESS": " while its group was rebalancing",
}


def _error(event: Event) -> str:
    """The name of the error of Kafka's that a line holds; empty for none."""
    error = refusal_in(f"{event.reason} {event.text}")
    return "" if error is None else error.name


def not_ready(event: Event) -> str:
    """What a member was told that looked for its coordinator."""
    return _ANSWERED.get(_error(event), "found no coordinator of its group")


def out_of_group(event: Event) -> str:
    """What a line says of a membership."""
    if event.event == "other_session_expired":
        return "its session is over"
    error = _error(event)
    if error == "FENCED_INSTANCE_ID":
        return "another member has its group.instance.id"
    if error == "ILLEGAL_GENERATION" or _OLD_GENERATION.search(event.text):
        return "its generation is over"
    return "its epoch is over" if error == "FENCED_MEMBER_EPOCH" else "its group does not know this member"


#: What Java's clients say of an old generation, and of an epoch.
_OLD_GENERATION = re.compile(r"generation \S+ is not current")


def _out_of_group(event: Event) -> dict[str, str]:
    """What the line says of the membership, with the error's name where it tells one."""
    verb = "found" if event.event == "other_session_expired" else "was told"
    return {"how": f"{verb} that {out_of_group(event)}{_bracketed(event)}"}


def _heartbeat(event: Event) -> dict[str, str]:
    """The same of a heartbeat that was refused."""
    return {"how": f"{out_of_group(event)}{_bracketed(event)}"}


def _bracketed(event: Event) -> str:
    """The reason that a line gives, in brackets."""
    reason = bare_of(event.reason)
    return f" ({reason})" if reason else ""


def _how(event: Event) -> dict[str, str]:
    """How it stood with a member whose commit was refused; empty where only its error tells."""
    said = f"{event.reason} {event.text}"
    if "not part of an active group" in said:
        return {"how": " when it was in no active group"}
    if "group has already rebalanced" in said:
        return {"how": " after its group had rebalanced"}
    return {"how": _HOW.get(_error(event), "")}


def _refused(event: Event) -> dict[str, str]:
    """The same, with its reason where that says something else."""
    how = _how(event)["how"]
    reason = bare_of(event.reason) or ("" if event.confidence else "the line gives no reason")
    told = reason.startswith(("not part of an active", "group has already"))
    return {"how": how if told or not reason else f"{how}: {reason}"}


def _too_late(event: Event) -> dict[str, str]:
    """Why a member was not given its assignment."""
    reason = bare_of(event.reason) or "the line gives no reason"
    begun = _ANOTHER.search(reason) is not None
    return {"how": "the group had begun another rebalance" if begun else reason}


_ANOTHER = re.compile(r"began another rebalance|rebalance.in.progress", re.IGNORECASE)


def _in_code(event: Event) -> dict[str, str]:
    """What a rebalance failed for."""
    return {"how": (bare_of(event.reason) or "").removeprefix("rebalance failed due to ")}


def _forced(event: Event) -> dict[str, str]:
    return {"how": ", and forces a rebalance for it" if "Forcing rebalance" in event.text else ""}


def _loaded(event: Event) -> dict[str, str]:
    return {"how": "unload" if "o unload" in event.text else "load"}


#: A node as Java's client writes it: the coordinator's connection has an id that counts down from the highest.
_NODE = re.compile(r"(\S+:\d+) \(id: (\d+)|host='([^']*)', port=(\d+)")
_ADDRESS = re.compile(r"[\w.:#\[\]-]{1,249}:\d+")
_HIGHEST, _IDS = 2_147_483_647, 1_000_000


#: Whose rights are missing: on topics, where the line does not say on the group.
_OF_TOPICS = re.compile(
    r"topic.?authorization|authorized to (?:access|commit to) topics|read from", re.IGNORECASE
)

#: What librdkafka says of a request that got no answer.
_HELD_BACK = re.compile(r"held back by preceeding blocking (\w+)Request")

#: A broker in a line of librdkafka.
_BROKER = re.compile(r"group coordinator \(broker (\d+)")


def several(who: str, members: list[str], apart_ms: int) -> str:
    """That several members of one name were removed."""
    named = ", ".join(short(one) for one in members[:4]) + (", ..." if len(members) > 4 else "")
    within = f" within {apart_ms / 1000:,.1f} s" if apart_ms else " in the same moment"
    return f"the coordinator heard no heartbeat from {len(members)} members called {who} ({named}) in time and removed them{within}"


def left(first: Event, states: set[str]) -> str:
    """That a member left whose poll came too late, where its lines say so: a static one stays until its session is over."""
    return " and left the group by itself" if "leaving" in states or _LEAVES.search(first.text) else ""


_LEAVES = re.compile(r"\bleav(?:e|ing)\b", re.IGNORECASE)


def of_streams(first: Event, states: set[str]) -> str:
    """What became of a Streams client's threads, and of the client."""
    state = next((state for state in ("ERROR", "PENDING_ERROR") if state in states), None)
    dead = "lost all its stream threads" if _ALL_DEAD in states else ""
    if state is None:
        return dead or next((words for part, words in _OF_THREADS.items() if part in first.text), _DIED)
    dead = f"{dead} and " if dead else ""
    return f"{dead}went into the state {state}, from which a Streams client does not come back by itself"


#: The line that all threads of a Streams client have died; what others say of one.
_ALL_DEAD = "stream_thread_dead"
_OF_THREADS = {
    "Replacing thread": "replaces a stream thread after an exception",
    "sent shutdown request": "met an exception and asks for a shutdown",
}
_DIED = "met an exception and shuts down"

#: What is said of a coordinator that was lost last.
WITHOUT = "; no line after it tells that it found one again"
AGAIN = "; it lost it once more, and no line after that tells that it found one again"


def _right(event: Event) -> dict[str, str]:
    said = f"{event.reason} {event.text}"
    if _OF_TOPICS.search(said):
        return {"how": "what it subscribes to or commits"}
    return {"how": "this group" if "group" in (event.reason or said).lower() else "what it asked for"}


def _unexpected(event: Event) -> dict[str, str]:
    """Whose line tells of an unexpected error: the coordinator's, or a member's of its heartbeat."""
    if event.side != "broker":
        return {"how": f"{event.client or 'a member'} got an unexpected error for its heartbeat"}
    return {"how": f"the coordinator met an unexpected error{f' in {event.detail}' if event.detail else ''}"}


def _as_written(event: Event) -> dict[str, str]:
    """An error that no other rule tells of, in its own words."""
    words = " ".join(_BEHIND.sub("", event.text[message_behind(event.text) :]).split())
    words = WHOSE.sub("", words)
    who = "the coordinator" if event.side == "broker" else event.client or event.named_in_words
    return {
        "how": f'{who} writes at the level ERROR: "{words[:_WRITTEN]}{"..." if len(words) > _WRITTEN else ""}"'
    }


#: So much of a line is quoted, without whose it is.
_WRITTEN = 160


def _unwritten(event: Event) -> dict[str, str]:
    what = f" {event.detail}" if event.detail else ""
    return {
        "how": f"could not execute{what}" if "Execution of" in event.text else f"could not write to{what}"
    }


def _native(event: Event) -> dict[str, str]:
    broker = _BROKER.search(event.text)
    return {"where": f" (broker {broker[1]})" if broker else ""}


def _unanswered(event: Event) -> dict[str, str]:
    node = node_of(event.detail)
    return {"where": "" if node is None else f" {node}"}


def _held_back(event: Event) -> dict[str, str]:
    held = _HELD_BACK.search(event.detail or "")
    return (
        {}
        if held is None
        else {"where": f" (held back, the client thinks, by a {held[1]} that was still under way)"}
    )


def node_of(text: str | None) -> str | None:
    """A node in words: its address, and its broker's number where that is told."""
    found = _NODE.search(text or "")
    if found is None:
        return text if text and _ADDRESS.fullmatch(text) else None
    if found[1] is None:
        return f"{found[3]}:{found[4]}"
    number = min(int(found[2]), _HIGHEST - int(found[2]))
    return f"{found[1]} (broker {number})" if 0 <= number < _IDS else found[1]  # others are masked


def coordinators(lost: str | None, found: str | None) -> dict[str, str]:
    """Which node it was that a member lost, and which one it found, in words."""
    old, new = node_of(lost), node_of(found)
    again = "" if new is None else ", and found it there" if new == old else f", and found {new}"
    return {"where": "" if old is None else f" {old}", "again": again}


def differ(one: str, other: str) -> bool:
    """Whether two texts say different things; what one holds of the other it does not, nor another spelling of one error."""
    if one == other:
        return False
    if (error := refusal_in(one)) is not None and error is refusal_in(other):
        return False
    one, other = (_SIGNS.sub("", text).lower() for text in (one, other))
    return one not in other and other not in one


#: What sentences say that follows from their first line.
IN_WORDS: Mapping[str, Callable[[Event], dict[str, str]]] = MappingProxyType(
    {
        "zombie_commit": _how,
        "client_commit_refused": _refused,
        "client_lost_session": _out_of_group,
        "member_fenced": _heartbeat,
        "sync_race": _too_late,
        "assignment_failed": _in_code,
        "connect_configs_differ": _forced,
        "coordinator_not_loaded": _loaded,
        "leave_timed_out": _held_back,
        "native_session_lost": _native,
        "heartbeats_unanswered": _unanswered,
        "not_authorised": _right,
        "coordinator_error": _unexpected,
        "error_logged": _as_written,
        "coordinator_writes_refused": _unwritten,
    }
)

#: What stands between words; a logger behind them, or the partitions and offsets that librdkafka prints of a commit.
_SIGNS = re.compile(r"[\W_]+")
_BEHIND = re.compile(r" \((?:[a-z_]\w*\.)+[\w$]+(?::\d+)?\)$|: [\w.-]{1,249}\[\d{1,9}\]@.*", re.DOTALL)


def bare_of(words: str | None) -> str | None:
    """Without a logger behind it, and the point."""
    bare = _BEHIND.sub("", words or "").rstrip(". ")
    return None if bare == "null" else bare or None
