"""Findings that a recorded run's logs should give, derived from its steps alone (``run.json``).

Each deliberate step after the start-up and before the closing of the run gives one expectation: what
may be answered (a trigger of a rebalance, or a finding) and whom it must name.  A step that cannot
show in the logs (a freeze shorter than the session, say) gives none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

#: Members started within this time of the first are the start-up, not an event.
START_UP_MS = 5_000

#: Members told to close within this time of the last one are the closing of the run.
CLOSING_MS = 3_000

#: The settings of a client that says nothing about them.
_DEFAULTS = {"max.poll.interval.ms": 300_000, "session.timeout.ms": 45_000, "metadata.max.age.ms": 300_000}

_DEFAULT_ASSIGNORS = ("range", "cooperative-sticky")

#: Java's class names as the names that assignors go by.
_ASSIGNORS = {
    "RangeAssignor": "range",
    "RoundRobinAssignor": "roundrobin",
    "StickyAssignor": "sticky",
    "CooperativeStickyAssignor": "cooperative-sticky",
}

#: What makes a later rebalance call every member's callbacks, so that a slow one shows.
_STIRRING = {"start", "kill", "freeze", "admin", "tell"}

Step = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Expected:
    """One step: any of ``answers`` (trigger or finding) with ``who`` (None: nobody to name) after ``at_ms``."""

    step: str
    answers: tuple[str, ...]
    who: str | None
    at_ms: int = 0


@dataclass(slots=True)
class _Stage:
    """What is known while the steps of a run go by."""

    run: dict[str, Any]
    end_ms: int
    steps: list[Step]
    place: int = 0
    configs: dict[str, dict[str, Any]] = field(default_factory=dict)
    topics: dict[str, str] = field(default_factory=dict)
    owners: dict[str, str] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)

    def limit(self, who: str, key: str) -> int:
        return int(self.configs[who].get(key, _DEFAULTS[key]))

    def consumer(self, who: str) -> bool:
        return str(self.configs[who].get("group.protocol", "classic")).lower() == "consumer"

    def session_ms(self, who: str) -> int:
        if self.consumer(who):
            return int(self.run["broker"].get("group.consumer.session.timeout.ms", 45_000))
        return self.limit(who, "session.timeout.ms")

    def later(self, who: str, *kinds: str) -> int:
        """When the next step of these kinds concerns the member; the end of the run when none does."""
        for step in self.steps[self.place + 1 :]:
            if step.get("member") == who and step["do"] in kinds:
                return int(step["t"])
        return self.end_ms


def expectations(run: dict[str, Any]) -> list[Expected]:
    """What a reader of the logs should be told of a run, in order of its steps."""
    steps = run["steps"]
    last = len(steps)
    closes = [int(step["t"]) for step in steps if _is_close(step)]
    closing_ms = max(closes, default=0) - CLOSING_MS
    while last > 0 and _is_closing(steps[last - 1]) and steps[last - 1]["t"] >= closing_ms:
        last -= 1
    end_ms = int(steps[last]["t"] if last < len(steps) else steps[-1]["t"])
    stage = _Stage(run, end_ms, steps[:last])
    first = next(int(step["t"]) for step in steps if step["do"] == "start")
    found: list[Expected] = []
    for place, step in enumerate(stage.steps):
        stage.place = place
        late = step["t"] - first > START_UP_MS
        found += [replace(one, at_ms=int(step["t"])) for one in _expected(step, late, stage)]
    return found


def _is_close(step: Step) -> bool:
    return bool(step["do"] == "tell" and step["line"] == "close")


def _is_closing(step: Step) -> bool:
    return _is_close(step) or (step["do"] == "admin" and step["line"] == "stop") or step["do"] == "cli"


def _expected(step: Step, late: bool, stage: _Stage) -> list[Expected]:
    do, who, line = step["do"], step.get("member", ""), step.get("line", "")
    if do == "start":
        return _started(step, late, stage)
    if do == "kill":
        return _killed(who, step, stage)
    if do == "freeze":
        silent = stage.later(who, "thaw", "kill") - step["t"]
        if who in stage.ended or silent <= stage.session_ms(who):
            return []
        return [Expected(f"freeze {who}", ("member_frozen",), who)]
    if do == "broker-stop":
        return [Expected("broker stopped", ("coordinator_lost", "coordinator_moved"), None)]
    if do == "admin":
        return _administered(line, step, stage)
    if do == "tell" and who not in stage.ended:
        return _told(who, line, step, stage)
    return []


def _killed(who: str, step: Step, stage: _Stage) -> list[Expected]:
    if who in stage.ended:
        return []
    stage.ended.add(who)
    if stage.end_ms - step["t"] <= stage.session_ms(who):
        return []
    instance = stage.configs[who].get("group.instance.id")
    back = [
        later["t"] - step["t"]
        for later in stage.steps[stage.place + 1 :]
        if later["do"] == "start" and later["configs"].get("group.instance.id") == instance
    ]
    # A static member that returns within its session is never missed (its start tells the rest).
    if instance and back and back[0] < stage.session_ms(who):
        return []
    return [Expected(f"kill {who}", ("session_expired",), who)]


def _started(step: Step, late: bool, stage: _Stage) -> list[Expected]:
    who, config = str(step["member"]), step["configs"]
    present = [name for name in stage.configs if name not in stage.ended and name != who]
    stage.configs[who], stage.topics[who] = config, step.get("topics", "")
    instance = config.get("group.instance.id")
    owner = stage.owners.get(instance) if instance else None
    name, native = f"start {who}", step.get("client") == "librdkafka"
    called = stage.run["summary"]["callbacks"].get(who, {}).get("assigned", 0) > 0
    if native and _mixed(config):
        stage.ended.add(who)
        return [Expected(f"{name} with a mixed list", ("strategy_refused",), who)]
    if not stage.consumer(who) and _strangers(who, present, stage):
        stage.ended.add(who)
        return [Expected(f"{name} with another assignor", ("protocol_refused",), who)]
    if instance:
        stage.owners[instance] = who
    cooperative = stage.consumer(who) or "cooperative-sticky" in _assignors(config, native)
    if step.get("callback") == "wrong" and cooperative and called:
        return [Expected(f"{name} with the wrong callback", ("wrong_callback",), who)]
    if stage.consumer(who) and not called and any(not stage.consumer(one) for one in present):
        stage.ended.add(who)
        return [Expected(f"{name} too early", ("coordinator_error",), who)]
    returned = who in stage.ended
    stage.ended.discard(who)
    if not late:
        return []
    if owner is not None and owner != who and owner not in stage.ended:
        return [Expected(f"{name} as a second {instance}", ("duplicate_instance_id",), who)]
    if instance and (returned or owner is not None):
        # Under KIP-848 a killed static member's id is not released before its session ends.
        answers = ("static_return", "join", "instance_id_refused", "duplicate_instance_id")
        return [Expected(f"{name} again as {instance}", answers, who)]
    return [Expected(name, ("join",), who)]


def _assignors(config: dict[str, Any], native: bool) -> tuple[str, ...]:
    said = config.get("partition.assignment.strategy")
    if not said:
        return ("range", "roundrobin") if native else _DEFAULT_ASSIGNORS
    names = [one.strip().rpartition(".")[2] for one in str(said).split(",")]
    return tuple(_ASSIGNORS.get(name, name) for name in names)


def _mixed(config: dict[str, Any]) -> bool:
    said = str(config.get("partition.assignment.strategy", ""))
    return "," in said and "cooperative-sticky" in said


def _strangers(who: str, present: list[str], stage: _Stage) -> bool:
    """Whether no assignor is known to the newcomer and to all classic members that are there."""
    sets = [set(_assignors(stage.configs[one], native=False)) for one in present if not stage.consumer(one)]
    return bool(sets) and not set.intersection(*sets, set(_assignors(stage.configs[who], native=False)))


def _administered(line: str, step: Step, stage: _Stage) -> list[Expected]:
    verb, _, rest = line.partition(" ")
    name = rest.split(" ")[0]
    live = [who for who in stage.configs if who not in stage.ended]
    if verb == "remove-instance":
        instance = line.rsplit(" ", 1)[-1]
        owner = stage.owners.get(instance)
        return [Expected(line, ("admin_removal",), owner)] if owner else []
    users = [who for who in live if _wants(stage.topics.get(who, ""), name)]
    in_time = any(
        stage.consumer(who) or stage.end_ms - step["t"] > stage.limit(who, "metadata.max.age.ms") + 1_000
        for who in users
    )
    if verb not in {"partitions", "topic", "delete-topic"} or not users or not in_time:
        return []
    more = {"delete-topic": "deleted_topic_commit", "topic": "topic_recreated"}.get(verb)
    answers = ("metadata_changed", "subscription_changed", "regex_changed", *([more] if more else []))
    return [Expected(line, answers, None)]


def _wants(topics: str, name: str) -> bool:
    """Whether a member's subscription (a list, or a pattern behind ``~`` or ``@``) takes the topic in."""
    if topics[:1] in {"~", "@", "^"}:
        return re.fullmatch(topics.lstrip("~@^"), name) is not None
    return name in topics.split(",")


def _told(who: str, line: str, step: Step, stage: _Stage) -> list[Expected]:
    word, *rest = line.split()
    config = stage.configs[who]
    limit = stage.limit(who, "max.poll.interval.ms")
    if word == "close":
        stage.ended.add(who)
        # A static member says nothing when it closes; what follows tells (return, removal, expiry).
        return [] if config.get("group.instance.id") else [Expected(f"close {who}", ("leave",), who)]
    if word == "stall" and int(rest[0]) > limit and stage.end_ms - step["t"] > limit + 500:
        late = ("poll_timeout", "poll_timeout_exceeded", "sync_timeout")
        return [Expected(f"{who} stalls {rest[0]} ms", late, who)]
    if word == "slow" and int(rest[0]) > 1_000 and _stirred(stage):
        slow = ("slow_callback", "poll_timeout", "poll_timeout_exceeded", "rebalance_timeout")
        return [Expected(f"{who} slow in callbacks", slow, who)]
    if word == "enforce" and not stage.consumer(who):
        return [Expected(f"{who} enforces", ("enforced",), who)]
    if word == "subscribe" and rest and rest[0] != stage.topics.get(who):
        stage.topics[who] = rest[0]
        return [Expected(f"{who} subscribes {rest[0]}", ("subscription_changed", "resubscribed"), who)]
    return []


def _stirred(stage: _Stage) -> bool:
    return any(step["do"] in _STIRRING for step in stage.steps[stage.place + 1 :])


# Judge what the pipeline says of a recorded run by what was done in it (``run.json``).
#
# Every expectation of ``expected`` must be met, with the member that it was done to; and nobody may be
# blamed for what nobody did.


#: What blames the topics: none of these may be said of a run in which no topic and no broker changed.
_BLAMING_TOPICS = {"metadata_changed", "regex_changed", "subscription_changed"}

#: Rebalances that a member began by coming or going; only they may name others beside their cause.
_COMINGS_AND_GOINGS = {"join", "leave", "poll_timeout", "session_expired", "admin_removal", "follow_up"}

#: What blames somebody: none of these may name a member to whom nothing was done.
_BLAMING = {
    "session_expired",
    "poll_timeout",
    "admin_removal",
    "enforced",
    "rebalance_timeout",
    "sync_timeout",
}

#: How a trigger shows beside another cause: the list of a rebalance that names the member.
_BESIDE = {"join": "joined", "leave": "left", "session_expired": "expired", "poll_timeout": "left"}

#: Steps that may make a member miss its session, be removed or be late.
_HARM = {"kill", "freeze", "tell", "admin"}

#: Clocks of a coordinator and of the steps agree this closely.
_EARLY_MS = 100


def judge(run: dict[str, Any], record: dict[str, Any]) -> list[str]:
    """What is wrong in a record (one JSON line of the pipeline) about a run; empty when all is right.

    A rebalance answers for one step only, and only for one before it.
    """
    expected = expectations(run)
    wrong = _unmet(expected, record)
    said = [(row["trigger"], row["culprit"]) for row in record["rebalances"]]
    harmed = {step.get("member") for step in run["steps"] if step["do"] in _HARM}
    harmed |= {one.who for one in expected}
    wrong += [f"nobody did {word} to {who}" for word, who in said if word in _BLAMING and who not in harmed]
    # A broker that comes up may show its members less than all topics for a moment.
    changed = any(set(one.answers) & (_BLAMING_TOPICS | {"coordinator_lost"}) for one in expected)
    changed = changed or any(step.get("line", "").startswith("subscribe") for step in run["steps"])
    wrong += [f"no topic changed, but: {word}" for word, _ in said if word in _BLAMING_TOPICS and not changed]
    wrong += [f"{word} explains nothing" for word, _ in said if word in {None, "other"}]
    return wrong + _wrong_fates(run, record)


def _unmet(expected: list[Expected], record: dict[str, Any]) -> list[str]:
    unused = list(record["rebalances"])
    findings = [(row["finding"], row["who"]) for row in record["findings"]]
    wrong = []
    for one in expected:
        hit = next((row for row in unused if _answers(one, row)), None)
        if hit is not None:
            unused.remove(hit)
        elif not any(word in one.answers and one.who in {None, who} for word, who in findings) and not _aside(
            one, record
        ):
            wrong.append(f"{one.step}: expected {'/'.join(one.answers)} by {one.who}")
    return wrong


def _wrong_fates(run: dict[str, Any], record: dict[str, Any]) -> list[str]:
    """Expiries whose fate (frozen, died) is not what was done to the member last before."""
    wrong = []
    for row in record["rebalances"]:
        if row["trigger"] != "session_expired" or row.get("fate") not in {"frozen", "restarted", "gone"}:
            continue
        done = [
            step["do"]
            for step in run["steps"]
            if step.get("member") == row["culprit"]
            and step["do"] in {"kill", "freeze"}
            and step["t"] <= row["start_ms"] + _EARLY_MS
        ]
        was_frozen = row["fate"] == "frozen"
        if done and was_frozen != (done[-1] == "freeze") and "freeze" not in done:
            wrong.append(f"{row['culprit']} suffered {done[-1]}, but is called {row['fate']}")
    return wrong


def _answers(one: Expected, row: dict[str, Any]) -> bool:
    return (
        row["trigger"] in one.answers
        and one.who in {None, row["culprit"]}
        and row["start_ms"] >= one.at_ms - _EARLY_MS
    )


def _aside(one: Expected, record: dict[str, Any]) -> bool:
    """Whether a rebalance that somebody else began names the member beside its cause, as it should."""
    lists = [_BESIDE[answer] for answer in one.answers if answer in _BESIDE]
    return any(
        one.who in (row[name] or ()) and (row["end_ms"] or row["start_ms"]) >= one.at_ms - _EARLY_MS
        for row in record["rebalances"]
        if row["trigger"] in _COMINGS_AND_GOINGS
        for name in lists
    )
