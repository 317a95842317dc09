"""Rebalance callbacks of librdkafka, checked on real clients over the mock cluster inside the library."""

from __future__ import annotations

import json
import select
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

from rebalance_kit.clients.mock_cluster import ClientRun, events_of
from rebalance_kit.exercises.child.attempt import no_answer_within
from rebalance_kit.exercises.code_task import FULL, CodeCase, Failed, Mark, Outputs
from rebalance_kit.exercises.runner import Answer, Code, code_of
from rebalance_kit.exercises.task import NotYet
from rebalance_kit.exercises.wall import paths
from rebalance_kit.exercises.wall.begin import GRACE_S, NO_START, START_S, UNREADABLE, begun, replied
from rebalance_kit.exercises.wall.kinds import Need
from rebalance_kit.exercises.wall.process import Silent, Unreadable, Walled
from rebalance_kit.model.errors import to_install
from rebalance_kit.model.files import remove_scratch, scratch_folder

_GRACE_S = 20
_PARTITIONS = 4
"""Partitions of a topic that the mock cluster makes."""
_NO_RESULT = "the clients ended without a result: does your file raise while it is imported?"
_KIT = (*paths.CHILD, "clients/__init__.py", "clients/distant.py")
_NEED = Need("rebalance_kit.exercises.child.callbacks", _KIT, limits={"RLIMIT_NPROC": 64})


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
            raise NotYet(f"confluent-kafka is not installed; expected: {to_install('clients')}")
        if not hasattr(select, "poll"):
            raise NotYet(
                "the clients call your callbacks through pipes that this system has not: check it on Linux, macOS or in WSL"
            )
        return code

    def run(self, code: Code, name: str, cases: Sequence[CodeCase], limit_s: float) -> Outputs:
        """The events of every case's clients, or the words why there are none."""
        del name
        with ThreadPoolExecutor(len(cases)) as pool:
            return Outputs(list(pool.map(partial(_events, code, limit_s), cases)))


ON_CLIENTS = OnClients()


def client_case(
    title: str,
    strategy: str,
    seconds: float,
    members: Mapping[str, Mapping[str, float]],
    points: int = 3,
    configs: Mapping[str, object] | None = None,
) -> CodeCase:
    """Clients of one strategy; they commit once a second by themselves."""
    spec = {
        "strategy": strategy, "seconds": seconds, "members": members, "bootstrap": None,
        "topic": "orders", "group": "orders-app", "configs": dict(configs or {}),
    }  # fmt: skip
    return CodeCase(title, spec, points=points)


def _events(code: Code, limit_s: float, case: CodeCase) -> ClientRun | str:
    """What real clients did, which call the callbacks behind a wall by message and report to a pipe that those do not have."""
    whole = case.data["seconds"] + min(limit_s, _GRACE_S)
    order = {
        **code_of(code),
        "members": list(case.data["members"]),
        "cpu_s": int(whole) + 10,
        "limit_s": limit_s,
    }
    with begun(_NEED) as callbacks:
        try:
            if callbacks.receive(START_S) is None:
                return NO_START
        except (Silent, Unreadable):
            return NO_START
        callbacks.send(order)
        loaded = replied(callbacks, limit_s)
        names = loaded.answered.get("names")
        if loaded.problem is not None or not isinstance(names, list):
            return f"{_NO_RESULT} {loaded.problem or UNREADABLE}"
        lines, over = _clients(case.data, callbacks, names, whole)
    try:
        events = events_of(lines)
    except (ValueError, TypeError, KeyError, AttributeError):
        return _NO_RESULT
    if not events or events[-1].get("kind") != "summary":
        return no_answer_within(whole) if over else _NO_RESULT
    return ClientRun(case.data["strategy"], events)


def _clients(
    spec: Mapping[str, Any], callbacks: Walled, names: Sequence[str], whole_s: float
) -> tuple[list[str], bool]:
    """Lines of the process of the clients, and whether it had to be ended."""
    to, since = callbacks.ends()
    file = scratch_folder("clients") / "spec.json"
    file.write_text(json.dumps({**spec, "callbacks": {"to": to, "since": since, "names": names}}), "utf-8")
    command = [sys.executable, "-m", "rebalance_kit.clients.child", str(file)]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, pass_fds=(to, since),
            timeout=whole_s + GRACE_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return [], True
    finally:
        remove_scratch(file.parent)
    return done.stdout.decode("utf-8", "replace").splitlines(), False


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
    for member in case.data["members"]:
        _cache_follows(run, member)
    (total,) = run.of("summary")
    if total["skipped"]:
        return Mark(
            0.3,
            f"{total['skipped']} records were never read: was more committed than read, or an offset changed?",
        )
    return FULL


def _cache_follows(run: ClientRun, member: str) -> None:
    """Raise ``Failed`` where ``OWNED`` differs from what the client owned in two reports on end, or is not empty once it closed."""
    kept: Any = []
    differed = False
    for event in (event for event in run.events if event.get("member") == member):
        if event["kind"] == "kept":
            kept = event["kept"]
            if kept is None:
                raise Failed(
                    f"member {member} keeps no set of numbers named OWNED. Keep the number of each partition that it owns there: partition.partition."
                )
        elif event["kind"] == "read":
            if kept != event["owned"] and differed:
                raise Failed(
                    f"member {member} owns {_numbers(event['owned'])} at {event['at_s']} s, and OWNED holds {_numbers(kept)}. {_cache_step(kept, event['owned'])}"
                )
            differed = kept != event["owned"]
    if kept:
        raise Failed(
            f"member {member} has closed, and OWNED still holds {_numbers(kept)}. on_revoke is called on close() too: take out what it is given."
        )


def _numbers(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers)) or "nothing"


def _cache_step(kept: Sequence[int], owned: Sequence[int]) -> str:
    if set(owned) - set(kept):
        return "Put in what on_assign is given; a revocation of some partitions leaves the others yours."
    return "Take out what on_revoke and on_lost are given: they have another owner now."


def _next_step(case: CodeCase, event: Mapping[str, Any]) -> str:
    incremental = case.data["strategy"] in {"cooperative-sticky", "consumer"}
    if "_STATE" in str(event["error"]) or "ncremental" in str(event["error"]):
        return (
            "This group adds and takes partitions: incremental_assign() and incremental_unassign()."
            if incremental
            else "This group is eager: assign() with all partitions, and unassign()."
        )
    return "What a callback raises comes out of poll() and leaves the client without its partitions."
