from pyspark.sql import functions as F

SETTLED_MS = 1767603625000
UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"


def told(events, leave, follow="follow_up", name=rf"([\w.-]+)-{UUID}"):
    reason = F.col("reason")
    trigger = (
        F.when(reason.startswith("Adding"), "join")
        .when(reason.contains("heartbeat expiration"), "session")
        .when(reason.contains("LeaveGroup"), leave)
        .when(reason.contains("need to revoke"), follow)
    )
    rows = events.filter((F.col("event") == "preparing") & (F.col("at_ms") >= SETTLED_MS))
    return rows.select(
        "run",
        F.col("at_ms").alias("start_ms"),
        trigger.alias("trigger"),
        F.regexp_extract("reason", name, 1).alias("culprit"),
    )


def wrong_every_leave_is_one(events):
    """left because its poll timeout had expired"""
    return told(events, F.lit("leave"))


def wrong_ids_for_names(events):
    """without `-` and the UUID"""
    return told(events, F.lit("leave"), name=rf"([\w.-]+-{UUID})")


def wrong_second_rounds_are_joins(events):
    """`follow_up`, not a new cause"""
    return told(events, F.lit("leave"), follow="join")


def wrong_any_timeout_ever(events):
    """a plain leave is called a poll timeout"""
    return told(events, F.lit("poll_timeout"))
