# %% [markdown]
# # 03 · Cooperative: move only what must move
#
# **30 minutes.** Exams: CCDAK *Application Development*, *Fundamentals*; CCAAK *Deployment*, *Cluster Configuration*.
#
# After this notebook you can
#
# - say why moving one partition takes two generations, and when one is enough;
# - predict which partitions go unread, and for about how long;
# - tell cooperative-sticky from sticky, and both from the default;
# - refute five myths with a run.
#
# Incremental cooperative rebalancing came with Kafka 2.4 (KIP-429). The protocol on the wire is the classic one of notebook 02:
# JoinGroup, SyncGroup, a leader that computes. What changes is what the *members* do.

# %%
from rebalance_kit import Lab, Quiz, describe_comparison, flow_figure, gantt_figure
from rebalance_kit import messages, metrics, scenario, show, simulate, three
from rebalance_kit.notebook import beside, callbacks, columns, explain, gaps, spread, story
from rebalance_kit.notebook import with_configs

# %% [markdown]
# ## Three phases
#
# 1. **Re-join and keep.** Members send JoinGroup *with* the list of what they own, and go on reading.
# 2. **Targeted revocation.** The new assignment leaves out each partition that must change hands. Its old owner calls
#    `onPartitionsRevoked` with just that one, and asks to re-join.
# 3. **Targeted assignment.** In a second generation the free partition is given to its new owner.
#
# Nobody may own a partition that another member has not given up yet: that is what the second generation is for.
#
# ## A → B: one partition moves
#
# A reads two partitions of `orders`, B the other two. Then A alone subscribes to a second topic as well, and gets its
# two partitions. To be balanced again, one partition of `orders` has to go from A to B.
#
# ### Predict

# %%
guess = {"generations": None, "partitions of orders that move": None, "partitions that were unread": None}

# %%
move = simulate(scenario("a-to-b-move"), protocol="cooperative")
cost = metrics(move)
print(beside(guess, dict(zip(guess, (cost.generations, cost.partitions_moved, cost.partitions_unread)))))

# %% [markdown]
# **Watch for** the one square that waits in *No owner* between A and B.

# %% tags=["nbval-ignore-output"]
show(flow_figure(move), "")

# %%
print(story(move))

# %% [markdown]
# ### The messages
#
# **Watch for** what the JoinGroup requests say about ownership, and for the *second* round. Who starts it, and when does B hear
# of it?

# %% tags=["nbval-ignore-output"]
talk = messages(move, since_s=37, until_s=45)
talk

# %%
print(talk.text)

# %%
print(callbacks(move, since_s=37))

# %% [markdown]
# Three things to remember for the code that you write:
#
# - `onPartitionsRevoked` is called with what *leaves*, and only if something does;
# - `onPartitionsAssigned` is called with what is *new*, after each generation, even if that is nothing. It is not the
#   whole assignment. (Under eager it is.)
# - partitions in neither call are read without interruption.
#
# ### How long does the moved partition go unread?
#
# B has revoked nothing, so nobody tells it to re-join: it hears of the second round at its next **heartbeat**.
# The heartbeat timer restarted when the first round ended. So the partition goes unread for about one `heartbeat.interval.ms`, 3 s by default. Check it:

# %%
quick = simulate(
    with_configs(scenario("a-to-b-move"), {"heartbeat.interval.ms": 1000}), protocol="cooperative"
)
print("heartbeat.interval.ms=3000 (default):")
print(gaps(move))
print()
print("heartbeat.interval.ms=1000:")
print(gaps(quick))

# %% [markdown]
# (There is an exception, and you may meet it in the lab: a newcomer whose SyncGroup comes too late for the first
# generation is told so at once and re-joins; if everybody else re-joins as well, the second round needs no heartbeat.)
#
# **Myth:** "with cooperative rebalancing no partition goes unread." The moving ones do, and for longer than under eager if all
# members are healthy. What is true: the *others* do not.
#
# ## One generation or two?
#
# ### Predict
#
# How many generations does each of these take, under cooperative?

# %%
guess = {"join": None, "leave": None, "crash": None, "partitions-added": None}

# %%
events = {name: simulate(scenario(name), protocol="cooperative") for name in guess}
print(beside(guess, {name: metrics(run).generations for name, run in events.items()}))

# %% [markdown]
# **Myth:** "a cooperative change always takes two rebalances." Two are needed only when something is taken from a
# *living* member. The partitions of a member that left or died, and new ones, are free already.
#
# The crash of notebook 01, once more. **Watch for** the healthy consumers' rows: not a scratch.

# %% tags=["nbval-ignore-output"]
show(gantt_figure(events["crash"]), "")

# %%
print(story(events["crash"]))

# %% [markdown]
# ## Sticky is not cooperative
#
# | | range, roundrobin (eager) | sticky (eager) | cooperative-sticky |
# |---|---|---|---|
# | class | RangeAssignor, RoundRobinAssignor | StickyAssignor | CooperativeStickyAssignor |
# | since | 0.9 | 0.11 | 2.4 |
# | partitions stay where they were | by accident | as far as balance allows | as far as balance allows |
# | stops the world | yes | **yes** | no |
# | onPartitionsRevoked gets | everything | **everything** | what leaves |
# | onPartitionsAssigned gets | everything | **everything** | what is new |
# | generations for a move | one | one | two |
#
# The join of notebook 02, with numbers:

# %%
runs = three("join", ("eager", "sticky", "cooperative"))
costs = [metrics(run) for run in runs.values()]
rows = [
    (cost.label, str(cost.generations), str(cost.partitions_unread), str(cost.partitions_moved))
    for cost in costs
]
print(columns([("", "generations", "unread", "moved"), *rows]))

# %% [markdown]
# ## Myth: "cooperative is the default since Kafka 3.0"
#
# The consumers of the scenario `join` configure no assignor at all. Run them as they are, and see.

# %%
default = simulate(scenario("join"))
chosen = [row for row in default.of("generation") if row.at_ms > 30_000][-1]
print("assignor that the group chose:", chosen.detail["assignor"])
print("partitions that were unread:", metrics(default).partitions_unread, "of", metrics(default).partitions)

# %%
print(explain("partition.assignment.strategy"))

# %% [markdown]
# Where the belief comes from: since 3.0 the default *list* names cooperative-sticky, in second place. But
#
# - a client's mode is what **all** assignors of its list support, and range supports eager only: the client is eager;
# - the group votes for an assignor that all members have: everybody's first choice is range.
#
# The second place is there so that one later bounce can take range out. To be cooperative, say so:
# `partition.assignment.strategy=org.apache.kafka.clients.consumer.CooperativeStickyAssignor`, and nothing else.
#
# ## Myth: "in a mixed group everybody falls back to eager"
#
# A team switches from range to cooperative-sticky in *one* rolling bounce. The first restarted consumer knows only
# cooperative-sticky, the others only range.
#
# ### Predict
#
# What happens to it?

# %%
gone_wrong = simulate(scenario("bounce-gone-wrong"))
print(story(gone_wrong))

# %% [markdown]
# There is no falling back: a member needs an assignor in common with all others, or it is refused. A group that
# lists range *alone* needs two bounces, first `[cooperative-sticky, range]` everywhere, then `[cooperative-sticky]`. (A group
# on the default list `[range, cooperative-sticky]` needs one, the bounce that takes range out: Kafka's upgrade notes, 3.0.) **Watch for** the generation in which the vote flips: it comes in the middle
# of the first bounce, once the last member that knows only range has left to be restarted.

# %%
two_bounces = simulate(scenario("two-bounces"))
phases = two_bounces.of("generation")
used = [(f"{row.at_ms / 1000:.1f} s", str(row.generation), row.detail["assignor"]) for row in phases]
print(columns([("at", "generation", "assignor"), *used]))

# %% [markdown]
# ## What a slow member does to the others
#
# One of two consumers needs six seconds in each callback; a third joins. **Watch for** *longest gap of the whole
# group*, and then for *longest gap of a partition*.

# %%
print(describe_comparison(list(three("slow-callback").values())))

# %% [markdown]
# No one else stops, but the *second generation* cannot complete without it. So every partition in transit waits, even
# those that a quick member gave up long ago. KIP-848 removes that as well (notebook 04).
#
# ## Myth: "cooperative ends duplicates"
#
# ### Predict
#
# Which of the two protocols delivers more records twice after a crash, over twenty runs?

# %%
print("records delivered twice after a crash, over 20 seeds")
print(spread("crash", lambda run: metrics(run).records_redelivered, protocols=("eager", "cooperative")))

# %% [markdown]
# The same: what counts is how long ago the dead member committed. Even a planned cooperative move may repeat a record: the
# commit is made *before* the join, reading goes on, and what is read between commit and revocation is not committed,
# unless your `onPartitionsRevoked` does it.

# %% [markdown]
# ## Try it: one interesting failure
#
# In the lab, restart a consumer, and a second one two seconds later. How many generations does that take? Does the
# distance matter? Press **Undo** and try another distance. **Messages** shows the second round of JoinGroup, which is
# the one that hands over what the first has taken; **Members** says who has to give up what.

# %% tags=["nbval-ignore-output"]
Lab("join", "cooperative", at_ms=29_000)

# %% [markdown]
# ## Check questions

# %% tags=["nbval-ignore-output"]
Quiz("cooperative")

# %% [markdown]
# ## Recap
#
# Keep reading, give up only what must go, hand it out in a second generation about one heartbeat later. One generation is enough when
# nothing is taken from a living member. It is not the default; you must configure it (one bounce from the default list, two from
# range alone). It ends
# stop-the-world, not gaps, and not duplicates.
#
# **Next:** [04 · KIP-848](04-kip-848.ipynb), where the broker decides.
