"""Run real librdkafka clients with a learner's rebalance callbacks, and tell what came of it.

The mock cluster is part of librdkafka (``test.mock.num.brokers``): no broker, no network, one process that ends by
itself. It coordinates classic and KIP-848 groups well enough to show how a *client* behaves; its timing is its own
(it waits for a session timeout less a second in every later classic rebalance), so no second in it is Kafka's.
"""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import uuid4

from rebalance_kit.model.errors import RebalanceKitError, to_install
from rebalance_kit.model.files import scratch_for

STRATEGIES = ("cooperative-sticky", "range", "roundrobin", "consumer")
GRACE_S = 20
LONGEST_S = 120
TOLD = ("callback", "poll raised", "close raised", "closed")
_ERROR = re.compile(r'KafkaError\{code=(?P<code>\w+),val=(?P<value>-?\d+),str="(?P<words>.*)"\}', re.DOTALL)
Callback = Callable[[Any, Any], None]


class ClientRunError(RebalanceKitError):
    """The clients could not be run; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class ClientRun:
    """What the clients did: events in order, each a mapping with ``at_s``, ``kind`` and what belongs to the kind."""

    strategy: str
    events: tuple[Mapping[str, Any], ...]

    def of(self, kind: str, member: str | None = None) -> list[Mapping[str, Any]]:
        """The events of a kind, of one member or of all."""
        return [
            event for event in self.events if event["kind"] == kind and member in {None, event.get("member")}
        ]

    @property
    def text(self) -> str:
        """Every callback and error with its time, then the sum."""
        lines = [
            _line(event) for event in self.events if event["kind"] in {"callback", "poll raised", "closed"}
        ]
        return "\n".join([*lines, self.summary])

    @property
    def summary(self) -> str:
        """One line per member and one for the records; the same from run to run while the behaviour is the same."""
        names = sorted({event["member"] for event in self.events if "member" in event})
        return "\n".join([*(self._member(name) for name in names), self._records()])

    def reads(self, member: str) -> bool:
        """Whether a member got a record in the last two full seconds of the run."""
        return any(event["records"] for event in self.of("read", member)[-2:])

    def _member(self, name: str) -> str:
        errors = self.of("poll raised", name)
        ends = "reads records at the end" if self.reads(name) else "reads nothing at the end"
        failed = f"; poll() raised {errors[0]['error']}" if errors else ""
        return f"{name}: {ends}{failed}"

    def _records(self) -> str:
        (total,) = self.of("summary")
        if not total["delivered"]:
            return "records: none was read"
        twice = "some records came twice" if total["twice"] else "no record came twice"
        skipped = "some were skipped" if total["skipped"] else "none was skipped"
        return f"records: {twice}, {skipped}"

    def __repr__(self) -> str:
        return self.text


def run_clients(
    callbacks: str | Sequence[Callback] | Path | None = None,
    strategy: str = "consumer",
    seconds: float = 14,
    members: Mapping[str, Mapping[str, float]] | None = None,
    configs: Mapping[str, object] | None = None,
    bootstrap: str | None = None,
    grace_s: float = GRACE_S,
) -> ClientRun:
    """Run librdkafka consumers over its mock cluster and return what they did.

    ``callbacks`` defines ``on_assign``, ``on_revoke`` and, if wanted, ``on_lost``, each ``(consumer, partitions)``: as
    functions, as source text or as a file; None leaves them to the client. ``strategy`` is an assignor of the classic
    protocol or ``consumer`` (KIP-848). ``members`` maps a name to ``{"from_s": ..., "until_s": ...}``; by default *a*
    reads from the start and *b* joins after 4 s. With ``bootstrap`` the clients talk to the cluster at that address, on a
    topic and in a group of their own, which are deleted afterwards. Takes ``seconds`` of real time, and at most
    ``grace_s`` more. Raises ``ClientRunError`` if confluent-kafka is not installed, for an unknown strategy or time, and
    if the clients do not come to an end.
    """
    _check(strategy, seconds)
    mark = uuid4().hex[:12]
    with scratch_for("clients") as folder:
        code = _written(callbacks, folder)
        spec = {
            "callbacks": code and str(code),
            "strategy": strategy,
            "seconds": seconds,
            "members": members or {"a": {"from_s": 0}, "b": {"from_s": 4}},
            "configs": dict(configs or {}),
            "bootstrap": bootstrap,
            "topic": f"rebalance-kit-{mark}",
            "group": f"rebalance-kit-{mark}",
        }
        path = folder / "spec.json"
        path.write_text(json.dumps(spec), "utf-8")
        return ClientRun(strategy, _events(path, seconds, grace_s))


def _check(strategy: str, seconds: float) -> None:
    if strategy not in STRATEGIES:
        raise ClientRunError(f"strategy {strategy!r} is unknown; expected one of {', '.join(STRATEGIES)}")
    if not 1 <= seconds <= LONGEST_S:
        raise ClientRunError(f"seconds={seconds}: expected 1 to {LONGEST_S}")
    if find_spec("confluent_kafka") is None:
        raise ClientRunError(f"confluent-kafka is not installed; expected: {to_install('clients')}")


def _written(callbacks: str | Sequence[Callback] | Path | None, folder: Path) -> Path | None:
    """The file that holds the callbacks."""
    if callbacks is None or isinstance(callbacks, Path):
        return callbacks
    source = (
        callbacks
        if isinstance(callbacks, str)
        else "\n\n".join(textwrap.dedent(inspect.getsource(function)) for function in callbacks)
    )
    path = folder / "callbacks.py"
    path.write_text(source, "utf-8")
    return path


def _events(spec: Path, seconds: float, grace_s: float) -> tuple[Mapping[str, Any], ...]:
    command = [sys.executable, "-m", "rebalance_kit.clients.child", str(spec)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds + grace_s)
    except subprocess.TimeoutExpired as error:
        raise ClientRunError(
            f"the clients did not end within {grace_s:g} s of their {seconds:g}; a callback that never returns does this"
        ) from error
    events = events_of(done.stdout.splitlines())
    if not events or events[-1]["kind"] != "summary":
        said = done.stderr.strip().splitlines()
        raise ClientRunError(f"the clients ended without a result: {said[-1] if said else 'no reason given'}")
    return events


def events_of(lines: Sequence[str]) -> tuple[Mapping[str, Any], ...]:
    """The events that the child process wrote, one per line of JSON."""
    return tuple(_named(json.loads(line)) for line in lines)


def _named(event: dict[str, Any]) -> Mapping[str, Any]:
    """The event with a client's error as ``_STATE (-172): words`` in place of its Python form."""
    found = _ERROR.fullmatch(event.get("error", ""))
    return (
        event
        if found is None
        else {**event, "error": f"{found['code']} ({found['value']}): {found['words']}"}
    )


def _line(event: Mapping[str, Any]) -> str:
    when = f"{event['at_s']:6.2f} s  {event['member']}  "
    if event["kind"] == "callback":
        partitions = ", ".join(map(str, event["partitions"])) or "nothing"
        return f"{when}{event['callback']}: {partitions}"
    kind = str(event["kind"])
    return when + kind.replace(" raised", f"() raised {event['error']}") if "error" in event else when + kind
