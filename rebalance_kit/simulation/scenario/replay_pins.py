"""Facts pinned for the repetition of a recorded run, asked by name: what no rule of Kafka decides."""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_kit.protocol.messages import ConsumerGroupHeartbeat, JoinGroup, Request


@dataclass(frozen=True, slots=True)
class ReplayPins:
    """Facts pinned for one life of a member's process; None leaves the fact to the engine.

    Times are ms of the run: when its first request reaches the broker, when its second one does (a JoinGroup
    with the id it was given, or the acknowledgement of a KIP-848 client), when the first answer reaches the
    process, when the first request was sent (a moment before it arrived, unless the record says better).
    ``beat_ms`` is the phase of its poll(), ``later_ids`` the ids it was given when it joined again without one,
    ``first_ack_ms`` when a KIP-848 client sends its first acknowledgement, ``second_answer_ms`` when that one's
    answer reaches it.
    """

    first_request_ms: int | None = None
    second_request_ms: int | None = None
    first_answer_ms: int | None = None
    member_id: str | None = None
    beat_ms: int | None = None
    first_sent_ms: int | None = None
    later_ids: tuple[str, ...] = ()
    first_ack_ms: int | None = None
    second_answer_ms: int | None = None

    def first_poll_ms(self, drawn_ms: int, now_ms: int) -> int:
        """When the process is first inside poll(), which sends its first request."""
        if self.first_request_ms is None:
            return drawn_ms
        sent_ms = self.first_request_ms - 2 if self.first_sent_ms is None else self.first_sent_ms
        return max(min(sent_ms, self.first_request_ms - 1), now_ms)

    def arrival_ms(self, number: int, request: Request) -> int | None:
        """When the life's ``number``-th request reaches the broker."""
        if number == 1:
            return self.first_request_ms
        second = number == 2 and isinstance(request, JoinGroup | ConsumerGroupHeartbeat)
        return self.second_request_ms if second else None

    def answer_ms(self, number: int, request: Request) -> int | None:
        """When the answer to the life's ``number``-th request reaches the process."""
        if not isinstance(request, ConsumerGroupHeartbeat):
            return None
        if request.member_epoch == 0:
            return self.first_answer_ms
        return self.second_answer_ms if number == 2 else None

    def given_id(self, number: int) -> str | None:
        """The ``number``-th member id that a coordinator gives this life."""
        ids = () if self.member_id is None else (self.member_id, *self.later_ids)
        return ids[number - 1] if number <= len(ids) else None

    def delay_to_ack_ms(self, drawn_ms: int, now_ms: int, callback_ms: int, *, joining: bool) -> int:
        """How long until poll(), so that the first acknowledgement leaves at its moment.

        It leaves when onPartitionsAssigned, which that poll() calls, has returned.
        """
        if self.first_ack_ms is None:
            return drawn_ms
        left_ms = self.first_ack_ms - now_ms
        return max(min(drawn_ms, left_ms // 2) if joining else left_ms - callback_ms, 1)
