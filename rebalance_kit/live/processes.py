"""Processes that end with the one that started them, whatever ends it, and the folders that go with them.

A guardian process waits for the end of a pipe that only its parent holds open. When the parent closes it, or dies
by SIGKILL, the guardian kills the process group in which all of them run and removes the folders.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from rebalance_kit.live.jars import LiveError

_GUARDIAN = """
import os, shutil, signal, sys
read, folder = int(sys.argv[1]), sys.argv[2]
child = os.fork()
if child == 0:
    os.close(read)
    os.setpgid(0, 0)
    os.close(1)
    while True:
        signal.pause()
try:
    os.setpgid(child, child)
except OSError:
    pass
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGHUP, signal.SIG_IGN)
print(child, flush=True)
while os.read(read, 1):
    pass
try:
    os.killpg(child, signal.SIGKILL)
except ProcessLookupError:
    pass
os.waitpid(child, 0)
for _ in range(50):
    shutil.rmtree(folder, ignore_errors=True)
    if not os.path.exists(folder):
        break
    import time
    time.sleep(0.1)
"""


class Processes:
    """A group of processes with a folder; all of it is gone when ``close`` returns, or when this process has ended."""

    def __init__(self) -> None:
        if os.name != "posix" or sys.platform == "emscripten":
            raise LiveError(f"real brokers and members need a POSIX system; this is {sys.platform}")
        self.folder = Path(tempfile.gettempdir(), f"kafka-live-{os.urandom(6).hex()}").absolute()
        read, self._hold = os.pipe()  # children do not inherit the end that is held
        self._guardian = subprocess.Popen(
            [sys.executable, "-S", "-E", "-c", _GUARDIAN, str(read), str(self.folder)],
            pass_fds=[read],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            process_group=0,  # Ctrl-C in a terminal reaches the foreground alone
        )
        os.close(read)
        assert self._guardian.stdout is not None
        self.group = int(self._guardian.stdout.readline())
        self.folder.mkdir(0o700)  # the guardian knows of it already: a kill may come at any moment
        self._started: list[subprocess.Popen[str]] = []
        self._closed = False

    def start(
        self,
        command: Sequence[str],
        output: IO[str] | Path,
        error: IO[str] | Path | None = None,
        environment: Mapping[str, str] | None = None,
        stdin: int = subprocess.PIPE,
    ) -> subprocess.Popen[str]:
        """Start one; what it prints is appended to files. It reads its orders from a pipe."""
        opened: list[IO[str]] = []

        def target(where: IO[str] | Path) -> IO[str]:
            if isinstance(where, Path):
                opened.append(where.open("a", encoding="utf-8"))
                return opened[-1]
            return where

        try:
            process = subprocess.Popen(
                list(command),
                stdin=stdin,
                stdout=target(output),
                stderr=subprocess.STDOUT if error is None else target(error),
                text=True,
                process_group=self.group,
                env=None if environment is None else {**os.environ, **environment},
                cwd=self.folder,
            )
        finally:
            for one in opened:
                one.close()
        self._started.append(process)
        return process

    def close(self) -> None:
        """Kill what still runs, remove the folder, and wait for both."""
        if self._closed:
            return
        self._closed = True
        os.close(self._hold)
        self._guardian.wait(30)
        if self._guardian.stdout is not None:
            self._guardian.stdout.close()
        for process in self._started:
            with suppress(subprocess.TimeoutExpired):
                process.wait(10)
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with suppress(OSError):
                        stream.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()


def send(process: subprocess.Popen[str], which: signal.Signals) -> None:
    """Send a signal to one process of a group."""
    with suppress(ProcessLookupError):
        os.kill(process.pid, which)
