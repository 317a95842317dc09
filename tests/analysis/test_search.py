"""The search finds what is planted, shrinks it, and says the same every time."""

import io
import re

import pytest

from rebalance_kit.analysis.scenario_space import KINDS, Space, draw
from rebalance_kit.analysis.search import broken_invariant, find, run_search, shrink
from rebalance_kit.cli import main
from rebalance_kit.model.errors import ScenarioError
from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.simulation.permalink import read_link
from rebalance_kit.simulation.scenario.expansion import check
from rebalance_kit.simulation.scenario.scenario import Action, MemberSpec, Scenario, TopicSpec
from rebalance_kit.simulation.scenario.yaml_file import read_scenario
from rebalance_kit.simulation.simulate import simulate

STRATEGY = "partition.assignment.strategy"
KINDS_WITHOUT_BROKER = tuple(
    sorted({"start", "close", "crash", "restart", "enforce_rebalance", "stall", "slow_down", "subscribe"})
)


def deal(partition_counts, members):
    """Every partition of a topic to its subscribers in turn."""
    shares = {one.member_id: [] for one in members}
    for topic, count in sorted(partition_counts.items()):
        takers = sorted(one.member_id for one in members if topic in one.topics)
        for number in range(count if takers else 0):
            shares[takers[number % len(takers)]].append(TopicPartition(topic, number))
    return shares


class Forgetful:
    """Deals well four times; from the fifth time on it forgets the last partition of the group."""

    def __init__(self):
        self.calls = 0

    def __call__(self, partition_counts, members):
        self.calls += 1
        shares = deal(partition_counts, members)
        if self.calls > 4:
            last = max((tp for given in shares.values() for tp in given), default=None)
            shares = {who: [tp for tp in given if tp != last] for who, given in shares.items()}
        return shares


SPACE = Space(protocols=("eager",), configs={STRATEGY: "mine"}, kinds=KINDS_WITHOUT_BROKER)


def partition_nobody_was_given(trace):
    """A predicate of a user's own: it knows nothing of plug-ins."""
    counts = trace.meta["topics"]
    subscribed = {topic for row in trace.of("process_started") for topic in row.detail["topics"]}
    for row in trace.of("assignment"):
        given = {tp for listed in row.detail["assignment"].values() for tp in listed}
        topics = {tp.rpartition("-")[0] for tp in given} & subscribed
        missing = sorted({f"{topic}-{number}" for topic in topics for number in range(counts[topic])} - given)
        if missing:
            return f"forgotten: {missing} in generation {row.generation}"
    return None


@pytest.mark.parametrize("predicate", [broken_invariant, partition_nobody_was_given])
def test_an_assignor_that_forgets_a_partition_at_its_fifth_call_is_found_and_shrunk_to_four_actions(
    predicate,
):
    found = find(SPACE, predicate, seed=1, budget=200, assignors={"mine": Forgetful})
    assert found is not None and len(found.drawn.actions) == 20
    assert len(found.scenario.actions) <= 4
    assert len(found.scenario.members) <= 3
    assert sum(topic.partitions for topic in found.scenario.topics) <= 2


def test_a_sound_assignor_of_ones_own_breaks_nothing():
    assert find(SPACE, seed=1, budget=60, assignors={"mine": deal}) is None


def test_a_finding_reads_back_from_its_file_and_still_breaks(tmp_path):
    own = {"mine": Forgetful}
    found = find(SPACE, seed=1, budget=200, assignors=own)
    found.save(tmp_path / "found.yaml", own)
    again = read_scenario(tmp_path / "found.yaml", assignors=own)
    assert broken_invariant(simulate(again, assignors=own)) == found.seen
    assert [file.name for file in tmp_path.iterdir()] == ["found.yaml"]


def test_the_same_seed_finds_the_same_and_another_seed_draws_others():
    one, two = (find(SPACE, seed=3, budget=200, assignors={"mine": Forgetful}) for _ in range(2))
    assert one == two
    assert draw(Space(), 3, 0) != draw(Space(), 4, 0)


def test_every_drawn_scenario_can_be_run_and_has_the_wanted_size():
    for number in range(60):
        drawn = draw(Space(), 5, number)
        check(drawn)
        assert (len(drawn.members), sum(topic.partitions for topic in drawn.topics), len(drawn.actions)) == (
            6,
            12,
            20,
        )


def test_every_kind_of_action_is_drawn():
    seen = {action.do for number in range(120) for action in draw(Space(), 6, number).actions}
    assert seen == set(KINDS)


def test_sixty_random_scenarios_with_records_break_no_invariant():
    assert find(Space(data_plane=True), seed=11, budget=60) is None


def test_a_predicate_that_is_true_of_everything_shrinks_to_no_action_and_one_member():
    found = find(Space(), lambda trace: "always: so", seed=1, budget=1)
    assert found.scenario.actions == () and len(found.scenario.members) == 1
    assert [topic.partitions for topic in found.scenario.topics] == [1]


def test_shrinking_keeps_what_is_needed_and_rounds_its_time():
    actions = (Action(1_234, "crash", "b"), Action(4_321, "close", "a"), Action(7_777, "crash", "a"))
    scenario = Scenario(
        "s",
        (TopicSpec("orders", 9),),
        tuple(MemberSpec(name, ("orders",)) for name in "abc"),
        actions,
        20_000,
    )
    small, tried = shrink(
        scenario,
        lambda one: any(action.do == "close" for action in one.actions) and one.topics[0].partitions > 2,
    )
    assert [(action.do, action.at_ms % 1_000) for action in small.actions] == [("close", 0)]
    assert [spec.name for spec in small.members] == ["a"]
    assert small.topics[0].partitions == 3
    assert tried < 200


def test_a_space_that_cannot_be_drawn_from_is_refused():
    with pytest.raises(ScenarioError, match="explode"):
        Space(kinds=("explode",))
    with pytest.raises(ScenarioError, match="members"):
        Space(members=0)


def test_search_from_the_command_line_keeps_a_scenarios_members_and_reports_what_it_tried():
    out = io.StringIO()
    assert main(["search", "crash", "--count", "5", "--seed", "2"], out) == 0
    assert re.match(r"5 scenarios of seed 2 in [0-9.]+ s: no invariant broken\n", out.getvalue())


def test_search_writes_the_shortest_scenario_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "rebalance_kit.analysis.search.check",
        lambda trace: [Never()] if any(trace.of("process_ended")) else [],
    )
    out = io.StringIO()
    target = tmp_path / "found.yaml"
    assert run_search(None, 1, 50, target, out) == 1
    assert f"written to {target}" in out.getvalue() and "never_ends" in out.getvalue()
    assert len(read_scenario(target).actions) == 1
    token = re.search(r"rebalance-kit lab (\S+)", out.getvalue())[1]
    assert read_link(token).scenario == read_scenario(target)


def test_a_finding_opens_in_the_lab_a_second_before_what_was_seen():
    found = find(Space(), lambda trace: "seen: it (at 7300 ms)", seed=1, budget=1)
    opened = read_link(found.link())
    assert opened.at_ms == 6_300
    assert opened.scenario == read_scenario(found.yaml())


def test_a_finding_that_needs_an_assignor_of_ones_own_has_no_link():
    assert find(SPACE, seed=1, budget=200, assignors={"mine": Forgetful}).link() is None


class Never:
    invariant, seen, at_ms = "never_ends", "a process ended", 0
