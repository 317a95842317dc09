"""Each invariant holds for what may happen and is broken by a trace that was made to break it."""

from __future__ import annotations

import pytest

from rebalance_kit import scenarios
from rebalance_kit.analysis.invariants import INVARIANTS, check
from rebalance_kit.simulation.simulate import simulate
from tests.support.analysis.made_traces import flows, state, trace

C = "coordinator"


def target(at, epoch, assignment, ids=None):
    return (
        at,
        C,
        "target",
        None,
        {
            "generation": epoch,
            "assignor": "uniform",
            "assignment": assignment,
            "ids": ids or {name: name for name in assignment},
        },
    )


def assigned(at, generation, assignment):
    return (
        at,
        C,
        "assignment",
        None,
        {
            "generation": generation,
            "leader": "a",
            "assignment": assignment,
            "ids": {name: name for name in assignment},
        },
    )


def holds(at, member, partitions, revoking=(), epoch=2, state="STABLE"):
    detail = {
        "member_id": member,
        "generation": epoch,
        "epoch": epoch,
        "name": member,
        "state": state,
        "assigned": list(partitions),
        "pending_revocation": list(revoking),
    }
    return at, C, "member_reconciled", None, detail


def of(at, kind, member, **detail):
    return at, C, kind, None, {"member_id": member, "name": member, **detail}


def bump(at, epoch, kind="epoch_bump"):
    return at, C, kind, None, {"generation": epoch}


def commit(at, member, error="NONE"):
    return at, member, "commit", None, {"member_id": member, "error": error}


def call(at, kind, partitions, begin=True):
    return (
        at,
        "a",
        "callback_begin" if begin else "callback_end",
        None,
        {"callback": kind, "partitions": list(partitions)},
    )


def owned(at, *partitions):
    return at, "a", "owned", None, {"partitions": list(partitions)}


def account(**changed):
    held = {"produced": 10, "delivered": 10, "redelivered": 0, "lost": 0, "committed": 10, "read": 10}
    return 60_000, "run", "account", "t-0", {**held, **changed}


BROKEN = [
    ("one_owner", [assigned(5, 1, {"a": ["t-0"], "b": ["t-0", "t-1"]})], "t-0 is given to a and b in 1"),
    ("one_owner", [holds(5, "a", ["t-0"]), holds(6, "b", ["t-0", "t-1"])], "['t-0'] held by b and by a"),
    (
        "one_owner",
        [holds(5, "a", [], revoking=["t-1"]), holds(6, "b", ["t-1"])],
        "['t-1'] held by b and by a",
    ),
    (
        "one_owner",
        [holds(5, "a", ["t-0"]), of(6, "member_away", "a", instance_id="i"), holds(7, "b", ["t-0"])],
        "['t-0'] held by b and by a",
    ),
    (
        "legal_target",
        [target(5, 2, {"a": ["t-0", "t-1"], "stranger": []}, {"id": "a"})],
        "stranger is no member but is given []",
    ),
    ("legal_target", [assigned(5, 2, {"a": ["t-0", "t-1", "t-2"]})], "a is given t-2, which does not exist"),
    ("whole_target", [target(5, 2, {"a": ["t-0"]})], "target 2 names 1 of 2 partitions of t"),
    (
        "whole_target",
        [(4, "broker", "topic_changed", "t-0", {"partitions": 3}), target(5, 2, {"a": ["t-0", "t-1"]})],
        "target 2 names 2 of 3 partitions of t",
    ),
    ("monotonic", [bump(5, 3, "generation"), bump(6, 3, "generation")], "generation 3 after 3"),
    ("monotonic", [bump(5, 3), bump(6, 2)], "epoch_bump 2 after 3"),
    (
        "epochs_grow",
        [holds(5, "a", [], epoch=4), holds(6, "a", [], epoch=3)],
        "a went from epoch 4 back to 3",
    ),
    (
        "epochs_grow",
        [target(5, 2, {"a": ["t-0", "t-1"]}), holds(6, "a", [], epoch=3)],
        "a is at epoch 3, the target at 2",
    ),
    (
        "fenced_commits",
        [of(5, "member_removed", "a", how="session"), commit(6, "a")],
        "a (a) committed after it was removed",
    ),
    (
        "fenced_commits",
        [of(5, "member_replaced", "b", old_member_id="a"), commit(6, "a")],
        "a (a) committed after it was removed",
    ),
    (
        "fenced_commits",
        [
            of(5, "member_removed", "a", protocol="consumer"),
            (6, C, "group_loaded", None, {"protocol": "consumer"}),
            commit(7, "a"),
        ],
        "committed after",
    ),
    ("callbacks_fit", [call(5, "assigned", []), call(6, "revoked", [])], "a runs revoked inside assigned"),
    (
        "callbacks_fit",
        [owned(4, "t-0"), call(5, "revoked", ["t-1"])],
        "a: revoked(['t-1']) while it owns ['t-0']",
    ),
    ("callbacks_fit", [call(5, "assigned", ["t-1"])], "a: assigned(['t-1']) while it owns []"),
    ("callbacks_fit", [call(5, "lost", [])], "a: lost with nothing"),
    ("accounts_add_up", [account(read=11)], "t-0: 11 read of 10 produced"),
    ("accounts_add_up", [account(committed=11)], "t-0: committed 11 of 10 produced"),
    ("accounts_add_up", [account(delivered=4, redelivered=5)], "'delivered': 4"),
    ("accounts_add_up", [account(delivered=13, redelivered=2)], "'delivered': 13"),
    ("accounts_add_up", [account(lost=-1)], "'lost': -1"),
    (
        "own_code_is_sound",
        [
            (
                5,
                "a",
                "own_code_fault",
                None,
                {"part": "listener", "name": "Mine", "fault": "raised", "seen": "KeyError: 1"},
            )
        ],
        "listener Mine of a raised: KeyError: 1",
    ),
    (
        "own_code_is_sound",
        [
            (
                5,
                "a",
                "own_code_fault",
                None,
                {"part": "assignor", "name": "mine", "fault": "raises", "seen": "ValueError: no"},
            )
        ],
        "assignor mine of a raises: ValueError: no",
    ),
    (
        "converges",
        [(5, "a", "action", None, {"do": "thaw", "member": "a"}), state(6, "PreparingRebalance")],
        "the group is PreparingRebalance 700 s",
    ),
]


@pytest.mark.parametrize(("name", "rows", "seen"), BROKEN)
def test_a_planted_fault_is_found_by_its_invariant_and_by_no_other(name, rows, seen):
    (found,) = check(trace(*rows, end=700_005))
    assert found.invariant == name and seen in found.seen


def test_every_invariant_has_been_seen_to_fail():
    assert {name for name, _, _ in BROKEN} == set(INVARIANTS)


HOLDING = {
    "a partition goes from hand to hand": [holds(5, "a", ["t-0"]), holds(6, "a", []), holds(7, "b", ["t-0"])],
    "the removed one holds nothing": [
        holds(5, "a", ["t-0"]),
        of(6, "member_removed", "a"),
        holds(7, "b", ["t-0"]),
    ],
    "a static successor takes over": [
        holds(5, "a", ["t-0"]),
        of(6, "member_replaced", "b", old_member_id="a"),
        holds(7, "b", ["t-0"]),
    ],
    "whoever leaves for a while revokes nothing any more": [
        holds(5, "a", [], revoking=["t-0"]),
        of(6, "member_away", "a"),
        holds(7, "b", ["t-0"]),
    ],
    "a grown topic may be given": [
        (4, "broker", "topic_changed", "t-0", {"partitions": 3}),
        target(5, 2, {"a": ["t-0", "t-1", "t-2"]}),
    ],
    "a coordinator that starts anew counts anew": [
        bump(5, 3, "generation"),
        (6, "broker", "coordinator_up", None, {}),
        bump(7, 1, "generation"),
    ],
    "a converted group goes on in its own way": [
        bump(5, 3),
        (6, C, "group_converted", None, {}),
        bump(7, 3, "generation"),
    ],
    "whoever is fenced starts from epoch 0": [
        holds(5, "a", [], epoch=4),
        of(6, "member_removed", "a"),
        of(7, "member_added", "a"),
        holds(8, "a", [], epoch=2),
    ],
    "a refused commit is no commit": [of(5, "member_removed", "a"), commit(6, "a", "UNKNOWN_MEMBER_ID")],
    "who is added again may commit": [
        of(5, "member_removed", "a"),
        of(6, "member_added", "a"),
        commit(7, "a"),
    ],
    "a classic group is read back with those who were removed since": [
        of(5, "member_removed", "a"),
        (6, C, "group_loaded", None, {}),
        commit(7, "a"),
    ],
    "callbacks follow each other": [
        call(5, "assigned", []),
        call(6, "assigned", [], begin=False),
        owned(7, "t-0"),
        call(8, "revoked", ["t-0"]),
    ],
    "another life has nothing running": [
        call(5, "assigned", []),
        (6, "a", "process_ended", None, {}),
        call(7, "assigned", []),
    ],
    "nothing is asked of a group that was touched lately": [
        (690_000, "a", "action", None, {"do": "thaw"}),
        state(6, "PreparingRebalance"),
    ],
    "who begins at the end may commit that": [account(read=0, delivered=0)],
    "an account may hold records twice": [account(delivered=12, redelivered=2)],
}


@pytest.mark.parametrize("case", HOLDING)
def test_what_may_happen_is_no_violation(case):
    assert check(trace(*HOLDING[case], end=700_005)) == ()


def test_violations_come_in_the_order_of_time():
    found = check(
        trace(
            call(9, "lost", []),
            account(read=11, delivered=11),
            assigned(10, 1, {"a": ["t-0"], "b": ["t-0"]}),
            end=700_005,
        )
    )
    assert [one.at_ms for one in found] == [9, 10, 60_000]


def test_a_statement_says_in_one_sentence_what_holds():
    assert all(one.statement.endswith(".") and len(one.statement) > 30 for one in INVARIANTS.values())


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in scenarios.names()
        if name not in {"fifty-by-five-hundred", "defect-sticky-stale-leader"}
    ],
)
def test_no_scenario_of_the_kit_breaks_an_invariant(name):
    scenario = scenarios.load(name)
    plain = scenario.protocol is None and not any(
        "partition.assignment.strategy" in spec.configs or "group.protocol" in spec.configs
        for spec in scenario.members
    )
    for protocol in (
        ("eager", "cooperative", "sticky", "roundrobin", "consumer", "consumer-range") if plain else (None,)
    ):
        assert check(simulate(scenario, None, protocol)) == (), (name, protocol)


def test_flows_alone_break_nothing():
    assert check(trace(*flows(("t-0", "a", 0, 5), ("t-0", "b", 7, None)), end=1_000)) == ()
