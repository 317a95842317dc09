"""A recorded run as a scenario that repeats it: same configs, same actions at the same times.

Facts that no rule decides are taken from the record and named in ``pinned``: when each life's first
requests reached the broker and were answered, the ids handed out, topic ids, the phase of poll(),
and when the coordinator was back.
"""

from __future__ import annotations

import base64
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from rebalance_kit.model.config import ClientConfig
from rebalance_kit.model.errors import ConfigError
from rebalance_kit.recordings.arrivals import Arrivals, arrivals
from rebalance_kit.recordings.folder import Line, RecordedRun
from rebalance_kit.simulation.scenario.scenario import (
    FIRST_ACK_WITHIN_MS,
    Action,
    MemberSpec,
    ReplayPins,
    Scenario,
    TopicSpec,
)

BROKER_4X = {
    "group.consumer.session.timeout.ms": 10_000,
    "group.consumer.heartbeat.interval.ms": 3_000,
    "group.consumer.min.session.timeout.ms": 6_000,
    "group.consumer.min.heartbeat.interval.ms": 500,
}
CLASSIC_DEFAULTS = {
    "session.timeout.ms": 10_000,
    "heartbeat.interval.ms": 3_000,
    "max.poll.interval.ms": 60_000,
}
#: Every recorded consumer had it, of either protocol and library (README of the recorded runs).
DEFAULTS = {"auto.offset.reset": "earliest"}
POLL_STEP_MS = 100
CLOSE_BEGUN_WITHIN_MS = 1_000
"""How late the thread that speaks with the coordinator may hear of close(); it joins until then."""
_EPOCH_BUMP = re.compile(r"Bumped group epoch to \d+ with metadata hash (-?\d+)")
_TOPIC_ID = re.compile(r"Replayed TopicRecord for topic (\S+) with topic ID (\S+?)\.?(?:\s|$)")
_CLIENT_JOIN = re.compile(r"Member (\S+) with epoch 0 transitioned from UNSUBSCRIBED to JOINING")
_CLIENT_ACK = re.compile(r"Member \S+ with epoch \d+ transitioned from ACKNOWLEDGING to ")
_CLIENT_MOVED = re.compile(r"Member \S+ with epoch \d+ transitioned from STABLE to RECONCILING")
_CLIENT_ANSWER = re.compile(
    r"Member (\S+) with epoch -?\d+ transitioned from JOINING to (?:RECONCILING|FATAL)"
)
_ENFORCED = re.compile(r"Request joining group due to: (.*?)(?: \(org\.apache\S*\))?$")
_ASKED = re.compile(r"\(Re-\)joining group|transitioned from UNSUBSCRIBED to JOINING")
_UNSENT = re.compile(r"Heartbeat to leave group cannot be sent")
_LEFT_JOINING = re.compile(r"transitioned from JOINING to PREPARE_LEAVING")
_CLASSIC_ID = re.compile(r"need to re-join with the given member-id: (\S+?)(?:\s|$)")
_NATIVE_ID = re.compile(r"my MemberId (\S+), member metadata")
_NATIVE_HEARTBEAT = re.compile(r'ConsumerGroupHeartbeat of member id "([^"]+)", .*generation id 0,')
_NATIVE_ANSWER = re.compile(
    r'ConsumerGroupHeartbeat response received for member id "([^"]+)" with epoch [1-9]'
)
_JOINED_ID = re.compile(
    r"Successfully joined group with generation Generation\{generationId=\d+, memberId='([^']+)'"
)


@dataclass(frozen=True, slots=True)
class Repetition:
    """The scenario, and the facts it took from the record."""

    scenario: Scenario
    pinned: tuple[str, ...]


def repeat(run: RecordedRun) -> Repetition:
    """Build the scenario that repeats a recorded run; its clock starts at the first step."""
    begin = run.begin
    topics, topic_actions = _topics(run, begin)
    lives = _lives(run, begin)
    members, actions = _members(run, begin, lives)
    actions += topic_actions + _broker_actions(run, begin) + _metadata_seen(run, begin)
    groups = [str(step["configs"].get("group.id")) for step in run.steps if step["do"] == "start"]
    broker: dict[str, Any] = {**(BROKER_4X if not run.kafka.startswith("3") else {}), **run.broker_configs}
    scenario = Scenario(
        run.name,
        topics,
        members,
        tuple(sorted(actions, key=lambda one: one.at_ms)),
        run.stop - begin,
        1,
        title=run.name,
        kafka_version=run.kafka,
        group=groups[0] if groups else "orders-app",
        broker=broker,
        protocol=run.protocol,
    )
    pinned = [
        "first requests and answers of each life, and its acknowledgements",
        "end of a slow computation",
        "member ids",
        "topic ids",
        "phase of poll()",
    ]
    if _coordinator_knows(run) is not None:
        pinned.append("moment from which the coordinator knew the topics")
    if any(step["do"] == "broker-start" for step in run.steps):
        pinned += ["moment the coordinator is back", "metadata seen during the broker's start"]
    return Repetition(scenario, tuple(pinned))


def _topics(run: RecordedRun, begin: int) -> tuple[tuple[TopicSpec, ...], list[Action]]:
    ids: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for line in run.broker:
        found = _TOPIC_ID.search(line.text)
        if found and not found[1].startswith("__"):
            ids[found[1]].append(_uuid(found[2]))
    first: list[TopicSpec] = []
    actions = []
    starts = [int(row["t"]) for row in run.truth if row["kind"] == "start"]
    before = min(starts, default=run.stop)
    known = _coordinator_knows(run)
    for step in run.steps:
        words = str(step.get("line", "")).split()
        if step["do"] != "admin" or not words:
            continue
        at = int(step["t"]) - begin
        if words[0] == "topic" and step["t"] < before and known is not None:
            actions.append(
                Action(known - begin, "create_topic", None, {"topic": words[1], "partitions": int(words[2])})
            )
        elif words[0] == "topic" and step["t"] < before:
            first.append(
                TopicSpec(words[1], int(words[2]), 10.0, ids[words[1]].pop(0) if ids[words[1]] else None)
            )
        elif words[0] == "topic":
            actions.append(Action(at, "create_topic", None, {"topic": words[1], "partitions": int(words[2])}))
        elif words[0] == "partitions":
            actions.append(
                Action(at, "add_partitions", None, {"topic": words[1], "partitions": int(words[2])})
            )
        elif words[0] == "delete-topic":
            actions.append(Action(at, "delete_topic", None, {"topic": words[1]}))
    return tuple(first), actions


def _coordinator_knows(run: RecordedRun) -> int | None:
    """When a coordinator that had just started knew the topics, where it did not as the first members joined.

    Its image of the cluster is updated apart from that of the clients; a subscription of which it knows no topic has the
    metadata hash 0 (``GroupMetadataManager``, ``Utils.computeGroupHash``). It is known as early as the record allows.
    """
    unaware: list[int] = []
    for line in run.broker:
        found = _EPOCH_BUMP.search(line.text)
        if found and found[1] != "0":
            return (
                unaware[-1] + len(unaware) if unaware else None
            )  # joins of one millisecond follow each other
        if found:
            unaware.append(line.t)
    return None


def _uuid(text: str) -> tuple[int, int]:
    raw = base64.urlsafe_b64decode(text + "==")
    return int.from_bytes(raw[:8], "big", signed=True), int.from_bytes(raw[8:16], "big", signed=True)


def _broker_actions(run: RecordedRun, begin: int) -> list[Action]:
    actions = []
    for step in run.steps:
        at = int(step["t"])
        if step["do"] == "broker-stop":
            actions.append(Action(at - begin + 150, "broker_down"))
        elif step["do"] == "broker-start":
            loaded = [
                line.t for line in run.broker if line.t > at and "Finished loading of metadata" in line.text
            ]
            actions.append(Action((loaded[0] if loaded else at + 4_000) - begin, "broker_up"))
    return actions


def _metadata_seen(run: RecordedRun, begin: int) -> list[Action]:
    """A leader that refreshed its metadata from a broker still starting up was told that its topic is empty."""
    actions: list[Action] = []
    if not any(step["do"] == "broker-start" for step in run.steps):
        return actions
    for name, lines in run.members.items():
        for line in lines:
            if "cached metadata has changed" in line.text and line.text.rstrip().split("(org.apache")[
                0
            ].rstrip().endswith("=[]})"):
                actions.append(Action(line.t - begin - 1, "see_metadata", name, {"topics": {}}))
                actions.append(Action(line.t - begin + 1_000, "see_metadata", name, {"topics": _counts(run)}))
    return actions


def _counts(run: RecordedRun) -> dict[str, int]:
    lines = [str(step.get("line", "")).split() for step in run.steps if step["do"] == "admin"]
    return {words[1]: int(words[2]) for words in lines if words and words[0] in {"topic", "partitions"}}


def _lives(run: RecordedRun, begin: int) -> Mapping[str, tuple[ReplayPins, ...]]:
    """Pins a life: a life is from one ``start`` of the truth to the next of the same member."""
    seen = arrivals(run)
    native = {str(step["member"]) for step in run.steps if step.get("client", "java") != "java"}
    lives: dict[str, list[ReplayPins]] = defaultdict(list)
    for name, spans in _spans(run).items():
        for start, end in spans:
            own = [line for line in run.members.get(name, ()) if start - 2_000 <= line.t < end]
            life = _life(own, seen, begin, _beat(run, name, start, end))
            asked = life.member_id is not None or any(_ASKED.search(line.text) for line in own)
            if life.first_request_ms is None and any(_UNSENT.search(line.text) for line in own):
                asked = False  # a KIP-848 client makes its id before it knows a coordinator
            if own and not asked and name not in native:  # it was closed before its first request
                life = replace(life, first_request_ms=end - begin)
            lives[name].append(life)
    return {name: tuple(found) for name, found in lives.items()}


def _spans(run: RecordedRun) -> Mapping[str, list[tuple[int, int]]]:
    starts: dict[str, list[int]] = defaultdict(list)
    for row in run.truth:
        if row["kind"] == "start":
            starts[str(row["by"])].append(int(row["t"]))
    return {
        name: list(zip(times, [*times[1:], run.stop + 60_000], strict=True)) for name, times in starts.items()
    }


def _life(own: list[Line], seen: Arrivals, begin: int, beat: int | None) -> ReplayPins:
    member_id = answer = first = second = sent = None
    later: list[str] = []
    for line in own:
        if sent is None and _NATIVE_HEARTBEAT.search(line.text):
            sent = line.t - begin
        for pattern in (_CLASSIC_ID, _JOINED_ID, _CLIENT_JOIN, _NATIVE_ID, _NATIVE_HEARTBEAT):
            found = pattern.search(line.text)
            if found and member_id is None:
                member_id = found[1]
            elif found and pattern is _CLASSIC_ID and found[1] not in {member_id, *later}:
                later.append(found[1])
        if answer is None and (_CLIENT_ANSWER.search(line.text) or _NATIVE_ANSWER.search(line.text)):
            answer = line.t - begin
    if member_id is not None:
        first, second = seen.first.get(member_id), seen.added.get(member_id)
        computed = seen.computed.get(member_id)
        if computed is not None and answer is not None and computed < answer + begin:
            first = computed
    if first is None and own:
        first = _static_return(own, seen)
    leaving = next((line.t for line in own if _LEFT_JOINING.search(line.text)), None)
    if leaving is not None and first is not None and first > leaving:
        sent = leaving - 1 - begin  # under way as close() began
    if member_id is not None and first is not None and second is None and answer is None:
        given = (line.t for line in own if _CLASSIC_ID.search(line.text))  # closed before it used its id
        answer = next((at - begin for at in given), None)
    acks = () if answer is None else _acks(own, answer + begin)
    heard = None
    if acks and member_id and answer is not None and acks[0] - begin - answer < FIRST_ACK_WITHIN_MS:
        second, heard = seen.acknowledged(acks[0], member_id), _second_answer(own, acks[0])
    return ReplayPins(
        None if first is None else first - begin,
        None if second is None or second == first else second - begin,
        answer,
        member_id,
        beat,
        sent,
        tuple(later),
        tuple(at - begin for at in acks),
        None if heard is None else heard - begin,
        tuple(line.t - begin for line in own if acks and _CLIENT_MOVED.search(line.text) and line.t != heard),
    )


def _acks(own: list[Line], answered: int) -> tuple[int, ...]:
    """When a KIP-848 life sent its acknowledgements, from that of what its first answer gave it."""
    return tuple(line.t for line in own if line.t >= answered and _CLIENT_ACK.search(line.text))


def _second_answer(own: list[Line], acked: int) -> int | None:
    """When the answer to the first acknowledgement came, where it brought another assignment."""
    moved = next((line for line in own if line.t >= acked and _CLIENT_MOVED.search(line.text)), None)
    return moved.t if moved is not None and moved.t - acked < FIRST_ACK_WITHIN_MS else None


def _static_return(own: list[Line], seen: Arrivals) -> int | None:
    """A replaced static id is named in the broker's line, its successor only in the client's."""
    joining = [line.t for line in own if "(Re-)joining group" in line.text]
    if not joining:
        return None
    near = [at for at in seen.replaced if -50 <= at - joining[0] <= 1_000]
    return min(near, default=None)


def _beat(run: RecordedRun, name: str, start: int, end: int) -> int | None:
    """The phase of poll(): the one from which the moments when records came lie least far, round the clock."""
    seen = Counter(
        (int(row["t"]) - run.begin) % POLL_STEP_MS
        for row in run.truth
        if row["kind"] == "records" and row["by"] == name and start <= int(row["t"]) < end
    )
    if not seen:
        return None

    def far(phase: int) -> int:
        return sum(
            times * min((at - phase) % POLL_STEP_MS, (phase - at) % POLL_STEP_MS)
            for at, times in seen.items()
        )

    return min(range(POLL_STEP_MS), key=far)


def _members(
    run: RecordedRun, begin: int, lives: Mapping[str, tuple[ReplayPins, ...]]
) -> tuple[tuple[MemberSpec, ...], list[Action]]:
    asked: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for step in run.steps:
        if step["do"] == "start":
            asked[str(step["member"])].append(step)
    lived = [row for row in run.truth if row["kind"] == "start"]
    members, actions = [], []
    for name, steps in asked.items():
        if _refused(steps[0], run.kafka):
            continue
        members.append(_spec(name, steps[0], lives.get(name, ())))
        times = [int(row["t"]) for row in lived if row["by"] == name]
        actions += [_start(name, step, at - begin) for step, at in zip(steps, times, strict=False)]
    known = {spec.name for spec in members}
    actions += [one for one in _told(run, begin) + _done_to(run, begin) if one.member in known]
    return tuple(members), actions


def _spec(name: str, first: Mapping[str, Any], lives: tuple[ReplayPins, ...]) -> MemberSpec:
    """The member as its first start made it."""
    return MemberSpec(
        name,
        _subscribed(first),
        _configs(first),
        start_ms=None,
        client=str(first.get("client", "java")),
        callback=str(first.get("callback", "default")),
        lives=lives,
        pattern=_pattern(first, "~"),
        server_pattern=_pattern(first, "@"),
    )


def _start(name: str, step: Mapping[str, Any], at_ms: int) -> Action:
    """The start of a member's process, as the record has it."""
    args = {
        "topics": _subscribed(step),
        "configs": _configs(step),
        "replace_configs": True,
        "client": str(step.get("client", "java")),
        "callback": str(step.get("callback", "default")),
    }
    return Action(at_ms, "start", name, args)


def _refused(step: Mapping[str, Any], version: str) -> bool:
    """The client library refused to make this consumer, so it never spoke to the group."""
    try:
        ClientConfig.of(_configs(step), version, str(step["member"]), str(step.get("client", "java")))
    except ConfigError:
        return True
    return False


def _subscribed(step: Mapping[str, Any]) -> tuple[str, ...]:
    topics = str(step["topics"])
    return () if topics[:1] in {"~", "@"} else tuple(topics.split(","))


def _pattern(step: Mapping[str, Any], mark: str) -> str | None:
    """``~`` stands for a java.util.regex.Pattern, ``@`` for a SubscriptionPattern."""
    topics = str(step["topics"])
    return topics[1:] if topics.startswith(mark) else None


def _configs(step: Mapping[str, Any]) -> dict[str, Any]:
    configs = {**DEFAULTS, **step["configs"]}
    if str(configs.get("group.protocol", "classic")).lower() == "classic":
        configs = {**CLASSIC_DEFAULTS, **configs}
    return {key: value for key, value in configs.items() if not key.startswith(("debug", "bootstrap"))}


def _told(run: RecordedRun, begin: int) -> list[Action]:
    """Orders, at the moment when the member took them, until the recording's own shutdown."""
    actions = []
    for row in run.truth:
        if row["kind"] != "command" or row["t"] >= run.stop:
            continue
        words = str(row.get("line", "close")).split()
        at, name = int(row["t"]) - begin, str(row["by"])
        if words[0] == "close":
            left = (line.t - begin for line in run.members.get(name, ()) if _LEFT_JOINING.search(line.text))
            at = next((moment for moment in left if at < moment < at + CLOSE_BEGUN_WITHIN_MS), at)
            actions.append(Action(at, "close", name, {"timeout_ms": 10_000}))
        elif words[0] == "stall":
            actions.append(Action(at, "stall", name, {"for_ms": int(words[1])}))
        elif words[0] == "slow":
            actions.append(Action(at, "slow_callback", name, {"callback_ms": int(words[1])}))
        elif words[0] == "subscribe":
            actions.append(Action(at, "subscribe", name, {"topics": tuple(words[1].split(","))}))
        elif words[0] == "enforce":
            actions.append(Action(at, "enforce_rebalance", name, _reason(run, name, int(row["t"]))))
    return actions


def _reason(run: RecordedRun, name: str, asked_at: int) -> dict[str, str]:
    """The text that the application gave to enforceRebalance(), from its own log."""
    for line in run.members.get(name, ()):
        found = _ENFORCED.search(line.text)
        if found and abs(line.t - asked_at) < 200:
            return {"reason": found[1]}
    return {}


def _done_to(run: RecordedRun, begin: int) -> list[Action]:
    kinds = {
        "kill": "crash",
        "freeze": "freeze",
        "thaw": "thaw",
        "cut": "cut_network",
        "heal": "heal_network",
    }
    actions = [
        Action(int(step["t"]) - begin, kinds[step["do"]], str(step["member"]))
        for step in run.steps
        if step["do"] in kinds
    ]
    instances = {
        str(step["configs"].get("group.instance.id")): str(step["member"])
        for step in run.steps
        if step["do"] == "start"
    }
    for row in run.truth:
        words = str(row.get("line", "")).split()
        if row["kind"] == "admin" and words[:1] == ["remove-instance"] and words[2] in instances:
            actions.append(Action(int(row["t"]) - begin - 20, "remove", instances[words[2]]))
    return actions
