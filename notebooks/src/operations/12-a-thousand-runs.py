# %% [markdown]
# # 12 · A thousand runs: sweeping parameters on Spark
#
# **30 minutes.** Exams: CCAAK *Cluster Configuration*; CCDAK *Application Development*.
#
# After this notebook you can
#
# - say why one run is no answer, and what a median over seeds with its quartiles tells;
# - put plain Python to work as Spark tasks, and see why tasks take unequal time;
# - choose a session timeout and state what it costs.

# %%
from rebalance_kit import start_in_background

starting = start_in_background()

# %% [markdown]
# ## 1 What does a shorter session buy?
#
# A consumer is killed. Its partitions stay unread until the coordinator misses it, and `session.timeout.ms` decides when that
# is. Shorter is better, then? A process that is only *suspended* for too long (GC pause, frozen machine) is taken
# for dead as well: a false alarm, and two more rebalances.
#
# So each run has both: one of three members is killed, and twice one of the others freezes, for 1 to 60 seconds. Length
# and moment are drawn from the seed, so that every setting gets the same ones.
#
# ### Predict
#
# After how many seconds is the crash found with the default, 45 seconds? And with 10?

# %%
guess = {"found after s, 45 s": None, "found after s, 10 s": None}

# %%
from rebalance_kit import scenario, sweep

SEEDS = 8

spark = starting.result()
timeouts = {"session.timeout.ms": [6_000, 10_000, 20_000, 30_000, 45_000], "freezes": [2]}
runs = sweep(spark, scenario("crash"), timeouts, seeds=SEEDS).persist()
print(runs.count(), "runs of", scenario("crash").title)

# %% [markdown]
# One row a run: what was set, and everything the engine's metrics know. Five timeouts, three protocols, eight seeds. (A
# group of the consumer protocol does not read `session.timeout.ms`; there the same value is set as the broker's
# `group.consumer.session.timeout.ms`.)

# %%
from pyspark.sql import functions as F

few = runs.where("protocol = 'eager' and session_timeout_ms in (10000, 45000) and seed <= 3")
few.select(
    "session_timeout_ms", "seed", "crash_detect_s", "false_alarms", "longest_gap_s", "rebalances"
).orderBy("session_timeout_ms", "seed").show()

# %% [markdown]
# Look at one column from row to row: the same setting, and yet another number. How old the last heartbeat was when the
# process died is chance, so one run is one sample. Ask for the median, and for the spread:

# %%
by_timeout = (
    runs.where("protocol = 'eager'")
    .groupBy("session_timeout_ms")
    .agg(
        F.round(F.median("crash_detect_s"), 1).alias("found_s"),
        F.round(F.median("longest_gap_s"), 1).alias("longest_pause_s"),
        F.round(F.avg("false_alarms"), 2).alias("false_alarms"),
    )
)
by_timeout.orderBy("session_timeout_ms").show()

# %%
from rebalance_kit.notebook import beside, in_lines

found = {row.session_timeout_ms: row.found_s for row in by_timeout.collect()}
print(beside(guess, {"found after s, 45 s": found[45_000], "found after s, 10 s": found[10_000]}))

# %% [markdown]
# A crash is found when the session runs out, counted from the last heartbeat that arrived: the timeout, less up to one
# heartbeat interval. **Watch for** the right panel: what the seconds on the left cost.

# %% tags=["nbval-ignore-output"]
from rebalance_kit import detection_figure, gap_figure, show

rows = [row.asDict() for row in runs.orderBy("run").collect()]
show(detection_figure(rows), "")

# %%
print(in_lines(detection_figure(rows)["layout"]["meta"]["text"]))

# %% [markdown]
# The two panels are one decision. There is no best value, only a price: how many seconds of outage would you accept to
# avoid one false alarm, and how long are your GC pauses? Before you go below the default, look at your GC logs.
# And all three protocols give nearly the same curve, since none of them hears a dead process any sooner.
#
# ## 2 Members against unread partition-seconds
#
# The second trade-off is not a setting but the size of the group. A group of 3, 6, 12 or 24 consumers shares 48 partitions, and a new version
# is rolled out: one consumer after the other is closed and started again.
#
# ### Predict
#
# Add up the gaps of all partitions. Which protocol costs *least* in a group of 3, and which in a group of 24?

# %%
guess = {"least with 3": None, "least with 24": None}

# %%
sizes = {"members": [3, 6, 12, 24], "topic_partitions": [48]}
rollouts = sweep(spark, scenario("rolling-restart"), sizes, seeds=4).persist()
protocols = ["eager", "cooperative", "consumer"]
stopped = (
    rollouts.groupBy("members").pivot("protocol", protocols).agg(F.round(F.median("unread_partition_s")))
)
stopped.orderBy("members").show()

# %%
sums = {row.members: {way: row[way] for way in protocols} for row in stopped.collect()}
print(beside(guess, {f"least with {size}": min(sums[size], key=sums[size].get) for size in (3, 24)}))

# %% [markdown]
# Each consumer that goes and comes back is a rebalance or two, so the number of rebalances grows with the group. Under
# **eager** each of them stops all 48 partitions, shortly. Under **cooperative** and **consumer** each stops only what the
# restarted member had, and in a large group that is little: the sum hardly depends on the size at all.
#
# **Watch for** the place where the lines cross in the right panel. Whoever measured with three consumers on a laptop has
# measured the wrong side of it.

# %% tags=["nbval-ignore-output"]
sized = [row.asDict() for row in rollouts.orderBy("run").collect()]
show(gap_figure(sized), "")

# %%
print(in_lines(gap_figure(sized)["layout"]["meta"]["text"]))

# %% [markdown]
# On the left is the time in which *all* partitions are unread: only eager has any, and with quick members it is a tenth of a
# second. Notebook 05 shows what one slow callback does to it.
#
# ## 3 What Spark does with it
#
# A sweep is the simplest job there is: no run needs another one. Each task gets some rows of parameters, runs plain Python
# over them (`mapInArrow`), and gives rows back. Two things decide how long it takes.
#
# **Runs are not alike.** Which of the runs above cost the most? Count what the engine had to do, request by request:

# %%
work = rollouts.groupBy("members").agg(
    F.count("*").alias("runs"),
    F.round(F.avg("requests_total")).cast("int").alias("requests_a_run"),
    F.max("requests_total").alias("most"),
)
work.orderBy("members").show()

# %% [markdown]
# If neighbours went into the same task, one task would get all the groups of 24 and the other one all the groups of
# three: the second is long done while the first still works. So the kit shuffles the rows first, by a fixed seed.
#
# **Keys are not alike.** The same happens to an aggregation whose key is one big group, and there a shuffle of rows does
# not help, since all rows of a key go to one task. That is the next exercise.

# %% tags=["nbval-ignore-output"]
from IPython.display import Markdown

from rebalance_kit import Exercise

thirteenth = Exercise("13-skew")
display(Markdown(thirteenth.story), thirteenth)


# %%
def counted_in_buckets(requests):
    raise NotImplementedError


print(thirteenth.check(counted_in_buckets))

# %% [markdown]
# ## 4 Your own sweep
#
# Now write one: plain Python in Spark tasks, and the aggregation on top.

# %% tags=["nbval-ignore-output"]
fifteenth = Exercise("15-sweep")
display(Markdown(fifteenth.story), fifteenth)


# %%
def longest_pause_s(session_timeout_ms, seed):
    """Simulate the crash of one consumer of three; the longest gap of a partition, in seconds."""
    from rebalance_kit import metrics, scenario, simulate
    from rebalance_kit.notebook import with_configs

    crash = with_configs(scenario("crash"), {"session.timeout.ms": int(session_timeout_ms)})
    return metrics(simulate(crash, int(seed), "eager")).longest_gap_s


def sweep_by_hand(parameters):
    raise NotImplementedError


print(fifteenth.check(sweep_by_hand))

# %% [markdown]
# ## Try it
#
# - A thousand runs: set `SEEDS` to 70 in section 1 and run from there. What becomes of the quartiles? Of the medians?
# - `sweep` varies any Kafka configuration that the engine reads, and `members`, `topic_partitions`, `processing_ms`,
#   `callback_ms`, `freezes`, `kafka_version`. Let the
#   callbacks of everybody take 6 seconds (`{"callback_ms": [0, 6000]}`) in `join`.
# - In a terminal, with tables and figures in a folder:
#   `rebalance-kit sweep --scenario crash --set session.timeout.ms=10000,45000 --seeds 100 --out sweep`
#
# ## Check questions

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Quiz

Quiz("clocks", count=8)

# %% [markdown]
# ## Recap
#
# - One run is one sample; ask for medians and quartiles over seeds.
# - A shorter session timeout buys faster detection at the price of false alarms, at nearly the same price under all three protocols.
# - The price of a rolling restart grows with the group under eager, and hardly under the other two: measure at your size.
# - Runs and keys are not alike: shuffle the rows of a sweep, split the hot key of an aggregation.
#
# **Next:** 13, the real thing: real clients and a real broker beside the engine.
