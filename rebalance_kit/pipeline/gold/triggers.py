"""Why a rebalance began: one word for the trigger, and whose doing it was.

Classic groups say it in the reason of "Preparing to rebalance".  A KIP-848 group bumps its epoch
right after the line that made it do so; a bump without such a line means that the subscribed topics
changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

if TYPE_CHECKING:
    from pyspark.sql import Column

#: Every trigger, with what it means in a sentence; ``{who}`` is the culprit.
TRIGGERS: dict[str, str] = {
    "join": "{who} joined the group",
    "leave": "{who} left the group",
    "poll_timeout": "{who} did not call poll() within max.poll.interval.ms and left the group",
    "admin_removal": "{who} was removed from the group by an administrator",
    "session_expired": "no heartbeat from {who} for a whole session, so the coordinator removed it",
    "rebalance_timeout": "{who} did not give up its partitions within its rebalance timeout and was removed",
    "sync_timeout": "{who} never asked for its assignment (SyncGroup) and was removed",
    "follow_up": "second step of the same cooperative rebalance: {who} had given up partitions for others",
    "metadata_changed": "the metadata of the subscribed topics changed",
    "subscription_changed": "{who} changed its subscription",
    "regex_changed": "a regular expression now matches other topics",
    "enforced": "{who} asked for a rebalance (enforceRebalance)",
    "rejoin": "{who} joined again",
    "protocol_changed": "{who} came back with other assignors",
    "store_failed": "the coordinator could not store the assignment in __consumer_offsets and had to begin again",
    "over_capacity": "the group is larger than group.max.size",
    "unseen": "nobody whose log is here says why: somebody else joined or left, or a process was lost",
    "other": "for a reason the kit does not know",
}

_ONE_MEMBER = (
    r"^(?:Adding new member|Leader|Updating metadata for(?: static)? member|[Rr]emoving member"
    r"|Group's selected ?[Pp]rotocol will change because static member) (\S+)"
)
_SEVERAL_MEMBERS = r"(?:request for \((.*?)\) members|Removing \[(.*?)\] on)"


def reason_member(reason: Column) -> Column:
    """The member id (or ids, joined by commas) that a classic reason names; null where it names none."""
    return F.coalesce(
        F.nullif(F.regexp_extract(reason, _ONE_MEMBER, 1), F.lit("")),
        F.nullif(F.regexp_extract(reason, _SEVERAL_MEMBERS, 1), F.lit("")),
        F.nullif(F.regexp_extract(reason, _SEVERAL_MEMBERS, 2), F.lit("")),
    )


def client_reason(reason: Column) -> Column:
    """What the client said, inside a classic reason; null where it said nothing."""
    said = F.regexp_extract(reason, r"; client reason: (.*)$", 1)
    return F.when(~said.isin("", "not provided", "null"), said)


def classic_trigger(reason: Column) -> Column:
    """The trigger a classic reason stands for."""
    lower = F.lower(reason)
    said = client_reason(reason)
    return (
        F.when(lower.startswith("adding new member"), "join")
        .when(lower.contains("heartbeat expiration"), "session_expired")
        .when(lower.contains("leavegroup"), leave_trigger(said))
        .when(lower.contains("pending sync request"), "sync_timeout")
        # The reason does not name the member whose going turned the group; its own line does.
        .when(lower.startswith("downgrade"), "leave")
        .when(lower.startswith("freshly-loaded"), "over_capacity")
        .when(lower.contains("when storing group assignment"), "store_failed")
        .when(lower.contains("selectedprotocol will change"), "protocol_changed")
        .when(said.startswith("need to revoke partitions"), "follow_up")
        .when(said.startswith("cached metadata has changed"), "metadata_changed")
        .when(said.startswith("subscription has changed"), "subscription_changed")
        .when(
            said.isNull()
            | said.rlike("already rebalancing|^rebalance failed|^encountered |commit failed|does not match"),
            "rejoin",
        )
        .when(said.isNotNull(), "enforced")
        .otherwise("other")
    )


def leave_trigger(said: Column) -> Column:
    """The trigger of a leave, by the reason the leaver gave (null: none)."""
    return (
        F.when(said.contains("poll timeout has expired"), "poll_timeout")
        .when(said.contains("removed by an admin"), "admin_removal")
        .otherwise("leave")
    )


def epoch_trigger(event: Column, reason: Column) -> Column:
    """The trigger that a coordinator's line about a KIP-848 member stands for."""
    return (
        F.when(event.isin("joins", "static_rejoins"), "join")
        .when(event == "epoch_left", leave_trigger(reason))
        .when(event == "session_expired", "session_expired")
        .when(event == "transition_expired", "rebalance_timeout")
        .when((event == "fenced") & reason.contains("sync"), "sync_timeout")
        .when(event == "fenced", "rebalance_timeout")
        .when(event == "regex_scanned", "regex_changed")
    )


def sentence(trigger: Column, who: Column) -> Column:
    """The trigger in words, with the culprit's name."""
    told: Column | None = None
    named = F.coalesce(who, F.lit("a member"))
    for name, words in TRIGGERS.items():
        text = F.replace(F.lit(words), F.lit("{who}"), named) if "{who}" in words else F.lit(words)
        told = F.when(trigger == name, text) if told is None else told.when(trigger == name, text)
    assert told is not None, "no triggers"
    return told
