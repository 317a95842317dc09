"""Incidents with a hidden truth as runs of an exercise, drawn by a seed (``records.incidents``)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache

from rebalance_kit.exercises.case_runs import CaseRun
from rebalance_kit.model.errors import DataError
from rebalance_kit.recordings.maker.families import Incident, draw_incident
from rebalance_kit.simulation.scenario.yaml_writer import write_scenario

#: So many draws find a protocol for every family that knows it.
_MOST_DRAWS = 200


def incidents(seed: int, families: Sequence[str], protocol: str | None = None) -> tuple[CaseRun, ...]:
    """One incident of every family, in an order drawn too, as runs called night-1, night-2, ...; of one protocol if asked."""
    order = list(families)
    random.Random(f"order/{seed}").shuffle(order)
    drawn = [_one(f"{seed}/{number}", family, protocol) for number, family in enumerate(order)]
    runs = tuple(
        CaseRun(f"night-{number}", write_scenario(incident.scenario), None, None)
        for number, incident in enumerate(drawn, start=1)
    )
    _TRUTH.update(zip(runs, drawn, strict=True))
    return runs


def incident_of(run: CaseRun) -> Incident:
    """The truth of a run that ``incidents`` made."""
    return _TRUTH[run]


#: Truth of the runs drawn in this process; it never reaches a file that a learner gets.
_TRUTH: dict[CaseRun, Incident] = {}


@lru_cache(maxsize=256)
def _one(seed: str, family: str, protocol: str | None) -> Incident:
    for attempt in range(_MOST_DRAWS):
        incident = draw_incident(f"{seed}/{attempt}", (family,))
        if protocol in {None, incident.protocol}:
            return incident
    raise DataError(
        f"no incident of the family {family!r} under protocol {protocol!r}; expected one the family knows"
    )
