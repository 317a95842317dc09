"""The clock of a run, against a plain list of what should happen."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rebalance_kit.simulation.kernel import Agenda

TIMES = st.integers(0, 40)
KEYS = st.sampled_from([("a",), ("b",), ("a", "b")])
DOINGS = st.one_of(
    st.tuples(st.just("at"), TIMES),
    st.tuples(st.just("set"), KEYS, TIMES),
    st.tuples(st.just("cancel"), KEYS),
    st.tuples(st.just("run"), st.integers(0, 15)),
)


class Plain:
    """The same promises kept naively: every entry in one list, a timer that is set anew takes the old one away."""

    def __init__(self) -> None:
        self.now = 0
        self.count = 0
        self.entries: list[tuple[int, int, Any]] = []

    def at(self, at: int, name: Any) -> None:
        self.count += 1
        self.entries.append((max(at, self.now), self.count, name))

    def set_timer(self, key: Any, at: int) -> None:
        self.cancel(key)
        self.at(at, key)

    def cancel(self, key: Any) -> None:
        self.entries = [one for one in self.entries if one[2] != key]

    def run(self, end: int) -> list[tuple[int, Any]]:
        done = sorted(one for one in self.entries if one[0] <= end)
        self.entries = [one for one in self.entries if one[0] > end]
        self.now = end
        return [(at, name) for at, _, name in done]


@given(st.lists(DOINGS, max_size=30))
def test_everything_happens_at_its_time_and_a_timer_at_most_once(doings):
    agenda, plain, happened, expected = Agenda(), Plain(), [], []
    for number, doing in enumerate([*doings, ("run", 60)]):
        match doing:
            case ("at", time):
                agenda.at(time, lambda name: happened.append((agenda.now_ms, name)), number)
                plain.at(time, number)
            case ("set", key, time):
                agenda.set_timer(key, time, lambda name: happened.append((agenda.now_ms, name)), key)
                plain.set_timer(key, time)
            case ("cancel", key):
                agenda.cancel_timer(key)
                plain.cancel(key)
            case ("run", more):
                end = agenda.now_ms + more
                agenda.run(end)
                expected += plain.run(end)
                assert agenda.now_ms == end
    assert sorted(happened, key=str) == sorted(expected, key=str)
    assert [at for at, _ in happened] == sorted(at for at, _ in happened)


@given(st.lists(TIMES, max_size=30))
def test_what_is_due_at_one_moment_happens_in_the_order_it_was_asked_for(times):
    agenda, happened = Agenda(), []
    for number, time in enumerate(times):
        agenda.at(time, happened.append, (time, number))
    agenda.run(50)
    assert happened == sorted(happened)


def test_an_entry_may_ask_for_another_one_at_the_same_moment():
    agenda, happened = Agenda(), []

    def first(_: Any) -> None:
        agenda.at(agenda.now_ms, happened.append, "second")
        happened.append("first")

    agenda.at(5, first, None)
    agenda.run(5)
    assert happened == ["first", "second"]


def test_a_moment_that_has_passed_means_now():
    agenda, happened = Agenda(), []
    agenda.run(100)
    agenda.at(50, lambda _: happened.append(agenda.now_ms), None)
    agenda.set_timer(("t",), 40, lambda _: happened.append(agenda.now_ms), None)
    agenda.run(100)
    assert happened == [100, 100]


def test_a_timer_moved_later_does_not_fire_at_its_old_moment():
    agenda, happened = Agenda(), []
    agenda.set_timer(("t",), 10, happened.append, "old")
    agenda.set_timer(("t",), 30, happened.append, "new")
    agenda.run(20)
    assert happened == []
    agenda.run(30)
    assert happened == ["new"]


def test_a_timer_moved_sooner_fires_sooner_and_once():
    agenda, happened = Agenda(), []
    agenda.set_timer(("t",), 30, happened.append, "old")
    agenda.set_timer(("t",), 10, happened.append, "new")
    agenda.run(60)
    assert happened == ["new"]
