from pyspark.sql import functions as F


def longest_gap_s(session_timeout_ms, seed):
    from rebalance_kit.analysis.metrics import metrics
    from rebalance_kit.notebook import with_configs
    from rebalance_kit.scenarios import load
    from rebalance_kit.simulation.simulate import simulate

    scenario = with_configs(load("crash"), {"session.timeout.ms": int(session_timeout_ms)})
    return metrics(simulate(scenario, int(seed), "eager")).longest_gap_s


def swept(parameters, timeout=None, seed=None, middle=F.median):
    def run(frames):
        for frame in frames:
            yield frame.assign(
                gap_s=[
                    longest_gap_s(timeout or one.session_timeout_ms, seed or one.seed)
                    for one in frame.itertuples()
                ]
            )

    rows = parameters.mapInPandas(run, "session_timeout_ms int, seed int, gap_s double")
    return rows.groupBy("session_timeout_ms").agg(
        F.count("*").alias("runs"), middle("gap_s").alias("median_s"), F.max("gap_s").alias("worst_s")
    )


def wrong_one_seed(parameters):
    """Pass the seed of the *row*"""
    return swept(parameters, seed=1)


def wrong_one_timeout(parameters):
    """does not reach the run"""
    return swept(parameters, timeout=45_000)


def wrong_mean(parameters):
    """median_s is the mean"""
    return swept(parameters, middle=F.avg)
