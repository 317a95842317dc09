"""15 A sweep: what does a shorter session buy?"""

from pyspark.sql import DataFrame


def longest_gap_s(session_timeout_ms: int, seed: int) -> float:
    """Simulate the crash of one consumer of three; the longest gap of a partition, in seconds."""
    from rebalance_kit.analysis.metrics import metrics
    from rebalance_kit.notebook import with_configs
    from rebalance_kit.scenarios import load
    from rebalance_kit.simulation.simulate import simulate

    scenario = with_configs(load("crash"), {"session.timeout.ms": int(session_timeout_ms)})
    return metrics(simulate(scenario, int(seed), "eager")).longest_gap_s


def sweep(parameters: DataFrame) -> DataFrame:
    """One row per session timeout: session_timeout_ms, runs, median_s, worst_s."""
    raise NotImplementedError
