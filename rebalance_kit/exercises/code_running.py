"""Kinds of answers to code exercises: run in a process of their own, or read as one literal.

Kinds of answers that run in a process of their own, one call or one simulation per case (``child.plug_in``).

Answers that are data: one literal in the learner's file, read from its syntax tree and never run.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rebalance_kit.analysis.deliveries import SKIPPED, TWICE, deliveries
from rebalance_kit.assignors.contract import Cluster, MemberSubscription
from rebalance_kit.assignors.registry import assign
from rebalance_kit.exercises.code_task import CodeCase, Failed, Outputs
from rebalance_kit.exercises.runner import Answer, Code, code_of
from rebalance_kit.exercises.task import NotYet
from rebalance_kit.exercises.wall import paths
from rebalance_kit.exercises.wall.begin import UNREADABLE, ask
from rebalance_kit.exercises.wall.kinds import Need
from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.model.trace import Trace
from rebalance_kit.simulation.client.effect_handlers import CommitFailed
from rebalance_kit.simulation.permalink import Link
from rebalance_kit.simulation.scenario.scenario import Scenario
from rebalance_kit.simulation.scenario.yaml_file import read_scenario
from rebalance_kit.simulation.simulate import simulate

_KIT = {"assignor": paths.ASSIGNOR, "listener": paths.LISTENER}
_PROCESSES = 64


@dataclass(frozen=True, slots=True)
class PluggedIn:
    """An answer that is called: ``how`` says whether it is an assignor or a listener."""

    how: str

    def code(self, answer: Answer, name: str) -> Code:
        """The code as the answer gives it."""
        del name
        return answer.code()

    def run(self, code: Code, name: str, cases: Sequence[CodeCase], limit_s: float) -> Outputs:
        """What it gave, case by case; the limit is one for all of them."""
        order = {
            **code_of(code),
            "function": name,
            "how": self.how,
            "cases": [dict(case.data) for case in cases],
            "limit_s": limit_s,
            "cpu_s": int(2 * limit_s) + 10,
        }
        need = Need(
            "rebalance_kit.exercises.child.plug_in", _KIT[self.how], limits={"RLIMIT_NPROC": _PROCESSES}
        )
        done = ask(need, order, limit_s)
        if done.problem is not None:
            return Outputs(problem=done.problem, printed=done.printed)
        outputs = done.answered.get("outputs")
        if not isinstance(outputs, list) or len(outputs) != len(cases):
            return Outputs(problem=UNREADABLE, printed=done.printed)
        return Outputs(outputs, printed=done.printed)


ASSIGNOR = PluggedIn("assignor")
LISTENER = PluggedIn("listener")


@dataclass(frozen=True, slots=True)
class Literal:
    """An answer of the form ``ANSWER = {...}``; every case gets the same value."""

    def code(self, answer: Answer, name: str) -> Code:
        """The file's text; raises ``NotYet`` where it has no such assignment, or still the stub's."""
        code = answer.code()
        if code.text is None:
            raise NotYet(
                f"the answer is the file's {name}, not a function: save it in answer.py and check the file"
            )
        if _value(code.text, name) is None:
            raise NotYet(
                f"not written yet: {name} is still None. Write your values in its place, then check again."
            )
        return code

    def run(self, code: Code, name: str, cases: Sequence[CodeCase], limit_s: float) -> Outputs:
        """The value, once per case; nothing runs, so no limit is needed."""
        del limit_s
        return Outputs([_value(code.text or "", name)] * len(cases))


LITERAL = Literal()


def _value(text: str, name: str) -> object:
    """The last value assigned to the name at the top of the file; raises ``NotYet`` for anything but a literal."""
    found: ast.expr | None = None
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id == name for t in node.targets
        ):
            found = node.value
    if found is None:
        raise NotYet(
            f"the file has no line `{name} = ...` at its top level. Keep the name that the stub had."
        )
    try:
        value: object = ast.literal_eval(found)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
        raise NotYet(
            f"line {found.lineno}: {name} is no plain value ({str(error)[:80]}). Write numbers, texts, lists and dicts alone: this file is read, not run."
        ) from error
    return value


# What the leader of a group was told, rebalance by rebalance: cases for assignors, taken from runs of the engine.


Shares = dict[str, list[TopicPartition]]
OWN = "own"


def assignor_case(title: str, scenario: str, like: str, points: int = 2, *, owning: bool = False) -> CodeCase:
    """All calls that the leader makes in a run of a scenario (YAML text), while an assignor of Kafka's answers.

    ``like`` is that assignor; with ``owning`` only those calls are kept in which a member owns something.
    """
    planned = read_scenario(scenario, title)
    calls = [
        call
        for call in _leader_calls(planned, like)
        if not owning or any(m["owned"] for m in call["members"])
    ]
    protocol = {"cooperative-sticky": "cooperative", "range": "eager"}[like]
    at_ms = max((call["at_ms"] for call in calls), default=0)
    link = Link(planned, at_ms, protocol=protocol, assignor=None)
    return CodeCase(title, {"calls": calls}, {"at_ms": [call["at_ms"] for call in calls]}, link, points)


def _leader_calls(scenario: Scenario, like: str) -> list[dict[str, Any]]:
    seen: list[tuple[Mapping[str, int], Sequence[MemberSubscription]]] = []

    def leader(partitions: Mapping[str, int], members: Sequence[MemberSubscription]) -> Any:
        seen.append((partitions, members))
        return assign(like, Cluster(partitions), members)

    leader.supported_protocols = ("COOPERATIVE",) if like == "cooperative-sticky" else ("EAGER",)  # type: ignore[attr-defined]
    members = tuple(
        replace(member, configs={**member.configs, "partition.assignment.strategy": OWN})
        for member in scenario.members
    )
    trace = simulate(replace(scenario, members=members), assignors={OWN: leader})
    moments = [row.at_ms for row in trace.of("generation")]
    return [
        {"at_ms": at_ms, "partitions": dict(partitions), "members": [_plain(member) for member in members]}
        for at_ms, (partitions, members) in zip(moments, seen, strict=False)
    ]


def _plain(member: MemberSubscription) -> dict[str, Any]:
    return {
        "member_id": member.member_id,
        "topics": list(member.topics),
        "instance_id": member.group_instance_id,
        "owned": [list(tp) for tp in member.owned],
        "generation": member.generation,
    }


def members_of(call: Mapping[str, Any]) -> tuple[MemberSubscription, ...]:
    """The members of a call, as the kit's assignors take them."""
    return tuple(
        MemberSubscription(
            member["member_id"], tuple(member["topics"]), member["instance_id"],
            tuple(TopicPartition(*pair) for pair in member["owned"]), member["generation"],
        )
        for member in call["members"]
    )  # fmt: skip


def shares_of(output: Any, call: Mapping[str, Any], at_ms: int) -> Shares:
    """The share of every member; raises ``Failed`` for what no group could use, in words."""
    if not isinstance(output, Mapping):
        raise Failed(UNREADABLE)
    topics = {member["member_id"]: member["topics"] for member in call["members"]}
    if strangers := sorted(set(map(str, output)) - set(topics)):
        raise Failed(f"{strangers[0]!r} is no member id of this group; they are {', '.join(topics)}.", at_ms)
    if missing := [member for member in topics if member not in output]:
        raise Failed(
            f"member {missing[0]} is not in your answer. A member without partitions gets an empty list.",
            at_ms,
        )
    shares: Shares = {}
    givers: dict[TopicPartition, str] = {}
    for member, subscribed in topics.items():
        shares[member] = [_existing(pair, call, at_ms) for pair in output[member]]
        for tp in shares[member]:
            if tp.topic not in subscribed:
                raise Failed(f"{tp} is given to {member}, which does not subscribe to {tp.topic}.", at_ms)
            if tp in givers:
                raise Failed(f"{tp} is given twice: to {givers[tp]} and to {member}.", at_ms)
            givers[tp] = member
    wanted = {topic for listed in topics.values() for topic in listed}
    forgotten = [
        TopicPartition(topic, number)
        for topic in sorted(wanted)
        for number in range(call["partitions"].get(topic, 0))
        if TopicPartition(topic, number) not in givers
    ]
    if forgotten:
        raise Failed(
            f"{forgotten[0]} is given to nobody (forgotten: {len(forgotten)} partitions): it stays unread.",
            at_ms,
        )
    return shares


def _existing(pair: Any, call: Mapping[str, Any], at_ms: int) -> TopicPartition:
    try:
        topic, number = pair
        known = 0 <= number < call["partitions"].get(topic, 0)
    except (TypeError, ValueError, AttributeError) as error:
        raise Failed(UNREADABLE) from error
    if not known:
        raise Failed(f"partition {topic}-{number} does not exist.", at_ms)
    return TopicPartition(topic, number)


# A listener that plays recorded orders back: the run is repeated with them, and its trace is the judge's own.


_MOST_ORDERS = 20_000


class _RaisedThere(Exception):
    """The learner's callback raised; its text is what it raised."""


def listening_case(
    title: str, scenario: str, seed: int, protocol: str, points: int = 2, **facts: Any
) -> CodeCase:
    """A run of a scenario (YAML text) in which every member has the learner's listener."""
    planned = read_scenario(scenario, title)
    data = {
        "scenario": scenario, "seed": seed, "protocol": protocol,
        "members": [member.name for member in planned.members],
    }  # fmt: skip
    return CodeCase(title, data, facts, Link(planned, 0, protocol=protocol, seed=seed), points)


def played_back(case: CodeCase, output: Any) -> Trace:
    """The run of a case with the orders that the answer gave; raises ``Failed`` where its callback raised or they are none."""
    data = case.data
    listeners = {name: _player(_calls(output, name)) for name in data["members"]}
    trace = simulate(
        read_scenario(data["scenario"], case.title), data["seed"], data["protocol"], listeners=listeners
    )
    for row in trace.of("own_code_fault"):
        seen = str(row.detail["seen"]).removeprefix("_RaisedThere: ")
        raise Failed(
            f"{row.detail['name']} of member {row.actor} {row.detail['fault']} at {row.at_ms / 1000:.1f} s: {seen}. "
            "What a callback raises leaves poll(), and the consumer ends.",
            row.at_ms,
        )
    return trace


def _calls(output: Any, member: str) -> list[list[list[Any]]]:
    calls = output.get(member) if isinstance(output, Mapping) else None
    if not isinstance(calls, list) or sum(map(len, calls)) > _MOST_ORDERS:
        raise Failed(UNREADABLE)
    return calls


def _player(calls: list[list[list[Any]]]) -> type:
    left = iter(calls)

    class Player:
        def on_assigned(self, _partitions: Any, consumer: Any) -> None:
            for what, argument in next(left, []):
                _do(consumer, what, argument)

        on_revoked = on_lost = on_assigned

    return Player


def _do(consumer: Any, what: str, argument: Any) -> None:
    """One order; a refused commit counts only if the answer let it out, which is an order of its own."""
    if what == "commit":
        try:
            consumer.commit(None if argument is None else {TopicPartition(t, n): o for t, n, o in argument})
        except CommitFailed:
            return
    elif what == "seek":
        topic, number, offset = argument
        consumer.seek(TopicPartition(topic, number), offset)
    elif what in {"pause", "resume"}:
        getattr(consumer, what)([TopicPartition(*pair) for pair in argument])
    else:
        raise _RaisedThere(argument)


def records_twice(trace: Trace) -> int:
    """Records that a member read although they had been read before."""
    return sum(each.records for each in deliveries(trace) if each.kind == TWICE)


def first_skip(trace: Trace) -> tuple[int, str, int, str, int] | None:
    """The first time that a reader passed records over: moment, partition, how many, who, and how many in all of the run.

    The first read of a partition counts, too: whatever lies before it was never read by anybody.
    """
    begun: dict[TopicPartition, tuple[int, str, int, str]] = {}
    for row in trace.of("fetch_resumed"):
        if row.detail.get("position") is not None:
            tp = TopicPartition(row.topic or "", row.partition or 0)
            begun.setdefault(tp, (row.at_ms, str(tp), int(row.detail["position"]), row.actor))
    skips = [
        (each.at_ms, each.partition, each.records, each.member)
        for each in deliveries(trace)
        if each.kind == SKIPPED
    ]
    skips = sorted([*skips, *(first for first in begun.values() if first[2] > 0)])
    return (*skips[0], sum(skip[2] for skip in skips)) if skips else None


def run_with(case: CodeCase, listener: type) -> Trace:
    """The run of a case with a listener of the judge's own in every member."""
    data = case.data
    scenario = read_scenario(data["scenario"], case.title)
    return simulate(
        scenario, data["seed"], data["protocol"], listeners=dict.fromkeys(data["members"], listener)
    )
