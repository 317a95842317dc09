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

from rebalance_kit.pipeline.gold.triggers import sentence
from rebalance_kit.pipeline.spark.asof import with_last

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
    fates = _fates(_asked(rebalances), events).localCheckpoint()  # it is read twice
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
    summed = _around(*_timelines(asked, events))
    # Where a layout leaves out the line of a starting process, a first subscription stands for it.
    early = F.col("subscribed_ms") <= F.col("next.seen_ms") + _STARTING_MS
    stand_in = F.when((F.col("starts") == 0) & early, F.col("subscribed_ms"))
    back = F.when(F.col("fate") == "frozen", F.col("next.seen_ms")).when(
        F.col("fate").isin("restarted", "closed"), F.col("born_ms")
    )
    return (
        summed.withColumn("stalled", F.col("stalled_ms") > F.coalesce("anew_ms", F.lit(0)))
        .withColumn("born_ms", F.coalesce("born_ms", stand_in))
        .withColumn("fate", _fate())
        .withColumn("fate_ms", back)
        .withColumn("words", F.when(F.col("fate").isNotNull(), _fate_words()))
        .drop("next", "last", "born_ms", "subscribed_ms", "starts", "stalled_ms", "anew_ms")
    )


def _timelines(asked: DataFrame, events: DataFrame) -> tuple[DataFrame, DataFrame]:
    """``asked`` with ``since_ms`` (when the culprit had joined), and the lines of each culprit's own log, by ``_LINE``.

    Several processes may share a client.id: where a file names the culprit's member id, that file alone counts.
    """
    at, member = F.col("at_ms"), F.col("member")
    theirs = events.filter((F.col("side") != "broker") & at.isNotNull() & F.col("client").isNotNull())
    own = theirs.filter(member.isNotNull() & (member != "")).select(
        "path", member.alias("culprit_member"), "file", at
    )
    homes = own.groupBy("path", "culprit_member").agg(
        F.array_join(F.sort_array(F.collect_set("file")), "\n").alias("homes"),
        F.min("at_ms").alias("named_ms"),
    )
    births = (
        events.filter((F.col("side") == "broker") & F.col("event").isin(*_BEGINS) & member.isNotNull())
        .groupBy("path", "group", member.alias("culprit_member"))
        .agg(F.max("at_ms").alias("joined_ms"))
    )
    placed = (
        asked.join(homes, ["path", "culprit_member"], "left")
        .join(births, ["path", "group", "culprit_member"], "left")
        .withColumn("since_ms", F.coalesce(F.least("joined_ms", "start_ms"), "named_ms", "start_ms"))
        .withColumn("homes", F.coalesce("homes", F.lit("")))
        .drop("joined_ms", "named_ms")
    )
    seen = theirs.select(
        "path",
        F.col("group").alias("seen_group"),
        "file",
        F.col("client").alias("culprit"),
        F.col("event").alias("seen"),
        at.alias("seen_ms"),
        _begins_anew().alias("anew"),
    )
    lines = (
        placed.select(*_LINE)
        .distinct()
        .join(seen, ["path", "culprit"], "inner")
        .filter(F.coalesce("seen_group", "group") == F.col("group"))
        .filter((F.col("homes") == "") | F.array_contains(F.split("homes", "\n"), F.col("file")))
    )
    return placed, lines


#: Whose lines belong together: a culprit's, in the files that are its own.
_LINE = ["path", "group", "culprit", "homes"]


def _around(asked: DataFrame, lines: DataFrame) -> DataFrame:
    """``asked`` with what the culprit's log holds around its rebalance; without those that have no log.

    Each row asks three times, in one pass over the lines in their order: what was last and what came next
    when the rebalance began, whether a poll timeout was told just after, and which process started after the join.
    """
    ask = F.struct(*asked.columns)
    times = {
        "begun": F.col("start_ms"),
        "told": F.col("start_ms") + _JUST_AFTER_MS,
        "joined": F.col("since_ms"),
    }
    moments = F.array(*[F.struct(F.lit(kind).alias("kind"), at.alias("at_ms")) for kind, at in times.items()])
    asks = asked.select(*_LINE, ask.alias("ask"), F.explode(moments).alias("moment")).select(
        *_LINE, "ask", "moment.kind", "moment.at_ms"
    )
    both = lines.select(*_LINE, F.col("seen_ms").alias("at_ms"), "seen", "anew").unionByName(
        asks, allowMissingColumns=True
    )
    earlier = Window.partitionBy(*_LINE).orderBy("at_ms", F.col("ask").isNotNull(), "seen")
    later = Window.partitionBy(*_LINE).orderBy(F.desc("at_ms"), F.col("ask").isNull(), F.desc("seen"))
    upto = earlier.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    from_here = later.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    seen, line = F.col("seen"), F.struct(F.col("at_ms").alias("seen_ms"), "seen")
    is_line = seen.isNotNull()
    placed = (
        both.withColumn("last", F.last(F.when(is_line, line), ignorenulls=True).over(upto))
        .withColumn("anew_ms", F.max(_time_where(F.col("anew"))).over(upto))
        .withColumn("stalled_ms", F.max(_time_where(seen.isin("poll_timeout", "rd_poll_timeout"))).over(upto))
        .withColumn("next", F.last(F.when(is_line, line), ignorenulls=True).over(from_here))
        .withColumn("subscribed_ms", F.min(_time_where(seen == "subscribed")).over(from_here))
        .withColumn("born_ms", F.min(_time_where(seen == "process_started")).over(from_here))
        .withColumn("starts", F.count_if(seen == "process_started").over(Window.partitionBy(*_LINE)))
        .filter(~is_line)
    )
    of = {
        "begun": ("last", "anew_ms", "next", "subscribed_ms", "starts"),
        "told": ("stalled_ms",),
        "joined": ("born_ms",),
    }
    picked = [
        F.max(F.when(F.col("kind") == kind, F.col(name))).alias(name)
        for kind, names in of.items()
        for name in names
    ]
    told = (
        placed.groupBy("ask").agg(*picked).select("ask.*", *[name for names in of.values() for name in names])
    )
    return told.filter(F.col("last").isNotNull() | F.col("next").isNotNull()).drop("homes", "since_ms")


def _time_where(condition: Column) -> Column:
    return F.when(condition, F.col("at_ms"))


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
    phases = rebalances.filter(open_phase).select("path", "group", "start_ms", "number", "end_ms")
    latest = (
        with_last(joins, phases, ["path", "group"], at=F.col("late_ms"), point_at="start_ms", into="phase")
        .select("path", "group", "late", "late_ms", "phase.number", "phase.start_ms", "phase.end_ms")
        .filter(F.col("late_ms") <= F.col("end_ms"))
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
