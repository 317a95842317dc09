# %% [markdown]
# # 14 · Operations and triage
#
# **40 minutes**. Exams: CCAAK *Troubleshooting*, *Observability*; CCDAK *Observability*.
#
# After this notebook you can
#
# - read `kafka-consumer-groups` in every state of a group (CCAAK Troubleshooting);
# - name the metrics that show rebalances, and alert on the right ones (CCAAK Observability);
# - find the cause of a rebalance in a broker's log with grep, sort and uniq (CCAAK Troubleshooting);
# - go from a symptom to its first remedy, and solve three incidents (CCAAK Troubleshooting);
# - reset offsets without surprises (CCDAK Observability).
#
# It is 03:04. The pager says *lag of group billing above 100,000*. What do you type first?

# %% tags=["hide-input"]
import subprocess
import sys
import tempfile
from pathlib import Path

from rebalance_kit import Quiz
from rebalance_kit.view import WhatIf, triage
from rebalance_kit.notebook import consumer_groups, incident, log_files, next_notebook, predict, reveal, run

home = tempfile.TemporaryDirectory()


def shell(command):
    """Run a command where the logs are, and print what it prints."""
    done = subprocess.run(command, shell=True, cwd=home.name, capture_output=True, text=True, check=False)
    print(f"$ {command}\n{done.stdout}", end="")


def logs_of(trace):
    """Put the logs of this run, and no others, where the commands search."""
    for old in Path(home.name).glob("*.log"):
        old.unlink()
    log_files(trace, home.name)


# %% [markdown]
# ## The chart
#
# The chart is the way through this notebook on one page. Find the symptom on the left, the sign in the middle, and the remedy on
# the right. Come back to it for each incident below.

# %%
triage()

# %% [markdown]
# ## `kafka-consumer-groups`, state by state
#
# Start with `--state`. Its one line tells you where in the chart to begin, and which broker is the coordinator: you will
# search that broker's log.
#
# | state | classic | KIP-848 | what it means for you |
# |---|---|---|---|
# | `Stable` | yes | yes | every member has its assignment. It does **not** mean that every partition is read |
# | `PreparingRebalance` | yes | – | the join phase is open: it waits for members that have not joined again yet (in a new group, for the initial delay) |
# | `CompletingRebalance` | yes | – | the leader computes, the others wait for the answer to their SyncGroup |
# | `Assigning` | – | yes | the group has a new epoch, and its target is not computed yet |
# | `Reconciling` | – | yes | the target is computed; at least one member has not reached it yet |
# | `Empty` | yes | yes | no members; committed offsets may still be there |
# | `Dead` | yes | yes | no such group. The tool prints no table then: *Error: Consumer group 'billing' does not exist.* |
#
# Here is a healthy group. After it comes the same group some time after a crash. (To fit the page, the
# tables of partitions and of members leave out the columns GROUP and HOST, and cut member ids. On a cluster, HOST is the column in which you find
# the pod.)

# %%
crash = run("crash", "cooperative")
print(consumer_groups(crash, 25, "state"))

# %% [markdown]
# ### Predict
#
# `consumer-2` was killed thirty seconds ago. What do STATE and #MEMBERS show now?

# %%
guess = predict(
    {"STATE": None, "#MEMBERS": None}, options={"STATE": ("Stable", "PreparingRebalance", "Empty")}
)
guess

# %% tags=["answer", "hide-input"]
from rebalance_kit.logs.described import describe as described

(killed,) = (row.at_ms for row in crash.of("process_ended") if row.detail["how"] == "crash")
then = described(crash, killed + 30_000)
guess.beside({"STATE": then.state, "#MEMBERS": len(then.members)})

# %% tags=["answer"]
reveal(consumer_groups(crash, killed / 1000 + 30))

# %% [markdown]
# The group is `Stable` and has three members, one of which is dead. The broker does not know yet. The **LAG** column
# gives it away: four partitions of one CONSUMER-ID fall behind, the others do not. Lag that grows on *all partitions of
# one member* is the signature of a dead or hanging member.
#
# The healthy partitions have a lag, too. CURRENT-OFFSET is what was last *committed*, and with auto-commit the last
# commit is up to five seconds old, which is up to 50 records here. A lag of that size that does not grow means nothing.
#
# Under KIP-848 `--members --verbose` adds epochs and targets. Find the member whose CURRENT-EPOCH stays behind its
# TARGET-EPOCH: whoever is to get its partitions waits for it, and nobody else does.

# %%
slow = run("slow-callback", "consumer")
print(consumer_groups(slow, 52, "members"))

# %% [markdown]
# consumer-2 has yet to give up `orders-5`, and consumer-3 waits for it. (`orders-2` is free already: consumer-3 gets it at
# its next heartbeat.) Look at the epochs rather than at the
# assignments: in Kafka 4.3 CURRENT-ASSIGNMENT lists `orders-5` until the revocation is acknowledged, but in Kafka 4.0 it leaves the
# partition out at once, so the two assignments look equal although the member is not done.
#
# ## Metrics, and what to alert on
#
# | metric | where | tells | alert when |
# |---|---|---|---|
# | `records-lag-max` | client, `consumer-fetch-manager-metrics` | the worst partition of this member | above the lag that you can tolerate, for 5 minutes |
# | `rebalance-rate-per-hour`, `rebalance-total` | client, `consumer-coordinator-metrics` | how often | above what deploys explain |
# | `rebalance-latency-max` | client | how long the slowest took | above a tenth of `max.poll.interval.ms` |
# | `failed-rebalance-rate-per-hour` | client | rebalances that did not complete | above 0 for an hour |
# | `partition-lost-latency-max`, `partition-revoked-latency-max` | client | the slowest `onPartitionsLost` and `onPartitionsRevoked`; `NaN`: none within the last minute | lost: any value at all; revoked: above a second |
# | `last-rebalance-seconds-ago` | client | -1: never | – |
# | `last-poll-seconds-ago` | client, `consumer-metrics` | the application hangs | above half of `max.poll.interval.ms` |
# | `poll-idle-ratio-avg` | client | near 0: all the time goes into your code | below 0.1 |
# | `last-heartbeat-seconds-ago`, `heartbeat-rate` | client | the background thread | the first above a third of the session |
# | `commit-latency-avg` | client | a slow coordinator | – |
# | `time-between-network-thread-poll-max` | client under KIP-848, `consumer-metrics` | its background thread is held up | near the heartbeat interval |
# | `background-event-queue-time-max`, `application-event-queue-time-max` | client under KIP-848, `consumer-metrics` | how long callbacks wait for `poll()`, and calls for the background thread | above a second |
# | `NumGroupsPreparingRebalance`, `NumGroupsCompletingRebalance` | broker, `GroupMetadataManager` | *classic* groups per state | above 0 for minutes |
# | `consumer-group-count` with the tag `state` (`Assigning`, `Reconciling`) | broker, `group-coordinator-metrics` | *KIP-848* groups per state | above 0 for minutes |
# | `group-count` with the tag `protocol` | broker, `group-coordinator-metrics` | how far a migration has come | – |
# | `group-completed-rebalance-count`, `consumer-group-rebalance-count` | broker, `group-coordinator-metrics` | classic, and KIP-848 | a step in the rate |
#
# There is no *rate* of losses: count the calls of `onPartitionsLost` in your listener, and alert on any. Each one is a member that was taken out without its consent.
#
# The client metrics are the Java client's. librdkafka has none of these names: set `statistics.interval.ms`, and read
# `cgrp.rebalance_cnt`, `cgrp.rebalance_age` and the `consumer_lag` of each partition from its JSON.
#
# The broker's metrics count the groups of that broker and name none. The `NumGroups…` metrics (deprecated since 4.4: use `classic-group-count` with the tag `state`) see classic groups only: an alert
# on them falls silent the day you move to KIP-848.
#
# Lag measured from outside (Burrow, kafka-lag-exporter) has one advantage: it is still there when the consumer is dead.
# A client's own `records-lag-max` ends with the process.
#
# ## Logs with grep
#
# The kit writes the logs of a run as brokers and clients write them. Here are those of a group in trouble. On a cluster,
# search in the log of the group's coordinator (COORDINATOR in `--state`), and in that of the broker that was the
# coordinator before, if it has moved. A broker's log has the lines of many groups, so every pattern names the group.

# %%
storm = run("storm", "eager")
logs_of(storm)
shell("ls")

# %% [markdown]
# **How often, and since when?** One line per rebalance of a classic group (the first line is the group's start):

# %%
shell("grep -c 'Preparing to rebalance group orders-app ' broker.log")
shell("grep 'Preparing to rebalance group orders-app ' broker.log | cut -c2-20")

# %% [markdown]
# **Why?** The reason is at the end of the line. Its first two words are enough to count the kinds:

# %%
shell(
    "grep 'Preparing to rebalance group orders-app ' broker.log | grep -o '(reason: [^ ]* [^ ]*' | sort | uniq -c | sort -rn"
)

# %% [markdown]
# *Adding new* (member) says only that a member was started or came back. If nobody deployed or scaled, ask why it had
# gone. The client's reason in its LeaveGroup tells you: *the consumer is being closed* is a deploy or a scale-down,
# *consumer poll timeout has expired* is an application that hangs.

# %%
shell(
    "grep 'Group orders-app. Member .* has left group' broker.log | grep -o 'client reason.*expired' | sort | uniq -c"
)

# %% [markdown]
# **Who?** The clients know (`-i`, because the KIP-848 client writes *Consumer* with a capital):

# %%
shell("grep -ci 'consumer poll timeout has expired' consumer-*.log")

# %% [markdown]
# A client logs each expiry twice, as a warning and as the reason for its LeaveGroup, so ten lines are five expiries.
# Only four of the five leaves are in the broker's log: at the fifth, it had already removed the member. And only the first of the
# four began a rebalance: the others came while a join phase was waiting for that very member, and ended it.
#
# These are four searches: how often, why, why they left, who. Keep them for classic groups on brokers of 4.x. (Before 4.0 the
# leave reads *Member MemberMetadata(…) has left group*; a KIP-848 group has *Bumped group epoch* in place of *Preparing to rebalance*.)
# `rebalance-kit logs FOLDER` answers what takes longer by hand (who owned what, and for how long each partition was
# unread). It begins with what matters most:

# %% tags=["hide-input"]
command = [sys.executable, "-m", "rebalance_kit", "logs", "."]
report = subprocess.run(command, capture_output=True, text=True, check=False, cwd=home.name).stdout
print(report.partition("\n\n  2 ")[0])  # the first finding

# %% [markdown]
# ## Three incidents
#
# For each incident, read the output, decide, then open the answer. (`incident` runs a scenario under a letter, because
# its name would be the answer.)
#
# ### 1. "All consumers are up, and two partitions have none"

# %%
first = incident("A")
print(consumer_groups(first, 60))

# %% [markdown]
# The state somewhat later, at 85 s:

# %%
print(consumer_groups(first, 85, "state"))

# %% [markdown]
# Which causes are left, and what do you look at next?
#
# <details><summary>Answer</summary>
#
# The group has been rebalancing for a long time: its join phase waits for somebody. (The lag tells little. All offsets stopped at about 34 s, because a librdkafka member
# commits nothing while it waits in the join phase.) A dead member is removed when its session of 45 s ends, and at 85 s the group still has three members. So one of them sends
# heartbeats and does not join. Two causes are left: its application works on one batch (for up to five minutes nobody would object), or the client itself waits for something. The
# broker cannot tell them apart. The member that owns nothing is consumer-3; its own log or its `last-poll-seconds-ago` can.
#
# </details>
#
# consumer-3 is a librdkafka client. In its log `%4` marks a warning, and smaller numbers mark worse:

# %%
logs_of(first)
shell("grep '^%[0-4]' consumer-3.log | fold -w 110")

# %% [markdown]
# <details><summary>What is it?</summary>
#
# A rebalance callback that calls `assign()` under a cooperative protocol: librdkafka refuses the call and waits for the
# right one, which never comes. Correct the callback (`incremental_assign`), then restart that client.
#
# </details>
#
# ### 2. "It happens at every deploy, and lasts three quarters of a minute"

# %%
second = incident("B")
print(consumer_groups(second, 60))

# %% [markdown]
# The last rebalances in the broker's log (`cut` only shortens the lines):

# %%
logs_of(second)
shell(
    "grep 'Preparing to rebalance group orders-app ' broker.log | tail -2 | grep -o '^.[0-9: -]*\\|(reason: .*' | cut -c1-100"
)

# %% [markdown]
# <details><summary>What is it?</summary>
#
# The CONSUMER-ID of two partitions begins with an instance id (`pod-2`), and their lag shows that their offsets have stopped. The log shows
# how it goes on: the member is removed *on heartbeat expiration*, and 25 seconds later `pod-2` joins as a new member. So a static member
# takes longer to restart than `session.timeout.ms`: the group waits for the whole session, and then rebalances anyway,
# twice. Raise the session timeout above the restart time, or drop the instance id. (If a pod is gone for good, do not wait for the session: remove the member with the Admin client.)
#
# </details>
#
# #### What would it have cost otherwise?
#
# *Raise the session timeout, or drop the instance id*: which of the two, and how much does it save? `rebalance-kit what-if LOGS` puts the night
# together from the same lines, draws it, and holds the draws beside the logs first. Only a night that is repeated gets an answer.

# %% tags=["nbval-ignore-output"]
logs_of(second)
otherwise = WhatIf(home.name)
otherwise

# %% [markdown]
# No line prints the session timeout. That it was 45 s follows from the lines all the same: so long after `close()` the broker removed the member.
# Guess first: members that are not static, or a session of two minutes. Which leaves less unread?

# %%
otherwise.set(static="no")
print(otherwise.text())

# %%
otherwise.set(static="yes", session="120 s")
print(otherwise.text())

# %% [markdown]
# <details><summary>What do the two differ in?</summary>
#
# Without an instance id `close()` says goodbye, and the others take over at once: there are rebalances, and hardly anything is unread. With the longer session
# there is no rebalance at all, and two partitions wait until the pod is back, 71 seconds here. The instance id pays only where restarts are
# shorter than what a rebalance costs.
#
# </details>
#
# `otherwise.lab()` opens such a night in the lab. At a terminal: `rebalance-kit what-if LOGS --target "longest gap < 10 s"`.
#
# ### 3. "Nobody reads anything, and the group says PreparingRebalance"

# %%
third = incident("C")
print(consumer_groups(third, 52, "state"))

# %%
logs_of(third)
shell("grep 'Preparing to rebalance group orders-app ' broker.log | tail -1 | cut -c2-24")
shell("grep 'Stabilized group orders-app ' broker.log | tail -1 | cut -c2-24")
shell("grep -o '09:00:[45].*Revoke previously\\|09:00:[45].*(Re-)joining' consumer-[12].log")

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
#     --reset-offsets --to-datetime 2026-11-22T03:00:00.000+01:00 --dry-run
# ```
#
# Write the zone: a time without one is read as **UTC**, so in Berlin 03:00 would mean 04:00. At 03:04 that lies in
# the future. No record has so late a timestamp, so the tool goes to the *end* of the log, and the group skips its whole backlog.
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
# 4. Client logs: *poll timeout has expired*, `CommitFailedException`, *onPartitionsLost*; in librdkafka's, lines that begin with `%4` or less.
# 5. Decide: capacity, storm, dead member, stuck member.
# 6. First remedy from the chart. Do **not** restart everything: each member that leaves and joins adds rebalances.
# 7. Write down: since when, how many partition-seconds unread, what ended it.
#
# ## Check yourself
#
# 1. The state is `Stable`, and lag grows on four of twelve partitions, all of one CONSUMER-ID. Name two hypotheses.
# 2. Defaults; `rebalance-rate-per-hour` is 0, `last-poll-seconds-ago` is 200, and the application goes on hanging. What will
#    happen in 100 seconds?
# 3. You killed all pods ten seconds ago, and the tool still refuses the reset. Why?
#
# <details><summary>Answers</summary>
#
# 1. The member is dead and its session is running out, or it is alive and hangs (in one batch, or in a callback).
#    Its own metrics and log tell which; a dead process has none.
# 2. With defaults `max.poll.interval.ms` (300 s) runs out: the client leaves the group, and the others take its partitions.
# 3. A killed process sends no LeaveGroup, so the sessions are still running. (A static classic member sends none even
#    when it is closed.) Wait for the session timeout, or remove the members with the Admin client.
#
# </details>

# %% tags=["nbval-ignore-output"]
Quiz(
    "operations",
    ids=[
        "trade-alert-lag",
        "code-probe",
        "code-describe-expired",
        "code-metric-chart",
        "two-metrics-rebalance",
        "two-members-table-kip848",
        "two-lag-columns",
        "two-log-lines-for-alert",
    ],
)

# %% [markdown]
# ## Recap card
#
# - Look at `--state` first, then at the lag by owner, then at the reasons.
# - `Stable` with a dead member is normal for one session timeout.
# - *Adding new member* is a consequence, unless you deployed. The client reason in the LeaveGroup says why the member had gone.
# - One member's offsets do not move in a Stable group: dead, busy, or stuck. Only the member itself (its log, its last poll) tells the last two apart.
# - Alert on the last poll, on failed rebalances, and on rebalancing states that last (KIP-848 has its own metric for them).
# - Do not restart everything.

# %% tags=["hide-input"]
home.cleanup()
next_notebook("14")
