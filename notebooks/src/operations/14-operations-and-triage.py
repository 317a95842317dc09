# %% [markdown]
# # 14 · Operations and triage
#
# **25 minutes** Exams: CCAAK *Troubleshooting*, *Observability*; CCDAK *Observability*.
#
# After this notebook you can
#
# - read `kafka-consumer-groups` in every state of a group (CCAAK Troubleshooting);
# - name the metrics that tell of rebalances, and an alert for each (CCAAK Observability);
# - find the cause of a rebalance in a broker's log with grep alone (CCAAK Troubleshooting);
# - go from a symptom to its first remedy, and solve three incidents (CCAAK Troubleshooting);
# - reset offsets without surprise (CCDAK Observability).
#
# It is 03:04. The pager says *lag of group billing above 100,000*. What do you type first?

# %% tags=["hide-input"]
import subprocess
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
# The whole notebook on one page. Come back to it for each incident below.

# %%
triage()

# %% [markdown]
# ## `kafka-consumer-groups`, state by state
#
# Start with `--state`. It is one line, and it tells which half of the chart you are in.
#
# | state | classic | KIP-848 | what it means for you |
# |---|---|---|---|
# | `Stable` | yes | yes | everybody has an assignment. It does **not** mean that everything is read |
# | `PreparingRebalance` | yes | – | the join phase is open: somebody has not joined again yet |
# | `CompletingRebalance` | yes | – | the leader computes, the others wait for SyncGroup |
# | `Assigning` | – | yes | a new group epoch, its target is not computed yet |
# | `Reconciling` | – | yes | the target is there; members are being led to it |
# | `Empty` | yes | yes | no members, and committed offsets are there |
# | `Dead` | yes | yes | no such group, or it is being deleted |
#
# A healthy group, then the same one while a crashed member's session runs out.

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
# `Stable`, with three members, one of which is dead. The broker does not know yet. What gives it away is the **LAG** column: four
# partitions of one CONSUMER-ID fall behind, the others do not. That pattern (lag grows on *all partitions of one member*)
# is the signature of a dead or hanging member.
#
# Under KIP-848 `--members --verbose` adds epochs and targets. A member whose CURRENT-EPOCH stays behind its TARGET-EPOCH is the
# one that everybody waits for:

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
# | `failed-rebalance-rate-per-hour` | client | rebalances that did not complete | above 0 |
# | `last-rebalance-seconds-ago` | client | -1: never | – |
# | `last-poll-seconds-ago` | client, `consumer-metrics` | the application hangs | half of `max.poll.interval.ms` |
# | `poll-idle-ratio-avg` | client | near 0: all the time goes into your code | below 0.1 |
# | `last-heartbeat-seconds-ago`, `heartbeat-rate` | client | the background thread | a third of the session |
# | `commit-latency-avg` | client | a slow coordinator | – |
# | `NumGroupsPreparingRebalance` … | broker, `GroupMetadataManager` | groups per state | above 0 for minutes |
# | `group-completed-rebalance-count`, `consumer-group-rebalance-count` | broker, `group-coordinator-metrics` | classic, and KIP-848 | a step in the rate |
#
# Lag that is exported from outside (Burrow, kafka-lag-exporter) has one advantage: it goes on when the consumer is dead. A
# client's own `records-lag-max` ends with the process.
#
# ## Logs with grep alone
#
# The kit writes the logs of a run as a cluster would. Here are those of a group in trouble.

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
# **Why?** The reason stands at the end of the line. Count the kinds:

# %%
shell("grep 'Preparing to rebalance' broker.log | grep -o '(reason: [A-Za-z` ]*' | sort | uniq -c | sort -rn")

# %% [markdown]
# *Adding new member* is never the root: a member that joins was started, or came back. Ask why it had gone. Its LeaveGroup says so:

# %%
shell(
    "grep -ho 'has left group.*\\|consumer poll timeout has expired' broker.log consumer-*.log | cut -c1-100 | sort | uniq -c"
)

# %% [markdown]
# **Who?** The client that says it about itself:

# %%
shell("grep -l 'consumer poll timeout has expired' consumer-*.log")

# %% [markdown]
# Four greps: count, reasons, goodbyes, culprits. Keep them; they work wherever there are logs. What takes longer by hand (who owned
# what, which partition was unread for how long) is what `rebalance-kit logs FOLDER` answers:

# %% tags=["hide-input"]
command = ["rebalance-kit", "logs", "."]
report = subprocess.run(command, capture_output=True, text=True, check=False, cwd=home.name).stdout
print(in_lines("\n".join(report.splitlines()[:24])))

# %% [markdown]
# ## Three incidents
#
# For each: read, decide, then open the answer.
#
# ### 1. "All consumers are up, and two partitions are stuck"

# %%
first = run("wrong-librdkafka-callback", None)
print(consumer_groups(first, 60))

# %%
print(consumer_groups(first, 60, "state"))

# %% [markdown]
# <details><summary>What is it?</summary>
#
# Partitions have an owner, or should have, the members send heartbeats, and no offset moves: the members wait for an answer of their own
# application. It is a librdkafka client whose rebalance callback calls `assign()` under a cooperative protocol. The client's own log
# has the line `ASSIGN … application *assign() call failed`. Correct the callback; restart that client.
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
# Static members (`group.instance.id`) that take longer to restart than `session.timeout.ms`. The group waits for them for the whole
# session, and rebalances then anyway. Raise the session above the restart time, or drop the instance id.
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
shell(
    "grep 'Preparing to rebalance group\\|Stabilized group' broker.log | sed 's/INFO .*partition=0. //' | grep -o '^.*group orders-app' | tail -2"
)

# %% [markdown]
# <details><summary>What is it?</summary>
#
# An eager group waits for its slowest member: one `onPartitionsRevoked` takes six seconds (it flushes state). Until that member
# has joined again, the join phase stays open for all. Make the callback quick; then make the group cooperative.
#
# </details>
#
# ## Reset offsets
#
# A reset needs a group **without members** (`Empty`); otherwise the tool refuses: *Assignments can only be reset if the group is
# inactive*. Try with `--dry-run`, which is the default, and then `--execute`:
#
# ```shell
# kafka-consumer-groups --bootstrap-server b:9092 --group billing --topic orders \
#     --reset-offsets --to-datetime 2026-11-22T03:00:00.000 --dry-run
# ```
#
# `--to-earliest`, `--to-latest`, `--shift-by -1000`, `--by-duration PT1H`, `--to-offset`, `--from-file`. Offsets of a group without
# members expire after `offsets.retention.minutes` (7 days); then `auto.offset.reset` decides, and with `latest` everything
# in between is skipped without a word.
#
# ## The runbook, to print
#
# 1. `--describe --state`: which half of the chart?
# 2. `--describe`: is the lag on all partitions, on one member's, or on one?
# 3. Broker log: count *Preparing to rebalance* (or *Bumped group epoch*) per hour; count the reasons.
# 4. Client logs: *poll timeout has expired*, `CommitFailedException`, *onPartitionsLost*.
# 5. Decide: capacity, storm, dead member, stuck member.
# 6. First remedy from the chart. **Not** a restart of everything: it adds one rebalance per member.
# 7. Write down: since when, how many partition-seconds unread, what ended it.
#
# ## Check yourself
#
# 1. State `Stable`, lag grows on four of twelve partitions, all of one CONSUMER-ID. Two hypotheses?
# 2. `rebalance-rate-per-hour` is 0 and `last-poll-seconds-ago` is 200. What will happen in 100 seconds?
# 3. The reset says that the group is not inactive, but you stopped all pods a minute ago. Why?
#
# <details><summary>Answers</summary>
#
# 1. The member is dead and its session runs out, or it hangs in one batch. `last-heartbeat` and its own log decide.
# 2. With defaults `max.poll.interval.ms` (300 s) runs out: the client leaves the group, and the others take its partitions.
# 3. The members were killed, not closed, or they are static: their sessions are still running. Wait for the session timeout, or remove
#    the static members.
#
# </details>

# %% tags=["nbval-ignore-output"]
Quiz("operations", count=8)

# %% [markdown]
# ## Recap card
#
# - `--state` first, lag by owner second, reasons third.
# - `Stable` with a dead member is normal for one session timeout.
# - *Adding new member* is a consequence. Look for why it had gone.
# - Alert on last poll, on failed rebalances, on states that last.
# - Do not restart everything.

# %% tags=["hide-input"]
home.cleanup()
next_notebook("14")
