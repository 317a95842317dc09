# %% [markdown]
# # 10 · Reading rebalance logs with PySpark I: lines, events, rebalances
#
# **35 minutes**, and 75 for its exercises. Exams: CCAAK *Troubleshooting*, *Observability*; CCDAK *Observability*.
#
# After this notebook you can
#
# - take the text of a Kafka log apart with PySpark, and prove that no line was dropped on the way (CCAAK Observability);
# - tell the few lines that *are* a rebalance from the many that only talk about one (CCAAK Troubleshooting);
# - say for each rebalance of a group what triggered it and which member caused it, and how long it took (CCAAK Troubleshooting).
#
# ## Why Spark, and when plain tools do
#
# For one broker and one night, `grep` is enough, and you should know it:
#
# ```
# grep -h "Preparing to rebalance group orders-app " server.log*
# grep -hE "has failed, removing it|has left group|Stabilized group" server.log* | sort
# ```
#
# It stops being enough when the logs of brokers *and* members must be joined, when there are fifty members and thirty nights, when a question needs
# windows over time ("which partition was unread for how long?"), or when the answer must be there while the logs are still being written. Those are joins, windows and
# streams, and Spark does the same to ten lines and to ten billion. (On one laptop and one log `rebalance-kit logs` does it all without Spark.)
# This notebook assumes that you have seen a DataFrame; whatever else it uses is explained where it comes up.
#
# Spark takes some seconds to start. The first cell starts it in the background; keep reading.

# %%
from rebalance_kit.pipeline import start_in_background

starting = start_in_background()

# %% [markdown]
# ## 1 Four logs
#
# A real cluster this time, not the engine: Kafka 4.3.1 and three consumers `c1`, `c2`, `c3` with the default list of
# assignors, so an eager group. One of the consumers was killed, and started again later. Each process wrote a log. (`element_at` with -1
# takes the last part of the path, the name of the file.)

# %%
from pyspark.sql import Window
from pyspark.sql import functions as F

from rebalance_kit.notebook import recordings

folder = recordings("crash.eager.4.3.1") / "crash.eager.4.3.1"
spark = starting.result()
text = spark.read.text(f"{folder}/*.log.gz")
text = text.withColumn("file", F.element_at(F.split(F.input_file_name(), "/"), -1))
text.groupBy("file").count().orderBy("file").show()

# %% [markdown]
# A line of the broker, as Kafka's default pattern `[%d] %p %m (%c)%n` writes it: time, level, message, and at the very end
# the class that wrote it.

# %%
from rebalance_kit.notebook import in_lines

stabilized = text.where("file = 'broker.log.gz' and value like '%Stabilized group%'")
in_lines(stabilized.agg(F.min("value")).first()[0])

# %% [markdown]
# ### Predict
#
# The broker wrote 1,724 lines. How many of them come from its *group coordinator*, the one part that decides about
# rebalances?

# %%
from rebalance_kit.notebook import predict

guess = predict(
    {"lines of the group coordinator": None}, options=["about 10", "about 40", "about 400", "about 1,000"]
)
guess

# %% [markdown]
# Take the lines apart. `regexp_extract` returns what one group of a regular expression matched, or an empty string if nothing matched. A line that *continues* another one (a block of configuration, a stack trace) does not begin with a time, so `rlike` leaves it out.

# %%
EVENT = r"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\] (\w+) (.*?)(?: \(([\w.$]+)\))?$"
TIME = "yyyy-MM-dd HH:mm:ss,SSS"

parts = text.where(F.col("value").rlike(EVENT)).select(
    "file",
    F.to_timestamp(F.regexp_extract("value", EVENT, 1), TIME).alias("at"),
    F.regexp_extract("value", EVENT, 2).alias("level"),
    F.regexp_extract("value", EVENT, 3).alias("message"),
)

# %% tags=["answer"]
coordinator = parts.where("file = 'broker.log.gz' and message like '[GroupCoordinator%'")
found_lines = coordinator.count()
guess.beside({"lines of the group coordinator": "about 40" if 20 < found_lines < 100 else "about 10"})

# %%
print(found_lines, "lines of the group coordinator")

# %% [markdown]
# Almost none of a broker's log is about groups. **Watch for** the few lines that are: here is the whole story of the
# crash in the coordinator's own words, without the bracket in front.

# %% tags=["hide-input"]
said = coordinator.select(
    "at", F.regexp_replace("message", r"^\[GroupCoordinator[^\]]*\] ", "").alias("said")
)
for line in said.where("said rlike '^(Preparing|Stabilized|Assignment|Member)'").orderBy("at").collect():
    print(in_lines(f"{line.at:%H:%M:%S}  {line.said}"))

# %% [markdown]
# ### Exercise 01
#
# Now you: the same for the log of a member, with the line numbers kept. Read the task, write the function, and run the
# cell below it; it says what is wrong and what to try. *Next hint* has three hints, each one step further.

# %% tags=["hide-input", "nbval-ignore-output"]
from IPython.display import Markdown

from rebalance_kit import Exercise

first = Exercise("01-log-lines")
display(Markdown(first.story), first)


# %% tags=["exercise"]
def log_events(lines):
    raise NotImplementedError


print(first.check(log_events))

# %% [markdown]
# ## 2 Lines that mean something
#
# The kit knows what each line of Kafka means, from 2.8 to 4.x, for brokers, Java clients and librdkafka (the C library behind the Python, Go and .NET
# clients). `forensics` turns a folder into tables: **events**, rebalances, gaps, storms, findings. It accounts for every line: each was either
# *parsed* (it is an event), *ignored* (it is a line of Kafka that says nothing about groups), or *rejected*
# (it resembles an event, and the kit could not read it).

# %%
from rebalance_kit.pipeline import forensics

found = forensics(spark, folder)
books = found.lines.withColumn("balance", F.expr("lines - parsed - ignored - rejected"))
books.select("file", "lines", "parsed", "ignored", "rejected", "balance").orderBy("file").show()

# %% [markdown]
# A balance of 0 in each row: nothing was dropped silently. If you take one habit from this notebook, take this
# one. A log pipeline that loses the lines it does not understand tells you that all is well. (Why does the broker have 47 parsed lines here, and 37 lines
# of its coordinator above? Some events are not the coordinator's, such as the creation of a topic or the settings that it prints, and some of the coordinator's lines are not events.)
#
# Which events make up a rebalance? The column `side` says who wrote a line, a broker or a Java client, and `pivot` makes a column of each:

# %%
counts = found.events.groupBy("event").pivot("side", ["broker", "java"]).count().na.fill(0)
rebalancing = ["preparing", "stabilized", "rejoin_requested", "joining", "joined", "synced", "assigned"]
counts.where(F.col("event").isin(rebalancing)).orderBy("broker", "event").show()

# %% [markdown]
# The broker writes `preparing` once per rebalance, and `stabilized` once per rebalance that reaches a generation with members. The members write the others, each for itself:
# eight times `joined` is three members at the start, two survivors after the crash, and three again when `c3` came back. `joining`
# is four more, because each of four newcomers asks twice. `rejoin_requested` comes once with each newcomer's id, once for
# each rebalance that a survivor is told of (four in all), and once at each close. If you count lines with the word
# "rebalance" in them, you count members, not rebalances.
#
# ### Predict
#
# By the last table the logs hold four rebalances. How many lines of all four logs have "rebalanc" in them?

# %%
guess = predict({"lines with 'rebalanc'": None}, within=20)
guess

# %% tags=["answer", "hide-input"]
guess.beside({"lines with 'rebalanc'": text.where("lower(value) like '%rebalanc%'").count()})

# %% tags=["hide-input", "nbval-ignore-output"]
third = Exercise("03-count-rebalances")
display(Markdown(third.story), third)


# %% tags=["exercise"]
def rebalances_per_run(events):
    raise NotImplementedError


print(third.check(rebalances_per_run))

# %% [markdown]
# ## 3 From events to rebalances
#
# A rebalance begins with `preparing`. Where does it end? Not with `stabilized`: that is the end of the *join* phase, and no member has its new assignment yet. The leader computes the assignment, sends it with its SyncGroup, and the broker writes
# `assignment_received`. A **window** lets a row look at its neighbours; `lead` brings the next row's values to it:

# %%
in_order = Window.partitionBy("group").orderBy("at", "line")
begins = (
    found.events.where("event in ('preparing', 'assignment_received')")
    .withColumn("next_event", F.lead("event").over(in_order))
    .withColumn("took_ms", F.unix_millis(F.lead("at").over(in_order)) - F.unix_millis("at"))
    .where("event = 'preparing'")
)
begins.select(
    F.date_format("at", "HH:mm:ss.SSS").alias("begins"), "generation", "next_event", "took_ms"
).show()

# %% [markdown]
# The last one has no assignment after it: all members were closed one after the other, and
# nobody was left to assign anything to. (The kit lets such a rebalance end when the group is empty.) The kit's own table says
# the same, and more: the trigger and the **culprit** (the member that caused it).

# %%
rebalances = found.rebalances.orderBy("start_ms")
rebalances.select("number", "trigger", "culprit", "before", "after", "members", "duration_ms").show()

# %% [markdown]
# **Watch for** the first bar: three seconds of `group.initial.rebalance.delay.ms`, and another three because a member
# joined in the meantime. The second is the rebalance that the crash led to. Hover over a bar for its cause.

# %% tags=["nbval-ignore-output"]
from rebalance_kit.view.reports.forensics_show import show_logs

show_logs(found, "timeline")

# %%
from rebalance_kit.notebook import describe

describe(found, "timeline")

# %% [markdown]
# The rebalance after the crash took two seconds. Yet the partitions of `c3` went unread for much longer, because nobody knew
# that it was dead until its session had expired. The duration of a rebalance is not the gap of a partition: notebook
# 11 measures the latter.
#
# ## 4 What to do about it
#
# From the same tables come **findings**: plain sentences, each with what to do and who says so.

# %% tags=["hide-input"]
for row in found.findings.orderBy("finding").collect():
    print(in_lines(f"- {row.sentence} DO: {row.do} ({row.source})"))

# %% [markdown]
# On your own logs, in a terminal, with an HTML report and the tables in Parquet:
#
# ```
# rebalance-kit logs /var/log/kafka /var/log/my-service --out report
# ```
#
# ## Exercises
#
# The next one reads two major versions of Kafka that do not write quite the same. The last measures durations for
# several nights at once; the window above has a flaw that shows as soon as there is more than one.

# %% tags=["hide-input", "nbval-ignore-output"]
second = Exercise("02-coordinator-table")
display(Markdown(second.story), second)


# %% tags=["exercise"]
def coordinator_table(lines):
    raise NotImplementedError


print(second.check(coordinator_table))

# %% tags=["hide-input", "nbval-ignore-output"]
fourth = Exercise("04-durations")
display(Markdown(fourth.story), fourth)


# %% tags=["exercise"]
def durations(events):
    raise NotImplementedError


print(fourth.check(durations))

# %% [markdown]
# ## Check yourself
#
# **1.** A DataFrame of events has 47 rows, the log 1,724 lines. What do you compute before you trust it?
#
# <details><summary>Answer</summary>
#
# For each file, the sum parsed + ignored + rejected, to compare with the number of lines. Then look at what was rejected.
#
# </details>
#
# **2.** You order a window by `at` alone. Two lines carry the same millisecond. What can go wrong, and what do you add?
#
# <details><summary>Answer</summary>
#
# `lead` may pick either of them, and differently in the next run. Add the line number to the ordering (and before it the file, if files are mixed).
#
# </details>

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Quiz

Quiz("logs", count=6)

# %% [markdown]
# ## Recap card
#
# - Lines become columns, columns become events; `parsed + ignored + rejected = lines`, file by file, or you lose some.
# - The coordinator writes each rebalance once; each member writes about it too.
# - A classic rebalance runs from `Preparing to rebalance` to `Assignment received from leader`; `Stabilized` lies between.
# - The reason in the coordinator's line names the member; the member's own log says why.
# - One broker, one night: `grep`. Members, months, windows, streams: Spark.

# %% tags=["hide-input", "nbval-ignore-output"]
from rebalance_kit.notebook import next_notebook

next_notebook("10")
