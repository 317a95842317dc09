"""The partition of __consumer_offsets moves, or its broker stops and starts: timers end and begin anew."""

from __future__ import annotations

from rebalance_kit.protocol.consumer_group.group import ConsumerGroup
from rebalance_kit.protocol.consumer_group.heartbeating import rebalance_timer
from rebalance_kit.protocol.effects import CancelTimer, Effects, Load, Timer, Unload


def unload(group: ConsumerGroup, event: Unload) -> Effects:
    """No timer of the group fires here any more; everything else is stored."""
    for member in group.members.values():
        yield CancelTimer((Timer.SESSION, member.member_id))
        yield CancelTimer((Timer.REBALANCE, member.member_id))


def load(group: ConsumerGroup, event: Load) -> Effects:
    """Every member gets a full session, and one that must revoke a full rebalance timeout."""
    for member in group.members.values():
        session_ms = (
            member.classic.session_timeout_ms if member.classic else group.settings.session_timeout_ms
        )
        yield member.session_timer(session_ms)
        yield rebalance_timer(member)
    yield group.note("group_loaded", members=len(group.members))
