"""To whom ``watch`` tells its news: a terminal, a program that reads JSON lines, a command, a metrics scraper."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from rebalance_kit.forensics.answer.as_json import VERSION
from rebalance_kit.forensics.answer.severity import severity
from rebalance_kit.forensics.group_row import SHOWN
from rebalance_kit.forensics.report import clock
from rebalance_kit.forensics.tables import GOLD
from rebalance_kit.forensics.words import lasted
from rebalance_kit.model.errors import ConfigError, require

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

    from rebalance_kit.forensics.tables import Row

#: A command that takes longer over one piece of news is ended.
NOTIFY_S = 10.0

_OF_FINDINGS = tuple(
    name for name in GOLD["findings"] if name not in {"path", "group", "unread_ms", "at_least"}
)


@dataclass(slots=True)
class News:
    """What is new: rebalances and findings, each with ``group``."""

    rebalances: list[Row] = field(default_factory=list)
    findings: list[Row] = field(default_factory=list)


class Books(Protocol):
    """How many lines a watch has read, understood and refused."""

    lines: int
    parsed: int
    rejected: int


class Teller(Protocol):
    """Is told what is new, and at the end how many lines there were."""

    def tell(self, news: News) -> None:
        """Rebalances and findings not told before."""

    def end(self, books: Books) -> None:
        """Nothing more will come."""


class Words:
    """Tells a terminal."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def tell(self, news: News) -> None:
        """One line a rebalance, two a finding."""
        for row in news.rebalances:
            took = lasted(row) or ("no end yet" if row["duration_ms"] is None else "not measured")
            where = f"({row['file']}:{row['line']})"
            print(
                f"{clock(row['start_ms'])}  {row['group']}: {row['cause']} ({took}) {where}", file=self._out
            )
        for row in news.findings:
            at = clock(row["at_ms"]) if row["at_ms"] is not None else " " * 21
            print(f"{at}  {row['group'] or 'no group named'}: * {row['sentence']}", file=self._out)
            print(f"{'':21}    do: {row['do']} ({row['file']}:{row['line']})", file=self._out)
        self._out.flush()

    def end(self, books: Books) -> None:
        """The books of the lines."""
        ignored = books.lines - books.parsed - books.rejected
        print(
            f"Lines: {books.parsed} parsed + {ignored} ignored + {books.rejected} rejected = {books.lines}",
            file=self._out,
            flush=True,
        )


class JsonLines:
    """Tells a program: one JSON object a line."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def tell(self, news: News) -> None:
        """One line a rebalance and a finding."""
        for record in records(news):
            print(json.dumps(record), file=self._out)
        self._out.flush()

    def end(self, books: Books) -> None:
        """One line with the books."""
        counts = {"lines": books.lines, "parsed": books.parsed, "rejected": books.rejected}
        print(json.dumps({"version": VERSION, "kind": "watched", **counts}), file=self._out, flush=True)


def records(news: News) -> Iterator[dict[str, Any]]:
    """News as JSON objects: ``kind`` is rebalance or finding, the rest the columns of their tables."""
    for row in news.rebalances:
        yield {
            "version": VERSION,
            "kind": "rebalance",
            "group": row["group"],
            **{name: row[name] for name in SHOWN},
        }
    for row in news.findings:
        yield finding_record(row)


def finding_record(row: Row) -> dict[str, Any]:
    """A finding as a JSON object, with its severity."""
    told = {name: row.get(name) for name in _OF_FINDINGS}
    told["severity"] = severity({**row, "unread_ms": row.get("unread_ms")})
    return {"version": VERSION, "kind": "finding", "group": row["group"], **told}


class Notify:
    """Starts a command for each piece of news, with the JSON object on its standard input; no shell is involved."""

    def __init__(self, command: str, seconds: float = NOTIFY_S) -> None:
        try:
            self._words = shlex.split(command)
        except ValueError as problem:
            raise ConfigError(
                f"--notify {command!r}: {problem}; expected a command and its arguments"
            ) from problem
        if not self._words:
            raise ConfigError("--notify is empty; expected a command, such as ./page-me --team data")
        self._seconds = seconds

    def tell(self, news: News) -> None:
        """One start for each; a command that fails or hangs is said, and the watch goes on."""
        for record in records(news):
            why = self._run(json.dumps(record) + "\n")
            if why:
                sys.stderr.write(f"rebalance-kit watch: --notify {self._words[0]} {why}; the watch goes on\n")

    def _run(self, text: str) -> str | None:
        try:
            done = subprocess.run(
                self._words,
                input=text,
                text=True,
                timeout=self._seconds,
                check=False,
                stdout=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            return f"took longer than {self._seconds:g} s and was ended"
        except OSError as problem:
            return f"cannot be started ({problem.strerror})"
        return None if done.returncode == 0 else f"ended with status {done.returncode}"

    def end(self, books: Books) -> None:
        """Nothing."""


class Metrics:
    """Serves OpenMetrics at ``HOST:PORT`` (loopback where no host is named)."""

    def __init__(self, address: str) -> None:
        require("prometheus_client")
        from prometheus_client import CollectorRegistry, Counter, Gauge, start_http_server

        host, _, port = address.rpartition(":")
        if not port.isdecimal() or len(port) > 5 or int(port) > 65_535:
            raise ConfigError(f"--metrics {address!r}; expected HOST:PORT, or a port of 127.0.0.1")
        registry = CollectorRegistry()
        self._rebalances = Counter(
            "rebalance_kit_rebalances", "Rebalances seen", ["group", "trigger"], registry=registry
        )
        self._findings = Counter(
            "rebalance_kit_findings", "Findings, by kind", ["group", "finding", "severity"], registry=registry
        )
        self._last = Gauge(
            "rebalance_kit_last_rebalance_timestamp_seconds",
            "When the last rebalance began",
            ["group"],
            registry=registry,
        )
        try:
            self._server, self._thread = start_http_server(int(port), host or "127.0.0.1", registry)
        except OSError as problem:
            raise ConfigError(
                f"--metrics {address}: {problem.strerror}; expected an address that is free"
            ) from problem
        # The server's own handler waits for a silent connection, and keeps its thread, for ever.
        handler: Any = self._server.RequestHandlerClass
        self._server.RequestHandlerClass = type("Handler", (handler,), {"timeout": NOTIFY_S})

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_port)

    def tell(self, news: News) -> None:
        """Count them."""
        for row in news.rebalances:
            self._rebalances.labels(row["group"], row["trigger"]).inc()
            self._last.labels(row["group"]).set(row["start_ms"] / 1000)
        for row in news.findings:
            grave = severity({**row, "unread_ms": None})
            self._findings.labels(row["group"] or "", row["finding"], grave).inc()

    def end(self, books: Books) -> None:  # noqa: ARG002 - others tell the books
        """Give the port back."""
        self._server.shutdown()
        self._server.server_close()
