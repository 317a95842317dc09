"""Kinds of trouble in real groups: how each is built from a healthy group, its remedy, and where that is written."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from rebalance_kit.model.errors import DataError
from rebalance_kit.simulation.scenario.scenario import Action, MemberSpec, Scenario, TopicSpec, with_protocol

# What an incident is built on: a healthy group with dice of its own, and a harmless thing that happens beside the fault.


TOPICS = ("orders", "payments", "shipments", "clicks", "prices", "returns")


@dataclass(slots=True)
class Case:
    """What a family builds on: members at work, and dice."""

    dice: random.Random
    protocol: str
    members: list[MemberSpec]
    topic: TopicSpec
    actions: list[Action]
    broker: dict[str, Any]
    end_ms: int = 240_000

    def one(self) -> str:
        """A member, not always the same."""
        return self.dice.choice([spec.name for spec in self.members])

    def configure(self, name: str | None, **values: object) -> None:
        """Set configs (dots as double underscores) of one member or of all."""
        given = {key.replace("__", "."): value for key, value in values.items()}
        self.members = [
            replace(spec, configs={**spec.configs, **given}) if name in {None, spec.name} else spec
            for spec in self.members
        ]

    def session(self, ms: int) -> None:
        """Session timeout of the whole group."""
        if self.protocol == "consumer":
            self.broker |= {
                "group.consumer.session.timeout.ms": ms,
                "group.consumer.min.session.timeout.ms": min(ms, 45_000),
            }
        else:
            self.configure(None, session__timeout__ms=ms)

    def do(self, at_ms: int, action: str, member: str | None = None, **args: object) -> None:
        """One more action."""
        self.actions.append(Action(at_ms, action, member, args))


def healthy(dice: random.Random, protocol: str) -> Case:
    """A group in which nothing has gone wrong yet."""
    topic = TopicSpec(dice.choice(TOPICS), dice.randint(4, 12))
    prefix = dice.choice(("worker", "consumer", "svc", "app"))
    members = [
        MemberSpec(
            f"{prefix}-{number}",
            (topic.name,),
            {"auto.offset.reset": "earliest"},
            start_ms=dice.randrange(0, 2_500),
        )
        for number in range(1, dice.randint(3, 5) + 1)
    ]
    return Case(dice, protocol, members, topic, [], {})


def add_harmless(case: Case, fault_ms: int) -> None:
    """One more member that comes some time before the fault, and stays."""
    late = case.dice.randrange(20_000, max(20_001, fault_ms - 15_000))
    spec = case.members[-1]
    configs = {key: value for key, value in spec.configs.items() if key != "group.instance.id"}
    case.members.append(
        replace(
            spec,
            name=f"{spec.name.rpartition('-')[0]}-{len(case.members) + 1}",
            start_ms=late,
            configs=configs,
        )
    )


CLASSIC, ALL = ("eager", "cooperative"), ("eager", "cooperative", "consumer")
Built = tuple[str | None, int, str]


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of trouble: under which protocols it is drawn, what to do, where that is written, and how it is built."""

    protocols: tuple[str, ...]
    remedy: str
    source: str
    build: Callable[[Case], Built]


def _long_batch(case: Case) -> Built:
    who, limit = case.one(), case.dice.choice((12_000, 20_000, 30_000))
    case.configure(None, max__poll__interval__ms=limit)
    at = case.dice.randrange(60_000, 110_000)
    for again in range(case.dice.randint(1, 3)):
        case.do(
            at + again * (limit + 35_000), "stall", who, for_ms=limit + case.dice.randrange(4_000, 15_000)
        )
    case.end_ms = at + 3 * (limit + 35_000) + 40_000
    return (
        who,
        at,
        f"{who} was busy with a batch for longer than max.poll.interval.ms ({limit} ms) and left the group by itself",
    )


def _frozen(case: Case) -> Built:
    who, session = case.one(), case.dice.choice((10_000, 20_000, 45_000))
    case.session(session)
    at = case.dice.randrange(60_000, 110_000)
    case.do(at, "freeze", who)
    case.do(at + session + case.dice.randrange(8_000, 30_000), "thaw", who)
    return (
        who,
        at,
        f"the process of {who} was suspended (a long GC pause or a frozen machine) for longer than its session, and woke up as a zombie",
    )


def _killed(case: Case) -> Built:
    who, at = case.one(), case.dice.randrange(60_000, 110_000)
    case.session(case.dice.choice((10_000, 30_000, 45_000)))
    case.do(at, "restart", who, crash=True, after_ms=case.dice.randrange(55_000, 90_000))
    return (
        who,
        at,
        f"the process of {who} was killed without a goodbye; the coordinator had to wait for a whole session",
    )


def _rolling(case: Case) -> Built:
    at, every = case.dice.randrange(60_000, 90_000), case.dice.randrange(12_000, 22_000)
    case.do(at, "rolling_restart", every_ms=every, after_ms=case.dice.randrange(3_000, 8_000))
    case.end_ms = at + every * len(case.members) + 90_000
    return (
        None,
        at,
        "a rolling restart of members without group.instance.id: every one left and came back, two rebalances each",
    )


def _slow_revoke(case: Case) -> Built:
    who, at = case.one(), case.dice.randrange(50_000, 70_000)
    case.do(at, "slow_callback", who, callback_ms=case.dice.randrange(9_000, 22_000))
    other = case.dice.choice([spec.name for spec in case.members if spec.name != who])
    at_rest = at + case.dice.randrange(15_000, 30_000)
    case.do(at_rest, "restart", other, after_ms=5_000)
    case.end_ms = at_rest + 170_000
    return who, at, f"the rebalance callback of {who} takes many seconds, and everybody waits for it"


def _duplicate(case: Case) -> Built:
    case.members = [
        replace(spec, configs={**spec.configs, "group.instance.id": f"pod-{place}"})
        for place, spec in enumerate(case.members)
    ]
    who, at = case.one(), case.dice.randrange(60_000, 110_000)
    case.do(at, "duplicate", who, **{"as": f"{who}-copy"})
    return who, at, f"a second process came with the group.instance.id of {who}"


def _static_late(case: Case) -> Built:
    session = case.dice.choice((10_000, 20_000))
    case.session(session)
    case.members = [
        replace(spec, configs={**spec.configs, "group.instance.id": f"pod-{place}"})
        for place, spec in enumerate(case.members)
    ]
    who, at = case.one(), case.dice.randrange(60_000, 110_000)
    case.do(at, "restart", who, after_ms=session + case.dice.randrange(8_000, 30_000))
    return who, at, f"the static member {who} was restarted and away for longer than its session"


def _other_assignor(case: Case) -> Built:
    who, at = case.one(), case.dice.randrange(60_000, 110_000)
    strategy = "org.apache.kafka.clients.consumer." + (
        "CooperativeStickyAssignor" if case.protocol == "eager" else "RangeAssignor"
    )
    case.configure(
        None,
        partition__assignment__strategy="org.apache.kafka.clients.consumer."
        + ("RoundRobinAssignor" if case.protocol == "eager" else "CooperativeStickyAssignor"),
    )
    case.do(at, "reconfigure", who, configs={"partition.assignment.strategy": strategy}, after_ms=4_000)
    return who, at, f"{who} came back with an assignor that the others do not list, and was refused"


def _cut(case: Case) -> Built:
    who, session = case.one(), case.dice.choice((10_000, 20_000, 45_000))
    case.session(session)
    at = case.dice.randrange(60_000, 110_000)
    case.do(at, "cut_network", who)
    case.do(at + session + case.dice.randrange(10_000, 30_000), "heal_network", who)
    return who, at, f"{who} could not reach the broker for longer than its session; its process was healthy"


def _failover(case: Case) -> Built:
    at = case.dice.randrange(60_000, 110_000)
    case.do(at, "coordinator_failover", for_ms=case.dice.randrange(2_000, 9_000))
    return None, at, "the group coordinator moved to another broker; the group itself was healthy and went on"


def _grown(case: Case) -> Built:
    at = case.dice.randrange(60_000, 90_000)
    case.configure(None, metadata__max__age__ms=case.dice.choice((15_000, 30_000, 60_000)))
    case.do(
        at,
        "add_partitions",
        topic=case.topic.name,
        partitions=case.topic.partitions + case.dice.randint(2, 6),
    )
    return (
        None,
        at,
        f"partitions were added to {case.topic.name}; the group took them when its members saw the new metadata",
    )


def _autoscaler(case: Case) -> Built:
    at, count = case.dice.randrange(60_000, 80_000), len(case.members)
    for step in range(case.dice.randint(3, 5)):
        case.do(at + step * 15_000, "scale_to", members=count + (2 if step % 2 == 0 else -1))
    case.end_ms = at + 5 * 15_000 + 90_000
    return None, at, "an autoscaler added and removed members every 15 s; each step was a rebalance"


def _silent(case: Case) -> Built:
    who, at = case.one(), case.dice.randrange(60_000, 80_000)
    case.configure(None, max__poll__interval__ms=120_000)
    case.do(at, "stall", who, for_ms=case.dice.randrange(50_000, 80_000))
    other = case.dice.choice([spec.name for spec in case.members if spec.name != who])
    case.do(at + 10_000, "restart", other, after_ms=4_000)
    case.end_ms = at + 200_000
    return (
        who,
        at,
        f"{who} did not call poll() while a rebalance waited for it, within a long max.poll.interval.ms: all partitions went unread",
    )


def _foreign(case: Case) -> Built:
    who, at = case.one(), case.dice.randrange(60_000, 110_000)
    case.do(at, "remove", who)
    return who, at, f"an administrator removed {who} from the group by hand"


def _storm(case: Case) -> Built:
    limit = case.dice.choice((10_000, 12_000))
    case.configure(None, max__poll__interval__ms=limit)
    first, second = case.dice.sample([spec.name for spec in case.members], 2)
    at = case.dice.randrange(50_000, 70_000)
    for turn in range(6):
        case.do(
            at + turn * 18_000,
            "stall",
            (first, second)[turn % 2],
            for_ms=limit + case.dice.randrange(4_000, 9_000),
        )
    case.end_ms = at + 6 * 18_000 + 70_000
    return first, at, f"{first} and {second} took turns to exceed max.poll.interval.ms ({limit} ms): a storm"


_POLL = "make batches smaller (max.poll.records) or the work quicker, or raise max.poll.interval.ms above the worst batch; session.timeout.ms has nothing to do with it"
FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "long_batch": Family(ALL, _POLL, "KIP-62; consumer config max.poll.interval.ms", _long_batch),
        "frozen_process": Family(
            ALL,
            "look for long garbage collections, throttled CPU or a suspended machine; make processing idempotent",
            "KIP-62",
            _frozen,
        ),
        "killed_process": Family(
            ALL,
            "let the process end with close() on SIGTERM and give it the time; a shorter session finds a real crash sooner",
            "KIP-62; consumer config session.timeout.ms",
            _killed,
        ),
        "rolling_restart": Family(
            ALL,
            "give every member a stable group.instance.id and restart each within its session",
            "KIP-345",
            _rolling,
        ),
        "slow_callback": Family(
            ALL,
            "do less in the revoke callback: stop the intake, commit what is done, leave the rest",
            "KIP-429; ConsumerRebalanceListener",
            _slow_revoke,
        ),
        "duplicate_instance": Family(
            ALL,
            "give every process a group.instance.id of its own; look for two replicas with one configuration",
            "KIP-345",
            _duplicate,
        ),
        "static_too_late": Family(
            ALL,
            "make session.timeout.ms longer than the slowest honest restart, or the restart quicker",
            "KIP-345; consumer config session.timeout.ms",
            _static_late,
        ),
        "assignor_mismatch": Family(
            CLASSIC,
            "change assignors in two rolling bounces: list the new one beside the old first, then drop the old",
            "KIP-429; INCONSISTENT_GROUP_PROTOCOL",
            _other_assignor,
        ),
        "network_cut": Family(
            ALL,
            "repair the network between that host and the broker; the session need not change",
            "KIP-62",
            _cut,
        ),
        "coordinator_moved": Family(
            ALL,
            "nothing in the group; look at the brokers, and expect commits and heartbeats to be tried again",
            "GroupCoordinator; __consumer_offsets",
            _failover,
        ),
        "partitions_added": Family(
            ALL,
            "plan for one rebalance; a smaller metadata.max.age.ms notices sooner under the classic protocol",
            "consumer config metadata.max.age.ms",
            _grown,
        ),
        "autoscaler": Family(
            ALL,
            "let the autoscaler wait longer than a rebalance and its drain, in bigger steps",
            "KIP-429; KIP-848",
            _autoscaler,
        ),
        "silent_member": Family(
            CLASSIC,
            "lower max.poll.interval.ms to what a batch may take: it is also how long a rebalance waits for a member",
            "KIP-62; JoinGroup rebalance timeout",
            _silent,
        ),
        "admin_removal": Family(
            ALL,
            "find who removed it; a dynamic member that lives comes back by itself",
            "KIP-345; Admin.removeMembersFromConsumerGroup",
            _foreign,
        ),
        "poll_storm": Family(ALL, _POLL, "KIP-62; consumer config max.poll.interval.ms", _storm),
    }
)
"""Kinds of trouble by name."""


# Incidents with a hidden truth: what goes wrong in real groups, drawn anew for every learner.
#
# A seed decides the family of the trouble, the protocol, names, sizes and times; besides the fault harmless things happen,
# so that the first odd line need not be the one that matters. The logs hold no word of the truth.


GROUPS = ("orders-app", "billing", "inventory-sync", "fraud-check", "mail-sender", "search-index")


@dataclass(frozen=True, slots=True)
class Incident:
    """One drawn incident: the ``scenario`` to run, and its truth.

    ``family`` is a key of ``FAMILIES``, ``culprit`` the member whose fault it is (None: nobody's of the group), ``fault_ms``
    when it began (ms of the run), ``cause`` and ``remedy`` are sentences, ``source`` where the remedy is written down.
    """

    family: str
    scenario: Scenario
    protocol: str
    culprit: str | None
    fault_ms: int
    cause: str
    remedy: str
    source: str
    seed: str


def draw_incident(seed: str | int, families: Sequence[str] | None = None) -> Incident:
    """The incident of that seed, of one of ``families`` (default: any); the same one whenever it is asked for.

    Raises ``DataError`` for a family that does not exist.
    """
    name = random.Random(f"incident/{seed}").choice(_known(families))
    dice = random.Random(f"incident/{seed}/{name}")
    family = FAMILIES[name]
    case = healthy(dice, dice.choice(family.protocols))
    culprit, fault_ms, cause = family.build(case)
    if dice.random() < 0.5 and name not in {"rolling_restart", "autoscaler", "duplicate_instance"}:
        add_harmless(case, fault_ms)
    scenario = Scenario(
        "incident",
        (case.topic,),
        tuple(case.members),
        tuple(sorted(case.actions, key=lambda one: one.at_ms)),
        end_ms=case.end_ms,
        seed=dice.getrandbits(31),
        group=dice.choice(GROUPS),
        broker=case.broker,
    )
    if name != "assignor_mismatch":  # there the members say themselves what they want
        scenario = with_protocol(scenario, case.protocol)
    return Incident(
        name, scenario, case.protocol, culprit, fault_ms, cause, family.remedy, family.source, str(seed)
    )


def _known(families: Sequence[str] | None) -> tuple[str, ...]:
    names = tuple(FAMILIES) if families is None else tuple(families)
    for name in names:
        if name not in FAMILIES:
            raise DataError(
                f"no family of incidents is called {name!r}; expected some of {', '.join(FAMILIES)}"
            )
    if not names:
        raise DataError("no family of incidents given; expected at least one")
    return names
