"""What a client of either protocol knows of its group membership, and the small changes that its rules share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from rebalance_kit.model.errors import ProtocolViolation
from rebalance_kit.protocol.client.poll_step import PollStep
from rebalance_kit.protocol.client.settings import ClientSettings
from rebalance_kit.protocol.effects import Callback, Effects, FindCoordinator, Note, Own
from rebalance_kit.protocol.messages import Partitions

USER_ERROR = "User rebalance callback throws an error"
"""Message of the KafkaException that leaves poll() (ConsumerCoordinator, ConsumerRebalanceListenerInvoker)."""


@dataclass(slots=True)
class Member:
    """One consumer's knowledge of its group membership."""

    POLL_EDGES: ClassVar[Mapping[PollStep, frozenset[PollStep]]]
    """Which step of the application thread may come before which."""

    settings: ClientSettings
    topics: tuple[str, ...]
    pattern: str | None = None
    poll_step: PollStep = PollStep.IDLE
    member_id: str = ""
    generation: int = -1
    """Generation of a classic group, or member epoch."""
    owned: Partitions = ()
    coordinator_known: bool = True
    closing: bool = False
    death: tuple[str, str] | None = None
    """The fatal error, and its message, that leaves poll() when the callback under way has returned."""
    close_timeout_ms: int = 30_000
    commit_retries: int = 0
    stuck: bool = False
    """A librdkafka callback made the wrong call: nothing goes on."""
    metadata: Mapping[str, int] = field(default_factory=dict)

    @property
    def librdkafka(self) -> bool:
        """A librdkafka client instead of the Java one."""
        return self.settings.librdkafka

    @property
    def idle(self) -> bool:
        """Nothing of a rebalance is under way on the application thread."""
        return self.poll_step is PollStep.IDLE

    @property
    def may_commit(self) -> bool:
        """Whether this client would send a commit at all."""
        raise NotImplementedError

    @property
    def traced_generation(self) -> int | None:
        """The generation of this client's trace rows."""
        return self.generation

    def enter(self, step: PollStep) -> None:
        """Let the application thread take its next step, along an allowed edge."""
        if step is not self.poll_step and self.poll_step not in self.POLL_EDGES[step]:
            raise ProtocolViolation(
                f"{self.settings.name}: a thread that {self.poll_step.value} may not enter {step.name}"
            )
        self.poll_step = step

    def note(self, kind: str, **detail: object) -> Note:
        """A trace row of this client."""
        return Note(kind, self.traced_generation, self.member_id or None, detail)

    def call(self, kind: str, partitions: Partitions, generation: int, member_id: str) -> Callback:
        """Ask for a listener callback, showing what groupMetadata() would say.

        librdkafka has no lost event, only assignment_lost() within its revoke callback. Its bindings ask it: where
        it is true, the Python client calls on_lost, or on_revoke if the application gave no on_lost.
        """
        return Callback(kind, partitions, generation, member_id)

    def raised(self, error: str) -> Note:
        """A callback raised: its error leaves poll(), and the application catches it."""
        return self.note("poll_raised", error="KafkaException", message=f"{USER_ERROR} ({error})")

    def own(self, partitions: Partitions) -> Own:
        """Replace the local assignment."""
        self.owned = partitions
        return Own(partitions, ())

    def lose_coordinator(self, cause: str) -> Effects:
        """Mark the coordinator unknown and look for it; id and generation stay."""
        if self.coordinator_known:
            self.coordinator_known = False
            yield self.note("coordinator_lost", cause=cause)
            yield FindCoordinator()
