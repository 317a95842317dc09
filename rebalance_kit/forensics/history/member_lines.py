"""What one line of a member tells of a rebalance: why it begins, that it is on its way, and which generation it settles."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rebalance_kit.forensics.history.rebalance import GAVE, GOT
from rebalance_kit.forensics.history.triggers import NOT_JOINED
from rebalance_kit.forensics.words import FIRST_ANSWER

if TYPE_CHECKING:
    from rebalance_kit.forensics.event import Event

#: What a member asked for, by how its reason begins.
_REASONS = {
    "need to revoke partitions": "follow_up",
    "cached metadata has changed": "metadata_changed",
    "subscription has changed": "subscription_changed",
    "need to re-join with the given member-id": "join",
    "rebalance enforced by user": "enforced",
}

#: Reasons of a member that only answers what somebody else began.
_ANSWERS = re.compile(
    r"^(group is already rebalancing|consumer pro-actively leaving|rebalance failed|encountered )"
)

#: What counts as the cause when several things were told: the most telling first.
RANK = (
    "fenced",
    "poll_timeout",
    "session_lost",
    "configs_differ",
    "enforced",
    "configured",
    "subscription_changed",
    "metadata_changed",
    "moved",
    "leave",
    "join",
    "follow_up",
    "rejoin",
    "unseen",
)

#: Lines that prove that a rebalance is on its way.
_UNDER_WAY = frozenset({"joining", "rd_joining", "rd_rebalance", "other_rebalancing", "worker_rebalance"})

_TOLD_TO_JOIN = re.compile("group is (?:already )?rebalancing|REBALANCE_IN_PROGRESS|[Rr]ebalance in progress")

_HEARTBEAT = re.compile(r"rebalancing|[Rr]ebalance.?[Ii]n.?[Pp]rogress|REBALANCE_IN_PROGRESS")


_MOVED = re.compile("NotCoordinator|not the correct coordinator|CoordinatorNotAvailable")

_OF_METADATA = re.compile("metadata.*chang|chang.*metadata", re.IGNORECASE)

#: Lines of members that the coordinator did not know any more.
_SESSION_LOST = frozenset(
    {"other_session_expired", "other_unknown_member", "rd_session_timeout", "heartbeat_unknown"}
)

#: Lines with which a member asks to join by itself.
ASKED = frozenset({"joining", "rd_joining", "worker_rebalance"})

#: Lines that prove a generation: members joined it, or its leader has shared out.
_NUMBERED = frozenset({"joined", "synced", "other_joined", "rd_join_answer", "assignment_finished"})

#: Triggers that only members meet.
LOST = frozenset({"fenced", "poll_timeout", "session_lost", "leave"})

#: Lines after which a member has no part in it any more.
GONE = frozenset({"leaving", "left_group", "rd_leave", "other_leaving", "process_closed", "join_refused"})

#: Lines with which a consumer's life begins, or its process's; and one that stands there too.
STARTS = frozenset(
    {
        *("process_started", "process_closed", "subscribed", "coordinator_found", "other_coordinator"),
        *("assignment_finished", "topics_unassigned", "coordinator_lost", "other_step"),
    }
)

FOUND = frozenset({"coordinator_found", "other_coordinator"})

#: The lines that tell of rebalances.
FELT = (
    _UNDER_WAY
    | GONE
    | GAVE
    | GOT
    | {
        *("joined", "synced", "other_joined", "rd_join_answer", "transitioned", "revoked"),
        *("poll_timeout", "rd_poll_timeout", "other_poll_timeout", "rejoin_requested", "join_retried"),
        *(
            "rd_heartbeat_error",
            "rd_session_timeout",
            "rd_rejoin",
            "client_instance_fenced",
            "fatal",
            "config_mismatch",
            "worker_configured",
            "generation_reset",
            "assignment_finished",
            "rd_member_id",
            "sync_failed",
        ),
        *(
            "other_session_expired",
            "other_unknown_member",
            "heartbeat_failed",
            "heartbeat_unknown",
            "joining",
            *("other_heartbeat_failed", "other_metadata_changed", "other_rejoins"),
        ),
    }
)


def why(event: Event) -> str:
    """What a line says of its reason: of a worker's configuration, whose it is."""
    if event.event == "config_mismatch" and event.state_from is not None:
        return f"its config offset is {event.state_from}, the group's {event.state_to}"
    if event.event == "worker_configured":
        return f"{event.detail}{': removed' if ' removed' in event.text else ''}"
    return event.reason or ""


def only_asked(event: Event) -> str | None:
    """Of a member that asked to join by itself, and has not joined in these logs: just that."""
    first = event.event == "rd_rebalance" and event.state == "init"
    if not first and event.event not in {"joining", "rd_joining", "worker_rebalance"}:
        return None
    asked = (
        "asked to join"
        if event.event != "joining" or "join" in event.text.lower()
        else "took part in a rebalance"
    )
    return f"{event.client or event.named_in_words} {asked}; {NOT_JOINED}"


def number_of(event: Event) -> tuple[str, int] | None:
    """The protocol and the generation or epoch that a member's line proves."""
    if event.event in _NUMBERED and (event.generation or 0) > 0:
        return "classic", event.generation or 0
    # An epoch is settled when a member has acknowledged it; the states before may still carry the old one.
    if event.event == "transitioned" and (event.epoch or 0) > 0 and event.state_to == "STABLE":
        return "consumer", event.epoch or 0
    return None


def stand_in(event: Event) -> str | None:
    """What a member is called whose lines name no client: its file."""
    return event.named_by_file if event.side != "broker" else None


def is_under_way(event: Event) -> bool:
    """Whether the line proves that a rebalance is on its way."""
    if event.event in {"rejoin_requested", "rd_heartbeat_error"}:
        reason = event.reason or ""
        return reason.startswith("need to revoke") or _TOLD_TO_JOIN.search(reason) is not None
    if event.event == "transitioned":
        return event.state_from == "STABLE" and event.state_to == "RECONCILING"
    if event.event == "other_heartbeat_failed":
        return _HEARTBEAT.search(f"{event.reason} {event.text}") is not None
    return event.event in _UNDER_WAY


def told_by_heartbeat(event: Event) -> bool:
    """Whether a member learnt from an answer to its heartbeat that somebody else began a rebalance."""
    if event.event in {"rejoin_requested", "rd_heartbeat_error"}:
        return _TOLD_TO_JOIN.search(event.reason or "") is not None
    return (
        event.event in {"other_rebalancing", "other_heartbeat_failed"}
        and _HEARTBEAT.search(f"{event.reason} {event.text}") is not None
    )


def member_trigger(event: Event) -> str | None:
    """The trigger that a member's line stands for; None for a line that tells of none."""
    name, reason = event.event, event.reason
    if name in {"poll_timeout", "rd_poll_timeout", "other_poll_timeout"}:
        return "poll_timeout"
    if name == "client_instance_fenced" or (
        name in {"rd_heartbeat_error", "rd_rebalance", "fatal"} and "enced" in (reason or "")
    ):
        return "fenced"
    if name in _SESSION_LOST or (name == "rd_rebalance" and "session timed out" in (reason or "")):
        return "session_lost"
    if name == "config_mismatch":
        return "configs_differ"
    if name == "worker_configured":
        return "configured"
    # Without an assignment it may have waited for its first metadata.
    may_be_first = "wait-metadata" in event.text or "without an assignment" in event.text
    if name == "other_metadata_changed" or (
        name in {"rd_rejoin", "other_rejoins"} and _OF_METADATA.search(reason or "") and not may_be_first
    ):
        return "metadata_changed"
    if name == "rejoin_requested" and _MOVED.search(reason or ""):
        return "moved"
    if name == "rejoin_requested" and reason is not None:
        for start, trigger in _REASONS.items():
            if reason.startswith(start):
                return trigger
        return None if _ANSWERS.search(reason) else "enforced"
    if name in {"leaving", "rd_leave", "other_leaving"}:
        return "poll_timeout" if name == "leaving" and "poll timeout" in (reason or "") else "leave"
    if name == "transitioned":
        # It has joined when its coordinator has answered.
        joins = event.state_from == "JOINING" and (event.epoch or 0) > 0
        return "leave" if event.state_to == "PREPARE_LEAVING" else "join" if joins else None
    if name in {"join_retried", "rd_join_answer"} and FIRST_ANSWER.search(reason or "") is not None:
        return "join"
    if (name == "rd_joining" and not event.member) or (
        name == "rd_member_id" and not event.other and event.member
    ):
        return "join"
    # Whoever joins first tells when it began, and not why.
    return "unseen" if name in {"joining", "rd_joining"} else None
