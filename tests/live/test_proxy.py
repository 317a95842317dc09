"""The proxy before a broker: it tells clients apart by their requests, and delays or cuts those it is told to."""

from __future__ import annotations

import socket
import struct
import threading
import time

import pytest

from rebalance_kit.live.proxy import Proxy, _Requests

HEARTBEAT, FETCH = 12, 1


def request(key, client, body=b"-"):
    name = client.encode()
    head = struct.pack(">hhih", key, 4, 7, len(name)) + name
    return struct.pack(">i", len(head + body)) + head + body


@pytest.fixture
def echo():
    """A server that sends back what comes, behind a proxy; gives the proxy and its port."""
    server = socket.create_server(("127.0.0.1", 0))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        front = probe.getsockname()[1]

    def answer(line):
        with line:
            while data := line.recv(65_536):
                line.sendall(data)

    def serve():
        while True:
            try:
                line, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(line,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    proxy = Proxy({front: server.getsockname()[1]})
    yield proxy, front
    proxy.close()
    server.close()


def opened(front, timeout=5.0):
    return socket.create_connection(("127.0.0.1", front), timeout)


def exchanged(line, data):
    line.sendall(data)
    held = b""
    while len(held) < len(data):
        held += line.recv(65_536)
    return held == data


def test_heads_are_read_however_the_bytes_are_cut():
    stream = request(FETCH, "a", b"x" * 40) + request(HEARTBEAT, "a", b"") + request(FETCH, "a")
    for size in (1, 3, 7, 1_000):
        seen = _Requests()
        for begin in range(0, len(stream), size):
            seen.take(stream[begin : begin + size])
        assert (seen.client, seen.coordinator) == ("a", True)
    fetching = _Requests()
    fetching.take(request(FETCH, "b") * 3)
    assert (fetching.client, fetching.coordinator) == ("b", False)


def test_a_cut_holds_back_one_client_and_a_healed_one_gets_what_was_held(echo):
    proxy, front = echo
    with opened(front) as one, opened(front) as other:
        assert exchanged(one, request(FETCH, "one"))
        proxy.cut("one")
        assert exchanged(other, request(FETCH, "other"))
        one.sendall(request(FETCH, "one"))
        one.settimeout(0.2)
        with pytest.raises(TimeoutError):
            one.recv(1)
        one.settimeout(5)
        proxy.heal("one")
        assert one.recv(65_536) == request(FETCH, "one")


def test_a_cut_from_the_coordinator_lets_the_fetches_pass(echo):
    proxy, front = echo
    proxy.cut("one", coordinator_only=True)
    with opened(front) as fetching, opened(front) as heartbeating:
        assert exchanged(fetching, request(FETCH, "one"))
        heartbeating.sendall(request(HEARTBEAT, "one"))
        heartbeating.settimeout(0.2)
        with pytest.raises(TimeoutError):
            heartbeating.recv(1)


def test_a_delay_counts_in_both_directions(echo):
    proxy, front = echo
    with opened(front) as line:
        exchanged(line, request(FETCH, "one"))
        proxy.delay(60, "one")
        begun = time.monotonic()
        assert exchanged(line, request(FETCH, "one"))
        assert time.monotonic() - begun >= 0.12


def test_an_end_is_passed_on_and_a_port_that_is_taken_is_told(echo):
    _, front = echo
    line = opened(front)
    exchanged(line, request(FETCH, "one"))
    line.shutdown(socket.SHUT_WR)
    assert line.recv(1) == b""
    line.close()
    with pytest.raises(OSError, match="in use"):
        Proxy({front: 1})
