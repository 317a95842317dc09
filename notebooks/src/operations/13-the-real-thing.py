# %% [markdown]
# # 13 · The real thing
#
# **15 minutes** Exams: CCAAK *Troubleshooting*, *Observability*; CCDAK *Testing*.
#
# After this notebook you can
#
# - say how far to trust a simulation, and how it was checked (CCDAK Testing);
# - place one recorded run in the spread of what could have happened (CCAAK Observability);
# - explain three differences between a recording and the engine (CCAAK Troubleshooting);
# - run real clients yourself, with a cluster or without (CCDAK Testing).
#
# Everything up to here was computed. How do you know that it is what Kafka does? The kit carries runs recorded from real brokers
# (3.9 to 4.3) with real Java and librdkafka clients: all logs, every callback with its time, and what was done to the group.

# %% tags=["hide-input"]
import os
import tempfile
from pathlib import Path

from rebalance_kit import gantt_figure, run_clients, show
from rebalance_kit.notebook import Table, columns, next_notebook, predict
from rebalance_kit.recordings.replay.percentiles import percentiles
from rebalance_kit.recordings.replay.replay import replay
from rebalance_kit.recordings.runs.folder import read_run
from rebalance_kit.recordings.runs.pack import run_names, table, unpack
from rebalance_kit.recordings.runs.trace import recorded_trace

home = tempfile.TemporaryDirectory()


def recorded(*names):
    """Recorded runs by their names, unpacked."""
    return dict(zip(names, map(read_run, unpack(Path(home.name), names)), strict=True))


# %%
print(len(run_names()), "recorded runs")
scenarios = sorted({name.split(".")[0] for name in run_names()})
print(len(scenarios), "scenarios, among them:", ", ".join(scenarios[:12]))

# %% [markdown]
# ## One crash, three protocols, recorded
#
# A consumer is killed. The session timeout of these recordings is 10 s, and not the default of 45 s, so that nobody had to wait.

# %%
crashes = recorded("crash.eager.4.3.1", "crash.cooperative.4.3.1", "crash.consumer.4.3.1")

# %% tags=["nbval-ignore-output"]
show(gantt_figure(recorded_trace(crashes["crash.cooperative.4.3.1"])), "")

# %% [markdown]
# **Watch for** the dead member's bar, and how long its partitions have none.
#
# ### Predict
#
# For how long were they unread, at most, in the recording under each protocol?

# %%
guess = predict({"eager": None, "cooperative": None, "KIP-848": None}, within=2)
guess

# %% tags=["hide-input"]
cells = {name: {cell.measure: cell for cell in percentiles(run, 40)} for name, run in crashes.items()}
longest = [each["longest gap, s"].recorded for each in cells.values()]
guess.beside(dict(zip(guess.answers, longest, strict=True)))

# %% [markdown]
# The session timeout of 10 s minus the age of the last heartbeat, plus the rebalance. As in the simulation: a crash costs the same under
# all protocols.
#
# ## Beside the engine
#
# One recording is one throw of the dice: how old the last heartbeat was when the process died is chance. So the engine runs the *same
# steps* forty times with drawn phases, and we ask where the recorded value falls. Between the 1st and the 99th percentile, it could have
# been one of ours.


# %% tags=["hide-input"]
def beside(cells_by_run, *measures):
    """Recorded values beside the engine's least, median and greatest, with the percentile."""
    rows = [["run", "measure", "recorded", "engine: least", "median", "greatest", "percentile"]]
    for name, found in cells_by_run.items():
        for measure in measures:
            cell = found[measure]
            drawn = [format(cell.drawn.quantile(q), ".3g") for q in (0, 0.5, 1)]
            rows.append([name, measure, format(cell.recorded, ".3g"), *drawn, f"{cell.percentile:.0f}"])
    return Table(rows)


beside(cells, "longest gap, s", "generations or epochs", "delivered again")

# %% [markdown]
# Look at *delivered again*: it follows from how long before its death the member had committed, from nothing up to five seconds'
# worth. One recording tells little about it.
#
# ## A join, and a surprise
#
# Here is the run that taught us to draw phases. Under KIP-848 the moved partition was unread for less than a tenth of the time it was
# under cooperative:

# %%
joins = recorded("join.eager.4.3.1", "join.cooperative.4.3.1", "join.consumer.4.3.1")
join_cells = {name: {cell.measure: cell for cell in percentiles(run, 40)} for name, run in joins.items()}
beside(join_cells, "longest gap, s")

# %% [markdown]
# It is chance, within a rule. Under KIP-848 the partition is free when the old owner's heartbeat acknowledges the revocation, and is
# handed over with the *new owner's* next heartbeat. Here that came 0.3 s later; it could have been anything up to one interval (3 s in
# these recordings). Under cooperative the second generation waits for a heartbeat that was *restarted* by the first one, so it
# is one interval nearly every time.
#
# The lesson for your own measurements: measure a rebalance ten times, at ten different moments, or you have measured the moment.
#
# ## Event by event
#
# `replay` goes further: it pins what a recording tells about chance (who joined first, when heartbeats fell) and compares generations,
# assignments, callbacks and removals, one by one.

# %%
outcome = replay(unpack(Path(home.name), ("freeze.eager.4.3.1",))[0], draws=10)
print(
    outcome.run,
    "- repeated exactly:",
    "yes" if outcome.equal else "no",
    f"({outcome.draws_equal} of {outcome.draws} draws)",
)

# %% [markdown]
# The table of all runs is in `docs/fidelity.md`, made by `make fidelity`, with whatever differs.
#
# ## What differs, honestly
#
# | | recording | engine | why |
# |---|---|---|---|
# | time of a first join | 0.3 to 3.2 s after the start | drawn from that | a JVM starts when it starts |
# | records that a zombie hands out | depends on what was fetched | counted by rate | the fetch buffer is not modelled byte by byte |
# | order of members that close together | any | one of them | two requests race within 0.1 s |
# | noise in the logs | metadata, fetch sessions, garbage | only lines about groups, unless asked for | the rest is not about groups |
#
# ## Run it yourself
#
# Real clients need a cluster. With `REBALANCE_KIT_BOOTSTRAP=host:9092` in the environment of Jupyter, the next cell uses yours: it makes
# a topic of its own, and deletes it afterwards. Without, it uses the mock cluster inside librdkafka, and says so.

# %% tags=["nbval-ignore-output"]
bootstrap = os.environ.get("REBALANCE_KIT_BOOTSTRAP")
print("cluster:", bootstrap or "none given, so this is librdkafka's mock cluster; its timing is its own")
real = run_clients(strategy="consumer", seconds=14, bootstrap=bootstrap)
print(real.text)

# %%
print(real.summary)

# %% [markdown]
# Your own Java service does as well. Collect its log and the broker's in a folder, and hand the folder to the commands of
# notebooks 10 and 11, or to `rebalance-kit logs FOLDER`.
#
# A cluster without Docker, if you have Java 17: unpack Kafka, then
#
# ```shell
# bin/kafka-storage.sh format --standalone -t $(bin/kafka-storage.sh random-uuid) -c config/server.properties
# bin/kafka-server-start.sh config/server.properties
# ```
#
# ## Check yourself
#
# 1. You measured one deploy: cooperative 3.1 s, KIP-848 0.4 s. May you report that KIP-848 is eight times faster?
# 2. A recorded value is at the 100th percentile of forty draws. Is the engine wrong?
# 3. Why is the longest gap after a crash so similar under all protocols?
#
# <details><summary>Answers</summary>
#
# 1. No. One sample of a quantity that is spread over a whole heartbeat interval.
# 2. Not yet: one value in a hundred or so must fall outside. If more than a few in a hundred do, something is wrong.
# 3. Because almost all of it is the session timeout, which does not depend on the protocol.
#
# </details>
#
# ## Recap card
#
# - A recording is one draw. A simulation can make a thousand, and must contain the recording.
# - Compare distributions; let chance be chance, and rules be rules.
# - What a model leaves out is listed beside what it gets right.
# - `rebalance-kit replay FOLDER` and `make fidelity` repeat the check.

# %% tags=["hide-input"]
home.cleanup()
next_notebook("13")
