# %% [markdown]
# # 13 · The real thing
#
# **20 minutes**. Exams: CCAAK *Troubleshooting*, *Observability*; CCDAK *Testing*.
#
# After this notebook you can
#
# - say how far to trust a simulation, and how it was checked (CCDAK Testing);
# - place one recorded run in the spread of what could have happened (CCAAK Observability);
# - name what differs between a recording and the engine, and why (CCAAK Troubleshooting);
# - run and record real clients yourself, with a cluster or without (CCDAK Testing).
#
# Almost all runs up to here were computed. How do you know that Kafka does the same? The kit carries runs recorded from
# real brokers (3.9 to 4.3) with real Java and librdkafka clients: all logs, every callback with its time, and what was
# done to the group.

# %% tags=["hide-input"]
import os
import tempfile
from pathlib import Path

from rebalance_kit import live, run_clients
from rebalance_kit.notebook import (
    Table,
    callbacks,
    describe,
    in_lines,
    next_notebook,
    predict,
    real_run,
    reveal,
    run,
)
from rebalance_kit.recordings.folder import read_run, run_names, table, unpack
from rebalance_kit.recordings.replay import percentiles, replay
from rebalance_kit.recordings.trace import recorded_trace
from rebalance_kit.view import LiveLab
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.figures.gantt import gantt_svg

home = tempfile.TemporaryDirectory()


def recorded(*names):
    """Recorded runs by their names, unpacked."""
    return {folder.name: read_run(folder) for folder in unpack(Path(home.name), names)}


# %%
print(len(run_names()), "recorded runs")
scenarios = sorted({name.split(".")[0] for name in run_names()})
print(in_lines(f"{len(scenarios)} scenarios, among them: {', '.join(scenarios[:12])}"))

# %% [markdown]
# ## One crash, three protocols, recorded
#
# A consumer is killed. The session timeout of these recordings is 10 s instead of the default of 45 s, to keep them short
# (under KIP-848 it is set on the broker).

# %%
crashes = recorded("crash.eager.4.3.1", "crash.cooperative.4.3.1", "crash.consumer.4.3.1")

# %% [markdown]
# ### Predict
#
# What was the longest gap, in seconds, in each of the three recordings?

# %%
guess = predict({"eager": None, "cooperative": None, "KIP-848": None}, within=2)
guess

# %% tags=["answer", "hide-input"]
cells = {name: {cell.measure: cell for cell in percentiles(run, 40)} for name, run in crashes.items()}
longest = [each["longest gap, s"].recorded for each in cells.values()]
guess.beside(dict(zip(guess.answers, longest, strict=True)))

# %% [markdown]
# Here is the cooperative run, as a picture and in words. **Watch for** c3's bar, and how long nobody reads its
# partitions.

# %% tags=["answer"]
reveal(gantt_svg(Boards(recorded_trace(crashes["crash.cooperative.4.3.1"]))))

# %% tags=["answer", "hide-input"]
reveal(in_lines(describe(recorded_trace(crashes["crash.cooperative.4.3.1"])).split("\nUnread")[0]))

# %% [markdown]
# Each gap is the session timeout of 10 s, minus the age of the last heartbeat, plus the rebalance. As in the
# simulation, a crash costs about the same under all protocols. (The second rebalance of the text above is c3's return.
# Cooperative takes two generations for it. Here the second follows at once, not a heartbeat interval later: both
# survivors had something to revoke and joined again before c3 had its share of the first, so c3 had to join again at
# once, too. At the end of the recording nobody owns anything, because all members have been closed. The picture has c3's
# partitions without an owner for 12.2 s; the gap is 12.1 s, because it begins when the next record is due, 0.1 s after
# the last one.)
#
# ## Beside the engine
#
# One recording is one throw of the dice: chance decides how old the last heartbeat was when the process died. So the
# engine runs the *same steps* forty times, each time with different **phases** (how long before the event each timer
# was last restarted), and we ask at which percentile of these runs the recorded value falls. A recorded value between
# the smallest and the largest could have come from the engine. Where all forty runs give one value, the percentile is 50.


# %% tags=["hide-input"]
def beside(cells_by_run, *measures):
    """Recorded values beside the engine's minimum, median and maximum, with the percentile."""
    rows = [["run", "measure", "recorded", "engine: minimum", "median", "maximum", "percentile"]]
    for name, found in cells_by_run.items():
        for measure in measures:
            cell = found[measure]
            drawn = [format(cell.drawn.quantile(q), ".3g") for q in (0, 0.5, 1)]
            rows.append([name, measure, format(cell.recorded, ".3g"), *drawn, f"{cell.percentile:.0f}"])
    return Table(rows)


beside(cells, "longest gap, s", "generations or epochs", "delivered again")

# %% [markdown]
# *Generations or epochs* counts those after the crash: the removal takes one, and c3's return one, or two under
# cooperative. *Delivered again* counts the records that came twice. It varies most, because it depends on how long before the crash
# the member had committed: up to five seconds. One recording tells little about it.
#
# Notebooks 05 and 11 have the three recordings of a *join*, in which KIP-848 looks much quicker than it is: one recording is one draw there, too.
#
# For your own measurements: measure a rebalance ten times, at ten different moments. Otherwise you measure the moment.
#
# ## Event by event
#
# `replay` goes further. From the recording it takes whatever chance decided (who joined first, when heartbeats were
# sent), runs the engine with it, and compares generations, assignments, callbacks and removals one by one. What the recording does
# not tell is drawn ten times. Put in another run (`run_names()` has them all):

# %%
chosen = "freeze.eager.4.3.1"
(folder,) = unpack(Path(home.name), (chosen,))
outcome = replay(folder, draws=10)
print(
    f"repeated exactly: {'yes' if outcome.equal else 'no'} ({outcome.draws_equal} of {outcome.draws} draws)"
)

# %% [markdown]
# ### Predict
#
# Below are the callbacks as they were *recorded*. The engine of notebook 00 ran a freeze, too. What are the first two callbacks of its frozen member when
# it wakes up?

# %%
guess = predict({"order": None}, options=("lost then assigned", "revoked then assigned"))
guess

# %% tags=["answer"]
simulated = run("freeze", "eager")
order = [
    row.detail["callback"]
    for row in simulated.of("callback_begin")
    if row.actor == "consumer-2" and row.at_ms > 80_000
]
guess.beside({"order": " then ".join(order[:2])})

# %% tags=["answer"]
recording = recorded_trace(read_run(folder))
reveal(f"recorded\n{callbacks(recording)}\n\nengine\n{callbacks(simulated)}")

# %% [markdown]
# Each member has the same calls in the same order; names, partitions and seconds are others, because the engine was not told here what the recorded group looked like. (`replay` tells it.)
# The bank has 90 runs; `docs/fidelity.md` has the table of 112, with those that are not installed with the kit, and everything that differs; `make fidelity` writes it. In all of
# them, at least one draw repeats generations, assignments, callbacks and removals exactly, even where several races have to go the recorded way at once.
#
# ## What differs
#
# | | recording | engine | why |
# |---|---|---|---|
# | time of a first join | differs from run to run | drawn, 0.3 to 2.2 s after the start | no two JVMs take the same time to start |
# | records that a removed member still delivers (a zombie) | depends on what was fetched | estimated from the record rate | the fetch buffer is not modelled byte by byte |
# | order of members that close at the same moment | any order | one of the orders | two requests race within 0.1 s |
# | other log lines | metadata, fetch sessions, garbage collection | only lines about groups, unless asked for | they would bury the lines about groups |
#
# ## Run it yourself
#
# Real clients need a cluster. If you start Jupyter with `REBALANCE_KIT_BOOTSTRAP=host:9092` in its environment, the
# next cell uses that cluster: it creates a topic of its own, and deletes it afterwards. Otherwise it uses the mock
# cluster inside librdkafka, and says so.

# %% tags=["nbval-ignore-output"]
bootstrap = os.environ.get("REBALANCE_KIT_BOOTSTRAP")
print("cluster:", bootstrap or "none given, so this is librdkafka's mock cluster; its timing is its own")
real = run_clients(strategy="consumer", seconds=14, bootstrap=bootstrap)
print(real.text)

# %%
print(real.summary)

# %% [markdown]
# ## A live group on the board
#
# With Java 17 you need no installed Kafka and no Docker: `live.Broker()` runs a broker on this machine, `live.Group` starts real members on it, and `LiveLab` follows
# them on the board of the simulator. Click a member and press *Crash*: its process is killed. The next cell does so where the parts are there (`live.ready()`: Java, PySpark, and Kafka's jars, which
# `rebalance-kit broker start` fetches once, 45 MB; `REBALANCE_KIT_LIVE=1` in Jupyter's environment fetches them here). Otherwise it puts a recorded run on the board, and says so.

# %% tags=["hide-input", "nbval-ignore-output"]
if live.ready():
    broker = live.Broker().start()
    group = live.Group(broker, {"orders": 9}, protocol="cooperative", configs={"session.timeout.ms": 10_000})
    for name in ("c1", "c2", "c3"):
        group.start(name)
    lab = LiveLab(group)
else:
    print("no real Kafka is installed here, so the board shows a run that was recorded before")
    lab = LiveLab(unpack(Path(home.name), ("crash.cooperative.4.3.1",))[0])
lab

# %% [markdown]
# What the button does, a line does as well. **Watch for** how long the dead member still owns its partitions.

# %% tags=["nbval-ignore-output"]
if lab.group:
    group.together(3)
    lab.do("crash", "c3")
    group.together(2)
    broker.close()
print(lab.text)

# %% [markdown]
# ## Record it yourself
#
# `rebalance-kit record` runs a whole scenario on such a broker. The record is the same kind of folder as those above. The next cell records a leave, in real time, where the parts are there.

# %% tags=["nbval-ignore-output"]
recording = real_run("leave", "leave.cooperative.4.3.1", Path(home.name), "cooperative")
print(in_lines(describe(recorded_trace(recording)).split("\nUnread")[0]))

# %%
print("repeated exactly:", "yes" if replay(Path(home.name) / recording.name, draws=10).equal else "no")

# %% [markdown]
# You can study your own Java service in the same way. Collect its log and the broker's in a folder, and give the folder
# to the commands of notebooks 10 and 11, or to `rebalance-kit logs FOLDER`. `rebalance-kit inspect --bootstrap-server HOST:PORT` looks at the groups of a
# running cluster, and writes nothing to it.
#
# ## Check yourself
#
# 1. You measured one deploy: cooperative 3.1 s, KIP-848 0.4 s. May you report that KIP-848 is eight times faster?
# 2. A recorded value is at the 100th percentile of forty draws. Is the engine wrong?
# 3. Why is the longest gap after a crash so similar under all protocols?
#
# <details><summary>Answers</summary>
#
# 1. No. The KIP-848 figure is one sample of a gap that varies by a whole heartbeat interval.
# 2. One such value does not show it: even with a perfect engine, about one recorded value in forty lies above the
#    maximum of forty draws. If many recordings fall outside, something is wrong.
# 3. Because almost all of it is the session timeout, which does not depend on the protocol.
#
# </details>
#
# ## Recap card
#
# - A recording is one draw. A simulation can make a thousand, and the recording should fall among them.
# - Compare a recording with a distribution, not with one run.
# - Ask of every model what it leaves out.
# - `rebalance-kit record SCENARIO --out FOLDER` makes a recording; `rebalance-kit replay FOLDER` and `make fidelity` repeat the check.

# %% tags=["hide-input"]
home.cleanup()
next_notebook("13")
