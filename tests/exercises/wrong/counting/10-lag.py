from pyspark.sql import functions as F

SETTLED_MS = 1767603625000


def incidents(events, since=SETTLED_MS):
    return (
        events.filter(F.col("event").isin("preparing", "bumped") & (F.col("at_ms") >= since))
        .groupBy("run")
        .agg(F.min("at_ms").alias("incident_ms"))
    )


def wrong_peak_of_all_times(events, samples):
    """Are you looking at the backlog of the group's start"""
    lag, before = F.col("log_end") - F.col("position"), F.col("at_ms") < F.col("incident_ms")
    rows = samples.join(incidents(events), on="run").groupBy("run", "partition")
    return rows.agg(
        F.max_by(lag, F.when(before, F.col("at_ms"))).alias("lag_before"), F.max(lag).alias("lag_peak")
    )


def wrong_greatest_end_less_smallest_position(events, samples):
    """the greatest end less the smallest position"""
    before = F.col("at_ms") < F.col("incident_ms")
    rows = samples.join(incidents(events), on="run").groupBy("run", "partition")
    peak = F.max(F.when(~before, F.col("log_end"))) - F.min(F.when(~before, F.col("position")))
    return rows.agg(
        F.max_by(F.col("log_end") - F.col("position"), F.when(before, F.col("at_ms"))).alias("lag_before"),
        peak.alias("lag_peak"),
    )


def wrong_greatest_before(events, samples):
    """not that of the *last* sample"""
    lag, before = F.col("log_end") - F.col("position"), F.col("at_ms") < F.col("incident_ms")
    rows = samples.join(incidents(events), on="run").groupBy("run", "partition")
    return rows.agg(
        F.max(F.when(before, lag)).alias("lag_before"), F.max(F.when(~before, lag)).alias("lag_peak")
    )
