"""Why a rebalance began: its trigger as one word, its cause as a sentence.

Why a rebalance began: one word for the trigger, and whose doing it was.

Classic groups say it in the reason of "Preparing to rebalance".  A KIP-848 group bumps its epoch
right after the line that made it do so; a bump without such a line means that the subscribed topics
changed, where the hash of their metadata is another one than at the bump before.

The cause of a rebalance: its trigger as a sentence, with what else is known of it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rebalance_kit.forensics.history.rebalance import Rebalance


#: Every trigger, with what it means in a sentence; ``{who}`` is the culprit.
TRIGGERS: dict[str, str] = {
    "join": "{who} joined the group",
    "leave": "{who} left the group",
    "poll_timeout": "{who} did not call poll() within max.poll.interval.ms and left the group",
    "admin_removal": "{who} was removed from the group by an administrator",
    "session_expired": "no heartbeat from {who} in time, so the coordinator removed it",
    "rebalance_timeout": "{who} did not give up its partitions within its rebalance timeout and was removed",
    "sync_timeout": "{who} did not ask for its assignment (SyncGroup) in time and was removed",
    "follow_up": "second step of the same cooperative rebalance: {who} had given up partitions for others",
    "metadata_changed": "the metadata of the subscribed topics changed",
    "subscription_changed": "{who} changed its subscription",
    "regex_changed": "a regular expression now matches other topics",
    "configs_differ": "{who} forced a rebalance, because its configuration is not the one that the assignment is based on",
    "enforced": "{who} asked for a rebalance",
    "configured": "the configuration of the workers' connectors or tasks changed",
    "rejoin": "{who} joined again",
    "protocol_changed": "{who} came back with other assignors",
    "store_failed": "the coordinator could not store the assignment in __consumer_offsets and had to begin again",
    "over_capacity": "the group is larger than group.max.size",
    "fenced": "{who} was fenced: another consumer took its group.instance.id",
    "session_lost": "{who} had lost its membership (its session was over, or its coordinator did not know it)",
    "moved": "{who} was told that its coordinator is another broker or not available, and asked to join again",
    "unseen": "these logs do not say why; the coordinator's log may",
    "other": "for a reason the kit does not know",
}

_ONE_MEMBER = re.compile(
    r"^(?:Adding new member|[Ll]eader|Updating metadata for(?: static)? member|[Rr]emoving member"
    r"|Group's selected ?[Pp]rotocol will change because static member) (\S+)"
)
_SEVERAL_MEMBERS = re.compile(r"(?:request for \((.*?)\) members|Removing \[(.*?)\] on)")
_CLIENT_REASON = re.compile(r"; client reason: (.*)$")
_ANSWERS = re.compile(r"already rebalancing|^rebalance failed|^encountered |commit failed|does not match")


def reason_member(reason: str | None) -> str | None:
    """The member id that a classic reason names (the first of several); None where it names none."""
    text = reason or ""
    one = _ONE_MEMBER.search(text)
    several = None if one else _SEVERAL_MEMBERS.search(text)
    named = one[1] if one else (several[1] or several[2] or "") if several else ""
    return named.split(",", 1)[0] if named else None


def client_reason(reason: str | None) -> str | None:
    """What the client said, inside a classic reason; None where it said nothing."""
    found = _CLIENT_REASON.search(reason or "")
    return found[1] if found and found[1] not in {"", "not provided", "null"} else None


#: How many partitions topics have: ``{orders=6, audit=1}``.
_COUNTS = re.compile(r"\{([^{}]*)\}")


def topics_in(said: str | None) -> str | None:
    """Which topics changed, by a client's own reason; None where it does not say.

    >>> topics_in("cached metadata has changed from (version2: {a=1, b=1}) at the beginning of the rebalance to (version3: {a=2, b=1})")
    'a (1 -> 2 partitions)'
    """
    told = [
        dict(pair.split("=", 1) for pair in found.split(", ") if "=" in pair)
        for found in _COUNTS.findall(said or "")
    ]
    if len(told) != 2:
        return None
    before, after = told
    changed = [
        f"{topic} ({before.get(topic, '0')} -> {after.get(topic, '0')} partitions)"
        for topic in sorted(before | after)
        if before.get(topic) != after.get(topic)
    ]
    return ", ".join(changed) or None


def classic_trigger(reason: str | None) -> str:
    """The trigger a classic reason stands for.

    >>> classic_trigger("Adding new member c1-0 with group instance id None; client reason: not provided")
    'join'
    """
    lower, said = (reason or "").lower(), client_reason(reason)
    if lower.startswith("adding new member"):
        return "join"
    if "heartbeat expiration" in lower:
        return "session_expired"
    if "leavegroup" in lower:
        return leave_trigger(said)
    for begins, text, trigger in _STATED:
        if lower.startswith(text) if begins else text in lower:
            return trigger
    for start, trigger in _SAID.items():
        if said is not None and said.startswith(start):
            return trigger
    return "rejoin" if said is None or _ANSWERS.search(said) else "enforced"


#: What else a classic reason holds in small letters (or begins with), and the trigger it stands for.
_STATED = (
    (False, "pending sync request", "sync_timeout"),
    # The reason does not name the member whose going turned the group; its own line does.
    (True, "downgrade", "leave"),
    (True, "freshly-loaded", "over_capacity"),
    (False, "when storing group assignment", "store_failed"),
    (False, "selectedprotocol will change", "protocol_changed"),
)

#: How a client's own reason begins.
_SAID = {
    "need to revoke partitions": "follow_up",
    "cached metadata has changed": "metadata_changed",
    "subscription has changed": "subscription_changed",
}


def leave_trigger(said: str | None) -> str:
    """The trigger of a leave, by the reason the leaver gave (None: none)."""
    if said is not None and "poll timeout has expired" in said:
        return "poll_timeout"
    return "admin_removal" if said is not None and "removed by an admin" in said else "leave"


def epoch_trigger(event: str, reason: str | None) -> str | None:
    """The trigger that a coordinator's line about a KIP-848 member stands for."""
    if event == "epoch_left":
        return leave_trigger(reason)
    if event == "fenced":
        return "sync_timeout" if reason is not None and "sync" in reason else "rebalance_timeout"
    return _EPOCH_TRIGGERS.get(event)


_EPOCH_TRIGGERS = {
    "joins": "join",
    "static_rejoins": "join",
    "session_expired": "session_expired",
    "transition_expired": "rebalance_timeout",
    "regex_scanned": "regex_changed",
}


def sentence(trigger: str, who: str | None) -> str:
    """The trigger in words, with the culprit's name."""
    return TRIGGERS[trigger].replace("{who}", "a member" if who is None else who)


_RESTARTING = (
    ": a broker was starting, so they may not have been whole, and no line tells that a topic was changed"
)


class Causes:
    """Puts causes into words, one rebalance after the other; remembers who caused or joined one before, and when last."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], int] = {}

    def name(self, rebalances: Iterable[Rebalance]) -> None:
        """Add ``cause``."""
        for row in rebalances:
            waited = ""
            if row.waited_for is not None:
                waited = f"; it waited {(row.waited_ms or 0) / 1000:,.1f} s for {row.waited_for}"
            known_by = _known_by(row)
            more = _more(row, again=not row.shares_name and not self._seen.keys().isdisjoint(known_by))
            told = row.known if row.trigger == "unseen" else None
            if row.trigger == "unseen" and row.only_its_end and told is None:
                told = (
                    f"{_ended(row)} here at {_end(row)}{' with no member left' if row.members == 0 else ''}"
                )
            if told is None and _is_under_way(row):
                told, more = (
                    f"{row.named or row.culprit} asked to join",
                    f"{_AGAIN[row.trigger]}; {NOT_JOINED}",
                )
            row.cause = (
                (told or sentence(row.trigger, row.named or row.culprit)) + more + _meanwhile(row) + waited
            )
            self._seen.update(dict.fromkeys(known_by | _joined_with(row), row.start_ms))

    def forget(self, before_ms: int) -> None:
        """Forget who caused and joined none since."""
        self._seen = {key: at_ms for key, at_ms in self._seen.items() if at_ms >= before_ms}


#: What is said of a member whose request to join is the last that is known of it.
NOT_JOINED = "no line was read as telling that it has joined"
_AGAIN = {"join": "", "rejoin": " again"}


def _is_under_way(row: Rebalance) -> bool:
    """Whether a member asked to join by its own line, and no line ends that rebalance."""
    return row.trigger in _AGAIN and row.end_ms is None and row.after is None and row.culprit_member is None


def _known_by(row: Rebalance) -> set[tuple[str, str]]:
    """What makes its culprit the same as an earlier one: the name, where a coordinator tells it; else name and file."""
    if row.culprit is None:
        return set()
    return {(row.culprit, "" if row.culprit_member is not None else row.file)}


def _joined_with(row: Rebalance) -> set[tuple[str, str]]:
    """Who joined in the same rebalance, where a coordinator tells it."""
    return {(name, "") for name in row.joined} if row.culprit_member is not None else set()


def _ended(row: Rebalance) -> str:
    """An epoch begins where lines tell of it; when its members have what they are to have is another line's matter."""
    return "the group is" if row.protocol == "consumer" else "it ended"


def _end(row: Rebalance) -> str:
    return f"{'epoch' if row.protocol == 'consumer' else 'generation'} {row.after}"


def _more(row: Rebalance, *, again: bool) -> str:
    if row.only_its_end:
        if row.trigger == "unseen" and row.known is None:
            return "; no line of the coordinator tells who began it"
        return f"; {_ended(row)} here at {_end(row)}, and no line tells when it began"
    if row.trigger == "session_expired" and row.stalled:
        return "; it had exceeded max.poll.interval.ms"
    if row.words is not None:
        return (" again" if row.trigger == "join" and again else "") + row.words
    if row.topics is not None:
        return f": {row.topics}"
    if row.restarting:
        return _RESTARTING
    if row.trigger in {"configured", "configs_differ"} and row.said:
        return f" ({row.said})"
    if row.trigger == "enforced" and row.said is not None:
        return " (enforceRebalance)" if row.said == "rebalance enforced by user" else f": {row.said}"
    return " again" if row.trigger == "join" and again else ""


def _meanwhile(row: Rebalance) -> str:
    """Who else joined, left, expired or subscribed anew in the same rebalance, in words; empty for nobody."""
    told = []
    for names, verb in ((row.joined, "joined"), (row.left, "left"), (row.expired, "expired")):
        others = [name for name in names if name != (row.culprit or "")]
        if others:
            told.append(f"{', '.join(others)} {verb} meanwhile")
    if row.resubscribed:
        told.append(f"{', '.join(row.resubscribed)} changed its subscription meanwhile")
    if row.left_again_ms is not None:
        told.append(
            f"it left again {row.left_again_ms / 1000:,.1f} s later, and no line tells that the join phase was over by then"
        )
    if row.later:
        told.append(row.later)
    fates = "".join(f"; {lost.name}: {(lost.words or '')[2:]}" for lost in row.others)
    return (f"; {', '.join(told)}" if told else "") + fates
