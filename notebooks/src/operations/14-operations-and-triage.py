# %% [markdown]
# # 14 · Operations and triage
#
# **30 minutes**. Exams: CCAAK *Troubleshooting*, *Observability*; CCDAK *Observability*.
#
# After this notebook you can
#
# - read `kafka-consumer-groups` in every state of a group (CCAAK Troubleshooting);
# - name the metrics that show rebalances, and alert on the right ones (CCAAK Observability);
# - find the cause of a rebalance in a broker's log with grep alone (CCAAK Troubleshooting);
# - go from a symptom to its first remedy, and solve three incidents (CCAAK Troubleshooting);
# - reset offsets without surprise (CCDAK Observability).
#
# It is 03:04. The pager says *lag of group billing above 100,000*. What do you type first?

# %% tags=["hide-input"]
import subprocess
import sys
import tempfile

from rebalance_kit import Quiz, triage
from rebalance_kit.notebook import consumer_groups, in_lines, log_files, next_notebook, predict, run

home = tempfile.TemporaryDirectory()


def shell(command):
    """Run a command where the logs are, and print what it prints."""
    done = subprocess.run(command, shell=True, cwd=home.name, capture_output=True, text=True, check=False)
    print(f"$ {command}\n{done.stdout}", end="")


# %% [markdown]
# ## The chart
#
# The chart is the whole notebook on one page. Find the symptom on the left, the sign in the middle, and the remedy on
# the right. Come back to it for each incident below.

# %%
triage()

# %% [markdown]
# ## `kafka-consumer-groups`, state by state
#
# Start with `--state`. Its one line tells you where in the chart to begin.
#
# | state | classic | KIP-848 | what it means for you |
# |---|---|---|---|
# | `Stable` | yes | yes | every member has its assignment. It does **not** mean that every partition is read |
# | `PreparingRebalance` | yes | – | the join phase is open: at least one member has not joined again yet |
# | `CompletingRebalance` | yes | – | the leader computes, the others wait for SyncGroup |
# | `Assigning` | – | yes | the group has a new epoch, and its target is not computed yet |
# | `Reconciling` | – | yes | the target is computed; at least one member has not reached it yet |
# | `Empty` | yes | yes | no members; committed offsets may still be there |
# | `Dead` | yes | yes | no such group, or it is being deleted |
#
# Here is a healthy group. After it comes the same group while a crashed member's session runs out.

# %%
crash = run("crash", "cooperative")
print(consumer_groups(crash, 25, "state"))

# %% [markdown]
# ### Predict
#
# `consumer-2` was killed thirty seconds ago. What do these two show now?

# %%
guess = predict(
    {"STATE": None, "#MEMBERS": None}, options={"STATE": ("Stable", "PreparingRebalance", "Empty")}
)
guess

# %% tags=["hide-input"]
from rebalance_kit.logs.admin.described import describe as described

(killed,) = (row.at_ms for row in crash.of("process_ended") if row.detail["how"] == "crash")
then = described(crash, killed + 30_000)
guess.beside({"STATE": then.state, "#MEMBERS": len(then.members)})

# %%
print(consumer_groups(crash, killed / 1000 + 30))

# %% [markdown]
# The group is `Stable` and has three members, one of which is dead. The broker does not know yet. The **LAG** column
# gives it away: four partitions of one CONSUMER-ID fall behind, the others do not. Lag that grows on *all partitions of
# one member* is the signature of a dead or hanging member.
#
# Under KIP-848 `--members --verbose` adds epochs and targets. Find the member whose CURRENT-EPOCH stays behind its
# TARGET-EPOCH: the others wait for it.

# %%
slow = run("slow-callback", "consumer")
print(consumer_groups(slow, 52, "members"))

# %% [markdown]
# ## Metrics, and what to alert on
#
# | metric | where | tells | alert when |
# |---|---|---|---|
# | `records-lag-max` | client, `consumer-fetch-manager-metrics` | the worst partition of this member | above what you may be late, for 5 minutes |
# | `rebalance-rate-per-hour`, `rebalance-total` | client, `consumer-coordinator-metrics` | how often | more than deploys explain |
# | `rebalance-latency-max` | client | how long the slowest took | a tenth of `max.poll.interval.ms` |
# | `failed-rebalance-rate-per-hour` | client | rebalances that did not complete | above 0 for an hour |
# | `last-rebalance-seconds-ago` | client | -1: never | – |
# | `last-poll-seconds-ago` | client, `consumer-metrics` | the application hangs | half of `max.poll.interval.ms` |
# | `poll-idle-ratio-avg` | client | near 0: all the time goes into your code | below 0.1 |
# | `last-heartbeat-seconds-ago`, `heartbeat-rate` | client | the background thread | a third of the session |
# | `commit-latency-avg` | client | a slow coordinator | – |
# | `NumGroupsPreparingRebalance` … | broker, `GroupMetadataManager` | groups per state | above 0 for minutes |
# | `group-completed-rebalance-count`, `consumer-group-rebalance-count` | broker, `group-coordinator-metrics` | classic, and KIP-848 | a step in the rate |
#
# The client metrics are the Java client's. librdkafka has none of these names: set `statistics.interval.ms`, and read
# `cgrp.rebalance_cnt`, `cgrp.rebalance_age` and the `consumer_lag` of each partition from its JSON.
#
# Lag measured from outside (Burrow, kafka-lag-exporter) has one advantage: it is still there when the consumer is dead.
# A client's own `records-lag-max` ends with the process.
#
# ## Logs with grep alone
#
# The kit writes the logs of a run as brokers and clients write them. Here are those of a group in trouble.

# %%
storm = run("storm", "eager")
log_files(storm, home.name)
shell("ls")

# %% [markdown]
# **How often, and since when?** One line per rebalance of a classic group:

# %%
shell("grep -c 'Preparing to rebalance group' broker.log")
shell("grep 'Preparing to rebalance group' broker.log | cut -c2-20")

# %% [markdown]
# **Why?** The reason is at the end of the line. Count the kinds:

# %%
shell("grep 'Preparing to rebalance' broker.log | grep -o '(reason: [A-Za-z` ]*' | sort | uniq -c | sort -rn")

# %% [markdown]
# *Adding new member* says only that a member was started or came back. If nobody deployed or scaled, ask why it had
# gone. Its LeaveGroup says so:

# %%
shell(
    "grep -ho 'has left group.*\\|consumer poll timeout has expired' broker.log consumer-*.log | cut -c1-100 | sort | uniq -c"
)

# %% [markdown]
# A client logs each expiry twice, as a warning and as the reason of its LeaveGroup, so ten lines are five expiries.
# Four of the five leaves count; the broker had already dropped that member when the fifth one came.
#
# **Who?** The clients name themselves:

# %%
shell("grep -l 'consumer poll timeout has expired' consumer-*.log")

# %% [markdown]
# These are four searches: how often, why, who left, who caused it. Keep them; they work wherever there are logs.
# `rebalance-kit logs FOLDER` answers what takes longer by hand (who owned what, and for how long each partition was
# unread):

# %% tags=["hide-input"]
command = [sys.executable, "-m", "rebalance_kit", "logs", "."]
report = subprocess.run(command, capture_output=True, text=True, check=False, cwd=home.name).stdout
print(in_lines("\n".join(report.splitlines()[:16])))

# %% [markdown]
# ## Three incidents
#
# For each incident, read the output, decide, then open the answer.
#
# ### 1. "All consumers are up, and two partitions are stuck"

# %%
first = run("wrong-librdkafka-callback", None)
print(consumer_groups(first, 60))

# %% [markdown]
# The state 25 seconds later:

# %%
print(consumer_groups(first, 85, "state"))

# %% [markdown]
# <details><summary>What is it?</summary>
#
# All lag is on one member's partitions, as with a dead member. But a dead member is removed when its session of 45 s
# ends. The offsets stopped at about 35 s, and at 85 s the group still has three members: so this one sends heartbeats,
# and waits for its own application. It is a librdkafka client whose rebalance callback calls `assign()` under a
# cooperative protocol. Its own log has the line `ASSIGN … application *assign() call failed`. Correct the callback,
# then restart that client.
#
# </details>
#
# ### 2. "It happens at every deploy, and lasts three quarters of a minute"

# %%
second = run("static-restart-too-late", "eager")
print(consumer_groups(second, 60))

# %% [markdown]
# <details><summary>What is it?</summary>
#
# The CONSUMER-ID of two partitions begins with an instance id (`pod-2`), and their offsets do not move: a static member
# takes longer to restart than `session.timeout.ms`. The group waits for the whole session, and then rebalances anyway.
# Raise the session timeout above the restart time, or drop the instance id.
#
# </details>
#
# ### 3. "Nobody reads anything, and the group says PreparingRebalance"

# %%
third = run("slow-callback", "eager")
print(consumer_groups(third, 52, "state"))

# %%
shell("rm -f *.log")
log_files(third, home.name)
shell("grep 'Preparing to rebalance group\\|Stabilized group' broker.log | tail -2 | cut -c1-26,93-131")
shell(
    "grep 'Revoke prev\\|(Re-)joining' consumer-[12].log | grep 09:00:[45] | sed 's/INFO.*-app. //; s/ (org.*//' | cut -c1-67"
)

# %% [markdown]
# <details><summary>What is it?</summary>
#
# An eager group waits for its slowest member. consumer-1 revokes and joins again at once; consumer-2 needs six seconds
# between the two lines, so its `onPartitionsRevoked` is slow. Until it has joined again, the join phase stays open for
# all. Make the callback quick; then make the group cooperative.
#
# </details>
#
# ## Reset offsets
#
# A reset needs a group **without members** (`Empty`); otherwise the tool refuses: *Assignments can only be reset if the
# group 'billing' is inactive, but the current state is Stable.* First try with `--dry-run`, which is the default, then
# run it with `--execute`:
#
# ```shell
# kafka-consumer-groups --bootstrap-server b:9092 --group billing --topic orders \
#     --reset-offsets --to-datetime 2026-11-22T03:00:00.000 --dry-run
# ```
#
# Other targets are `--to-earliest`, `--to-latest`, `--shift-by -1000`, `--by-duration PT1H`, `--to-offset` and `--from-file`.
#
# Offsets of a group without
# members expire after `offsets.retention.minutes` (7 days); then `auto.offset.reset` decides, and with `latest` the
# group silently skips everything in between.
#
# ## The runbook, to print
#
# 1. `--describe --state`: where in the chart do you begin?
# 2. `--describe`: is the lag on all partitions, on those of one member, or on a single partition?
# 3. Broker log: count *Preparing to rebalance* (or *Bumped group epoch*) per hour; count the reasons.
# 4. Client logs: *poll timeout has expired*, `CommitFailedException`, *onPartitionsLost*.
# 5. Decide: capacity, storm, dead member, stuck member.
# 6. First remedy from the chart. Do **not** restart everything: each member that leaves and joins adds rebalances.
# 7. Write down: since when, how many partition-seconds unread, what ended it.
#
# ## Check yourself
#
# 1. The state is `Stable`, and lag grows on four of twelve partitions, all of one CONSUMER-ID. Name two hypotheses.
# 2. `rebalance-rate-per-hour` is 0 and `last-poll-seconds-ago` is 200. What will happen in 100 seconds?
# 3. You killed all pods ten seconds ago, and the reset still says that the group is not inactive. Why?
#
# <details><summary>Answers</summary>
#
# 1. The member is dead and its session is running out, or it is alive and hangs (in one batch, or in a callback).
#    `last-heartbeat-seconds-ago` and its own log tell which.
# 2. With defaults `max.poll.interval.ms` (300 s) runs out: the client leaves the group, and the others take its partitions.
# 3. A killed process sends no LeaveGroup, so the sessions are still running. (A static classic member sends none even
#    when it is closed.) Wait for the session timeout, or remove the members with the Admin client.
#
# </details>

# %% tags=["nbval-ignore-output"]
Quiz("operations", count=8)

# %% [markdown]
# ## Recap card
#
# - Look at `--state` first, then at the lag by owner, then at the reasons.
# - `Stable` with a dead member is normal for one session timeout.
# - *Adding new member* is a consequence, unless you deployed. Find out why the member had gone.
# - Alert on the last poll, on failed rebalances, and on rebalancing states that last.
# - Do not restart everything.

# %% tags=["hide-input"]
home.cleanup()
next_notebook("14")
