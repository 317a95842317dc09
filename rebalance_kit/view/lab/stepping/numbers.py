"""Which settings are numbers that can be dragged, and what they are now."""

from __future__ import annotations

from rebalance_kit.simulation.scenario.scenario import Scenario
from rebalance_kit.view.lab.settings import fields
from rebalance_kit.view.lab.stepping.group_size import sizes

MOST = 2_147_483_647
"""Kafka's largest INT."""


def numbers(scenario: Scenario) -> dict[str, list[float]]:
    """Each setting that all members share and that is a number: its value, the least and the most it may be."""
    found: dict[str, list[float]] = {
        name: [value, 1, most] for name, (value, most) in sizes(scenario).items()
    }
    for row in (row for group in fields(scenario) for row in group["fields"]):
        name, text = str(row["name"]), str(row["value"])
        if name not in found and text.replace(".", "", 1).isdecimal() and name != "kafka_version":
            value = float(text)
            found[name] = [int(value) if value.is_integer() else value, 0, MOST]
    return found
