"""What had become of the culprit: its own log tells more than the coordinator can know.

The coordinator only sees that heartbeats stopped.  Whether the process died, was frozen or had been
closed shows in the client's file: what it wrote last before, what first after, and whether a process
started in between.  The same holds for a leave without a reason (librdkafka, KIP-848), which may be
a poll timeout.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from rebalance_kit.pipeline.causes import sentence

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: A client's own line about its leaving is written at most this long after the coordinator's.
_JUST_AFTER_MS = 500

#: A process says that it has started within this time of its first line.
_STARTING_MS = 5_000

#: A rebalance that waits longer than this for one member names it: a heartbeat interval and some more.
_LONG_WAIT_MS = 4_000

_KEYS = ["path", "group", "number"]

_BEGINS = ("member_id_given", "member_added", "static_added", "static_replaced", "joins", "static_rejoins")


def with_fates(rebalances: DataFrame, events: DataFrame) -> DataFrame:
    """Correct ``trigger`` and add ``fate`` and ``fate_ms`` (when the culprit was heard of again), from client logs.

    ``fate`` is ``frozen``, ``restarted``, ``closed`` (static members say nothing then), ``gone`` or
    null when the culprit's log is not there or the trigger asks for none.
    """
    fates = _fates(_asked(rebalances), events)
    own = fates.filter("own").drop("own", "culprit", "culprit_member", "start_ms")
    # Who expired beside the cause: a rebalance may run already when a session ends.
    others = (
        fates.filter(~F.col("own") & F.col("words").isNotNull())
        .groupBy(*_KEYS)
        .agg(
            F.sort_array(F.collect_list(F.struct(F.col("culprit").alias("name"), "fate", "words"))).alias(
                "meanwhile"
            )
        )
    )
    left_stalled = (F.col("trigger") == "leave") & F.col("stalled")
    lost = F.col("trigger") == "session_expired"
    joined = rebalances.join(own, _KEYS, "left").join(others, _KEYS, "left").drop("expiries")
    for name in ("fate", "fate_ms", "words"):
        joined = joined.withColumn(name, F.when(lost, F.col(name)))
    return joined.withColumn(
        "trigger", F.when(left_stalled, "poll_timeout").otherwise(F.col("trigger"))
    ).withColumn("stalled", F.coalesce(F.col("stalled"), F.lit(False)))


def _asked(rebalances: DataFrame) -> DataFrame:
    """Of whom to ask: the culprit of each rebalance (``own``), and who else expired in it."""
    columns = [*_KEYS, "culprit", "culprit_member", "start_ms"]
    expiry = F.col("expiry")
    # A group without a coordinator's log has no expiries to ask about.
    beside = (
        rebalances.withColumn("expiry", F.explode("expiries"))
        .filter(~expiry["member"].eqNullSafe(F.col("culprit_member")))
        .select(
            *_KEYS,
            expiry["name"].alias("culprit"),
            expiry["member"].alias("culprit_member"),
            expiry["at_ms"].alias("start_ms"),
        )
    )
    own = rebalances.filter(F.col("culprit").isNotNull()).select(*columns)
    return own.withColumn("own", F.lit(True)).unionByName(beside.withColumn("own", F.lit(False)))


def _fates(asked: DataFrame, events: DataFrame) -> DataFrame:
    """Each row of ``asked`` with ``fate``, ``fate_ms``, ``stalled`` and ``words``, from the member's own log."""
    gap = F.col("seen_ms") - F.col("start_ms")
    stalled = F.when(
        F.col("seen").isin("poll_timeout", "rd_poll_timeout") & (gap <= _JUST_AFTER_MS), F.col("seen_ms")
    )
    joined = F.when(F.col("anew") & (gap <= 0), F.col("seen_ms"))
    born = F.when(
        (F.col("seen") == "process_started") & (F.col("seen_ms") > F.col("since_ms")), F.col("seen_ms")
    )
    summed = (
        _around(asked, events)
        .groupBy(*_KEYS, "own", "culprit", "culprit_member", "start_ms")
        .agg(
            F.min(F.when(gap > 0, F.struct("seen_ms", "seen"))).alias("next"),
            F.max(F.when(gap <= 0, F.struct("seen_ms", "seen"))).alias("last"),
            F.min(born).alias("born_ms"),
            F.min(F.when((gap > 0) & (F.col("seen") == "subscribed"), F.col("seen_ms"))).alias(
                "subscribed_ms"
            ),
            F.count_if(F.col("seen") == "process_started").alias("starts"),
            (F.max(stalled) > F.coalesce(F.max(joined), F.lit(0))).alias("stalled"),
        )
    )
    # Where a layout leaves out the line of a starting process, a first subscription stands for it.
    early = F.col("subscribed_ms") <= F.col("next.seen_ms") + _STARTING_MS
    stand_in = F.when((F.col("starts") == 0) & early, F.col("subscribed_ms"))
    back = F.when(F.col("fate") == "frozen", F.col("next.seen_ms")).when(
        F.col("fate").isin("restarted", "closed"), F.col("born_ms")
    )
    return (
        summed.withColumn("born_ms", F.coalesce("born_ms", stand_in))
        .withColumn("fate", _fate())
        .withColumn("fate_ms", back)
        .withColumn("words", F.when(F.col("fate").isNotNull(), _fate_words()))
        .drop("next", "last", "born_ms", "subscribed_ms", "starts")
    )


def _around(asked: DataFrame, events: DataFrame) -> DataFrame:
    """Every line of the culprit's own log beside its rebalance, with ``since_ms``: when it had joined.

    Several processes may share a client.id: where a file names the culprit's member id, that file alone counts.
    """
    at, member = F.col("at_ms"), F.col("member")
    theirs = events.filter((F.col("side") != "broker") & at.isNotNull() & F.col("client").isNotNull())
    seen = theirs.select(
        "path", F.col("group").alias("seen_group"), "file", F.col("client").alias("culprit"),
        F.col("event").alias("seen"), at.alias("seen_ms"), _begins_anew().alias("anew"),
    )  # fmt: skip
    own = theirs.filter(member.isNotNull() & (member != "")).select(
        "path", member.alias("culprit_member"), "file", at
    )
    homes = own.groupBy("path", "culprit_member").agg(
        F.collect_set("file").alias("homes"), F.min("at_ms").alias("named_ms")
    )
    births = (
        events.filter((F.col("side") == "broker") & F.col("event").isin(*_BEGINS) & member.isNotNull())
        .groupBy("path", "group", member.alias("culprit_member"))
        .agg(F.max("at_ms").alias("joined_ms"))
    )
    return (
        asked.join(homes, ["path", "culprit_member"], "left")
        .join(births, ["path", "group", "culprit_member"], "left")
        .withColumn("since_ms", F.coalesce(F.least("joined_ms", "start_ms"), "named_ms", "start_ms"))
        .join(seen, ["path", "culprit"], "inner")
        .filter(F.coalesce("seen_group", "group") == F.col("group"))
        .filter(F.col("homes").isNull() | F.array_contains("homes", F.col("file")))
    )


def _begins_anew() -> Column:
    """Lines of a member that begins a new membership: a poll timeout before them is over.

    A KIP-848 member may turn to JOINING again before its coordinator has read that it left; it has joined
    when it leaves that state.
    """
    event = F.col("event")
    return (
        event.isin("process_started", "subscribed", "joining", "rd_joining")
        | ((event == "transitioned") & (F.col("state_from") == "JOINING"))
        | ((event == "rd_epoch_heartbeat") & (F.col("epoch") == 0))
    )


def _fate() -> Column:
    return (
        F.when(F.col("last").isNull() & F.col("next").isNull(), F.lit(None))
        .when(F.col("last.seen") == "process_closed", "closed")
        .when(F.col("born_ms").isNotNull(), "restarted")
        .when(F.col("next").isNull(), "gone")
        .otherwise("frozen")
    )


def with_waits(rebalances: DataFrame, events: DataFrame) -> DataFrame:
    """Add ``waited_for`` and ``waited_ms``: whose JoinGroup a classic rebalance had to wait for longest.

    Null where it did not wait long (a heartbeat interval is usual), and for consumer groups, which wait for nobody.
    """
    joins = events.filter(F.col("event").isin("joining", "rd_joining") & F.col("client").isNotNull()).select(
        "path", "group", F.col("client").alias("late"), F.col("at_ms").alias("late_ms")
    )
    # The first rebalance of a group waits group.initial.rebalance.delay.ms for whoever may come.
    open_phase = (F.col("protocol") == "classic") & F.col("end_ms").isNotNull() & (F.col("before") > 0)
    inside = (F.col("late_ms") >= F.col("start_ms")) & (F.col("late_ms") <= F.col("end_ms"))
    latest = (
        rebalances.filter(open_phase)
        .select(*_KEYS, "start_ms", "end_ms")
        .join(joins, ["path", "group"], "inner")
        .filter(inside)
        .groupBy(*_KEYS, "start_ms", "late")
        .agg(F.min("late_ms").alias("late_ms"))
        .groupBy(*_KEYS, "start_ms")
        .agg(F.max(F.struct("late_ms", "late")).alias("latest"))
        .withColumn("waited_ms", F.col("latest.late_ms") - F.col("start_ms"))
        .filter(F.col("waited_ms") > _LONG_WAIT_MS)
        .select(*_KEYS, F.col("latest.late").alias("waited_for"), "waited_ms")
    )
    return rebalances.join(latest, _KEYS, "left")


def with_cause(rebalances: DataFrame) -> DataFrame:
    """Add ``cause``: the trigger as a sentence, with what is known of the culprit's fate."""
    earlier = (
        Window.partitionBy("path", "group", "culprit")
        .orderBy("number")
        .rowsBetween(Window.unboundedPreceding, -1)
    )
    again = (F.col("trigger") == "join") & (F.count("*").over(earlier) > 0)
    enforced = (F.col("trigger") == "enforced") & (F.col("said") != "rebalance enforced by user")
    stalled = (F.col("trigger") == "session_expired") & F.col("stalled")
    more = (
        F.when(stalled, F.lit("; it had exceeded max.poll.interval.ms"))
        .when(F.col("words").isNotNull(), F.col("words"))
        .when(F.col("topics").isNotNull(), F.concat(F.lit(": "), "topics"))
        .when(
            F.col("restarting"),
            F.lit(": no topic was changed, but a broker was starting and its metadata were not yet whole"),
        )
        .when(enforced, F.concat(F.lit(": "), "said"))
        .when(again, F.lit(" again"))
        .otherwise(F.lit(""))
    )
    wait_s = F.format_number(F.col("waited_ms") / 1000, 1)
    waited = F.when(
        F.col("waited_for").isNotNull(),
        F.concat(F.lit("; everybody waited "), wait_s, F.lit(" s for "), "waited_for"),
    ).otherwise(F.lit(""))
    return rebalances.withColumn(
        "cause", F.concat(sentence(F.col("trigger"), F.col("culprit")), more, _meanwhile(), waited)
    ).drop("stalled", "restarting", "words", "resubscribed")


def _fate_words() -> Column:
    """The fate of a member that was removed for a missed session, as the end of a sentence."""
    gap_s = F.format_number(F.abs(F.col("fate_ms") - F.col("start_ms")) / 1000, 1)
    later = F.col("fate_ms") > F.col("start_ms")
    before = F.concat(F.lit("; its process had died and a new one had started "), gap_s, F.lit(" s before"))
    after = F.concat(F.lit("; its process had died and a new one started "), gap_s, F.lit(" s later"))
    closed = "; it had been closed, which a static member does not tell the group, and "
    return (
        F.when(
            F.col("fate") == "frozen",
            F.concat(
                F.lit("; its process lived on, silent (long pause, freeze or lost network), and was back "),
                gap_s,
                F.lit(" s later"),
            ),
        )
        .when(F.col("fate") == "restarted", F.when(later, after).otherwise(before))
        .when(
            F.col("fate") == "closed",
            F.when(later, F.concat(F.lit(closed + "came back "), gap_s, F.lit(" s later"))).otherwise(
                F.lit(closed + "did not return")
            ),
        )
        .otherwise(F.lit("; its process had died: its log ends before"))
    )


def _meanwhile() -> Column:
    """Who else joined, left, expired or subscribed anew in the same rebalance, in words; empty for nobody."""
    told = []
    for column, verb in (("joined", "joined"), ("left", "left"), ("expired", "expired")):
        others = F.array_except(F.col(column), F.array(F.coalesce("culprit", F.lit(""))))
        told.append(
            F.when(F.size(others) > 0, F.concat(F.array_join(others, ", "), F.lit(f" {verb} meanwhile")))
        )
    anew = F.col("resubscribed")
    told.append(
        F.when(
            F.size(anew) > 0, F.concat(F.array_join(anew, ", "), F.lit(" changed its subscription meanwhile"))
        )
    )
    words = F.concat_ws(", ", *told)
    fates = F.array_join(F.transform("meanwhile", _of_another), "")
    return F.concat(
        F.when(words != "", F.concat(F.lit("; "), words)).otherwise(F.lit("")), F.coalesce(fates, F.lit(""))
    )


def _of_another(row: Column) -> Column:
    """``; its process had died`` as a remark about somebody else: ``; c3: its process had died``."""
    return F.concat(F.lit("; "), row["name"], F.lit(": "), F.substring(row["words"], 3, 1_000))
