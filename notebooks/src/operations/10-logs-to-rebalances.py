# %% [markdown]
# # 10 · Reading rebalance logs with PySpark I: lines, events, rebalances
#
# **50 minutes.** Exams: CCAAK *Troubleshooting*, *Observability*; CCDAK *Observability*.
#
# After this notebook you can
#
# - take the text of a Kafka log apart with PySpark, and prove that no line was dropped on the way;
# - tell the few lines that *are* a rebalance from the many that only talk about one;
# - say for each rebalance of a group what triggered it and which member caused it, and how long it took.
#
# Spark takes some seconds to start. The first cell starts it in the background; keep reading.

# %%
from rebalance_kit import start_in_background

starting = start_in_background()

# %% [markdown]
# ## 1 Two thousand lines
#
# A real cluster this time, not the engine: Kafka 4.3.1 and three consumers `c1`, `c2`, `c3` with the default list of
# assignors, so an eager group. One of the consumers was killed, and started again later. Each process wrote a log.

# %%
import tempfile
from pathlib import Path

from rebalance_kit.recordings.runs.pack import unpack

RUN = "crash.eager.4.3.1"
home = tempfile.TemporaryDirectory()
unpack(Path(home.name), [RUN])
folder = Path(home.name) / RUN
print(*sorted(one.name for one in folder.glob("*.log.gz")), sep="\n")

# %%
spark = starting.result()

from pyspark.sql import Window
from pyspark.sql import functions as F

text = spark.read.text(f"{folder}/*.log.gz").withColumn(
    "file", F.element_at(F.split(F.input_file_name(), "/"), -1)
)
text.groupBy("file").count().orderBy("file").show()

# %% [markdown]
# A line of the broker, as Kafka's default pattern `[%d] %p %m (%c)%n` has it: time, level, message, and at the very end
# the class that wrote it.

# %%
from rebalance_kit.notebook import in_lines

stabilized = text.where("file = 'broker.log.gz' and value like '%Stabilized group%'")
print(in_lines(stabilized.agg(F.min("value")).first()[0]))

# %% [markdown]
# ### Predict
#
# The broker wrote some 1,700 lines. How many of them come from its *group coordinator*, the one part that decides about
# rebalances?

# %%
guess = {"lines of the group coordinator": None}

# %% [markdown]
# Take the lines apart. `regexp_extract` gives one group of a regular expression, and the empty text where it does not
# fit: that is how a line that *continues* another one (a block of configuration, a stack trace) is told from an event.

# %%
EVENT = r"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\] (\w+) (.*?)(?: \(([\w.$]+)\))?$"

parts = text.where(F.col("value").rlike(EVENT)).select(
    "file",
    F.to_timestamp(F.regexp_extract("value", EVENT, 1), "yyyy-MM-dd HH:mm:ss,SSS").alias("at"),
    F.regexp_extract("value", EVENT, 2).alias("level"),
    F.regexp_extract("value", EVENT, 3).alias("message"),
    F.regexp_extract("value", EVENT, 4).alias("logger"),
)
by_logger = parts.where("file = 'broker.log.gz'").groupBy("logger").count()
by_logger.where("logger != ''").orderBy(F.desc("count"), "logger").show(8, truncate=False)

# %%
from rebalance_kit.notebook import beside

coordinator = parts.where("file = 'broker.log.gz' and message like '[GroupCoordinator%'")
print(beside(guess, {"lines of the group coordinator": coordinator.count()}))

# %% [markdown]
# Almost none of a broker's log is about groups. **Watch for** the few that are: here is the whole story of the
# crash in the coordinator's own words, without the bracket in front.

# %%
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

# %% tags=["nbval-ignore-output"]
from IPython.display import Markdown

from rebalance_kit import Exercise

first = Exercise("01-log-lines")
display(Markdown(first.story), first)


# %%
def log_events(lines):
    raise NotImplementedError


print(first.check(log_events))

# %% [markdown]
# ## 2 Lines that mean something
#
# The kit knows what each line of Kafka means, from 2.8 to 4.x, brokers, Java clients and librdkafka. `read_events`
# turns a folder into a table of **events**, whatever the layout of the lines. It accounts for every line: each was either
# *parsed* (it is an event), *ignored* (it is a line of Kafka that says nothing about groups), or *rejected*.

# %%
from rebalance_kit.pipeline import forensics

found = forensics(spark, folder)
books = found.lines.withColumn("balance", F.expr("lines - parsed - ignored - rejected"))
books.select("file", "lines", "parsed", "ignored", "rejected", "balance").orderBy("file").show()

# %% [markdown]
# A balance of 0 in each row: nothing was dropped silently. If you take one habit from this notebook, take this
# one. A log pipeline that loses the lines it does not understand tells you that all is well.

# %%
counts = found.events.groupBy("event").pivot("side", ["broker", "java"]).count()
often = counts.na.fill(0).where("event not in ('partition_created', 'config')")
often.orderBy(F.desc(F.col("broker") + F.col("java")), "event").show(14, truncate=False)

# %% [markdown]
# `preparing` and `stabilized` come from the broker, once for each rebalance. `rejoin_requested`, `joining`, `joined`
# and `assigned` come from every member, so a group of three writes about three of them per rebalance (a member that joins twice writes
# more). Whoever counts lines with the word
# "rebalance" in them counts members, not rebalances.
#
# ### Predict
#
# How many rebalances does the log hold, from the first start to the end? And how many lines have "rebalanc" in them?

# %%
guess = {"rebalances": None, "lines with 'rebalanc'": None}

# %%
truth = {
    "rebalances": found.events.where("event = 'preparing'").count(),
    "lines with 'rebalanc'": text.where("lower(value) like '%rebalanc%'").count(),
}
print(beside(guess, truth))

# %% tags=["nbval-ignore-output"]
third = Exercise("03-count-rebalances")
display(Markdown(third.story), third)


# %%
def rebalances_per_run(events):
    raise NotImplementedError


print(third.check(rebalances_per_run))

# %% [markdown]
# ## 3 From events to rebalances
#
# A rebalance begins with `preparing`. Where does it end? Not with `stabilized`: that is the end of the *join* phase, and
# no member has a partition yet. The leader computes the assignment, sends it with its SyncGroup, and the broker writes
# `assignment_received`. A window function brings the next line of these two kinds to each beginning:

# %%
in_order = Window.partitionBy("group").orderBy("at", "line")
begins = (
    found.events.where("event in ('preparing', 'assignment_received')")
    .withColumn("next", F.lead(F.struct("event", "at")).over(in_order))
    .where("event = 'preparing'")
)
begins.select(
    F.date_format("at", "HH:mm:ss.SSS").alias("begins"),
    F.col("generation").alias("old_generation"),
    F.when(
        F.col("next.event") == "assignment_received", F.unix_millis("next.at") - F.unix_millis("at")
    ).alias("took_ms"),
).orderBy("begins").show()

# %% [markdown]
# The last one has no assignment after it: the recording ended there, all members were closed one after the other, and
# nobody was left to assign anything to. (The kit lets such a rebalance end when the group is empty.) Its own table says
# the same, and more: the cause in words, and the culprit.

# %%
rebalances = found.rebalances.orderBy("start_ms")
rebalances.select("number", "trigger", "culprit", "before", "after", "members", "duration_ms").show()
for row in rebalances.collect():
    print(in_lines(f"{row.number}. {row.cause}."))

# %% [markdown]
# **Watch for** the first bar: three seconds of `group.initial.rebalance.delay.ms`, and once more three because somebody
# joined meanwhile. The second is the crash itself. Hover over a bar for its cause.

# %% tags=["nbval-ignore-output"]
from rebalance_kit.view.reports.forensics_show import describe_logs, show_logs

show_logs(found, "timeline")

# %%
print(in_lines(describe_logs(found, "timeline")))

# %% [markdown]
# The rebalance after the crash took two seconds. Yet the partitions of `c3` went unread for much longer, since nobody knew
# that it was dead until its session had run out. The duration of a rebalance is not the gap of a partition: notebook
# 11 measures the latter.
#
# ## 4 What to do about it
#
# From the same tables come **findings**: plain sentences with the line that shows it, what to do, and who says so.

# %%
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
# The second one reads two major versions of Kafka that do not write quite the same. The fourth measures durations for
# several nights at once; the window above has a flaw that shows as soon as there is more than one.

# %% tags=["nbval-ignore-output"]
second = Exercise("02-coordinator-table")
display(Markdown(second.story), second)


# %%
def coordinator_table(lines):
    raise NotImplementedError


print(second.check(coordinator_table))

# %% tags=["nbval-ignore-output"]
fourth = Exercise("04-durations")
display(Markdown(fourth.story), fourth)


# %%
def durations(events):
    raise NotImplementedError


print(fourth.check(durations))

# %% [markdown]
# ## Check questions

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Quiz

Quiz("logs", count=8)

# %% [markdown]
# ## Recap
#
# - Lines become columns, columns become events; `parsed + ignored + rejected = lines`, file by file, or you lose some.
# - The coordinator writes each rebalance once; each member writes about it too.
# - A classic rebalance runs from `Preparing to rebalance` to `Assignment received from leader`; `Stabilized` lies between.
# - The reason in the coordinator's line names the member; its own log says why.
#
# **Next:** 11, the gaps that users feel, storms, culprits, and the same while it happens.

# %%
home.cleanup()
