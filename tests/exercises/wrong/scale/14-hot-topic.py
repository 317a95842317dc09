from pyspark.sql import functions as F


def last(events):
    return (
        events.filter(F.col("event") == "assigned")
        .groupBy("run", "client")
        .agg(F.max_by("partitions", F.struct("at_ms", "line")).alias("held"))
    )


def carried(rows, rates, topic, on=("run", "topic")):
    return (
        rows.withColumn("topic", topic)
        .join(rates, on=list(on))
        .groupBy("run", "client")
        .agg(F.count("*").alias("partitions"), F.sum("per_s").alias("per_s"))
    )


def wrong_everything_it_ever_had(events, rates):
    """Only the *last* assigned callback"""
    rows = events.filter(F.col("event") == "assigned").select(
        "run", "client", F.explode("partitions").alias("partition")
    )
    return carried(rows, rates, F.regexp_replace("partition", r"-\d+$", ""))


def wrong_first_dash(events, rates):
    """The topic is everything before the *last* dash"""
    rows = last(events).select("run", "client", F.explode("held").alias("partition"))
    return carried(rows, rates, F.split("partition", "-")[0])


def wrong_count_for_load(events, rates):
    """sum the rates instead of counting"""
    return last(events).select(
        "run",
        "client",
        F.size("held").cast("bigint").alias("partitions"),
        F.size("held").cast("double").alias("per_s"),
    )
