# %% [markdown]
# # 11 · Reading rebalance logs with PySpark II: gaps, culprits, storms, streams
#
# **50 minutes.** Exams: CCAAK *Troubleshooting*, *Observability*; CCDAK *Observability*.
#
# After this notebook you can
#
# - measure what users feel, the gap of a partition, and tell it from the duration of a rebalance;
# - find the member that is to blame when the coordinator's own words mislead;
# - tell a storm from an event with session windows, and follow a group while its logs are written.

# %%
from rebalance_kit import start_in_background

starting = start_in_background()

# %% [markdown]
# ## 1 The gap of a partition
#
# Three recordings of the same incident on a real cluster, Kafka 4.3.1: three healthy consumers share six partitions, and
# a fourth one, `c4`, joins. Eager, cooperative, and the consumer protocol of KIP-848. A fourth recording follows in
# section 2, and a run of the engine in section 3. Spark reads all five folders in one go.

# %%
import tempfile
from pathlib import Path

from rebalance_kit import three
from rebalance_kit.logs.write import write_logs
from rebalance_kit.notebook import beside, in_lines
from rebalance_kit.recordings.runs.pack import unpack

JOINS = ["join.eager.4.3.1", "join.cooperative.4.3.1", "join.consumer.4.3.1"]
STALL = "poll-timeout.eager.4.3.1"
home = tempfile.TemporaryDirectory()
logs = Path(home.name)
unpack(logs, [*JOINS, STALL])
written = write_logs(three("storm", ("eager",))["eager"], logs / "storm")

# %%
from pyspark.sql import functions as F

from rebalance_kit.pipeline import forensics

spark = starting.result()
found = forensics(spark, [logs / name for name in [*JOINS, STALL, "storm"]])
run = F.element_at(F.split("path", "/"), -1).alias("run")

# %% [markdown]
# A member writes a line when one of its callbacks is given partitions. So a partition is with nobody from `revoked` (or
# `lost`) until the next `assigned`, whoever wrote either. That is a window over the history of a *partition*:

# %%
from pyspark.sql import Window

by_partition = Window.partitionBy("run", "partition").orderBy("at", "file", "line")
calls = found.events.where("event in ('assigned', 'revoked', 'lost')").select(
    run, "at", "file", "line", "event", "client", F.explode("partitions").alias("partition")
)
history = calls.withColumn("since", F.lag(F.struct("event", "at")).over(by_partition))
one = history.where("run = 'join.eager.4.3.1' and partition = 'orders-5'").orderBy("at")
one.select(F.date_format("at", "HH:mm:ss.SSS").alias("at"), "client", "event").show()

# %% [markdown]
# ### Predict
#
# `c4` joins. Under which protocol is the longest gap of any single partition the *shortest*? And how many of the six
# partitions go unread under each?

# %%
guess = {"shortest": None, "eager": None, "cooperative": None, "consumer": None}

# %% [markdown]
# The gold tables hold gaps and rebalances. To look at `c4`'s join alone, and neither at the group's beginning nor at
# its end, join them: the rebalance whose culprit is `c4` says when it began, and the next one when it was over.

# %%
joins = (
    found.rebalances.where("trigger != 'follow_up'")
    .select(
        run,
        "culprit",
        "start_ms",
        F.lead("start_ms").over(Window.partitionBy("path").orderBy("start_ms")).alias("until_ms"),
    )
    .where("culprit = 'c4'")
)
felt = (
    found.gaps.select(run, "partition", "from_ms", "duration_ms")
    .join(joins, on="run")
    .where("from_ms between start_ms and until_ms")
    .groupBy("run")
    .agg(
        F.count_distinct("partition").alias("partitions"),
        F.max("duration_ms").alias("longest_ms"),
        F.sum("duration_ms").alias("all_ms"),
    )
)
felt.orderBy("longest_ms").show(truncate=False)

# %%
seen = {row.run.split(".")[1]: row for row in felt.collect()}
truth = {"shortest": min(seen, key=lambda way: seen[way].longest_ms)}
print(beside(guess, truth | {way: seen[way].partitions for way in ("eager", "cooperative", "consumer")}))

# %% [markdown]
# Surprised? With healthy members eager is the quickest for each *single* partition, and it is the only one that stops
# them all. Under cooperative only what moves goes unread, until the second generation hands it out, one heartbeat later.
# Under KIP-848 this recording is quick because the new owner's heartbeat came just after the release: the phase of the
# heartbeats is chance, and one recording is one draw. Notebook 05 asks the engine for many draws; here are the milliseconds
# of one real cluster.
#
# **Watch for** the width of the marks, and for how many rows have one, in the two maps.

# %% tags=["nbval-ignore-output"]
from rebalance_kit.view.reports.forensics_show import describe_logs, show_logs

show_logs(found, "gaps", "join.eager.4.3.1")

# %%
print(describe_logs(found, "gaps", "join.eager.4.3.1"))

# %% tags=["nbval-ignore-output"]
show_logs(found, "gaps", "join.cooperative.4.3.1")

# %%
print(describe_logs(found, "gaps", "join.cooperative.4.3.1"))

# %% tags=["nbval-ignore-output"]
from IPython.display import Markdown

from rebalance_kit import Exercise

sixth = Exercise("06-gaps")
display(Markdown(sixth.story), sixth)


# %%
def gaps(events):
    raise NotImplementedError


print(sixth.check(gaps))

# %% [markdown]
# ## 2 Whose doing was it?
#
# Another night. The coordinator's words about it:

# %%
at_the_stall = found.events.where(run == STALL)
told = at_the_stall.where("event = 'preparing'").orderBy("at").collect()
for line in told:
    print(in_lines(f"{line.at:%H:%M:%S}  generation {line.generation}: {line.reason}"))

# %% [markdown]
# ### Predict
#
# The second rebalance: an explicit LeaveGroup, so `c2` was shut down on purpose. Or was it?

# %%
guess = {"what c2 did": None}

# %% [markdown]
# A coordinator knows what it is told. `c2`'s own log knows more. Put both in one order, a second around the moment:

# %%
moment = told[1].at
around = at_the_stall.where(F.abs(F.unix_millis("at") - F.unix_millis(F.lit(moment))) < 1000)
for line in around.where("client = 'c2' or side = 'broker'").orderBy("at", "file", "line").collect():
    print(
        in_lines(
            f"{line.at:%H:%M:%S}  {line.client or 'broker':7}{line.event}: {line.reason or line.cause or ''}"
        )
    )

# %%
cause = found.rebalances.where((run == STALL) & (F.col("number") == 2)).first()
print(beside(guess, {"what c2 did": cause.trigger}))
print(in_lines(cause.cause))

# %% [markdown]
# A consumer whose application does not call `poll()` for `max.poll.interval.ms` leaves *by itself*, and to the
# coordinator that looks like an orderly farewell. A restart would not have helped: the batch was too long.
# The picture of the members' lives shows it come back once the batch was done.

# %% tags=["nbval-ignore-output"]
show_logs(found, "lives", STALL)

# %%
print(describe_logs(found, "lives", STALL))

# %%
for row in found.findings.where(run == STALL).orderBy("finding").collect():
    print(in_lines(f"- {row.sentence} DO: {row.do}"))

# %% tags=["nbval-ignore-output"]
seventh = Exercise("07-cause-and-culprit")
display(Markdown(seventh.story), seventh)


# %%
def causes(events):
    raise NotImplementedError


print(seventh.check(causes))

# %% [markdown]
# ## 3 Storms
#
# One rebalance is an event; six that follow one another are a storm, and a storm has no fixed clock. A **session window**
# goes on as long as the next row comes soon enough. Here the window stays open while the next rebalance begins within 25 seconds:

# %%
starts = found.events.where("event = 'preparing'").select(run, "at")
spells = starts.groupBy("run", F.session_window("at", "25 seconds")).agg(
    F.count("*").alias("rebalances"),
    F.date_format(F.min("at"), "HH:mm:ss").alias("first"),
    F.date_format(F.max("at"), "HH:mm:ss").alias("last"),
)
spells.select("run", "rebalances", "first", "last").orderBy("run", "first").show(20, truncate=False)

# %% [markdown]
# **Watch for** two things. The first rebalance of `storm` is the group's beginning, more than 25 seconds before the
# second one, so it stands alone. And three within half a minute prove nothing: the recordings of sections 1 and 2 are
# so short that beginning, incident and end lie close together. A definition needs a threshold that fits the data.
#
# The kit's own rule for its table `storms` is stricter: at most 60 seconds from one rebalance to the next, and at
# least seven of them, where members that start or stop together count as one. By that rule there is one storm here; read
# the last line.

# %% tags=["nbval-ignore-output"]
show_logs(found, "timeline", "storm")

# %%
print(in_lines(describe_logs(found, "timeline", "storm")))

# %% [markdown]
# Two members take turns: each is too slow for its batch, leaves, and comes back; and each time, under eager, all six
# partitions stop. The fix is in the batches (`max.poll.records`, `max.poll.interval.ms`), not with the group.

# %% tags=["nbval-ignore-output"]
eighth = Exercise("08-storms")
display(Markdown(eighth.story), eighth)


# %%
def storms(events):
    raise NotImplementedError


print(eighth.check(storms))

# %% [markdown]
# ## 4 While it happens
#
# So far the logs were static. `watching` follows a folder of growing files with Structured Streaming. The broker of the
# storm has written half of its log by now:

# %%
live = logs / "live"
live.mkdir()
whole = (logs / "storm" / "broker.log").read_text("utf-8").splitlines(keepends=True)
half = len(whole) // 2
with (live / "broker.log").open("a") as out:
    out.writelines(whole[:half])

# %% tags=["nbval-ignore-output"]
from rebalance_kit import watching

watch = watching(live, spark=spark)
watch

# %%
watch.wait_for(1)
for row in reversed(watch.latest.rows):
    print(in_lines(f"{row['number']}. {row['before']} to {row['after']}: {row['cause']}"))

# %% [markdown]
# The broker goes on writing, and the table above renews itself:

# %%
with (live / "broker.log").open("a") as out:
    out.writelines(whole[half:])

watch.wait_for(7)
watch.stop()
for row in reversed(watch.latest.rows):
    print(in_lines(f"{row['number']}. {row['before']} to {row['after']}: {row['cause']}"))

# %% [markdown]
# In the table a rebalance is *fresh* at first and *settled* later: a **watermark** follows the latest time that was read,
# some way behind, and what lies before it cannot change any more. In a terminal: `rebalance-kit watch DIR`.
#
# A count that is emitted only once it is final: that is the next exercise, with a broker whose lines come late.

# %% tags=["nbval-ignore-output"]
twelfth = Exercise("12-streaming")
display(Markdown(twelfth.story), twelfth)


# %%
def per_half_minute(events):
    raise NotImplementedError


print(twelfth.check(per_half_minute))

# %% [markdown]
# ## 5 Incidents
#
# Three exercises are left that give nothing away: **16** and **17** draw incidents from your name, so that nobody else
# has yours, and **18** is recorded on real clusters. In a terminal:
#
# ```
# rebalance-kit exercise start 16
# rebalance-kit exercise check 16
# rebalance-kit exercise hint 16
# ```
#
# ## Check questions

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Quiz

Quiz("tickets", count=6)

# %% [markdown]
# ## Recap
#
# - The gap of a partition runs from `revoked` or `lost` to the next `assigned`, whoever wrote it; the duration of a
#   rebalance is another number.
# - Healthy eager: shortest for each partition, and all of them stop. Cooperative and consumer: few, and longer.
# - A LeaveGroup may be a poll timeout; only the member's own log tells.
# - Session windows find storms; watermarks say when a number is final.
#
# **Next:** 12, a thousand runs instead of one.

# %%
home.cleanup()
