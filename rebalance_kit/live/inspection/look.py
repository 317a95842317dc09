"""Two looks at a cluster through a client in a process of its own, and what they find.

What two looks at a group mean: findings with what was seen, what to do, and the key that decides it.

Each rule is a function of a ``Group`` (both looks at it) that yields findings; ``RULES`` lists them.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rebalance_kit.live.jars import LiveError
from rebalance_kit.model.errors import to_install
from rebalance_kit.model.topology import parse_partition
from rebalance_kit.model.yaml_text import YamlRules, read_text
from rebalance_kit.simulation.scenario.scenario import Action, MemberSpec, Scenario, TopicSpec, with_protocol

GRAVITIES = ("error", "warning", "note")
REBALANCING = frozenset({"preparing_rebalancing", "completing_rebalancing", "assigning", "reconciling"})
EAGER = frozenset({"range", "roundrobin", "sticky"})
SKEW = 2
"""How many more partitions one member may own than another of the same group."""
MOST_MEMBERS = 50
"""A group of more is no scenario that one looks at."""
RESTART_MS, EVERY_MS = 30_000, 20_000
COMMITS_S = 5.5
"""Looks closer together than auto.commit.interval.ms (5 s) show no missing commit."""
HOT_SHARE = 0.8
HOT_LEAST = 1_000
COOPERATIVE = (
    "partition.assignment.strategy=org.apache.kafka.clients.consumer.CooperativeStickyAssignor (two rolling bounces from range "
    "alone; librdkafka: cooperative-sticky, after all members have stopped), or group.protocol=consumer"
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding of a group."""

    group: str
    rule: str
    gravity: str
    seen: str
    do: str


@dataclass(frozen=True, slots=True)
class Group:
    """Both looks at one group, with the spans of offsets of its topics."""

    name: str
    before: Mapping[str, Any]
    now: Mapping[str, Any]
    spans: Mapping[str, tuple[int, int]]
    spans_before: Mapping[str, tuple[int, int]]
    apart_s: float

    @property
    def members(self) -> list[Mapping[str, Any]]:
        """Its members now."""
        return list(self.now.get("members", ()))

    def lag(self, *, before: bool = False) -> dict[str, int]:
        """Records between the committed and the next offset, by partition with a commit."""
        look, spans = (self.before, self.spans_before) if before else (self.now, self.spans)
        return {
            tp: max(spans[tp][1] - offset, 0)
            for tp, offset in look.get("committed", {}).items()
            if offset is not None and tp in spans
        }

    def shown(self) -> str:
        """Its kind in words."""
        assignor = f", {self.now['assignor']}" if self.now.get("assignor") else ""
        return f"{self.now.get('type', '?')}{assignor}"


def findings(groups: list[Group]) -> list[Finding]:
    """All findings, the gravest first."""
    found = [one for group in groups for rule in RULES for one in rule(group)]
    return sorted(found, key=lambda one: (GRAVITIES.index(one.gravity), one.group, one.rule))


def groups_of(answer: Mapping[str, Any]) -> list[Group]:
    """The groups of the child's answer."""
    first, second = answer["looks"]
    apart_s = (second["at_ms"] - first["at_ms"]) / 1000
    spans, before = (_spans(look["topics"]) for look in (second, first))
    return [
        Group(name, first["groups"].get(name, {}), now, spans, before, apart_s)
        for name, now in sorted(second["groups"].items())
    ]


def _spans(topics: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    return {
        f"{topic}-{number}": (first, last)
        for topic, partitions in topics.items()
        for number, (first, last) in partitions.items()
        if first is not None and last is not None
    }


def scenario_of(group: Group) -> Scenario | None:
    """The group's shape as a scenario that restarts its members one after another; None where nobody is there, or too many, or its assignor is its own."""
    kinds = {"range": "eager", "cooperative-sticky": "cooperative"}
    assignor = str(group.now.get("assignor") or "")
    protocol = (
        {"uniform": "consumer", "range": "consumer-range"}.get(assignor)
        if group.now.get("type") == "consumer"
        else kinds.get(assignor, assignor if assignor in {"sticky", "roundrobin"} else None)
    )
    topics: dict[str, int] = {}
    for name in {*group.now.get("committed", {}), *(tp for one in group.members for tp in one["owned"])}:
        topic, number = parse_partition(name)
        topics[topic] = max(topics.get(topic, 0), number + 1)
    if not group.members or len(group.members) > MOST_MEMBERS or not topics or protocol is None:
        return None
    specs = tuple(
        MemberSpec(
            f"member-{place}",
            tuple(sorted(topics)),
            {"group.instance.id": one["instance"]} if one["instance"] else {},
            start_ms=0,
        )
        for place, one in enumerate(group.members, 1)
    )
    restart = Action(RESTART_MS, "rolling_restart", None, {"every_ms": EVERY_MS, "after_ms": 5_000})
    made = Scenario(
        group.name,
        tuple(TopicSpec(topic, partitions) for topic, partitions in sorted(topics.items())),
        specs,
        (restart,),
        RESTART_MS + EVERY_MS * len(specs) + 60_000,
    )
    return with_protocol(made, protocol)


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _refused(group: Group) -> Iterator[Finding]:
    if "error" in group.now:
        do = "Grant Describe on the group to the principal that looks."
        yield Finding(
            group.name, "not-described", "warning", f"it cannot be described: {group.now['error']}", do
        )


def _nobody(group: Group) -> Iterator[Finding]:
    left = sum(group.lag().values())
    if group.now.get("state") == "empty" and left:
        yield Finding(
            group.name,
            "empty-with-lag",
            "error",
            f"no member, and {left:,} records wait behind its commits",
            "Start its consumers, or delete the group if nobody needs it. Its offsets expire offsets.retention.minutes (7 days by default) "
            "after the last member left.",
        )


def _rebalancing(group: Group) -> Iterator[Finding]:
    states = [look.get("state") for look in (group.before, group.now)]
    if all(state in REBALANCING for state in states):
        yield Finding(
            group.name,
            "long-rebalance",
            "warning",
            f"{states[0]} and {group.apart_s:.0f} s later {states[1]}: a rebalance that lasts, or one after another",
            "Look at its members' logs with `rebalance-kit logs`; a member that re-joins late holds it up for at most max.poll.interval.ms.",
        )


def _changed(group: Group) -> Iterator[Finding]:
    ids = [{member["id"] for member in look.get("members", ())} for look in (group.before, group.now)]
    came, went = len(ids[1] - ids[0]), len(ids[0] - ids[1])
    if group.before and came + went:
        yield Finding(
            group.name,
            "members-change",
            "note",
            f"within {group.apart_s:.0f} s members that came: {came}, that went: {went}",
            "Expected in a deployment. Otherwise look for members that are removed: session.timeout.ms, max.poll.interval.ms.",
        )


def _idle(group: Group) -> Iterator[Finding]:
    idle = [member["client"] for member in group.members if not member["owned"]]
    if group.now.get("state") == "stable" and idle:
        yield Finding(
            group.name,
            "idle-members",
            "warning",
            f"{len(idle)} of {len(group.members)} members own no partition ({_some(idle)})",
            "A group uses at most as many members as partitions (with range: as the largest topic has): run fewer members, add partitions, "
            "or take an assignor that balances over topics.",
        )


def _unowned(group: Group) -> Iterator[Finding]:
    owned = {tp for member in group.members for tp in member["owned"]}
    topics = {tp.rpartition("-")[0] for tp in owned}
    free = sorted(tp for tp in group.spans if tp.rpartition("-")[0] in topics and tp not in owned)
    if group.now.get("state") == "stable" and free:
        yield Finding(
            group.name,
            "unowned-partitions",
            "error",
            f"nobody reads {_some(free)}",
            "A classic leader notices new partitions within metadata.max.age.ms (5 minutes by default), a KIP-848 coordinator at the next "
            "heartbeat. If it lasts, suspect a custom assignor.",
        )


def _skew(group: Group) -> Iterator[Finding]:
    shares = {member["client"]: len(member["owned"]) for member in group.members if member["owned"]}
    if group.now.get("state") != "stable" or not shares:
        return
    most, least = max(shares.values()), min(shares.values())
    if most - least >= SKEW:
        yield Finding(
            group.name,
            "skew",
            "warning",
            f"one member owns {most} partitions, another {least}",
            _balanced(group),
        )


def _balanced(group: Group) -> str:
    if group.now.get("assignor") != "range":
        return "Compare what the members subscribe to: shares differ where topics do."
    if group.now.get("type") == "classic":
        return f"range deals per topic: {COOPERATIVE} (uniform)."
    return "range deals per topic: group.remote.assignor=uniform on every member, or leave the key out."


def _eager(group: Group) -> Iterator[Finding]:
    if group.now.get("type") == "classic" and group.now.get("assignor") in EAGER:
        yield Finding(
            group.name,
            "eager",
            "note",
            f"assignor {group.now['assignor']}: every rebalance stops every partition",
            f"{COOPERATIVE}.",
        )


def _behind(group: Group) -> Iterator[Finding]:
    for member in group.members:
        old = next((one for one in group.before.get("members", ()) if one["id"] == member["id"]), None)
        target = member.get("target")
        if old is None or target is None or old.get("target") is None:
            continue
        if (
            set(target) != set(member["owned"])
            and set(old["target"]) == set(target)
            and old["owned"] == member["owned"]
        ):
            yield Finding(
                group.name,
                "behind-its-target",
                "warning",
                f"{member['client']} has not come to its target assignment for {group.apart_s:.0f} s",
                "It, or the owner of what it waits for, is in a slow callback or does not poll: max.poll.interval.ms bounds it.",
            )


def _growing(group: Group) -> Iterator[Finding]:
    before, now = group.lag(before=True), group.lag()
    by = sum(now.values()) - sum(before.get(tp, 0) for tp in now)
    stuck = sorted(
        tp
        for tp in now
        if tp in before
        and now[tp] > before[tp]
        and group.now["committed"][tp] == group.before.get("committed", {}).get(tp)
    )
    if group.members and stuck and by > 0 and group.apart_s >= COMMITS_S:
        yield Finding(
            group.name,
            "lag-grows",
            "warning",
            f"within {group.apart_s:.0f} s lag grew by {by:,} to {sum(now.values()):,}, and nothing was committed of {_some(stuck)}",
            "The member that owns them is stuck or too slow, or commits less often (auto.commit.interval.ms): look longer with --seconds.",
        )


def _out_of_range(group: Group) -> Iterator[Finding]:
    held = group.now.get("committed", {})
    gone = sorted(
        tp for tp, at in held.items() if at is not None and tp in group.spans and at < group.spans[tp][0]
    )
    if gone:
        yield Finding(
            group.name,
            "commit-before-log",
            "error",
            f"the log begins after what was committed of {_some(gone)}: records were deleted before they were committed",
            "auto.offset.reset decides where its owner goes on (latest, the default, skips what waits); raise the topic's retention.ms or "
            "retention.bytes, or read faster.",
        )
    beyond = sorted(
        tp for tp, at in held.items() if at is not None and tp in group.spans and at > group.spans[tp][1]
    )
    if beyond:
        yield Finding(
            group.name,
            "commit-beyond-log",
            "error",
            f"committed beyond the end of {_some(beyond)}: the topic was created anew, or lost records",
            "Reset its offsets with kafka-consumer-groups --reset-offsets while the group is empty.",
        )


def _never_committed(group: Group) -> Iterator[Finding]:
    held = group.now.get("committed", {})
    owned = sorted(tp for member in group.members for tp in member["owned"])
    never = [
        tp
        for tp in owned
        if held.get(tp) is None and group.spans.get(tp, (0, 0))[1] > group.spans.get(tp, (0, 0))[0]
    ]
    if group.now.get("state") == "stable" and never and group.now.get("offsets_error") is None:
        yield Finding(
            group.name,
            "never-committed",
            "warning",
            f"no commit of {_some(never)}, which hold records",
            "After a rebalance its next owner begins by auto.offset.reset: check enable.auto.commit, or that the application commits.",
        )


def _hot(group: Group) -> Iterator[Finding]:
    lag = group.lag()
    total = sum(lag.values())
    if len(lag) > 1 and total >= HOT_LEAST:
        tp, most = max(lag.items(), key=lambda pair: pair[1])
        if most >= HOT_SHARE * total:
            yield Finding(
                group.name,
                "hot-partition",
                "warning",
                f"{tp} has {most:,} of {total:,} records of lag",
                "More members do not help one partition: look at the keys of its records, and at the one member that reads it.",
            )


def _mixed(group: Group) -> Iterator[Finding]:
    static = sum(member["instance"] is not None for member in group.members)
    if 0 < static < len(group.members):
        yield Finding(
            group.name,
            "static-and-dynamic",
            "note",
            f"{static} of {len(group.members)} members are static",
            "Give every member its own group.instance.id, or none: a restart of a dynamic one rebalances all.",
        )


def _same_client(group: Group) -> Iterator[Finding]:
    many = [
        name for name, times in Counter(member["client"] for member in group.members).items() if times > 1
    ]
    if many:
        yield Finding(
            group.name,
            "same-client-id",
            "note",
            f"several members share the client.id {_some(sorted(many))}",
            "Give each process its own client.id: logs, quotas and metrics tell them apart by it.",
        )


RULES: tuple[Callable[[Group], Iterator[Finding]], ...] = (
    _refused, _nobody, _rebalancing, _changed, _idle, _unowned, _skew, _eager, _behind, _growing, _out_of_range,
    _never_committed, _hot, _mixed, _same_client,
)  # fmt: skip


MOST_S = 600.0
_PASSED = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "KRB5_CONFIG",
    "KRB5CCNAME",
    "PYTHONPATH",
)


_FILE = YamlRules("a file of client configs", error=LiveError)
_STARTED = ("plugin.library.paths", "sasl.kerberos.kinit.cmd", "ssl.engine.location")


def read_configs(file: Path) -> dict[str, str]:
    """A file of client configs, ``key=value`` per line as Kafka's own tools take it; raises ``LiveError`` naming the line."""
    lines = read_text(file, _FILE).splitlines()
    configs: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise LiveError(
                f"{file}:{number}: expected key=value (the line is not shown, as it may hold a secret)"
            )
        configs[key.strip()] = value.strip()
    return native(configs, str(file))


def native(configs: Mapping[str, str], where: str) -> dict[str, str]:
    """Configs of a Java client as librdkafka takes them: ``sasl.jaas.config`` becomes user and password, JKS stores are refused."""
    made = dict(configs)
    jaas = made.pop("sasl.jaas.config", None)
    if jaas is not None:
        for option, key in (("username", "sasl.username"), ("password", "sasl.password")):
            _, found, rest = jaas.partition(f"{option}=")
            if not found or not rest.startswith(('"', "'")):
                raise LiveError(
                    f'{where}: sasl.jaas.config names no {option}="…"; expected a login module with user and password'
                )
            made.setdefault(key, rest[1:].partition(rest[0])[0])
    for key in made:
        if key in _STARTED:
            raise LiveError(
                f"{where}: {key} starts a program or loads a library; expected configs that only say how to connect"
            )
        if key.endswith((".truststore.location", ".truststore.password", ".truststore.type")):
            raise LiveError(
                f"{where}: {key} is of Java's stores; expected ssl.ca.location=FILE.pem (write it with keytool -exportcert -rfc)"
            )
    return made


def look(
    bootstrap: str,
    configs: Mapping[str, str] | None = None,
    groups: Sequence[str] = ("*",),
    seconds: float = 6.0,
) -> Mapping[str, Any]:
    """Look twice, ``seconds`` apart, at the groups that fit the patterns; raises ``LiveError`` with what to do."""
    if not 0 <= seconds <= MOST_S:
        raise LiveError(f"seconds={seconds:g}: expected 0 to {MOST_S:g}")
    if importlib.util.find_spec("confluent_kafka") is None:
        raise LiveError(f"confluent-kafka is not installed; expected: {to_install('clients')}")
    wish: dict[str, Any] = {
        "bootstrap": bootstrap,
        "configs": dict(configs or {}),
        "groups": list(groups),
        "seconds": seconds,
    }
    environment = {key: value for key, value in os.environ.items() if key in _PASSED}
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "rebalance_kit.live.inspection.child"],
            input=json.dumps(wish),
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds + 120,
            env=environment,
        )
        answer = json.loads(done.stdout)
    except subprocess.TimeoutExpired as error:
        raise LiveError(
            f"{bootstrap} did not answer within {seconds + 120:g} s; expected a reachable cluster"
        ) from error
    except ValueError as error:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise LiveError(
            f"the client at {bootstrap} ended without an answer: {_hidden(last, wish['configs'])}"
        ) from error
    if "error" in answer:
        raise LiveError(f"{bootstrap}: {_hidden(str(answer['error']), wish['configs'])}; {_advice(answer)}")
    for shown in answer["looks"]:  # a broker may tell what it was told
        for place, key in [
            (one, key) for one in shown["groups"].values() for key in ("error", "offsets_error")
        ]:
            if place.get(key):
                place[key] = _hidden(str(place[key]), wish["configs"])
    return dict(answer)


def _advice(answer: Mapping[str, Any]) -> str:
    words = f"{answer['error']} {answer['code']}".lower()
    if "certificate" in words or "ssl handshake" in words or "ssl." in words:
        return "expected security.protocol=SSL or SASL_SSL with ssl.ca.location=FILE.pem in --command-config"
    if "authentication" in words or "sasl mechanism" in words or "sasl." in words:
        return "expected sasl.username and sasl.password that this cluster knows, and its sasl.mechanism"
    if "authorization" in words:
        return "expected Describe on the cluster, its topics and its groups for this principal"
    return "expected a reachable cluster: check the address, and whether it wants TLS or SASL (--command-config FILE)"


def _hidden(words: str, configs: Mapping[str, str]) -> str:
    """Words without any value of the security settings."""
    for key, value in configs.items():
        if (
            value
            and key.startswith(("sasl.", "ssl."))
            and ("password" in key or "secret" in key or "key" in key)
        ):
            words = words.replace(value, "***")
    return words
