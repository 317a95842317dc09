from pyspark.sql import functions as F


def starts(events):
    return events.filter(F.col("event") == "preparing")


def summed(grouped, least=3):
    rows = grouped.agg(
        F.min("at_ms").alias("from_ms"), F.max("at_ms").alias("to_ms"), F.count("*").alias("rebalances")
    )
    return rows.filter(F.col("rebalances") >= least)


def wrong_fixed_windows(events):
    """cuts by the clock"""
    return summed(starts(events).groupBy("run", F.window("at", "1 minute")))


def wrong_anything_is_a_storm(events):
    """at least three rebalances make one"""
    return summed(starts(events).groupBy("run", F.session_window("at", "25 seconds")), least=1)


def wrong_end_of_the_window(events):
    """the last event *plus the gap*"""
    rows = (
        starts(events)
        .groupBy("run", F.session_window("at", "25 seconds").alias("w"))
        .agg(F.count("*").alias("rebalances"))
    )
    return rows.filter(F.col("rebalances") >= 3).select(
        "run", F.unix_millis("w.start").alias("from_ms"), F.unix_millis("w.end").alias("to_ms"), "rebalances"
    )


def wrong_nights_mixed(events):
    """Group by `run` too"""
    return summed(starts(events).groupBy(F.session_window("at", "25 seconds"))).withColumn(
        "run", F.lit("night-1")
    )
