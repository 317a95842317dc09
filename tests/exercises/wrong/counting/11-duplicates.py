from pyspark.sql import functions as F


def records(deliveries):
    return deliveries.select(
        "run", "member", "partition", F.explode(F.sequence("first", "last")).alias("offset")
    )


def again(rows, *keys):
    times = rows.groupBy("run", *keys).agg(F.count("*").alias("times"))
    return times.groupBy("run").agg(
        F.sum("times").alias("delivered"), F.sum(F.col("times") - 1).alias("again")
    )


def wrong_polls_counted(deliveries):
    """each row stands for `last - first + 1` records"""
    return again(deliveries, "partition", "first", "last")


def wrong_one_short(deliveries):
    """both offsets are inclusive"""
    sums = deliveries.groupBy("run").agg(F.sum(F.col("last") - F.col("first")).alias("delivered"))
    return sums.join(again(records(deliveries), "partition", "offset").select("run", "again"), on="run")


def wrong_same_member_only(deliveries):
    """leave the member out of the key"""
    return again(records(deliveries), "member", "partition", "offset")


def wrong_offset_alone(deliveries):
    """A record is a partition *and* an offset"""
    return again(records(deliveries), "offset")
