"""Members of groups as bare requests: what no client would do on command, and ten thousand of them in one process."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Mapping, Sequence

FIND_COORDINATOR, JOIN_GROUP, HEARTBEAT, SYNC_GROUP, CONSUMER_GROUP_HEARTBEAT = 10, 11, 12, 14, 68
NOT_YET = {14, 15, 16}
"""COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR: __consumer_offsets is being made."""
HALF_AN_HOUR_MS = 1_800_000


def text(value: str | None) -> bytes:
    return struct.pack(">h", -1) if value is None else struct.pack(">h", len(value)) + value.encode()


def blob(value: bytes) -> bytes:
    return struct.pack(">i", len(value)) + value


def array(parts: Sequence[bytes]) -> bytes:
    return struct.pack(">i", len(parts)) + b"".join(parts)


def compact(value: str | None) -> bytes:
    return b"\0" if value is None else bytes([len(value) + 1]) + value.encode()


class Reader:
    """Takes values from the front of an answer."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def number(self, form: str) -> int:
        (value,) = struct.unpack_from(f">{form}", self.data, self.at)
        self.at += struct.calcsize(form)
        return value

    def skip(self, length: int) -> bytes:
        begin, self.at = self.at, self.at + max(length, 0)
        return self.data[begin : self.at]

    def text(self) -> str:
        return self.skip(self.number("h")).decode()


class Line:
    """One connection, under one client.id; requests are answered in order."""

    @classmethod
    async def open(cls, bootstrap: str, client: str) -> Line:
        self = cls()
        host, _, port = bootstrap.rpartition(":")
        self._reader, self._writer = await asyncio.open_connection(host, int(port))
        self._client, self._number = client, 0
        return self

    async def ask(self, key: int, version: int, body: bytes, *, flexible: bool = False) -> Reader:
        await self.send(key, version, body, flexible=flexible)
        (size,) = struct.unpack(">i", await self._reader.readexactly(4))
        answer = Reader(await self._reader.readexactly(size))
        assert answer.number("i") == self._number
        if flexible:
            assert answer.number("b") == 0
        return answer

    async def send(self, key: int, version: int, body: bytes, *, flexible: bool = False) -> None:
        self._number += 1
        head = struct.pack(">hhi", key, version, self._number) + text(self._client) + b"\0" * flexible
        self._writer.write(struct.pack(">i", len(head + body)) + head + body)
        await self._writer.drain()

    def close(self) -> None:
        self._writer.close()


def join_body(
    group: str, topics: Sequence[str], protocol: str, instance: str | None, member: str = ""
) -> bytes:
    subscription = struct.pack(">h", 0) + array([text(topic) for topic in topics]) + struct.pack(">i", -1)
    times = struct.pack(">ii", HALF_AN_HOUR_MS, HALF_AN_HOUR_MS)
    offered = array([text(protocol) + blob(subscription)])
    return text(group) + times + text(member) + text(instance) + text("consumer") + offered


async def join(line: Line, group: str, topics: Sequence[str], protocol: str, instance: str | None = None):
    """Join a classic group; returns generation, leader, member id, and the ids of all members for the leader."""
    answer = await line.ask(JOIN_GROUP, 5, join_body(group, topics, protocol, instance))
    answer.number("i")
    error = answer.number("h")
    generation, _ = answer.number("i"), answer.text()
    leader, member = answer.text(), answer.text()
    if error == 79:  # MEMBER_ID_REQUIRED: again, with the id given
        answer = await line.ask(JOIN_GROUP, 5, join_body(group, topics, protocol, instance, member))
        answer.number("i")
        error = answer.number("h")
        generation, _ = answer.number("i"), answer.text()
        leader, member = answer.text(), answer.text()
    assert error == 0, error
    ids = []
    for _ in range(answer.number("i")):
        ids.append(answer.text())
        answer.text()  # group.instance.id
        answer.skip(answer.number("i"))
    return generation, leader, member, ids


async def coordinator(bootstrap: str) -> None:
    """Have __consumer_offsets made, and wait until it coordinates."""
    line = await Line.open(bootstrap, "first")
    error = 16
    while error in NOT_YET:
        answer = await line.ask(FIND_COORDINATOR, 1, text("any") + b"\0")
        answer.number("i")
        error = answer.number("h")
        if error == 0:
            body = text("any") + struct.pack(">i", 1) + text("nobody")
            answer = await line.ask(HEARTBEAT, 2, body)
            answer.number("i")
            error = answer.number("h")
        await asyncio.sleep(0.1)
    line.close()


def assignment(parts: Mapping[str, Sequence[int]]) -> bytes:
    topics = [text(topic) + array([struct.pack(">i", one) for one in held]) for topic, held in parts.items()]
    return struct.pack(">h", 0) + array(topics) + struct.pack(">i", -1)


async def classic_group(
    bootstrap: str,
    group: str,
    shares: Sequence[Mapping[str, Sequence[int]]],
    protocol: str = "cooperative-sticky",
    clients: Sequence[str] | None = None,
    instances: Mapping[int, str] | None = None,
) -> list[Line]:
    """A stable classic group whose members own just these shares; nobody heartbeats, sessions last half an hour."""
    topics = sorted({topic for share in shares for topic in share})
    names = clients or [f"{group}-{place}" for place in range(len(shares))]
    lines = [await Line.open(bootstrap, name) for name in names]
    joined = await asyncio.gather(
        *(
            join(line, group, topics, protocol, (instances or {}).get(place))
            for place, line in enumerate(lines)
        )
    )
    owner = {member: share for (_, _, member, _), share in zip(joined, shares, strict=True)}

    async def sync(line: Line, generation: int, leader: str, member: str) -> None:
        given = [text(one) + blob(assignment(owner[one])) for one in owner] if member == leader else []
        body = text(group) + struct.pack(">i", generation) + text(member) + array(given)
        answer = await line.ask(SYNC_GROUP, 2, body)
        answer.number("i")
        assert answer.number("h") == 0

    await asyncio.gather(*(sync(line, *held[:3]) for line, held in zip(lines, joined, strict=True)))
    return lines


async def heartbeat(
    line: Line, group: str, member: str, epoch: int = 0, topics: Sequence[str] = ("orders",)
) -> int:
    """A KIP-848 heartbeat that owns nothing; returns the member's epoch."""
    names = bytes([len(topics) + 1]) + b"".join(map(compact, topics))
    body = compact(group) + compact(member) + struct.pack(">i", epoch) + compact(None) + compact(None)
    body += struct.pack(">i", HALF_AN_HOUR_MS) + names + compact(None) + compact(None) + b"\1" + b"\0"
    answer = await line.ask(CONSUMER_GROUP_HEARTBEAT, 1, body, flexible=True)
    answer.number("i")
    error = answer.number("h")
    assert error == 0, error
    for _ in range(2):  # error message and member id: compact strings
        answer.skip(answer.number("B") - 1)
    return answer.number("i")
