"""What lines without a time tell all the same: their order, and what the members' shares prove."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rebalance_kit.forensics.history.shifts import GAVE, GOT, Shift, Shifts
from rebalance_kit.forensics.words import counted

if TYPE_CHECKING:
    from rebalance_kit.forensics.event import Event

#: So many steps are told.
_MOST = 8

_SAID = {
    "joining": "asks to join",
    "rd_joining": "asks to join",
    "left_group": "has left",
    "process_closed": "is closed",
    "other_rebalancing": "is told that the group is rebalancing",
    "heartbeat_failed": "is told by its heartbeat that it is no member any more",
    "other_unknown_member": "is told that it is no member any more",
    "other_session_expired": "finds its session over",
}
_OF_BROKERS = {
    "joins": "{member} joins",
    "bumped": "the group epoch becomes {epoch}",
    "computed": "the target assignment of epoch {epoch} is computed",
    "stabilized": "generation {generation} is stable",
    "member_failed": "{member} expires",
    "session_expired": "{member} expires",
    "left": "{member} leaves",
    "epoch_left": "{member} leaves",
    "preparing": "a rebalance of generation {generation} begins",
}


class InOrder:
    """Folds lines without a time in the order of their files."""

    def __init__(self) -> None:
        self._told: list[tuple[str, str]] = []
        self._shifts, self._last = Shifts(), Shift()
        self._proved: list[str] = []

    def take(self, event: Event) -> None:
        """The next line of its file."""
        who = event.client or event.named_in_words
        member, name = (who, event.file), event.event
        if event.side == "broker":
            epoch = event.generation if event.epoch is None else event.epoch
            said = _OF_BROKERS.get(name, "").format(
                member=event.member or "a member", epoch=epoch, generation=event.generation
            )
            who = ""
        else:
            said = self._step(event, member) or ""
        if said and (who, said) not in self._told[-2:]:
            self._told.append((who, said))

    def _step(self, event: Event, member: tuple[str, str]) -> str | None:
        name, parts = event.event, event.partitions
        if name in GAVE or name in GOT:
            self._shifts.moved(member, event)
            if name in GOT and self._last.words():
                self._proved.append(self._last.words() or "")
            verb = "is given" if name in GOT else "loses" if name.endswith("lost") else "gives up"
            none = parts is not None and not parts and (event.confidence is None or "[]" in event.text)
            return f"{verb} {counted(len(parts), 'partition') if parts else 'none' if none else 'partitions'}"
        if name in {"joined", "synced", "other_joined", "rd_join_answer"} and event.generation is not None:
            self._last = Shift()
            self._shifts.settled(member, self._last)
            return f"joins generation {event.generation}"
        if name == "rejoin_requested":
            self._shifts.notified(member, member[0])
            return f"asks to join ({event.reason})"
        if name in {"leaving", "rd_leave", "other_leaving"}:
            return f"leaves ({event.reason})" if event.reason else "leaves"
        return _SAID.get(name)

    def words(self) -> str:
        """What the lines prove, then the steps; empty for none."""
        steps, before = [], ""
        for who, said in self._told[:_MOST]:
            steps.append(said if who in {"", before} else f"{who} {said}")
            before = who
        more = "; ..." if len(self._told) > _MOST else ""
        told = "; ".join(steps) + more
        return f"{self._proved[-1]} ({told})" if self._proved else told
