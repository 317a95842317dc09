from pyspark.sql import functions as F


def wrong_lines_with_the_word(events):
    """each member writes lines of its own"""
    return (
        events.filter(F.col("event").isin("preparing", "bumped", "rejoin_requested"))
        .groupBy("run")
        .agg(F.count("*").alias("rebalances"))
    )


def wrong_classic_only(events):
    """its coordinator bumps the group epoch"""
    return events.filter(F.col("event") == "preparing").groupBy("run").agg(F.count("*").alias("rebalances"))


def wrong_generations_reached(events):
    """Count what begins a rebalance"""
    number = F.coalesce("generation", "epoch")
    return (
        events.filter(F.col("event").isin("stabilized", "computed"))
        .groupBy("run")
        .agg(F.count_distinct(number).alias("rebalances"))
    )
