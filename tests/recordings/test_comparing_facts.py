"""compare() finds whatever is changed in one of two equal runs, and forgives only what it says it forgives."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rebalance_kit.recordings.compare import Call, Facts, Removal, Round, compare, of_record, share
from rebalance_kit.recordings.folder import Line, read_run

SHARES = share({"a": ["t-0"], "b": ["t-1"]})
FACTS = Facts(
    rounds=(
        Round("g", "generation", 1, "range", SHARES, 3_000),
        Round("g", "generation", 2, "range", share({"a": ["t-0", "t-1"]}), 9_000),
        Round("h", "epoch", 2, None, None, 3_000),
        Round("h", "target", 2, "uniform", SHARES, 3_010),
    ),
    calls=(
        Call("a", "assigned", ("t-0",), 1, 3_050),
        Call("b", "assigned", ("t-1",), 1, 3_060),
        Call("a", "revoked", ("t-0",), 1, 8_900),
        Call("a", "assigned", ("t-0", "t-1"), 2, 9_050),
    ),
    removals=(Removal("b", "failed", 8_000), Removal("c", "left", 8_100), Removal("d", "left", 9_000)),
    delivered_again=3,
)


def changed(field, place, **values):
    rows = list(getattr(FACTS, field))
    rows[place] = replace(rows[place], **values)
    return replace(FACTS, **{field: tuple(rows)})


def without(field, place):
    rows = list(getattr(FACTS, field))
    del rows[place]
    return replace(FACTS, **{field: tuple(rows)})


def test_a_run_equals_itself_with_a_delta_for_every_fact():
    found = compare(FACTS, FACTS)
    assert found.equal and found.first is None and found.deltas_ms == (0,) * (4 + 4 + 3)


def test_times_are_measured_and_forgiven():
    later = Facts(
        tuple(replace(one, at_ms=one.at_ms + 40) for one in FACTS.rounds),
        tuple(replace(one, at_ms=one.at_ms - 10) for one in FACTS.calls),
        FACTS.removals,
        9,
    )
    found = compare(FACTS, later)
    assert found.equal and sorted(found.deltas_ms) == [-10] * 4 + [0] * 3 + [40] * 4


PLANTED = [
    ("another number", changed("rounds", 1, number=3), "generations", "g generation", 1),
    ("another assignor", changed("rounds", 0, assignor="sticky"), "generations", "g generation", 0),
    (
        "another share",
        changed("rounds", 0, shares=share({"a": ["t-1"], "b": ["t-0"]})),
        "generations",
        "g generation",
        0,
    ),
    ("a generation missing", without("rounds", 1), "generations", "g generation", 1),
    (
        "a generation more",
        replace(FACTS, rounds=(*FACTS.rounds, Round("g", "generation", 3, "range", None, 9_999))),
        "generations",
        "g generation",
        2,
    ),
    ("another epoch", changed("rounds", 2, number=3), "generations", "h epoch", 0),
    ("a target missing", without("rounds", 3), "generations", "h target", 0),
    (
        "another group",
        replace(FACTS, rounds=(*FACTS.rounds, Round("i", "epoch", 1, None, None, 1))),
        "generations",
        "i epoch",
        0,
    ),
    ("another callback", changed("calls", 2, kind="lost"), "callbacks", "a", 1),
    ("another set", changed("calls", 0, partitions=()), "callbacks", "a", 0),
    ("another generation shown", changed("calls", 3, generation=1), "callbacks", "a", 2),
    ("a callback missing", without("calls", 1), "callbacks", "b", 0),
    (
        "a callback of a stranger",
        replace(FACTS, calls=(*FACTS.calls, Call("z", "assigned", (), 1, 1))),
        "callbacks",
        "z",
        0,
    ),
    ("another fate", changed("removals", 0, how="left"), "fencing", "removals", 0),
    ("another one removed", changed("removals", 2, member="e"), "fencing", "removals", 2),
    ("a removal missing", without("removals", 2), "fencing", "removals", 2),
    (
        "a removal more",
        replace(FACTS, removals=(*FACTS.removals, Removal("e", "left", 9_999))),
        "fencing",
        "removals",
        3,
    ),
]


@pytest.mark.parametrize(
    ("simulated", "what", "where", "agreed"), [row[1:] for row in PLANTED], ids=[row[0] for row in PLANTED]
)
def test_a_planted_difference_is_found_where_it_is(simulated, what, where, agreed):
    found = compare(FACTS, simulated)
    assert not found.equal
    assert (found.first.what, found.first.where, found.first.agreed) == (what, where, agreed)
    assert found.first.recorded != found.first.simulated


def test_calls_of_different_members_are_not_ordered_among_each_other():
    assert compare(FACTS, replace(FACTS, calls=(FACTS.calls[1], FACTS.calls[0], *FACTS.calls[2:]))).equal


def test_removals_at_almost_the_same_time_are_unordered_and_others_are_not():
    b, c, d = FACTS.removals
    assert compare(FACTS, replace(FACTS, removals=(c, b, d))).equal
    assert compare(FACTS, replace(FACTS, removals=(b, d, c))).fencing is not None


def test_a_share_that_the_record_does_not_give_is_not_compared():
    silent = replace(FACTS, rounds=(replace(FACTS.rounds[0], shares=None), *FACTS.rounds[1:]))
    assert compare(silent, changed("rounds", 0, shares=share({"z": ["t-0"]}))).equal


def test_both_sides_are_told_with_what_came_before():
    found = compare(FACTS, changed("rounds", 1, number=3)).first
    assert found.recorded.startswith("generation 2 range {a: t-0 t-1} at 9.00 s (after generation 1")
    assert found.simulated.startswith("generation 3 range {a: t-0 t-1} at 9.00 s (after generation 1")
    assert compare(FACTS, without("rounds", 3)).first.simulated == "nothing"


def test_the_nearer_run_agrees_more():
    near, far = (
        compare(FACTS, changed("calls", 3, generation=1)),
        compare(FACTS, changed("calls", 0, kind="lost")),
    )
    assert near.agreed > far.agreed and compare(FACTS, FACTS).agreed > near.agreed


def test_members_that_had_not_joined_in_time_are_removals_of_a_record(recorded_folders):
    run = read_run(recorded_folders["crash.cooperative.4.3.1"])
    before = of_record(run).removals
    text = "Group orders-app removed dynamic members who haven't joined: [c1-5, c2-6] (org.apache.kafka)"
    late = Line(run.begin + 20_000, "INFO", f"[GroupCoordinator id=1] {text}")
    after = of_record(
        replace(run, broker=tuple(sorted([*run.broker, late], key=lambda line: line.t)))
    ).removals
    assert [one for one in after if one not in before] == [
        Removal("c1-5", "late", 20_000),
        Removal("c2-6", "late", 20_000),
    ]
