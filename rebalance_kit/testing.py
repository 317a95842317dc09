"""A pytest plugin: your own rebalance listener against every deed and protocol of the engine, before production does it.

``pytest_plugins = ["rebalance_kit.testing"]`` in a ``conftest.py`` brings the fixture ``rebalance``::

    def test_my_listener(rebalance):
        runs = rebalance(MyListener, commit="none")
        runs.assert_no_record_lost()
        runs.assert_at_most_twice(50)
        runs.assert_callbacks_within(1.0)

A listener is a class (built anew for each life of a process) or an object with any of ``on_assigned``, ``on_revoked``, ``on_lost``,
each called with ``(partitions, consumer)``, and ``on_records(records, consumer)``, which processes. What the application writes goes
to a store that the test gives: ``rebalance(App, store=Database)`` builds one per run, and each life is ``App(store)``. Runs are
deterministic: the same code and seeds give the same runs. What fails is told with the shortest history found that still shows
it, and with a link that opens it in the lab.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, cast

import pytest

from rebalance_kit.analysis.deliveries import TWICE, deliveries
from rebalance_kit.analysis.search import shrink
from rebalance_kit.clients.mock_cluster import ClientRun, run_clients
from rebalance_kit.exercises.code_running import first_skip
from rebalance_kit.live import Broker, Group
from rebalance_kit.model.errors import ConfigError, RebalanceKitError, ScenarioError, nearest
from rebalance_kit.model.trace import Trace
from rebalance_kit.protocol.messages import NONE
from rebalance_kit.simulation.client.effect_handlers import CommitFailed, Record
from rebalance_kit.simulation.learner_code.plug_ins import as_partition
from rebalance_kit.simulation.permalink import Link, write_link
from rebalance_kit.simulation.scenario.scenario import (
    THREE_PROTOCOLS,
    Action,
    MemberSpec,
    Scenario,
    TopicSpec,
    with_protocol,
)
from rebalance_kit.simulation.simulate import simulate

__all__ = [
    "DEEDS",
    "CommitFailed",
    "OneRun",
    "Rebalance",
    "Runs",
    "mock_cluster",
    "real_broker",
    "real_cluster",
    "rebalance",
]
SHRINK_TRIES = 120
_BEGIN = "auto.offset.reset"
_AT_MS = 32_000
_DEEDS: Mapping[str, tuple[Action, ...]] = {
    "a member joins": (Action(_AT_MS, "start", "c"),),
    "a member comes and goes": (Action(_AT_MS, "start", "c"), Action(_AT_MS + 20_000, "close", "c")),
    "a member leaves": (Action(_AT_MS, "close", "b"),),
    "a crash": (Action(_AT_MS, "crash", "b"),),
    "a restart": (Action(_AT_MS, "restart", "b", {"after_ms": 4_000}),),
    "the poll timeout passes": (Action(_AT_MS, "stall", "b", {"for_ms": 30_000}),),
    "a freeze beyond the session": (Action(_AT_MS, "freeze", "b"), Action(_AT_MS + 25_000, "thaw", "b")),
    "a slow callback": (
        Action(_AT_MS - 8_000, "slow_callback", "a", {"callback_ms": 3_000}),
        Action(_AT_MS, "start", "c"),
    ),
    "the topic grows": (Action(_AT_MS, "add_partitions", None, {"topic": "orders", "partitions": 6}),),
    "the coordinator moves": (Action(_AT_MS, "coordinator_failover", None, {"for_ms": 2_000}),),
}
_COMMITS = {
    "auto": "the consumer, every auto.commit.interval.ms, as in Kafka; the default",
    "none": "nobody else: for an application that calls consumer.commit() itself",
    "per_batch": "the loop, after each batch",
    "before_processing": "the loop, before each batch is processed",
}
"""Who commits besides the listener."""
_APART_MS = 5_000
"""How far apart members close where there is a store: each after the rebalance before."""
DEEDS = tuple(_DEEDS)
"""What is done to the group, one per run."""


@dataclass(frozen=True, slots=True)
class OneRun:
    """One run: the deed, the protocol, the seed, and its trace."""

    deed: str
    protocol: str
    seed: int
    scenario: Scenario
    trace: Trace
    store: Any
    asked: Scenario
    """The scenario without the closing that a run with a store ends with."""
    handled: Sequence[tuple[int, str, Sequence[Record]]] = ()
    """What each call of ``on_records`` was given, and when, where that was asked for."""

    def __str__(self) -> str:
        return f"{self.deed}, {self.protocol}, seed {self.seed}"


Fault = Callable[[OneRun], str | None]
Stored = Callable[[Any], Iterable[tuple[Any, int]]]
"""What a store holds: a partition and an offset per record, as often as it was stored."""


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs of one listener; each assertion looks at all of them and fails with the first that shows the fault."""

    application: _Application
    runs: tuple[OneRun, ...]

    def __iter__(self) -> Iterator[OneRun]:
        return iter(self.runs)

    def assert_no_record_lost(self) -> None:
        """Every record of the log is read by somebody: nobody begins past a record that nobody has read."""
        self._assert(lambda run: _lost(run.trace))

    def assert_at_most_twice(self, records: int) -> None:
        """In no run are more than this many records delivered again."""
        self._assert(lambda run: _twice(run.trace, records))

    def assert_callbacks_within(self, seconds: float) -> None:
        """No callback takes longer, in the run's own time: its commits, and what the deed *a slow callback* adds."""
        self._assert(lambda run: _slow(run.trace, seconds))

    def assert_no_callback_raised(self) -> None:
        """No callback raised, returned something, or never returned (the other assertions look at this, too)."""
        self._assert(lambda _: None)

    def assert_stored(self, stored: Stored, *, at_most: int | None = None) -> None:
        """Every record that the group has committed is in the store; none more often than ``at_most`` times, if that is given.

        ``stored(store)`` gives a partition (``orders-0``, or as ``Record`` has it) and an offset per stored record, as often as it
        was stored.
        """
        self._assert(lambda run: _stored(run, stored, at_most))

    def assert_that(self, check: Callable[[OneRun], object]) -> None:
        """``check(run)`` raises no ``AssertionError``: a rule of your own over ``run.store`` and ``run.trace``."""
        self._assert(lambda run: _failed(check, run))

    def _assert(self, fault: Fault) -> None:
        __tracebackhide__ = True
        for run in self.runs:
            said = _own_fault(run.trace) or fault(run)
            if said is not None:
                pytest.fail(self._told(run, said, fault), pytrace=False)

    def _told(self, run: OneRun, said: str, fault: Fault) -> str:
        def again(scenario: Scenario) -> OneRun:
            return self.application.run(scenario, run.deed, run.protocol, run.seed, notes=True)

        raised = _kind_of_fault(run.trace)

        def shows(candidate: Scenario) -> bool:
            first = run.scenario.members[0]
            if any(
                (spec.configs.get(_BEGIN), spec.commit) != (first.configs[_BEGIN], first.commit)
                for spec in candidate.members
            ):
                return False  # who begins elsewhere, or commits otherwise, has another fault
            try:
                one = again(candidate)
            except RebalanceKitError:
                return False
            return _kind_of_fault(one.trace) == raised if raised else fault(one) is not None

        shortest = again(shrink(run.asked, shows, SHRINK_TRIES)[0])
        trace = shortest.trace
        history = "\n".join(f"  {line}" for line in _history(shortest))
        link = write_link(Link(shortest.scenario, seed=run.seed))
        deeds = Counter(one.deed for one in self.runs if (_own_fault(one.trace) or fault(one)) is not None)
        head, *more = said.splitlines()
        there = (_own_fault(trace) or fault(shortest) or _ONCE).splitlines()[0]
        told = "".join(f"{line}\n" for line in more)
        which = "; ".join(f"{deed} {number}" for deed, number in deeds.most_common())
        told += f"Runs that show it, by deed: {which}\n" if len(deeds) > 1 else ""
        return (
            f"{head} ({run}; {deeds.total()} of {len(self.runs)} runs show it)\n{told}"
            f"The shortest history that shows it; in it: {there}\n{history}\n"
            f"The same deeds in the lab, where members of the kit stand in for your code, so that what follows may differ: rebalance-kit lab {link}"
        )


@dataclass(frozen=True, slots=True)
class _Application:
    """The learner's own: its listener, and what makes the store of each run."""

    listener: Any
    store: Callable[[], Any] | None

    def run(self, scenario: Scenario, deed: str, protocol: str, seed: int, *, notes: bool = False) -> OneRun:
        asked, listener, store = scenario, self.listener, None
        handled: list[tuple[int, str, Sequence[Record]]] = []
        if self.store is not None:
            store = self.store()
            listener, scenario = _with_store(listener, store), _closed(scenario)
        if notes:
            listener = _noting(listener, handled)
        trace = simulate(scenario, seed, listeners={spec.name: listener for spec in scenario.members})
        return OneRun(deed, protocol, seed, scenario, trace, store, asked, handled)


def _closed(scenario: Scenario) -> Scenario:
    """Whoever lives closes in the end: what it keeps in its memory until then is no fault."""
    closes = tuple(
        Action(scenario.end_ms + _APART_MS * place, "close", spec.name)
        for place, spec in enumerate(scenario.members)
    )
    end_ms = scenario.end_ms + _APART_MS * (len(scenario.members) + 1)
    return replace(scenario, actions=(*scenario.actions, *closes), end_ms=end_ms)


def _with_store(listener: Any, store: Any) -> type:
    """The class, whose every life gets the store of the run."""
    if not isinstance(listener, type):
        raise ScenarioError(
            f"store= is given, and the listener is {listener!r:.80}; expected a class, which is built as {type(listener).__name__}(store) for each life of a process"
        )

    def begin(self: Any) -> None:
        super(built, self).__init__(store)

    built: Any = type(listener.__name__, (listener,), {"__init__": begin})
    return cast("type", built)


def _noting(listener: Any, handled: list[tuple[int, str, Sequence[Record]]]) -> Any:
    """The class, which writes down what its ``on_records`` is given; an object stays as it is."""
    if not isinstance(listener, type) or not hasattr(listener, "on_records"):
        return listener

    def on_records(self: Any, records: Sequence[Record], consumer: Any) -> Any:
        handled.append((consumer.now_ms, consumer.name, tuple(records)))
        return super(built, self).on_records(records, consumer)

    built: Any = type(listener.__name__, (listener,), {"on_records": on_records})
    return built


class Rebalance:
    """The fixture's value: call it with a listener to have it run."""

    def __call__(
        self,
        listener: Any,
        *,
        commit: str = "auto",
        configs: Mapping[str, Any] | None = None,
        deeds: Sequence[str] = DEEDS,
        protocols: Sequence[str] = THREE_PROTOCOLS,
        seeds: Sequence[int] = (1, 2),
        processing_ms: float = 2.0,
        store: Callable[[], Any] | None = None,
    ) -> Runs:
        """Run the listener under every deed, protocol and seed asked for.

        ``commit`` is who commits besides the listener: auto, as in Kafka, unless said; none for an application that commits itself;
        per_batch, before_processing. ``configs`` are the consumer's, in Kafka's keys. ``store`` makes what a run's application writes
        to; the listener is then a class, built with it. Raises ``ScenarioError`` for an unknown deed and for what Kafka would refuse,
        ``ConfigError`` for another ``commit``.
        """
        for deed in deeds:
            if deed not in _DEEDS:
                raise ScenarioError(
                    f"deed {deed!r} is unknown{nearest(deed, DEEDS)}; expected one of {', '.join(DEEDS)}"
                )
        if commit not in _COMMITS:
            raise ConfigError(
                f"commit={commit!r} is unknown{nearest(commit, _COMMITS)}; expected one of "
                + "; ".join(f"{name!r} ({what})" for name, what in _COMMITS.items())
            )
        application = _Application(listener, store)
        made = []
        for deed in deeds:
            base = _scenario(deed, commit, configs or {}, processing_ms)
            for protocol in protocols:
                for scenario in _moments(with_protocol(base, protocol), deed, stores=store is not None):
                    made += [application.run(scenario, deed, protocol, seed) for seed in seeds]
        return Runs(application, tuple(made))


@pytest.fixture
def rebalance() -> Rebalance:
    """Runs your own rebalance listener in the engine: ``rebalance(MyListener, commit="none")``."""
    return Rebalance()


_MOCK_DEEDS: Mapping[str, Mapping[str, Mapping[str, float]]] = {
    "a member joins": {"c": {"from_s": 6}},
    "a member comes and goes": {"c": {"from_s": 6, "until_s": 14}},
    "a member leaves": {"b": {"from_s": 0, "until_s": 8}},
    "a restart": {"b": {"from_s": 0, "until_s": 8}, "b again": {"from_s": 10}},
    "the poll timeout passes": {"b": {"from_s": 0, "stalls_at_s": 8, "stalls_s": 9}},
}
"""The deeds that clients of one process can do on a mock cluster, by what their members do when."""
_MOCK_S = 20.0


@pytest.fixture
def mock_cluster() -> Callable[..., ClientRun]:
    """Runs your callbacks (``on_assign``, ``on_revoke``, ``on_lost``) in real librdkafka clients over its mock cluster: see ``run_clients``.

    ``mock_cluster(callbacks, deed="a member leaves", strategy="consumer")`` gives what the clients did: ``run.of("callback")``,
    ``run.reads("a")``, ``run.summary``. Without a deed, ``members`` and ``seconds`` say who is there when. Raises ``ScenarioError`` for a deed
    that the mock cluster cannot do. Takes real time; needs the extra ``clients``.
    """

    def made(callbacks: Any = None, *, deed: str | None = None, **arguments: Any) -> ClientRun:
        return run_clients(callbacks, **(arguments if deed is None else _on_mock(deed, arguments)))

    return made


def _on_mock(deed: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of ``run_clients`` that do a deed of the engine."""
    if deed not in _MOCK_DEEDS:
        why = (
            "cannot be done on the mock cluster: its clients live in one process, and its topic and coordinator stay as they are; do it on real_cluster"
            if deed in _DEEDS
            else f"is unknown{nearest(deed, DEEDS)}"
        )
        raise ScenarioError(f"deed {deed!r} {why}; expected one of {', '.join(_MOCK_DEEDS)}")
    limit = {"max.poll.interval.ms": 6_000, **arguments.get("configs", {})}
    members = {"a": {"from_s": 0}, "b": {"from_s": 0}, **_MOCK_DEEDS[deed]}
    return {"seconds": _MOCK_S, **arguments, "configs": limit, "members": members}


@pytest.fixture(scope="session")
def real_broker() -> Iterator[Broker]:
    """A real Kafka for the whole session, with the proxy before its members; it ends with pytest, whatever ends that."""
    with Broker(proxied=True) as broker:
        yield broker


@pytest.fixture
def real_cluster(real_broker: Broker) -> Iterator[Callable[..., Group]]:
    """Makes a group on a real Kafka: ``real_cluster({"orders": 4}, name="orders-app", protocol="cooperative")``.

    Your consumer connects to ``group.broker.members`` and joins ``group.name``; members of the kit stand beside it (``group.start``), and
    every deed is one call (``group.do("kill", "a")``). Needs Java and, once, a network: docs/live.md.
    """
    with ExitStack() as open_groups:

        def make(topics: Mapping[str, int] | None = None, **arguments: Any) -> Group:
            return open_groups.enter_context(Group(real_broker, topics, **arguments))

        yield make


def _scenario(deed: str, commit: str, configs: Mapping[str, Any], processing_ms: float) -> Scenario:
    given = {
        _BEGIN: "earliest",
        "session.timeout.ms": 10_000,
        "heartbeat.interval.ms": 3_000,
        "max.poll.interval.ms": 20_000,
        "metadata.max.age.ms": 10_000,
        **configs,
    }
    spec = MemberSpec("a", ("orders",), given, commit=commit, processing_ms=processing_ms)
    members = (spec, replace(spec, name="b", start_ms=700), replace(spec, name="c", start_ms=None))
    broker = {"group.consumer.session.timeout.ms": 10_000, "group.consumer.min.session.timeout.ms": 10_000}
    broker |= {
        "group.consumer.heartbeat.interval.ms": 3_000,
        "group.consumer.min.heartbeat.interval.ms": 3_000,
    }
    return Scenario(
        deed.replace(" ", "-"),
        (TopicSpec("orders", 4),),
        members,
        _DEEDS[deed],
        90_000,
        broker=broker,
        title=deed,
    )


def _moments(scenario: Scenario, deed: str, *, stores: bool) -> list[Scenario]:
    """The scenario; where an application stores, a crash at several moments of an auto-commit interval."""
    spread = range(0, 5_000, 800) if stores and deed == "a crash" else (0,)
    return [
        replace(
            scenario,
            actions=tuple(replace(action, at_ms=action.at_ms + later) for action in scenario.actions),
        )
        for later in spread
    ]


def _own_fault(trace: Trace) -> str | None:
    for row in trace.of("own_code_fault"):
        held = row.detail
        return f"{held['name']} of {row.actor} {held['fault']} at {row.at_ms / 1000:.1f} s: {held['seen']}"
    return None


#: A callback that did not return in time once may return in the next run.
_ONCE = "this time it did not: what does not return within a limit of real time may do so on a machine that is less busy"


def _kind_of_fault(trace: Trace) -> str | None:
    """Which callback fails, and how: raises what, returns something, or blocks; None where none does."""
    for row in trace.of("own_code_fault"):
        seen = str(row.detail["seen"]).split(":", 1)[0] if row.detail["fault"] == "raises" else ""
        return f"{row.detail['name']} {row.detail['fault']} {seen}"
    return None


def _lost(trace: Trace) -> str | None:
    skip = first_skip(trace)
    if skip is None:
        return None
    at_ms, partition, records, member, total = skip
    return f"{total} records are lost; the first {records} in {partition}, where {member} began behind them at {at_ms / 1000:.1f} s"


def _twice(trace: Trace, most: int) -> str | None:
    again = [each for each in deliveries(trace) if each.kind == TWICE]
    count = sum(each.records for each in again)
    if count <= most:
        return None
    worst = max(again, key=lambda each: each.records)
    return (
        f"{count} records are delivered again, at most {most} were allowed; {worst.records} of them in {worst.partition}, "
        f"by {worst.member} at {worst.at_ms / 1000:.1f} s"
    )


def _slow(trace: Trace, seconds: float) -> str | None:
    begun: dict[str, tuple[int, str]] = {}
    for row in trace.of("callback_begin", "callback_end"):
        if row.kind == "callback_begin":
            begun[row.actor] = (row.at_ms, str(row.detail["callback"]))
            continue
        since, name = begun.pop(row.actor, (row.at_ms, ""))
        if row.at_ms - since > seconds * 1000:
            return f"on_{name} of {row.actor} took {(row.at_ms - since) / 1000:.1f} s from {since / 1000:.1f} s on, {seconds:g} were allowed"
    return None


def _stored(run: OneRun, stored: Stored, at_most: int | None) -> str | None:
    held = Counter((str(as_partition(partition)), offset) for partition, offset in stored(run.store))
    missing = [
        (f"{row.topic}-{row.partition}", offset)
        for row in run.trace.of("account")
        for offset in range(row.detail["committed"] or 0)
        if (f"{row.topic}-{row.partition}", offset) not in held
    ]
    if missing:
        partition, offset = missing[0]
        by_default = (
            '\ncommit="auto" is the default, by which the consumer commits what was handed out; an application that commits itself takes commit="none"'
            if run.scenario.members[0].commit == "auto"
            else ""
        )
        return f"{len(missing)} records are committed, and not in the store; the first is {partition} at offset {offset}{by_default}"
    many = [(times, record) for record, times in held.items() if at_most is not None and times > at_most]
    if many:
        times, (partition, offset) = max(many)
        return f"{len(many)} records are in the store more than {'once' if at_most == 1 else f'{at_most} times'}; {partition} at offset {offset} is there {times} times"
    return None


def _failed(check: Callable[[OneRun], object], run: OneRun) -> str | None:
    try:
        check(run)
    except AssertionError as error:
        return str(error).strip() or "the check failed"
    return None


_SHOWN = 24


def _history(run: OneRun) -> list[str]:
    """Actions, callbacks, deliveries and the application's own steps in order, in words."""
    lines: list[tuple[int, int, str]] = []
    trace, last_ms = run.trace, run.asked.end_ms
    closed = {
        row.actor
        for row in trace.of("process_ended")
        if row.at_ms >= last_ms and row.detail["how"] == "closed"
    }
    closing = {(action.at_ms, action.member) for action in run.scenario.actions[len(run.asked.actions) :]}
    for row in trace.of("action"):
        if (row.at_ms, row.actor) not in closing:
            lines.append((row.at_ms, 0, f"{row.detail['do']} {row.actor}"))
        elif row.actor in closed:
            lines.append((row.at_ms, 0, f"close {row.actor} (end of the run)"))
    for row in trace.of("callback_begin"):
        what = ", ".join(map(str, row.detail["partitions"])) or "nothing"
        lines.append((row.at_ms, 2, f"{row.actor}  on_{row.detail['callback']}: {what}"))
    for each in deliveries(trace):
        word = "delivered again" if each.kind == TWICE else "passed over"
        lines.append(
            (
                each.at_ms,
                3,
                f"{each.member}  {each.records} records of {each.partition} {word}, from offset {each.first_offset}",
            )
        )
    lines += _steps(run, sorted({at_ms for at_ms, *_ in lines}))
    ordered = [f"{at_ms / 1000:6.1f} s  {words}" for at_ms, _, words in sorted(lines, key=itemgetter(0, 1))]
    left = len(ordered) - _SHOWN
    return ordered if left <= 0 else [*ordered[:_SHOWN], f"… and {left} more"]


def _steps(run: OneRun, moments: Sequence[int]) -> Iterator[tuple[int, int, str]]:
    """What the application did, one line per member for all that it did between two ``moments``."""
    between: dict[tuple[int, str], tuple[int, dict[str, tuple[int, int]]]] = {}
    for at_ms, member, records in run.handled:
        key = bisect_left(moments, at_ms), member
        spans = between.get(key, (0, {}))[1]
        for record in records:
            name = str(record.partition)
            spans[name] = (spans.get(name, (record.offset, 0))[0], record.offset)
        between[key] = at_ms, spans
    for (_, member), (at_ms, spans) in between.items():
        told = ", ".join(f"{name} {first}\u2013{last}" for name, (first, last) in sorted(spans.items()))
        yield at_ms, 1, f"{member}  on_records: {told}"
    commits = {
        (bisect_left(moments, row.at_ms), row.actor, row.detail["error"]): row
        for row in run.trace.of("commit")
    }
    for row in commits.values():
        what = ", ".join(f"{name} at {offset}" for name, offset in sorted(row.detail["offsets"].items()))
        refused = "" if row.detail["error"] == NONE else f" is refused: {row.detail['error']}"
        yield row.at_ms, 4, f"{row.actor}  commit ({row.detail['how']}) {what}{refused}"
