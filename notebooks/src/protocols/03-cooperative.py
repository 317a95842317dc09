# %% [markdown]
# # 03 · Cooperative: move only what must move
#
# **55 minutes**. Exams: CCDAK *Application Development*, *Fundamentals*; CCAAK *Deployment*, *Cluster Configuration*.
#
# After this notebook you can
#
# - explain why moving one partition takes two generations, and when one is enough (CCDAK Fundamentals);
# - predict which partitions go unread, and for about how long (CCDAK Application Development);
# - tell cooperative-sticky from sticky, and both from the default (CCAAK Cluster Configuration);
# - move a group from an eager to a cooperative assignor, in one rolling restart (a *bounce*) or two (CCAAK Deployment);
# - refute five myths with a run.
#
# Incremental cooperative rebalancing came with Kafka 2.4 (KIP-429). The messages are those of notebook 02:
# JoinGroup, SyncGroup, a leader that computes. What changes is what the *members* do.
#
# ## Three phases
#
# 1. **Rejoin and keep.** Members send JoinGroup *with* the list of what they own, and keep reading.
# 2. **Targeted revocation.** The new assignment leaves out each partition that must change hands. Its old owner runs
#    `onPartitionsRevoked` with just that one, and rejoins.
# 3. **Targeted assignment.** In a second generation the free partition is given to its new owner.
#
# No member may own a partition that another member has not given up yet: that is what the second generation is for.
#
# ## From A to B
#
# A reads two partitions of `orders`, B the other two. Then A alone subscribes to a second topic as well, `audits`, and gets its
# two partitions.
#
# ### Predict
#
# How many partitions of `orders` move, and how many of the four are unread for a time?

# %%
from rebalance_kit.notebook import predict, run

guess = predict({"partitions of orders that move": None, "partitions that were unread": None})
guess

# %% tags=["answer", "hide-input"]
from rebalance_kit import metrics

move = run("a-to-b-move", "cooperative")
cost = metrics(move)
guess.beside(
    {
        "partitions of orders that move": cost.partitions_moved,
        "partitions that were unread": cost.partitions_unread,
    }
)

# %% [markdown]
# One partition goes from A to B, which restores the balance. **Watch for** the partition that waits in *No owner* between A and B.

# %% tags=["nbval-ignore-output"]
from rebalance_kit.notebook import flow

flow(move)

# %%
from rebalance_kit.notebook import describe

describe(move)

# %% [markdown]
# (The generations are 4 and 5 because the group had agreed three times before: first with A alone, then when B came, which took two. Myth 5 explains
# why fourteen records come twice.)
#
# ### The messages
#
# **Watch for** what the JoinGroup requests say about ownership, and for the *second* round. Which member starts it, and when does B hear
# of it? (The reason of A's first request is the changed subscription: `subscribe()` alone starts the round, before any metadata has come.)

# %% tags=["nbval-ignore-output"]
from rebalance_kit import messages

talk = messages(move, since_s=37, until_s=45)
talk

# %%
from rebalance_kit.notebook import twin

twin(talk)

# %%
from rebalance_kit.notebook import callbacks

callbacks(move, since_s=37)

# %% [markdown]
# Three things to remember for the code that you write:
#
# - `onPartitionsRevoked` is called with what *leaves*, and only if something does;
# - `onPartitionsAssigned` is called with what is *new*, after each generation, even if that is nothing. It is not the
#   whole assignment. (Under eager it is.)
# - Partitions in neither call are read without interruption.
#
# ### How long is the moved partition unread?
#
# A starts the second round at once. B has revoked nothing, so it does not rejoin by itself: it hears of the second round at its next **heartbeat**.
#
# ### Predict
#
# In the run above `orders-0` was unread for 3.1 s, with `heartbeat.interval.ms` at its default of 3 s. Now a hundred moves, each at a random moment. What is the median of the longest
# gap under cooperative with an interval of 1 s? And under eager with the default?

# %%
guess = predict({"cooperative, 1 s": None, "eager, 3 s": None}, within=0.5)
guess

# %% tags=["answer", "hide-input"]
from rebalance_kit.notebook import draws, median, spread, with_configs

both = ["eager", "cooperative"]
slow = draws("a-to-b-move", protocols=both)
quick = draws(with_configs("a-to-b-move", {"heartbeat.interval.ms": 1000}), protocols=both)
at_3_s, at_1_s = median(slow, "longest_gap_s"), median(quick, "longest_gap_s")
guess.beside({"cooperative, 1 s": at_1_s["cooperative"], "eager, 3 s": at_3_s["eager"]})

# %%
spread(slow, "longest_gap_s")

# %% [markdown]
# Under cooperative it is about one heartbeat interval, in every one of the hundred runs, because B's heartbeat timer restarted when the first round ended. Under eager the longest gap is anything from almost nothing to one interval, because there A has given
# everything up and waits until B hears of the rebalance.
#
# <details><summary>Is a cooperative move ever faster?</summary>
#
# Yes. A newcomer whose SyncGroup arrives too late for the first generation is told so at once and rejoins. If everybody
# else rejoins as well because they all had to give something up, the second round needs no heartbeat. The shortest of the hundred cooperative joins in notebook 05 is such a move.
#
# </details>
#
# **Myth 1:** "with cooperative rebalancing no partition goes unread." The moving ones do, and in a healthy group usually for longer than under eager. What is true: the *others* do not.
#
# ## One generation or two?
#
# ### Predict
#
# In notebook 01 a leave, a crash and added partitions took one cooperative generation, a join two. Here a member freezes until its session has ended, then
# wakes and joins again. How many new generations is that?

# %%
guess = predict({"generations": None})
guess

# %% tags=["answer"]
frozen = run("freeze", "cooperative")
guess.beside({"generations": metrics(frozen).generations})

# %%
describe(frozen)

# %% [markdown]
# **Myth 2:** "a cooperative change always takes two rebalances." Two are needed only when something is taken from a
# *living* member, here to give the returning member its share. The partitions of a member whose session has ended, and new ones, are free already: one generation.
# Throughout, the healthy members go on reading what they keep. (The twelve records of second 77 had been read after the sleeper's last commit. The 1,192 come twice because the woken member, a zombie, still fetches them before it learns that its
# partitions went to others: notebook 07.)
#
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
from rebalance_kit.notebook import costs

joins = {
    "range": run("join", "eager"),
    "sticky": run("join", "sticky"),
    "cooperative-sticky": run("join", "cooperative"),
}
costs(joins, "generations", "partitions unread", "elsewhere at the end")

# %% [markdown]
# Sticky and cooperative-sticky move the same three partitions. The difference is the row above: twelve unread against three.
#
# ## Myth 3: "cooperative is the default since Kafka 3.0"
#
# It is not: the consumers of notebook 02 configured no assignor at all, and range handed out the blocks.

# %%
from rebalance_kit.notebook import explain

explain("partition.assignment.strategy")

# %% [markdown]
# Where the belief comes from: since 3.0 the default *list* names cooperative-sticky, in second place. But
#
# - a client's mode is what **all** assignors of its list support. Range supports eager only, so the client is eager;
# - each member *votes* for the first assignor of its list that all members have, and everybody's first choice is range.
#
# ### Predict
#
# Turn the list round: all members have `[cooperative-sticky, range]`. Which assignor does the group choose, and how many of the twelve partitions are unread when
# the fourth member joins?

# %%
guess = predict({"assignor": None, "unread": None}, options={"assignor": ["range", "cooperative-sticky"]})
guess

# %% tags=["answer"]
from rebalance_kit.notebook import chosen_assignor

turned = run(with_configs("join", {"partition.assignment.strategy": "cooperative-sticky,range"}))
guess.beside({"assignor": chosen_assignor(turned), "unread": metrics(turned).partitions_unread})

# %% [markdown]
# All twelve: the group chooses cooperative-sticky, and its clients are eager as long as range is in their lists.
#
# (All this is the Java client. librdkafka's default list is `range,roundrobin`, eager as well, and it refuses a list that mixes eager and cooperative, so no bounce leads it to cooperative-sticky.)
#
# The second place is there so that one later **bounce** (a rolling restart with new settings) can take range out. To run cooperatively, set it explicitly:
# `partition.assignment.strategy=org.apache.kafka.clients.consumer.CooperativeStickyAssignor`, and nothing else.
#
# ## Myth 4: "in a mixed group everybody falls back to eager"
#
# A team has configured range *alone*, and switches to cooperative-sticky in *one* bounce. The first restarted consumer knows only
# cooperative-sticky, the others only range.
#
# ### Predict
#
# What happens to it?

# %%
guess = predict(
    {"the restarted consumer": None},
    options=["waits for the others", "turns the group cooperative", "is refused"],
)
guess

# %% tags=["answer"]
bounced = describe(run("bounce-gone-wrong"))
guess.beside({"the restarted consumer": "is refused" if "dies" in bounced else "waits for the others"})

# %%
bounced

# %% [markdown]
# It is refused (`INCONSISTENT_GROUP_PROTOCOL`) and dies: a member needs an assignor in common with all others. So the number of bounces depends on
# where you start:
#
# | the group lists | bounces | what they do |
# |---|---|---|
# | `[range, cooperative-sticky]`, the Java client's default since 3.0 | **one** | take range out, member by member |
# | `range` alone (or the default before 3.0) | **two** | first `[cooperative-sticky, range]` everywhere, then `[cooperative-sticky]` |
#
# (Kafka's upgrade notes for 3.0 say the same: the default list "allows upgrading to the CooperativeStickyAssignor with just a single rolling bounce".)
# In the run of two bounces below, three consumers are restarted twice each. **Watch for** the moment at which the vote flips.

# %%
from rebalance_kit.notebook import votes

votes(run("two-bounces"))

# %% [markdown]
# It flips at the last restart of the *first* bounce, when the last range-only member goes down. From then on the group uses
# cooperative-sticky, but every client whose list still names range stays eager until the second bounce.
#
# ## What a slow member does to the others
#
# One of two consumers needs six seconds in each callback; a third joins. Under cooperative the others have to wait for the slow one too, but they do not stop:

# %%
describe(run("slow-callback", "cooperative"))

# %% [markdown]
# No one else stops, but the second generation cannot complete without the slow member. So every partition in transit waits twelve seconds (six for the slow `onPartitionsRevoked`, six for the `onPartitionsAssigned` that
# follows before the member can rejoin), even
# the one that the quick member gave up at once (`orders-2`). What the slow member keeps (`orders-3` and `orders-4`) goes unread during each of its
# callbacks, because callbacks run in the thread that polls. KIP-848 removes the wait of `orders-2` (notebook 04).
#
# ## Myth 5: "cooperative ends duplicates"
#
# ### Predict
#
# Which delivers more records twice after a crash, eager or cooperative, in the median of a hundred crashes?

# %%
guess = predict({"more duplicates": None}, options=["eager", "cooperative", "no difference"])
guess

# %% tags=["answer"]
from rebalance_kit.notebook import more

crashes = draws("crash", protocols=["eager", "cooperative"])
guess.beside({"more duplicates": more(crashes, "records_redelivered")})

# %%
costs(crashes, "records redelivered")

# %% [markdown]
# No difference: what counts is how long ago the dead member committed. Even a planned cooperative move may repeat records, like the fourteen in the first run: the
# commit is made *before* the join and reading goes on. What is read between commit and revocation is not committed,
# unless your `onPartitionsRevoked` commits it. (In the first run 1.4 s passed between commit and revocation, at ten records per second.)
#
# ## Try it: two restarts
#
# Three members, and nothing has happened yet. Restart `consumer-1`, and `consumer-2` **one** second later. (Restarted here, `consumer-1` asks to join again after 2.4 s
# and `consumer-2` after 1.7 s. `consumer-3` asks at its next heartbeat, 2.8 s after the first restart.) How many generations does that take? Press **Undo**, and restart the second one **two** seconds after the first. **Messages** shows the rounds of JoinGroup; **Members** says what each member has to give up.

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Lab
from rebalance_kit.notebook import quiet

Lab(quiet("crash"), "cooperative", at_ms=26_000)

# %% [markdown]
# <details><summary>Answer</summary>
#
# One generation if the restarts are one second apart, three if they are two. Everyone who asks while the coordinator still collects JoinGroups is
# included in the same generation; that phase ends when all known members have asked. At two seconds `consumer-2` asks too late, so its return needs a generation of its own, and the partitions
# that then have to move need another.
#
# </details>
#
# ## Check yourself

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Quiz

Quiz("cooperative")

# %% [markdown]
# ## Recap card
#
# - Keep reading, give up only what must go, hand it out in a second generation about one heartbeat interval later.
# - One generation is enough when nothing is taken from a living member.
# - It is not the default; you must configure it (one bounce from the default list, two from range alone).
# - It ends stop-the-world rebalances, but it ends neither gaps nor duplicates.
# - No member stops for a slow one, but what is in transit waits for it.

# %% tags=["hide-input", "nbval-ignore-output"]
from rebalance_kit.notebook import next_notebook

next_notebook("03")
