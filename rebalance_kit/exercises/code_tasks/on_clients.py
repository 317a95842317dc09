"""Rebalance callbacks of librdkafka, checked on real clients over the mock cluster inside the library."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rebalance_kit.clients.mock_cluster import ClientRun, events_of
from rebalance_kit.exercises.answers import Answer, Code
from rebalance_kit.exercises.code_tasks.task import FULL, CodeCase, Failed, Mark, Outputs
from rebalance_kit.exercises.runner import code_of, lines_of, run_child
from rebalance_kit.exercises.verdict import NotYet

_GRACE_S = 15
_PARTITIONS = 4
"""Partitions of a topic that the mock cluster makes."""
_NO_RESULT = "the clients ended without a result: does your file raise while it is imported?"
_NO_VARIABLES: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class OnClients:
    """An answer of callbacks; all cases run at once, each with clients and a mock cluster of its own."""

    def code(self, answer: Answer, name: str) -> Code:
        """The file's text; raises ``NotYet`` where there is none, or no client to run it."""
        del name
        code = answer.code()
        if code.text is None:
            raise NotYet("the callbacks are a file of their own: save them in answer.py and check the file")
        if find_spec("confluent_kafka") is None:
            raise NotYet(
                "confluent-kafka is not installed; install it with: pip install 'rebalance-kit[clients]'"
            )
        return code

    def run(self, code: Code, name: str, cases: Sequence[CodeCase], limit_s: float) -> Outputs:
        """The events of every case's clients, or the words why there are none."""
        del name
        with ThreadPoolExecutor(len(cases)) as pool:
            return Outputs(list(pool.map(partial(_events, code, limit_s), cases)))


ON_CLIENTS = OnClients()


def client_case(
    title: str, strategy: str, seconds: float, members: Mapping[str, Mapping[str, float]], points: int = 3
) -> CodeCase:
    """Clients of one strategy; they commit once a second by themselves."""
    spec = {
        "strategy": strategy, "seconds": seconds, "members": members, "bootstrap": None,
        "topic": "orders", "group": "orders-app", "configs": {},
    }  # fmt: skip
    return CodeCase(title, spec, points=points)


def _events(code: Code, limit_s: float, case: CodeCase) -> ClientRun | str:
    with tempfile.TemporaryDirectory(prefix="rebalance-kit-answer-") as scratch:
        folder = Path(scratch)
        callbacks = folder / "answer.py"
        callbacks.write_text(code.text or "", "utf-8")
        whole = case.data["seconds"] + min(limit_s, _GRACE_S)
        order: dict[str, Any] = {
            **code_of(code),
            "spec": {**case.data, "callbacks": os.fspath(callbacks)},
            "out": os.fspath(folder / "out"),
            "cpu_s": int(whole) + 10,
        }
        problem = run_child(order, _NO_VARIABLES, folder, whole, "rebalance_kit.exercises.child.client_run")
        try:
            events = events_of(lines_of(folder / "printed"))
        except (ValueError, TypeError, KeyError, AttributeError):
            return "what the clients wrote cannot be read. Print nothing to file descriptor 1."
    if not events or events[-1].get("kind") != "summary":
        return problem if problem and "status" not in problem else _NO_RESULT
    return ClientRun(case.data["strategy"], events)


def read_and_handed_over(case: CodeCase, run: Any) -> Mark:
    """Whether the clients came through: no error of the client, everybody reads at the end, nothing skipped."""
    if not isinstance(run, ClientRun):
        raise Failed(str(run))
    for kind, call in (("poll raised", "poll()"), ("close raised", "close()")):
        for event in run.of(kind):
            raise Failed(
                f"{call} of member {event['member']} raised {event['error']} at {event['at_s']} s. {_next_step(case, event)}"
            )
    for member, times in case.data["members"].items():
        if "until_s" not in times and not run.reads(member):
            raise Failed(
                f"member {member} reads nothing at the end. A callback that neither assigns nor leaves it to the client, "
                "or that assigns the wrong partitions, does this."
            )
    owned = sorted(
        number
        for member in case.data["members"]
        for event in run.of("read", member)[-1:]
        for number in event["owned"]
    )
    if owned != list(range(_PARTITIONS)):
        raise Failed(
            f"at the end the members own {', '.join(map(str, owned)) or 'nothing'} of the partitions 0 to {_PARTITIONS - 1}. "
            "Assign all partitions that the callback is given, and no others."
        )
    (total,) = run.of("summary")
    if total["skipped"]:
        return Mark(
            0.3,
            f"{total['skipped']} records were never read: was more committed than read, or an offset changed?",
        )
    return FULL


def _next_step(case: CodeCase, event: Mapping[str, Any]) -> str:
    incremental = case.data["strategy"] in {"cooperative-sticky", "consumer"}
    if "_STATE" in str(event["error"]) or "ncremental" in str(event["error"]):
        return (
            "This group adds and takes partitions: incremental_assign() and incremental_unassign()."
            if incremental
            else "This group is eager: assign() with all partitions, and unassign()."
        )
    return "What a callback raises comes out of poll() and leaves the client without its partitions."
