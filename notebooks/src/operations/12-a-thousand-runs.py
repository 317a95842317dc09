# %% [markdown]
# # 12 · A thousand runs: sweeping parameters on Spark
#
# **40 minutes**, and 70 for its exercises. Exams: CCAAK *Cluster Configuration*; CCDAK *Application Development*.
#
# After this notebook you can
#
# - say why one run is not an answer, and what a median with its quartiles tells you (CCAAK Cluster Configuration);
# - choose a session timeout and state what it costs (CCAAK Cluster Configuration);
# - run plain Python as Spark tasks, and see why tasks take unequal time (CCDAK Application Development).

# %%
from rebalance_kit.pipeline import start_in_background

starting = start_in_background()

# %% [markdown]
# ## 1 What does a shorter session buy?
#
# A consumer is killed. Its partitions stay unread until the coordinator notices, and `session.timeout.ms` decides when that
# is. Shorter is better, then? A process that is only *suspended* for too long (a long GC pause, a frozen virtual machine) is taken
# for dead as well: a false alarm. It costs up to two more rebalances: one when the process is removed, one when it is back.
#
# So each run has both: one of three members is killed, and the other two freeze, together up to twice, for 1 to 60 seconds, more often
# for a short time than for a long one. Length and moment are drawn by the run's **seed**, so that every setting faces the same crash and the same freezes. (A freeze
# that would last beyond the end of the run is left out.)
#
# ### Predict
#
# After how many seconds is the crash detected with the default, 45 seconds? And with 10?

# %%
from rebalance_kit.notebook import predict

guess = predict({"with 45 s": None, "with 10 s": None}, within=3)
guess

# %%
from rebalance_kit import scenario, sweep

SEEDS = 84

spark = starting.result()
timeouts = {"session.timeout.ms": [6_000, 10_000, 20_000, 45_000], "freezes": [2], "carry_timeouts": [True]}
runs = sweep(spark, scenario("crash"), timeouts, seeds=SEEDS).persist()
print(f"{runs.count()} runs of the scenario: {scenario('crash').title}")

# %% [markdown]
# One row per run: what was set, and everything that the engine measures. Four timeouts, three protocols, 84 seeds: a thousand and eight runs. (A
# KIP-848 client refuses `session.timeout.ms`. With `carry_timeouts` its broker is given the same value as `group.consumer.session.timeout.ms`, and a
# lower minimum where the value is below 45 s; without it, all four settings would wait for the 45 s of the broker.) Look at one setting, seed by seed:

# %%
from pyspark.sql import functions as F

few = runs.where("protocol = 'eager' and session_timeout_ms = 45000 and seed <= 4")
few.select("seed", "crash_detect_s", "false_alarms", "longest_gap_s", "rebalances").orderBy("seed").show()

# %% [markdown]
# The same setting, and yet a different number in every row. How old the last heartbeat was when the
# process died is chance, and so is what froze when; one run is one sample.
# (In seed 1 a survivor was frozen while the crash was detected. The rebalance waited for it, hence the longest gap.) Ask for the **median** (half of the runs lie below), and for the **quartiles** (a
# quarter lies below the first, a quarter above the third):

# %%
by_timeout = (
    runs.where("protocol = 'eager'")
    .groupBy("session_timeout_ms")
    .agg(
        F.count("*").alias("runs"),
        F.round(F.percentile("crash_detect_s", F.lit(0.25)), 1).alias("lower"),
        F.round(F.median("crash_detect_s"), 1).alias("detected_s"),
        F.round(F.percentile("crash_detect_s", F.lit(0.75)), 1).alias("upper"),
        F.sum("false_alarms").alias("false_alarms"),
    )
)

# %% tags=["answer"]
detected = {row.session_timeout_ms: row.detected_s for row in by_timeout.collect()}
guess.beside({"with 45 s": detected[45_000], "with 10 s": detected[10_000]})

# %%
by_timeout.orderBy("session_timeout_ms").show()

# %% [markdown]
# A crash is detected when the session expires. The session is counted from the last heartbeat that arrived, and in a classic group also from a commit
# that came later: the detection takes the session timeout minus the age of that request. The last column is the price: false alarms in 84 runs. **Watch for** how the two panels belong together.

# %% tags=["nbval-ignore-output"]
from rebalance_kit.view import detection_figure
from rebalance_kit.notebook import Drawn, twin

rows = [row.asDict() for row in runs.orderBy("run").collect()]
detection = Drawn(detection_figure(rows))
detection

# %%
twin(detection)

# %% [markdown]
# The two panels are one decision. There is no best value, only a price: how many seconds of outage would you accept to avoid one false alarm?
# Suppose a member of your group freezes for 1 to 60 seconds once or twice a day, as in a run here, and a crash happens once a month. With 6 s you save nearly forty seconds once a month, and pay with
# a false alarm, that is up to two rebalances, about every day. Then keep the default, and cure the freezes. If your processes never freeze for longer than four seconds, a session of 10 s costs
# nothing, and is a good choice: the last heartbeat is at most 5 s old when a freeze begins (3 s in a classic group). So before you go below the default, look at your GC logs. All three protocols give nearly the same curve, because each of them waits for the session to end. (KIP-848 is a
# little earlier, because the last heartbeat is older there: members send one every 5 s, not every 3 s, and a commit does not extend the session.)
#
# ## 2 Members against unread partition-seconds
#
# The second trade-off is not a setting but the size of the group. A group of 3, 6, 12 or 24 consumers shares 48 partitions, and a new version
# is rolled out: one consumer after the other is closed and started again.
#
# ### Predict
#
# Add up the gaps of all partitions. Which protocol costs *least* in a group of 3, and which in a group of 24? (Large groups take the engine longer, so
# four seeds have to do here.)

# %%
guess = predict({"least with 3": None, "least with 24": None}, options=["eager", "cooperative", "KIP-848"])
guess

# %%
sizes = {"members": [3, 6, 12, 24], "topic_partitions": [48]}
rollouts = sweep(spark, scenario("rolling-restart"), sizes, seeds=4).persist()
unread = (
    rollouts.withColumn(
        "protocol", F.when(F.col("protocol") == "consumer", "KIP-848").otherwise(F.col("protocol"))
    )
    .groupBy("members")
    .pivot("protocol", ["eager", "cooperative", "KIP-848"])
    .agg(F.round(F.median("unread_partition_s")))
)

# %% tags=["answer"]
sums = {
    row.members: {name: row[name] for name in ("eager", "cooperative", "KIP-848")} for row in unread.collect()
}
guess.beside({f"least with {size}": min(sums[size], key=sums[size].get) for size in (3, 24)})

# %%
unread.orderBy("members").show()

# %% [markdown]
# (`pivot` turns each protocol into a column.) Each consumer that goes and comes back makes the group rebalance
# twice, under cooperative mostly three times, so the number of rebalances grows with the group. Under
# **eager** each of them stops all 48 partitions, briefly. Under **cooperative** and **KIP-848** each stops only what the
# restarted member gives up and, when it is back, what it gets. That takes longer than an eager stop, but it happens to each partition
# about twice in the whole rollout, whatever the size, so the sum hardly depends on it. KIP-848 costs more than cooperative here
# only because its heartbeats come every 5 s by default, not every 3 s: at equal intervals it costs least in a group of 24.
#
# **Watch for** the place where the lines cross in the right panel. If you measure with three consumers on a laptop, you measure the wrong side of it.

# %% tags=["nbval-ignore-output"]
from rebalance_kit.view import gap_figure

rows = [row.asDict() for row in rollouts.orderBy("run").collect()]
crossing = Drawn(gap_figure(rows))
crossing

# %%
twin(crossing)

# %% [markdown]
# On the left is the longest time in which *all* partitions are unread: only eager has any, and with quick members it is a tenth of a
# second. Notebook 05 shows what one slow callback does to it.
#
# ## 3 What Spark does with it
#
# Why is this on Spark at all? Because a sweep is the simplest job there is: no run needs the result of another. Each task gets some rows of parameters, runs plain Python
# on them (`mapInArrow`: a function from batches of rows to batches of rows), and returns rows. On one laptop that uses all cores; on a cluster it is the same code. Two things decide how long it takes.
#
# **Runs are not alike.** Which of the runs above cost the most? Count what the engine had to do, request by request:

# %%
work = rollouts.groupBy("members").agg(
    F.count("*").alias("runs"), F.round(F.avg("requests_total")).cast("int").alias("requests_per_run")
)
work.orderBy("members").show()

# %% [markdown]
# If neighbours went into the same task, one task would get all the groups of 24 and another one all the groups of
# three: the second would be done long before the first. So the kit mixes the rows first, with a fixed seed.
#
# **Keys are not alike.** The same happens to an aggregation in which one key has most of the rows: that is *skew*. Mixing the rows does not
# help, because all rows of a key go to one task. (Spark's *adaptive execution* splits such tasks in joins, not in aggregations. Counts and sums
# suffer least, because each task adds up its own rows before they are sent; an exact percentile or a window needs every row in one place.) The next exercise
# cuts a hot key into pieces, on a count, where the result is easy to check.

# %% tags=["hide-input", "nbval-ignore-output"]
from IPython.display import Markdown

from rebalance_kit import Exercise

thirteenth = Exercise("13-skew")
display(Markdown(thirteenth.story), thirteenth)


# %% tags=["exercise"]
def counted_in_buckets(requests):
    raise NotImplementedError


print(thirteenth.check(counted_in_buckets))

# %% [markdown]
# ## 4 Your own sweep
#
# Now write one: plain Python in Spark tasks, and the aggregation on top. (The function is called `sweep_by_hand` in the cell below, because `sweep` is the kit's.)

# %% tags=["hide-input", "nbval-ignore-output"]
fifteenth = Exercise("15-sweep")
display(Markdown(fifteenth.story), fifteenth)


# %% tags=["exercise"]
def longest_gap_s(session_timeout_ms, seed):
    """Simulate the crash of one consumer of three; the longest gap of a partition, in seconds."""
    from rebalance_kit import metrics
    from rebalance_kit.notebook import run, with_configs

    crash = with_configs("crash", {"session.timeout.ms": int(session_timeout_ms)})
    return metrics(run(crash, "eager", int(seed))).longest_gap_s


def sweep_by_hand(parameters):
    raise NotImplementedError


print(fifteenth.check(sweep_by_hand))

# %% [markdown]
# ## Try it
#
# - Set `SEEDS` to 8 in section 1 and run from there. What becomes of the medians? Of the quartiles? Of the false alarms?
# - `sweep` varies any Kafka configuration that the engine reads, and `members`, `topic_partitions`, `processing_ms`,
#   `callback_ms`, `freezes`, `carry_timeouts`, `kafka_version`. Let the callbacks of all members take 6 seconds (`{"callback_ms": [0, 6000]}`) in `join`.
# - In a terminal, with tables and figures in a folder:
#   `rebalance-kit sweep --scenario crash --set session.timeout.ms=10000,45000 --set carry_timeouts=true --seeds 100 --out sweep`
#
# <details><summary>Answer to the first</summary>
#
# Medians and quartiles hardly move: they describe the runs, and fewer runs are not different runs. What grows is how much the figures change from one set of seeds
# to the next. The false alarms are a sum, so divide them by the number of runs first. Even then they suffer most, because a few long freezes more or less
# decide them: rare events need many runs.
#
# </details>
#
# <details><summary>Answer to the second</summary>
#
# All twelve partitions go unread under every protocol now, because a member reads nothing while its own callbacks run. Under eager *nobody* reads anything for two callbacks in a
# row, about twelve seconds. Cooperative has the most unread partition-seconds, because `onPartitionsAssigned` runs twice. KIP-848 has the longest gap of a single
# partition: the old owner's two callbacks, the new owner's heartbeat, and its callback, one after the other.
#
# </details>
#
# ## Check yourself
#
# **1.** Two settings were run with the same seeds. Their medians differ by 2 s, and the ranges between their quartiles overlap. What do you look at
# before you report a difference?
#
# <details><summary>Answer</summary>
#
# The difference seed by seed. The overlap says only that runs vary by more than the settings differ. If nearly all seeds agree on the sign, report the difference;
# if they do not, draw more seeds.
#
# </details>
#
# **2.** A colleague runs each session timeout with a quarter of the seeds, a different quarter for each. Which of the two columns, `detected_s`
# or `false_alarms`, can then mislead you more, and why?
#
# <details><summary>Answer</summary>
#
# `false_alarms`. A median of the detection differs by a second at most from one set of seeds to another, and the timeouts by many. How many freezes are long is luck,
# and no longer the same luck for every setting: one timeout may look better only because its seeds drew shorter freezes.
#
# </details>
#
# The quiz goes back to the clocks of notebook 08.

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Quiz

Quiz("clocks", count=5)

# %% [markdown]
# ## Recap card
#
# - One run is one sample; ask for medians and quartiles over seeds.
# - A shorter session timeout buys faster detection and costs false alarms, nearly as many under each of the three protocols.
# - The cost of a rolling restart grows with the group under eager, and hardly under the other two: measure at your size.
# - Runs and keys are not alike: mix the rows of a sweep, split the hot key of an aggregation.

# %% tags=["hide-input", "nbval-ignore-output"]
from rebalance_kit.notebook import next_notebook

next_notebook("12")
