"""Facts pinned for the repetition of a recorded run, asked by name: what no rule of Kafka decides."""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_kit.protocol.messages import ConsumerGroupHeartbeat, JoinGroup, Request

FIRST_ACK_WITHIN_MS = 2_500
"""The longest from a join's answer to its acknowledgement: a later one follows a regular heartbeat."""
ACK_WITHIN_MS = 600
"""The longest from a later answer to its acknowledgement, without callbacks: a commit and three waits for poll()."""


@dataclass(frozen=True, slots=True)
class ReplayPins:
    """Facts pinned for one life of a member's process; None leaves the fact to the engine.

    Times are ms of the run: when its first request reaches the broker, when its second one does (a JoinGroup
    with the id it was given, or the acknowledgement of a KIP-848 client), when the first answer reaches the
    process, when the first request was sent (a moment before it arrived, unless the record says better).
    ``beat_ms`` is the phase of its poll(), ``later_ids`` the ids it was given when it joined again without one,
    ``acks_ms`` when a KIP-848 client sends its acknowledgements, ``second_answer_ms`` when the answer to the first
    one reaches it.
    """

    first_request_ms: int | None = None
    second_request_ms: int | None = None
    first_answer_ms: int | None = None
    member_id: str | None = None
    beat_ms: int | None = None
    first_sent_ms: int | None = None
    later_ids: tuple[str, ...] = ()
    acks_ms: tuple[int, ...] = ()
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

    def delay_to_ack_ms(
        self, drawn_ms: int, now_ms: int, callback_ms: int, *, first: bool, last_step: bool
    ) -> int:
        """How long until poll(), so that the next acknowledgement leaves at its moment.

        It leaves when onPartitionsAssigned, which the last step's poll() calls, has returned. A step before the last
        takes no longer than half of what is left; an acknowledgement far ahead is another one's.
        """
        steps = 1 if last_step else 2
        within_ms = steps * callback_ms + (FIRST_ACK_WITHIN_MS if first else ACK_WITHIN_MS)
        left_ms = next((at - now_ms for at in self.acks_ms if now_ms < at <= now_ms + within_ms), None)
        if left_ms is None:
            return drawn_ms
        return max(left_ms - callback_ms if last_step else min(drawn_ms, left_ms // 2), 1)
