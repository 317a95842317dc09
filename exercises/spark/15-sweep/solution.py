"""15 A sweep: mapInPandas runs plain Python over the rows of each task; the rest is one aggregation."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def longest_gap_s(session_timeout_ms: int, seed: int) -> float:
    """Simulate the crash of one consumer of three; the longest gap of a partition, in seconds."""
    from rebalance_kit.analysis.metrics import metrics
    from rebalance_kit.notebook import with_configs
    from rebalance_kit.scenarios import load
    from rebalance_kit.simulation.simulate import simulate

    scenario = with_configs(load("crash"), {"session.timeout.ms": int(session_timeout_ms)})
    return metrics(simulate(scenario, int(seed), "eager")).longest_gap_s


def simulated(frames):
    """Each batch of parameters with the result of its runs."""
    for frame in frames:
        yield frame.assign(
            gap_s=[longest_gap_s(one.session_timeout_ms, one.seed) for one in frame.itertuples()]
        )


def sweep(parameters: DataFrame) -> DataFrame:
    """One row per session timeout: session_timeout_ms, runs, median_s, worst_s."""
    return (
        parameters.repartition(2)
        .mapInPandas(simulated, "session_timeout_ms int, seed int, gap_s double")
        .groupBy("session_timeout_ms")
        .agg(F.count("*").alias("runs"), F.median("gap_s").alias("median_s"), F.max("gap_s").alias("worst_s"))
    )
