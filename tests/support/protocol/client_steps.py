"""Steps that the scripts about consumers share: joining, answering, hearing of a rebalance."""

from __future__ import annotations

from typing import Any

from rebalance_kit.protocol.messages import (
    Answer,
    ConsumerGroupHeartbeat,
    ConsumerGroupHeartbeatAnswer,
    Heartbeat,
    JoinAnswer,
    JoinGroup,
    JoinMember,
    SyncAnswer,
    SyncGroup,
)
from tests.support.protocol.driver import Client, tps


def take_join(client: Client) -> JoinGroup:
    return client.take(JoinGroup)


def answer_join(
    client: Client, generation: int = 1, *, leader: bool = False, member_id: str = "m-1"
) -> SyncGroup:
    """Answer the JoinGroup that was sent; returns the SyncGroup that follows."""
    request = take_join(client)
    members = (
        tuple(JoinMember(member_id, None, held, "c") for _, held in request.protocols[:1]) if leader else ()
    )
    protocol = request.protocols[0][0]
    client.answer(
        request,
        JoinAnswer("NONE", member_id, generation, protocol, member_id if leader else "other-1", members),
    )
    return client.take(SyncGroup)


def joined(
    protocol: str = "eager", held: str = "t-0 t-1", *, leader: bool = False, **settings: Any
) -> Client:
    """A classic client in generation 1 with these partitions; nothing called or sent is kept."""
    client = Client(protocol, **settings)
    client.poll()
    sync = answer_join(client, leader=leader)
    client.answer(sync, SyncAnswer("NONE", tps(*held.split())))
    assert client.machine.state.value == "STABLE"
    client.called.clear()
    client.commits.clear()
    return client


def rebalanced(client: Client, held: str, generation: int) -> None:
    """Let the client hear of a rebalance, join and be given these partitions."""
    client.pass_ms(3_000)
    client.answer(client.take(Heartbeat), Answer("REBALANCE_IN_PROGRESS"))
    sync = answer_join(client, generation)
    client.answer(sync, SyncAnswer("NONE", tps(*held.split())))


def heard(client: Client, epoch: int, held: str | None) -> ConsumerGroupHeartbeat:
    """Answer the KIP-848 heartbeat that was sent."""
    request = client.take(ConsumerGroupHeartbeat)
    given = None if held is None else tps(*held.split())
    client.answer(request, ConsumerGroupHeartbeatAnswer("NONE", request.member_id, epoch, 5_000, given))
    return request


def stable(held: str = "t-0 t-1", **settings: Any) -> Client:
    """A KIP-848 client at epoch 2 with these partitions, acknowledged; nothing called or sent is kept."""
    client = Client("consumer", **settings)
    client.poll()
    heard(client, 2, held)
    heard(client, 2, None)
    assert client.machine.state.value == "STABLE" and not client.sent
    client.called.clear()
    client.commits.clear()
    return client


def told(client: Client, held: str | None, epoch: int = 3) -> ConsumerGroupHeartbeat:
    """Let the next heartbeat's answer bring an assignment."""
    client.pass_ms(5_000)
    return heard(client, epoch, held)


def refused(client: Client, error: str, message: str | None = None) -> None:
    request = client.take(ConsumerGroupHeartbeat)
    client.answer(request, ConsumerGroupHeartbeatAnswer(error, request.member_id, message=message))
