from pyspark.sql import functions as F


def counted(events, late="60 seconds", time="at"):
    rows = (
        events.withWatermark(time, late)
        .filter(F.col("event") == "preparing")
        .groupBy("run", F.window(time, "30 seconds"))
    )
    return rows.agg(F.count("*").alias("rebalances")).select(
        "run", F.col("window.start").alias("from"), "rebalances"
    )


def wrong_no_watermark(events):
    """call `withWatermark` on the event time"""
    rows = events.filter(F.col("event") == "preparing").groupBy("run", F.window("at", "30 seconds"))
    return rows.agg(F.count("*").alias("rebalances")).select(
        "run", F.col("window.start").alias("from"), "rebalances"
    )


def wrong_too_impatient(events):
    """your watermark is shorter"""
    return counted(events, late="5 seconds")


def wrong_collected(events):
    """ask a stream for its end"""
    events.count()
    return counted(events)


def wrong_sliding(events):
    """a window begins at a second other than 0 or 30"""
    rows = (
        events.withWatermark("at", "60 seconds")
        .filter(F.col("event") == "preparing")
        .groupBy("run", F.window("at", "30 seconds", "10 seconds"))
    )
    return rows.agg(F.count("*").alias("rebalances")).select(
        "run", F.col("window.start").alias("from"), "rebalances"
    )
