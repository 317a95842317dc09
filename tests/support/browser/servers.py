"""Servers that a test starts: a free port of loopback, and a wait for their address that has an end."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

SECONDS = 60
"""How long a server may take to answer."""


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def static_files(folder: Path) -> Iterator[str]:
    """Serve a folder on loopback as any static host would; yields its address, which ends in a slash."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_arguments: object) -> None:
            """Say nothing of requests."""

        def copyfile(self, source: Any, outputfile: Any) -> None:
            with suppress(ConnectionError):  # a page that is closed takes no more
                super().copyfile(source, outputfile)

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=5)


@contextmanager
def served(command: list[str], env: Mapping[str, str], address: str, path: str) -> Iterator[str]:
    """Run a server until ``path`` at its address answers; it is ended by its process group's id.

    Raises ``AssertionError`` with the server's last words when it ends or does not answer in time.
    """
    server = subprocess.Popen(
        command,
        env=dict(env),
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    said: list[str] = []
    listener = threading.Thread(target=lambda: said.extend(server.stderr or ()), daemon=True)
    listener.start()  # a full pipe would stop the server
    try:
        _wait_for(server, address + path, said)
        yield address
    finally:
        try:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait(timeout=20)
        except ProcessLookupError:
            server.wait(timeout=20)
        listener.join(timeout=5)


def _wait_for(server: subprocess.Popen[str], url: str, said: list[str]) -> None:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310 - an address of our own
                if answer.status == 200:
                    return
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            threading.Event().wait(0.1)
    raise AssertionError(f"nothing answers at {url}:\n" + "".join(said[-20:]))
