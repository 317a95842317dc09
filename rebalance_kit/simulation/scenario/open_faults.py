"""Faults that a scenario leaves open at its end, and the actions that end them."""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_kit.simulation.scenario.scenario import Action, Scenario


@dataclass(frozen=True, slots=True)
class OpenFaults:
    """Frozen processes, members cut off, brokers that are down, each sorted; ``coordinator_down`` is about the first broker."""

    frozen: tuple[str, ...]
    cut: tuple[str, ...]
    nodes: tuple[int, ...]
    coordinator_down: bool

    def recovery_actions(self, at_ms: int) -> list[Action]:
        """The actions that undo all of it at one moment."""
        return [
            *([Action(at_ms, "broker_up")] if self.coordinator_down else []),
            *(Action(at_ms, "node_up", None, {"node": node}) for node in self.nodes),
            *(Action(at_ms, "thaw", name) for name in self.frozen),
            *(Action(at_ms, "heal_network", name) for name in self.cut),
        ]


def open_faults(planned: Scenario) -> OpenFaults:
    """Faults still open after the last action of a scenario of primitive actions (``expansion.expand``)."""
    frozen: set[str] = set()
    cut: set[str] = set()
    nodes: set[int] = set()
    up = True
    for action in sorted(planned.actions, key=lambda deed: deed.at_ms):
        name = action.member or ""
        match action.do:
            case "freeze":
                frozen.add(name)
            case "thaw" | "crash":
                frozen.discard(name)
            case "cut_network":
                cut.add(name)
            case "heal_network":
                cut.discard(name)
            case "node_down":
                nodes.add(int(action.args["node"]))
            case "node_up":
                nodes.discard(int(action.args["node"]))
            case "broker_down" | "broker_up":
                up = action.do == "broker_up"
            case _:
                pass
    return OpenFaults(tuple(sorted(frozen)), tuple(sorted(cut)), tuple(sorted(nodes)), not up)
