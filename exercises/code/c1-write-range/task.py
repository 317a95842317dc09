"""Kafka's RangeAssignor: each topic for itself, contiguous ranges, the first members get one more."""

from rebalance_kit.assignors.contract import Cluster
from rebalance_kit.assignors.registry import assign
from rebalance_kit.exercises.code_running import ASSIGNOR, assignor_case, members_of, shares_of
from rebalance_kit.exercises.code_task import FULL, CodeTask, Failed


def range_case(title, topics, members):
    """One group in its first rebalances; ``members`` maps a name to its topics and whether it is static."""
    rows = [f"- {{name: {name}, partitions: {count}}}" for name, count in topics.items()]
    people = [
        f"- {{name: {name}, topics: [{', '.join(wanted)}], start: {100 * at}ms"
        + (f", configs: {{group.instance.id: {instance}}}" if instance else "")
        + "}"
        for at, (name, (wanted, instance)) in enumerate(members.items())
    ]
    lines = ["scenario: write-range", "topics:", *rows, "members:", *people, "end: 30s", ""]
    return assignor_case(title, "\n".join(lines), "range")


def judge(case, output):
    for call, answer in zip(case.data["calls"], output, strict=True):
        shares, members = shares_of(answer, call, call["at_ms"]), members_of(call)
        wanted = assign("range", Cluster(call["partitions"]), members)
        for topic in call["partitions"]:
            got, true = numbers(shares, topic), numbers(wanted, topic)
            for member in true:
                if got[member] != true[member]:
                    raise Failed(
                        f"{member} gets {told(got[member])} of {topic}, range gives it {told(true[member])}. "
                        + reason(topic, got, true, members),
                        call["at_ms"],
                    )
    return FULL


def numbers(shares, topic):
    return {
        member: sorted(tp.partition for tp in share if tp.topic == topic) for member, share in shares.items()
    }


def told(partitions):
    return ", ".join(map(str, partitions)) or "nothing"


def reason(topic, got, true, members):
    subscribed = [member for member in members if topic in member.topics]
    if any(share and share != list(range(share[0], share[-1] + 1)) for share in got.values()):
        return "A range has no holes: a member's partitions of a topic follow one another."
    if sorted(map(len, got.values())) != sorted(map(len, true.values())):
        if len(subscribed) < len(members):
            return "Divide each topic among the members that subscribe to it, and among them alone."
        return "Divide each topic separately: every member gets the quotient, and the first ones get one partition more."
    if any(member.group_instance_id for member in subscribed):
        return "The order is wrong: static members come first, by group_instance_id; then the others, by member_id."
    return "The order is wrong: for each topic, members are sorted by member_id, and the first ones get one more."


TASK = CodeTask(
    title="Write range",
    minutes=25,
    level="easy",
    function="assign",
    kind=ASSIGNOR,
    public=(
        range_case(
            "one topic, seven partitions, three members",
            {"orders": 7},
            {"app-b": (["orders"], None), "app-c": (["orders"], None), "app-a": (["orders"], None)},
        ),
        range_case(
            "two topics of three partitions, two members",
            {"orders": 3, "payments": 3},
            {"app-b": (["orders", "payments"], None), "app-a": (["payments", "orders"], None)},
        ),
        range_case(
            "two members, and one topic that only one of them reads",
            {"orders": 4, "audit": 3},
            {"app-b": (["orders"], None), "app-a": (["orders", "audit"], None)},
        ),
        range_case(
            "two static members and a dynamic one",
            {"orders": 5},
            {"app-a": (["orders"], None), "app-b": (["orders"], "node-2"), "app-c": (["orders"], "node-1")},
        ),
    ),
    judge=judge,
)
