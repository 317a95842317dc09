"""Incidents with a hidden truth: what goes wrong in real groups, drawn anew for every learner.

A seed decides the family of the trouble, the protocol, names, sizes and times; besides the fault harmless things happen,
so that the first odd line need not be the one that matters. The logs hold no word of the truth.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from rebalance_kit.model.errors import DataError
from rebalance_kit.recordings.maker.cases import add_harmless, healthy
from rebalance_kit.recordings.maker.families import FAMILIES
from rebalance_kit.simulation.scenario.scenario import Scenario, with_protocol

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
