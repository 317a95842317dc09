"""What an incident is built on: a healthy group with dice of its own, and a harmless thing that happens beside the fault."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any

from rebalance_kit.simulation.scenario.scenario import Action, MemberSpec, TopicSpec

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
