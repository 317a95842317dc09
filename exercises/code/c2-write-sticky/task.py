"""A sticky assignor: as even as possible first, then as few moves as possible."""

from rebalance_kit.exercises.code_running import ASSIGNOR, assignor_case, members_of, shares_of
from rebalance_kit.exercises.code_task import FULL, CodeTask, Failed, Mark


def sticky_case(title, topics, members, actions):
    """Rebalances of a running group: ``members`` maps a name to its start in seconds, ``actions`` are YAML flow rows."""
    rows = [f"- {{name: {name}, partitions: {count}}}" for name, count in topics.items()]
    people = [
        f"- {{name: {name}, topics: [{', '.join(topics)}], start: {start}s}}"
        for name, start in members.items()
    ]
    acts = ["actions:", *(f"- {action}" for action in actions)] if actions else []
    lines = ["scenario: write-sticky", "topics:", *rows, "members:", *people, *acts, "end: 120s", ""]
    return assignor_case(title, "\n".join(lines), "cooperative-sticky", points=4, owning=True)


def judge(case, output):
    worst = FULL
    for call, answer in zip(case.data["calls"], output, strict=True):
        shares, members = shares_of(answer, call, call["at_ms"]), members_of(call)
        sizes = sorted((len(share), member) for member, share in shares.items())
        (least, poor), (most, rich) = sizes[0], sizes[-1]
        if most - least > 1:
            raise Failed(
                f"{rich} gets {most} partitions and {poor} gets {least}: the shares may differ by one at most. "
                "Even shares come first, staying comes second.",
                call["at_ms"],
            )
        kept = {
            member.member_id: len(set(member.owned) & set(shares[member.member_id])) for member in members
        }
        could = most_kept(members, sum(map(len, shares.values())))
        if worst is FULL and sum(kept.values()) < could:
            worst = Mark(0.5, moved_words(members, kept, could), call["at_ms"])
    return worst


def moved_words(members, kept, could):
    owned, stay = sum(len(member.owned) for member in members), sum(kept.values())
    words = f"{owned - stay} owned partitions move, {owned - could} have to."
    if stay < could / 2:
        return f"{words} Begin with what each member owns, and take away only what it has too much of."
    return f"{words} The larger shares belong to the members that own the most already: no partition leaves them without need."


def most_kept(members, total):
    """Partitions that can stay when the shares are even: the larger shares go to those that own the most."""
    each, rest = divmod(total, len(members))
    owned = sorted((len(member.owned) for member in members), reverse=True)
    return sum(min(count, each + (place < rest)) for place, count in enumerate(owned))


TASK = CodeTask(
    title="Write a sticky assignor",
    minutes=40,
    level="medium",
    function="assign",
    kind=ASSIGNOR,
    public=(
        sticky_case("a third member joins two", {"orders": 7}, {"a": 0, "b": 0, "c": 30}, ()),
        sticky_case(
            "one of three members leaves",
            {"orders": 8},
            {"a": 0, "b": 0, "c": 0},
            ("{at: 30s, do: close, member: b}",),
        ),
        sticky_case(
            "a topic grows",
            {"orders": 5, "payments": 3},
            {"a": 0, "b": 0, "c": 0},
            ("{at: 30s, do: add_partitions, topic: payments, partitions: 6}",),
        ),
        sticky_case(
            "two join and one leaves",
            {"orders": 11},
            {"a": 0, "b": 0, "c": 30, "d": 31},
            ("{at: 60s, do: close, member: a}",),
        ),
    ),
    judge=judge,
)
