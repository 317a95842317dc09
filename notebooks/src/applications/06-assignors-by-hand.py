# %% [markdown]
# # 06 · Assignors by hand
#
# **40 minutes**, and 25 for its exercises. Exams: CCDAK *Application Development*, *Fundamentals*; CCAAK *Cluster Configuration*, *Troubleshooting*.
#
# After this notebook you can
#
# - deal partitions by hand as range, round robin, sticky and uniform deal them (CCDAK Fundamentals);
# - say when range leaves members without work, and what to use instead (CCAAK Troubleshooting);
# - tell which partitions move when a member joins or leaves, and which come back to their owner (CCDAK Application Development);
# - configure each assignor in Java, in librdkafka and on the broker, and write one of your own (CCAAK Cluster Configuration).
#
# An **assignor** answers one question: given these members, their subscriptions and these partitions, who reads what?
# It counts partitions. It knows nothing about lag, load or the size of records.

# %%
from rebalance_kit import Quiz
from rebalance_kit.view import deal
from rebalance_kit.logs.described import describe as described
from rebalance_kit.notebook import callbacks, columns, next_notebook, predict, reveal, run

# %% [markdown]
# ## Who deals
#
# | | classic group | KIP-848 group |
# |---|---|---|
# | who runs the assignor | the **group leader**, one of the consumers | the **group coordinator**, a broker |
# | the choice is made by | `partition.assignment.strategy`, a list in each client | `group.remote.assignor` in a client, or the first of `group.consumer.assignors` on the broker |
# | what Kafka ships | range, roundrobin, sticky, cooperative-sticky (librdkafka: no sticky) | uniform, range |
# | the default | Java: `[range, cooperative-sticky]`, which deals as range and runs eager; librdkafka: `range,roundrobin`, eager | uniform |
# | what it knows of current ownership | what members say they own (sticky ones only) | the previous target assignment (uniform only) |
# | your own class | on every client | on every broker |
#
# In a classic group all members must share at least one assignor. The group uses the one with the most votes; each
# member votes for the first name in its list that all members support.
#
# The pictures below come from the kit's copies of these assignors. For 1,801 recorded groups they deal
# exactly as Kafka's own classes do; the tests repeat the comparison.
#
# ## Range: topic by topic
#
# > For **each topic**: sort the members that subscribe to it, cut its partitions into consecutive ranges, and let the
# > first members take the remainder, one each.
#
# Static members come first, sorted by `group.instance.id`; the others follow, sorted by member id. In a classic group the id of a member without an instance id is its `client.id`, a dash and a random UUID. With a `client.id` of your own per pod, names decide who comes first. With the default every Java client is called `consumer-GROUP-1`, so the *random* part decides, and the order changes at every restart. Four partitions, three members:

# %%
deal("range", {"orders": 4}, members=3)

# %% [markdown]
# The numbers in the boxes are the steps of the deal. Here they are in words:

# %%
print(deal("range", {"orders": 4}, members=3).text)

# %% [markdown]
# c1 takes the partition that is left over. That is fair enough for one topic: one member has to take it.
#
# ### Predict
#
# The group subscribes to a second topic, `payments`, that also has four partitions. How many partitions do
# c1 and c3 own? And with ten topics of *one* partition each?

# %%
guess = predict(
    {
        "c1, two topics": None,
        "c3, two topics": None,
        "c1, ten small topics": None,
        "c3, ten small topics": None,
    }
)
guess

# %% tags=["answer"]
two = deal("range", {"orders": 4, "payments": 4}, members=3)
ten = deal("range", {f"topic{number}": 1 for number in range(10)}, members=3)
counts = [len(dealt.assignment[member]) for dealt in (two, ten) for member in ("c1", "c3")]
guess.beside(dict(zip(guess.answers, counts, strict=True)))

# %% tags=["answer"]
reveal(two)

# %% [markdown]
# (The topics come in no particular order, because Java's range iterates over a hash map. The order changes nothing.)
#
# Range starts again with each topic, so the **same** first member takes the remainder every time. With ten topics of
# one partition it takes everything. This is the skew that exam questions ask about: two of three consumers sit idle,
# and adding consumers does not help. Here is a service with six topics of four partitions, three consumers, and ten milliseconds of work per record:


# %% tags=["hide-input"]
def shares(assignor):
    """What each member has after 85 seconds: partitions, and their lag."""
    group = described(run("skewed-range", assignor), 85_000)
    lag = {each.partition: each.log_end - each.committed for each in group.offsets}
    return {
        member.client_id: f"{len(member.assigned)}, lag {sum(map(lag.get, member.assigned)):,}"
        for member in group.members
    }


after = {"range": shares("eager"), "roundrobin": shares("roundrobin")}
names = sorted(after["range"])
print(columns([("partitions", *names), *((name, *map(has.get, names)) for name, has in after.items())]))

# %% [markdown]
# Under range consumer-1 has more than it can do, and the other two have time to spare. No rebalance changes that; another assignor does.
#
# Why would you want range? Look at the columns: c1 has partitions 0 and 1 of *both* topics. Topics with the same number
# of partitions and the same partitioning by key are **co-partitioned**: a key has the same partition number in each.
# If all members read both topics, range gives partitions with the same number to the same member, which therefore sees all
# records of a key, and can join the two topics without sending records anywhere else.
#
# ## Round robin: one circle
#
# > Sort **all** partitions of all topics, sort the members, and deal as you deal cards. A member that does not subscribe
# > to a partition's topic is passed over.

# %%
deal("roundrobin", {"orders": 4, "payments": 4}, members=3)

# %% [markdown]
# The counts are 3, 3 and 2, which is as even as eight partitions get. But equal partition numbers no longer stay together.
#
# ### Predict
#
# The members subscribe to different topics. c1 reads `a`, c2 reads `a` and `b`, c3 reads all three. Topic `a` has one
# partition, `b` has two, `c` has three. How many partitions does round robin deal to c2 and to c3?

# %%
guess = predict({"partitions of c2": None, "partitions of c3": None})
guess

# %% tags=["answer"]
unequal = {"c1": ["a"], "c2": ["a", "b"], "c3": ["a", "b", "c"]}
topics = {"a": 1, "b": 2, "c": 3}
circle = deal("roundrobin", topics, unequal)
c2, c3 = (len(circle.assignment[name]) for name in ("c2", "c3"))
guess.beside({"partitions of c2": c2, "partitions of c3": c3})

# %% tags=["answer"]
reveal(circle)

# %% [markdown]
# c2 gets only one partition of `b`. After it takes `b-0`, c3 is next in the circle, and it takes `b-1` although it is
# about to receive all of `c`. Round robin does not look ahead: **with unequal subscriptions it may not be balanced.** The
# sticky assignors count what each member has, and deal the topics with the fewest readers first. **Watch for** c2, which now gets
# both partitions of `b`:

# %%
deal("sticky", topics, unequal)

# %% [markdown]
# ## Sticky: balance first, then as few moves as possible
#
# > Let every member keep what it owns, as far as balance allows. Deal only what is left.
#
# Three members own two partitions each, as round robin deals them: c1 has 0 and 3, c2 has 1 and 4, c3 has 2 and 5. Then
# c2 leaves, and its two partitions have to go to the others.
#
# ### Predict
#
# How many of the four partitions that c1 and c3 own change hands as well?

# %%
guess = predict({"moved by roundrobin": None, "moved by sticky": None})
guess

# %% tags=["answer", "hide-input"]
owned = {"c1": ["orders-0", "orders-3"], "c3": ["orders-2", "orders-5"]}
stay = {name: ["orders"] for name in owned}


def moved(assignor: str) -> int:
    """Partitions that leave a member although it is still there."""
    after = deal(assignor, {"orders": 6}, stay, owned).assignment
    return sum(partition not in map(str, after[member]) for member, had in owned.items() for partition in had)


guess.beside(dict(zip(guess.answers, map(moved, ("roundrobin", "sticky")), strict=True)))

# %% [markdown]
# Round robin starts from nothing. **Watch for** `orders-2` and `orders-3`: they swap owners although both owners are still there.

# %%
deal("roundrobin", {"orders": 6}, stay, owned)

# %% [markdown]
# Sticky starts from what c1 and c3 own, and deals only the two partitions that c2 had. (The steps begin with c3, because
# Java's sticky assignors take the members in the order of a hash map. The *smaller share* is the number of partitions
# per member, rounded down.)

# %%
deal("sticky", {"orders": 6}, stay, owned)

# %% [markdown]
# Every partition that moves costs something: its new owner starts with a cold cache and rebuilds local state. (Few records
# or none come twice, because in a planned move the old owner commits first.) A **sticky** assignor moves only what
# balance demands.
#
# **Myth:** "sticky means no stop-the-world." `sticky` (the `StickyAssignor`) is an *eager* assignor: every member revokes
# everything, and gets most of it back a moment later. The partitions stay; the interruption does not go away.
#
# A leader computes with the metadata that *it* has. Kafka's sticky assignors have a defect there (in 4.3.1, with members of unequal subscriptions): when a leader does not know a new
# partition yet and a member already owns it, everything behind that partition counts as free and is given away a second time. **Watch for** `orders-1` to `orders-3` in the last two calls:

# %%
callbacks(run("defect-sticky-stale-leader"), since_s=30)

# %% [markdown]
# Two members read the same three partitions, and `bills-2` and `bills-4` are read by nobody, until the leader's next metadata refresh.
#
# ## Cooperative-sticky: the same deal, held back
#
# c1 and c2 own two partitions each, and c3 joins. **Watch for** step 6: the plan gives `orders-3` to c3, and then takes it back.

# %%
joining = deal(
    "cooperative-sticky", {"orders": 4}, 3, {"c1": ["orders-0", "orders-1"], "c2": ["orders-2", "orders-3"]}
)
joining

# %% [markdown]
# The plan is the one that `sticky` makes. But `orders-3` still belongs to c2, which has not revoked it. So in *this*
# generation nobody gets it. c2 revokes, rejoins, and the next generation hands it to c3. Notebook 03 shows these messages.
#
# How does the leader know what is owned? Members say so in JoinGroup, together with the generation in which they
# got it. If two members claim one partition, the later generation wins: the earlier claim comes from a member that
# missed a rebalance.
#
# ## Uniform: the broker deals
#
# KIP-848 moves the assignor into the coordinator. The default, `uniform`, is sticky by nature: it starts from the
# **previous target assignment**, which the broker keeps itself. (`deal` puts `server.` before the names of the broker's assignors.)

# %%
three = {"c1": ["orders-0", "orders-1"], "c2": ["orders-2", "orders-3"], "c3": ["orders-4", "orders-5"]}
deal("server.uniform", {"orders": 6}, 4, three)

# %% [markdown]
# One partition moves to c4 and five stay. Here, too, a hash map sets the order of the members, so c3 is first; which
# member gives up a partition depends on that order. Nothing is held back in the deal itself: the *target* says at once
# that c4 should own `orders-3`. **Reconciliation** then decides when c4 may have it, which is after c2 has revoked it.
#
# The broker also ships `range`. Since 3.9 it is as stateless as the client's, and it keeps equal partition numbers together, too:

# %%
deal("server.range", {"orders": 4, "payments": 4}, members=3)

# %% [markdown]
# ### Racks
#
# A **rack** is a place that fails as a whole, usually an availability zone; reading from another rack is slower and
# often billed. There are four partitions. The replicas of 0 and 1 are on rack b, those of 2 and 3 on rack a. c1 runs on
# rack a, c2 on rack b.
#
# One of the two assignors below looks at racks. The other, in a new group, fills one member after another, here c1 first, from
# the list of all partitions.
#
# ### Predict
#
# Which partitions does c1 get from the client's range, and which from the broker's uniform?

# %%
guess = predict({"range": None, "server.uniform": None}, options=("0 and 1", "0 and 2", "1 and 3", "2 and 3"))
guess

# %% tags=["answer"]
racks = {"c1": "a", "c2": "b"}
replicas = {"orders": [["b"], ["b"], ["a"], ["a"]]}
near = {
    name: deal(name, {"orders": 4}, 2, racks=racks, replica_racks=replicas).assignment["c1"]
    for name in guess.answers
}
guess.beside({name: " and ".join(str(p.partition) for p in got) for name, got in near.items()})

# %% [markdown]
# The client's range, sticky and cooperative-sticky have looked at racks since 3.5 (KIP-881), if the member sets `client.rack`
# and not every rack holds every partition. Round robin never does. Neither do `uniform` and the broker's `range`, up to
# 4.3: a member sends its rack to the broker, but these assignors do not use it (KAFKA-19387). Fetching from the nearest replica
# (KIP-392,
# `replica.selector.class` on the broker) is a separate mechanism and works with every assignor.
#
# ## Configure it
#
# Java, classic group:
#
# ```java
# Properties props = new Properties();
# props.put("group.id", "billing");
# props.put("partition.assignment.strategy", CooperativeStickyAssignor.class.getName());
# ```
#
# Confluent's Python client and every other client built on librdkafka take the short names and refuse mixed lists, in which
# cooperative-sticky stands beside an eager assignor. Java accepts such a list, and runs eager.
#
# ```python
# consumer = Consumer({"group.id": "billing", "partition.assignment.strategy": "cooperative-sticky"})
# ```
#
# KIP-848, any client (which then refuses `partition.assignment.strategy`):
#
# ```properties
# group.protocol=consumer
# group.remote.assignor=range
# ```
#
# On the broker, the first name of this list serves a group whose members ask for none (short names since 4.0; 3.9 wants class names):
#
# ```properties
# group.consumer.assignors=uniform,range
# ```
#
# ## Write your own
#
# In Java a classic assignor implements `ConsumerPartitionAssignor`. If you extend Kafka's abstract class, two methods
# are enough. (This one works for members that all subscribe to the same topics.)
#
# ```java
# public class FirstTakesAll extends AbstractPartitionAssignor {   // an internal class; Kafka's own extend it too
#     @Override public String name() { return "first-takes-all"; }
#
#     @Override public Map<String, List<TopicPartition>> assign(
#             Map<String, Integer> partitionsPerTopic, Map<String, Subscription> subscriptions) {
#         Map<String, List<TopicPartition>> dealt = new HashMap<>();
#         subscriptions.keySet().forEach(member -> dealt.put(member, new ArrayList<>()));
#         String first = Collections.min(subscriptions.keySet());
#         for (String topic : subscriptions.get(first).topics())
#             dealt.get(first).addAll(partitions(topic, partitionsPerTopic.getOrDefault(topic, 0)));
#         return dealt;   // every member must be in the map, even with an empty list
#     }
# }
# ```
#
# Its `name()` is what the members vote on, so two versions of a class that deal differently need two names. The contract
# is short: every subscribed partition goes to exactly one member that subscribes to it, and every member is in the
# answer. For KIP-848 the same contract is an interface on the broker, `ConsumerGroupPartitionAssignor`, and
# `group.consumer.assignors` names your class.
#
# ### Try it
#
# Here is that contract as a function. Write a round robin that starts each topic where the last one ended, and let the
# checks judge it.


# %%
def my_assignor(topics: dict[str, int], members: list[str]) -> dict[str, list[str]]:
    """Deal the partitions of all topics to the members; this one gives everything to the first."""
    dealt = {member: [] for member in members}
    for topic, count in topics.items():
        for number in range(count):
            dealt[sorted(members)[0]].append(f"{topic}-{number}")
    return dealt


# %% tags=["hide-input"]
def judged(topics: dict[str, int], members: list[str]) -> str:
    """What the contract says of an answer of ``my_assignor``."""
    dealt = my_assignor(topics, members)
    given = sorted(partition for partitions in dealt.values() for partition in partitions)
    wanted = sorted(f"{topic}-{number}" for topic, count in topics.items() for number in range(count))
    sizes = [len(dealt.get(member, ())) for member in members]
    rows = [
        ("every partition to exactly one member", "yes" if given == wanted else "no"),
        ("every member is in the answer", "yes" if dealt.keys() == set(members) else "no"),
        ("partitions per member", ", ".join(map(str, sizes))),
        ("balanced (at most one apart)", "yes" if max(sizes) - min(sizes) <= 1 else "no"),
    ]
    return columns([("check", "answer"), *rows])


# %%
print(judged({"orders": 4, "payments": 3}, ["c1", "c2", "c3"]))

# %% [markdown]
# <details><summary>One solution</summary>
#
# ```python
# from itertools import cycle
#
#
# def my_assignor(topics, members):
#     dealt = {member: [] for member in members}
#     circle = cycle(sorted(members))
#     for topic, count in sorted(topics.items()):
#         for number in range(count):
#             dealt[next(circle)].append(f"{topic}-{number}")
#     return dealt
# ```
# </details>
#
# ## Which one?
#
# | you want | classic | KIP-848 |
# |---|---|---|
# | little movement and no stop-the-world | cooperative-sticky | uniform |
# | co-partitioned topics for a join | range | range |
# | the best balance over many small topics | cooperative-sticky, roundrobin | uniform |
# | partitions near their replicas | range, sticky or cooperative-sticky with `client.rack` | not yet |
#
# ## Exercise: write range
#
# Now an assignor that groups rely on. Write the body of `assign` in the cell below the buttons and run that cell. A case that
# fails says why, and a button opens it in the lab.

# %% tags=["hide-input", "nbval-ignore-output"]
from IPython.display import Markdown

from rebalance_kit import Exercise

range_by_hand = Exercise("c1-write-range")
display(Markdown(range_by_hand.story), range_by_hand)


# %% tags=["exercise"]
def assign(partitions, members):
    raise NotImplementedError


print(range_by_hand.check(assign))

# %% [markdown]
# Two more wait in a terminal: `rebalance-kit exercise start c2-write-sticky`, and `rebalance-kit exercise start c6-break-an-assignor`,
# in which you find the event that makes another team's assignor fail.
#
# ## Check yourself
#
# 1. Five topics with three partitions each, two consumers, range. How many partitions does each own?
# 2. How many with round robin?
# 3. Four members read twelve partitions with `sticky`, and one leaves. How many partitions of the other three move?
# 4. All members of a Java group list `[range, cooperative-sticky]`. Which one deals?
#
# <details><summary>Answers</summary>
#
# 1. Ten and five: the first member takes two of each topic.
# 2. Eight and seven.
# 3. None. The leaver's three are dealt, one to each.
# 4. Range, and the group runs eager. The second entry is there so that, later, one rolling restart can take range out.
# </details>

# %% tags=["answer"]
first = deal("range", {f"t{number}": 3 for number in range(5)}, 2).assignment
second = deal("roundrobin", {f"t{number}": 3 for number in range(5)}, 2).assignment
counts = [" and ".join(str(len(got)) for got in dealt.values()) for dealt in (first, second)]
reveal(columns([("assignor", "partitions of the two"), ("range", counts[0]), ("roundrobin", counts[1])]))

# %% tags=["nbval-ignore-output"]
Quiz(
    "assignors",
    ids=[
        "trade-spread-hot-topic",
        "two-rack-assignment",
        "two-assignors-eager",
        "two-range-facts",
        "two-subscription-facts",
        "assignor-vote",
        "gen-roundrobin-moves-on-join",
        "second-subscription-range-totals",
    ],
)

# %% [markdown]
# ## Recap card
#
# - **range**: per topic, consecutive, remainder to the first. Keeps co-partitioned topics together; skewed over many topics.
# - **roundrobin**: one circle over all partitions. Balanced if all members subscribe to the same topics.
# - **sticky**: keeps what balance allows. Still eager.
# - **cooperative-sticky**: the same plan, but holds back what its owner has not revoked.
# - **uniform**: runs on the broker, and is sticky: it starts from the previous target assignment.
# - None of them knows lag. A hot partition stays hot under all of them.

# %% tags=["hide-input"]
next_notebook("06")
