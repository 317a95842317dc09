"""A TCP proxy before a broker's listener: it knows whose connection it is by the ``client.id`` in each request, and delays or cuts it.

A connection that asks for anything of a group (``COORDINATOR``) is one to the coordinator; the Java client and librdkafka keep
such a connection apart from those that fetch. What a cut connection sent arrives when the network is healed, as TCP sends it
again, unless the client has given the connection up.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

COORDINATOR = frozenset({8, 9, 11, 12, 13, 14, 68})
"""API keys of OffsetCommit, OffsetFetch, JoinGroup, Heartbeat, LeaveGroup, SyncGroup, ConsumerGroupHeartbeat."""
_CHUNK = 65_536
_SHORTEST_HEAD = 10
EVERYBODY = "*"


class _Requests:
    """Reads the head of each request in a stream of bytes: API key and client.id, at the beginning of every version."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._skip = 0
        self.client: str | None = None
        self.coordinator = False

    def take(self, data: bytes) -> None:
        """Look at more bytes of the stream."""
        self._held += data
        while True:
            if self._skip:
                gone = min(self._skip, len(self._held))
                del self._held[:gone]
                self._skip -= gone
            if self._skip or len(self._held) < 4 + _SHORTEST_HEAD:
                return
            size = int.from_bytes(self._held[:4], "big")
            key = int.from_bytes(self._held[4:6], "big")
            length = int.from_bytes(self._held[12:14], "big", signed=True)
            if len(self._held) < 14 + max(length, 0):
                return
            if length > 0:
                self.client = self._held[14 : 14 + length].decode("utf-8", "replace")
            self.coordinator |= key in COORDINATOR
            self._skip = 4 + size


@dataclass(frozen=True, slots=True)
class _Fault:
    cut: bool = False
    coordinator_only: bool = False
    delay_ms: float = 0.0


@dataclass(slots=True, eq=False)
class _Connection:
    requests: _Requests = field(default_factory=_Requests)
    changed: asyncio.Event = field(default_factory=asyncio.Event)


class Proxy:
    """Forwards each front port of loopback to a port behind it; faults are set by client.id, or for ``EVERYBODY``.

    Runs on a thread of its own until ``close``; its methods may be called from any other thread. Raises ``OSError`` where a
    front port is taken.
    """

    def __init__(self, ports: Mapping[int, int]) -> None:
        self._faults: dict[str, _Fault] = {}
        self._connections: set[_Connection] = set()
        self._loop = asyncio.new_event_loop()
        opened = [self._serve(front, behind) for front, behind in ports.items()]
        try:
            self._servers = self._loop.run_until_complete(asyncio.wait_for(_all(opened), 10))
        except OSError:
            self._loop.close()
            raise
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)
        self._thread.start()

    def cut(self, client: str = EVERYBODY, *, coordinator_only: bool = False) -> None:
        """Hold back what the client and the brokers send each other, or only what goes over connections to the coordinator."""
        self._change(client, cut=True, coordinator_only=coordinator_only)

    def heal(self, client: str = EVERYBODY) -> None:
        """Let it pass again; what was held back comes first."""
        self._change(client, cut=False)

    def delay(self, milliseconds: float, client: str = EVERYBODY) -> None:
        """Let everything take this much longer in either direction from now on; 0 ends it."""
        self._change(client, delay_ms=milliseconds)

    def close(self) -> None:
        """End all connections and listen no more."""
        if self._loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def _change(self, client: str, **fault: bool | float) -> None:
        async def change() -> None:
            self._faults[client] = replace(self._faults.get(client, _Fault()), **fault)  # type: ignore[arg-type]
            for connection in self._connections:
                connection.changed.set()

        asyncio.run_coroutine_threadsafe(change(), self._loop).result(10)

    def _serve(self, front: int, behind: int) -> Coroutine[Any, Any, asyncio.Server]:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                theirs, ours = await asyncio.open_connection("127.0.0.1", behind)
            except OSError:
                writer.close()  # the broker is away
                return
            connection = _Connection()
            self._connections.add(connection)
            with suppress(asyncio.CancelledError):  # the proxy closes
                await asyncio.gather(
                    self._pass(connection, reader, ours, from_client=True),
                    self._pass(connection, theirs, writer, from_client=False),
                )
            self._connections.discard(connection)
            writer.close()
            ours.close()

        return asyncio.start_server(serve, "127.0.0.1", front)

    async def _pass(
        self,
        connection: _Connection,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        from_client: bool,
    ) -> None:
        """Everything that comes from one side, each piece in its time, then the end of it."""
        pieces: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

        async def deliver() -> None:
            while True:
                due, data = await pieces.get()
                await asyncio.sleep(max(due - self._loop.time(), 0))
                while self._held(connection):
                    connection.changed.clear()
                    await connection.changed.wait()
                if not data:
                    writer.close()
                    return
                writer.write(data)
                await writer.drain()

        delivering = asyncio.create_task(deliver())
        data = b"-"
        with suppress(OSError):
            while data:
                data = await reader.read(_CHUNK)
                if from_client:
                    connection.requests.take(data)
                pieces.put_nowait((self._loop.time() + self._delay_s(connection), data))
        if data:
            pieces.put_nowait((0.0, b""))
        with suppress(OSError):
            await delivering

    def _of(self, connection: _Connection) -> Iterator[_Fault]:
        for name in (connection.requests.client, EVERYBODY):
            if name in self._faults:
                yield self._faults[name]

    def _held(self, connection: _Connection) -> bool:
        return any(
            fault.cut and (connection.requests.coordinator or not fault.coordinator_only)
            for fault in self._of(connection)
        )

    def _delay_s(self, connection: _Connection) -> float:
        return sum(fault.delay_ms for fault in self._of(connection)) / 1000

    async def _end(self) -> None:
        for server in self._servers:
            server.close()
        tasks = asyncio.all_tasks(self._loop) - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _all(opened: Sequence[Coroutine[Any, Any, asyncio.Server]]) -> list[asyncio.Server]:
    return list(await asyncio.gather(*opened))
