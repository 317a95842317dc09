"""Judge what the pipeline says of a recorded run by what was done in it (``run.json``, its steps).

Every deliberate step after the start-up and before the closing of the run must be named, with the
member that it was done to; and nobody may be blamed for what nobody did.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

#: Members started within this time of the first are the start-up, not an event.
_START_UP_MS = 5_000

#: What blames the topics: none of these may be said of a run in which no topic and no broker changed.
_BLAMING_TOPICS = {"metadata_changed", "regex_changed", "subscription_changed"}

#: Rebalances that a member began by coming or going; only they may name others beside their cause.
_COMINGS_AND_GOINGS = {"join", "leave", "poll_timeout", "session_expired", "admin_removal", "follow_up"}

#: What blames somebody: none of these may name a member to whom nothing was done.
_BLAMING = {"session_expired", "poll_timeout", "admin_removal", "enforced"}


@dataclass(frozen=True, slots=True)
class Expected:
    """One step: any of ``answers`` (trigger or finding) with ``who`` (None: nobody to name)."""

    step: str
    answers: tuple[str, ...]
    who: str | None
    at_ms: int = 0


def expectations(run: dict[str, Any]) -> list[Expected]:
    """What a reader of the logs should be told of a run, in order of its steps."""
    steps = run["steps"]
    last = len(steps)
    while last > 0 and _is_closing(steps[last - 1]):
        last -= 1
    first_start = next(step["t"] for step in steps if step["do"] == "start")
    configs: dict[str, dict[str, Any]] = {}
    owners: dict[str, str] = {}
    ended: set[str] = set()
    found: list[Expected] = []
    for step in steps[:last]:
        late = step["t"] - first_start > _START_UP_MS
        found += [replace(one, at_ms=step["t"]) for one in _expected(step, late, run, configs, owners, ended)]
    return found


def _is_closing(step: dict[str, Any]) -> bool:
    return (step["do"] == "tell" and step["line"] == "close") or (
        step["do"] == "admin" and step["line"] == "stop"
    )


def _expected(
    step: dict[str, Any],
    late: bool,
    run: dict[str, Any],
    configs: dict[str, dict[str, Any]],
    owners: dict[str, str],
    ended: set[str],
) -> list[Expected]:
    do, who, line = step["do"], step.get("member", ""), step.get("line", "")
    if do == "start":
        return _started(step, late, run, configs, owners, ended)
    if do == "kill":
        ended.add(who)
        # A consumer that had died of an error before is no member that could expire.
        dead = run["scenario"] == "consumer-joins-too-early"
        return [] if dead else [Expected(f"kill {who}", ("session_expired",), who)]
    if do == "freeze":
        return [Expected(f"freeze {who}", ("member_frozen",), who)]
    if do == "broker-stop":
        return [Expected("broker stopped", ("coordinator_lost", "coordinator_moved"), None)]
    if do == "admin":
        return _administered(line, run, owners)
    if do == "tell":
        return _told(who, line, configs[who], ended)
    return []


def _started(
    step: dict[str, Any],
    late: bool,
    run: dict[str, Any],
    configs: dict[str, dict[str, Any]],
    owners: dict[str, str],
    ended: set[str],
) -> list[Expected]:
    who, configs[step["member"]] = step["member"], step["configs"]
    instance = step["configs"].get("group.instance.id")
    owner = owners.get(instance) if instance else None
    if instance:
        owners[instance] = who
    name = f"start {who}"
    called = run["summary"]["callbacks"].get(who, {}).get("assigned", 0) > 0
    if step.get("callback") == "wrong" and run["protocol"] != "eager" and called:
        return [Expected(f"{name} with the wrong callback", ("wrong_callback",), who)]
    if run["scenario"] == "consumer-joins-too-early" and step["configs"].get("group.protocol") == "consumer":
        return [Expected(f"{name} too early", ("coordinator_error",), who)]
    if not late:
        return []
    if owner is not None and owner not in ended:
        return [Expected(f"{name} as a second {instance}", ("duplicate_instance_id",), who)]
    ended.discard(who)
    if run["scenario"] == "bounce-gone-wrong":
        return [Expected(f"{name} with another assignor", ("protocol_refused",), who)]
    if run["scenario"] == "rd-strategy-change":
        return [Expected(f"{name} with a mixed list", ("strategy_refused",), who)]
    if instance:
        return [Expected(f"{name} again as {instance}", ("static_return", "join"), who)]
    return [Expected(name, ("join",), who)]


def _administered(line: str, run: dict[str, Any], owners: dict[str, str]) -> list[Expected]:
    if line.startswith("partitions "):
        return [Expected(line, ("metadata_changed",), None)]
    if line.startswith("remove-instance"):
        return [Expected(line, ("admin_removal",), owners[line.rsplit(" ", 1)[-1]])]
    if line.startswith("delete-topic"):
        return [Expected(line, ("deleted_topic_commit", "metadata_changed"), None)]
    if line.startswith("topic ") and run["scenario"] == "regex" and not line.startswith("topic orders "):
        return [Expected(line, ("metadata_changed", "subscription_changed", "regex_changed"), None)]
    return []


def _told(who: str, line: str, config: dict[str, Any], ended: set[str]) -> list[Expected]:
    word, *rest = line.split()
    if word == "close":
        ended.add(who)
        # A static member says nothing when it closes; what follows tells (return, removal, expiry).
        return [] if config.get("group.instance.id") else [Expected(f"close {who}", ("leave",), who)]
    if word == "stall" and int(rest[0]) > int(config["max.poll.interval.ms"]):
        return [Expected(f"{who} stalls {rest[0]} ms", ("poll_timeout", "poll_timeout_exceeded"), who)]
    if word == "slow":
        return [Expected(f"{who} slow in callbacks", ("slow_callback",), who)]
    if word == "enforce":
        return [Expected(f"{who} enforces", ("enforced",), who)]
    if word == "subscribe":
        return [Expected(f"{who} subscribes {rest[0]}", ("subscription_changed",), who)]
    return []


def judge(run: dict[str, Any], record: dict[str, Any]) -> list[str]:
    """What is wrong in a record (one JSON line of the pipeline) about a run; empty when all is right.

    A rebalance answers for one step only, and only for one before it.
    """
    unused = list(record["rebalances"])
    findings = [(row["finding"], row["who"]) for row in record["findings"]]
    expected = expectations(run)
    wrong = []
    for one in expected:
        hit = next((row for row in unused if _answers(one, row)), None)
        if hit is not None:
            unused.remove(hit)
        elif not any(word in one.answers and one.who in (None, who) for word, who in findings) and not _aside(
            one, record
        ):
            wrong.append(f"{one.step}: expected {'/'.join(one.answers)} by {one.who}")
    said = [(row["trigger"], row["culprit"]) for row in record["rebalances"]]
    done_to = {one.who for one in expected if set(one.answers) & (_BLAMING | {"member_frozen"})}
    tells = [step for step in run["steps"] if step["do"] == "tell"]
    closed = {step["member"] for step in tells if step["line"] == "close"}
    wrong += [
        f"nobody did {word} to {who}"
        for word, who in said
        if word in _BLAMING and who not in done_to | closed
    ]
    changed = any(set(one.answers) & (_BLAMING_TOPICS | {"coordinator_lost"}) for one in expected)
    wrong += [f"no topic changed, but: {word}" for word, _ in said if word in _BLAMING_TOPICS and not changed]
    wrong += [f"{word} explains nothing" for word, _ in said if word in {None, "other"}]
    return wrong


def _answers(one: Expected, row: dict[str, Any]) -> bool:
    return (
        row["trigger"] in one.answers
        and one.who in (None, row["culprit"])
        and row["start_ms"] >= one.at_ms - 100
    )


def _aside(one: Expected, record: dict[str, Any]) -> bool:
    """Whether a rebalance that somebody else began names the member beside its cause, as it should."""
    words = {"join": "joined", "leave": "left", "session_expired": "expired", "poll_timeout": "left"}
    sets = [words[answer] for answer in one.answers if answer in words]
    return any(
        one.who in (row[name] or ()) and (row["end_ms"] or row["start_ms"]) >= one.at_ms - 100
        for row in record["rebalances"]
        if row["trigger"] in _COMINGS_AND_GOINGS
        for name in sets
    )
