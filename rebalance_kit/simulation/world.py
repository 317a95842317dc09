"""Everything of one run wired together: the run's host, the cluster, the processes."""

from __future__ import annotations

from rebalance_kit.simulation.client.process import Process
from rebalance_kit.simulation.cluster.cluster import Cluster
from rebalance_kit.simulation.kernel.agenda import Agenda
from rebalance_kit.simulation.kernel.host import RunHost
from rebalance_kit.simulation.learner_code.plug_ins import NO_PLUG_INS, PlugIns, supports
from rebalance_kit.simulation.scenario.scenario import Scenario


class World:
    """One run in progress."""

    __slots__ = ("cluster", "host", "processes", "scenario")

    def __init__(
        self, scenario: Scenario, seed: int, plug_ins: PlugIns = NO_PLUG_INS, agenda: Agenda | None = None
    ) -> None:
        self.scenario = scenario
        self.host = RunHost(seed, scenario.latencies, agenda)
        self.processes: dict[str, Process] = {}
        self.cluster = Cluster(self.host, scenario, self.processes)
        own_assignors = supports(plug_ins.assignors)
        for spec in scenario.members:
            self.processes[spec.name] = Process(
                self.host, self.cluster, plug_ins, own_assignors, scenario.group, spec
            )

    def close(self) -> None:
        """The run is over: break reference cycles, so that memory is freed without the garbage collector."""
        self.host.agenda.clear()
        self.cluster.close()
        for process in self.processes.values():
            process.close()
        self.processes.clear()
