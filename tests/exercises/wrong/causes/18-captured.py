from pyspark.sql import functions as F


def names(events):
    return (
        events.filter((F.col("side") == "java") & F.col("member").isNotNull())
        .select("run", "member", F.col("client").alias("culprit"))
        .distinct()
    )


def gone(events, kinds, kind):
    rows = (
        events.filter(F.col("event").isin(*kinds))
        .select("run", "member", "at_ms")
        .join(names(events), on=["run", "member"])
    )
    return rows.select("run", "culprit", F.lit(kind).alias("kind"), "at_ms")


def stalled(events):
    return events.filter(F.col("event") == "poll_timeout").select(
        "run",
        F.col("client").alias("culprit"),
        F.lit("stalled").alias("kind"),
        (F.col("at_ms") - 1000).alias("at_ms"),
    )


def chosen(rows, pick=F.min_by):
    return (
        rows.groupBy("run")
        .agg(pick(F.struct("culprit", "kind"), "at_ms").alias("first"))
        .select("run", "first.culprit", "first.kind")
    )


def wrong_a_leave_is_a_leave(events):
    """that member had written `poll_timeout` before it left"""
    return chosen(
        gone(events, ("member_failed", "session_expired"), "killed").unionByName(
            gone(events, ("left", "epoch_left"), "closed")
        )
    )


def wrong_everybody_removed_was_killed(events):
    """A frozen process goes on where it stood"""
    rows = gone(events, ("member_failed", "session_expired"), "killed").unionByName(
        gone(events, ("left", "epoch_left"), "closed")
    )
    return chosen(rows.unionByName(stalled(events)))


def wrong_the_last_event(events):
    """The *first* thing that happened is the fault"""
    rows = gone(events, ("member_failed", "session_expired"), "killed").unionByName(
        gone(events, ("left", "epoch_left"), "closed")
    )
    return chosen(rows.unionByName(stalled(events)), pick=F.max_by)


def wrong_classic_lines_only(events):
    """the consumer protocol has lines of its own"""
    return chosen(
        gone(events, ("member_failed",), "killed")
        .unionByName(gone(events, ("left",), "closed"))
        .unionByName(stalled(events))
    )
