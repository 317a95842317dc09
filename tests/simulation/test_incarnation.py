"""Lives of a process: timers end with them, a frozen one does later what was due, pins are asked by name."""

from __future__ import annotations

import pytest

from rebalance_kit.protocol.messages import ConsumerGroupHeartbeat, JoinGroup, Subscription
from rebalance_kit.simulation.client.effect_handlers import POLL_DELAYS
from rebalance_kit.simulation.client.incarnation import Incarnation
from rebalance_kit.simulation.cluster.network import Connection, Faults
from rebalance_kit.simulation.kernel import MEASURED, RunHost
from rebalance_kit.simulation.scenario.scenario import ReplayPins


class Silent:
    """A receiver that nothing is sent to."""

    def answered(self, request, response):
        raise AssertionError(request)

    def disconnected(self, request, cause):
        raise AssertionError(request)


@pytest.fixture
def run():
    return RunHost(1, MEASURED)


def life(run, number=1):
    return Incarnation(run, "c1", number, "classic", "orders-app")


def heartbeat(epoch):
    return ConsumerGroupHeartbeat("c1", "id", epoch)


def test_what_an_earlier_life_asked_for_never_happens(run):
    seen = []
    first = life(run)
    first.at(10, seen.append, "call")
    first.set_timer(("heartbeat",), 10, seen.append, "timer")
    first.alive = False
    life(run, 2).at(10, seen.append, "second life")
    run.agenda.run(20)
    assert seen == ["second life"]


def test_a_timer_of_a_new_life_replaces_that_of_the_same_key(run):
    seen = []
    life(run).set_timer(("heartbeat",), 10, seen.append, "first life")
    life(run, 2).set_timer(("heartbeat",), 15, seen.append, "second life")
    run.agenda.run(20)
    assert seen == ["second life"]


def test_what_was_postponed_is_done_once_and_what_is_first_comes_first(run):
    seen = []
    host = life(run)
    host.postpone(seen.append, "answer")
    host.postpone(seen.append, "session", first=True)
    host.postpone(seen.append, "poll")
    host.catch_up()
    host.catch_up()
    assert seen == ["session", "answer", "poll"]


def test_each_life_draws_from_streams_of_its_own(run):
    one, two = life(run), life(run, 2)
    assert one.chance() != two.chance()
    assert one.own_stream("metadata") is not two.own_stream("metadata")


def test_a_connection_carries_requests_in_the_order_in_which_they_are_sent(run):
    host = life(run)
    connection = Connection(host, Silent(), Faults(delay={"JoinGroup": 500}), None)
    join = JoinGroup("c1", "", None, 10_000, 60_000, (("range", Subscription(("orders",))),))
    slow = connection.trip(join).there_ms
    arrivals = [connection.trip(heartbeat(5)).there_ms for _ in range(20)]
    assert slow >= 500  # a fault delays one message alone
    assert arrivals == sorted(arrivals) and arrivals[-1] < 500


def test_pins_decide_arrivals_answers_and_ids_and_leave_the_rest_to_the_draw(run):
    pins = ReplayPins(first_request_ms=700, first_answer_ms=900, member_id="first", later_ids=("second",))
    connection = Connection(life(run), Silent(), Faults(), pins)
    trip = connection.trip(heartbeat(0))
    assert (trip.there_ms, trip.answer_ms) == (700, 900)
    assert connection.trip(heartbeat(1)).answer_ms is None
    assert [pins.given_id(number) for number in (1, 2, 3)] == ["first", "second", None]
    assert ReplayPins().first_poll_ms(drawn_ms=450, now_ms=0) == 450
    assert pins.first_poll_ms(drawn_ms=450, now_ms=0) == 698


def test_an_acknowledgement_leaves_at_its_pinned_moment_after_its_callback():
    pins = ReplayPins(acks_ms=(1_000, 9_000))
    assert pins.delay_to_ack_ms(40, 900, 30, first=True, last_step=True) == 70
    assert pins.delay_to_ack_ms(40, 900, 30, first=True, last_step=False) == 40
    assert pins.delay_to_ack_ms(80, 900, 30, first=True, last_step=False) == 50
    assert pins.delay_to_ack_ms(80, 8_900, 0, first=False, last_step=True) == 100
    assert ReplayPins().delay_to_ack_ms(80, 900, 30, first=True, last_step=True) == 80


def test_a_pinned_acknowledgement_far_ahead_is_another_ones():
    pins = ReplayPins(acks_ms=(9_000,))
    assert pins.delay_to_ack_ms(80, 8_000, 0, first=False, last_step=True) == 80
    assert pins.delay_to_ack_ms(80, 8_000, 0, first=True, last_step=True) == 1_000
    assert pins.delay_to_ack_ms(80, 2_000, 6_000, first=False, last_step=False) == 80
    assert pins.delay_to_ack_ms(9_000, 2_000, 6_500, first=False, last_step=False) == 3_500


def test_a_poll_that_is_wanted_for_nothing_known_is_an_error():
    with pytest.raises(KeyError):
        POLL_DELAYS["reconcile"]
