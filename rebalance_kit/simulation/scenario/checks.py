"""Whether the things of a scenario can be: names, numbers, times, topics that somebody reads, patterns that end."""

from __future__ import annotations

import importlib
import math
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from rebalance_kit.model import errors
from rebalance_kit.model.config import BrokerConfig, ClientConfig
from rebalance_kit.model.key_types import illegal_name
from rebalance_kit.model.versions import parse_version
from rebalance_kit.simulation.learner_code.plug_ins import NOTHING, Supports
from rebalance_kit.simulation.scenario.scenario import MemberSpec, Scenario, TopicSpec

CLIENTS = ("java", "librdkafka")
CALLBACKS = ("default", "right", "wrong")
"""A librdkafka member's rebalance callback: the default one, one that looks at the protocol, one that calls the wrong family."""
COMMITS = ("auto", "per_batch", "revoked", "none", "before_processing")
MOST_MS = 7 * 24 * 3_600_000
MOST_PARTITIONS = 200_000
MOST_MEMBERS = 10_000
MOST_RATE = 1_000_000
MOST_WORK_S = 60.0
"""Seconds of simulation that a scenario may need, unless the variable ``WORK`` says otherwise."""
WORK = "REBALANCE_KIT_MOST_SECONDS"
_PER_MEMBER_SECOND, _PER_SHARE_SECOND, _PER_PAIR = 2.5e-5, 1.2e-8, 5e-7
"""Seconds that a heartbeat and a poll, the partitions of one member among each other, and a meeting of two joins cost here."""
MOST_NAME_BYTES = 100
RESERVED = ("coordinator", "broker", "admin", "run")
"""Names of other actors of a trace."""
Path = tuple[str | int, ...]


class BadScenario(errors.ScenarioError):
    """A scenario that cannot mean anything; ``path`` leads to the fault, as ``("members", 1, "start")``."""

    def __init__(self, message: str, path: Path = ()) -> None:
        self.path = path
        super().__init__(message)


def whole(value: Any) -> bool:
    """Whether a value is a whole number (True and False are none)."""
    return isinstance(value, int) and not isinstance(value, bool)


def number(value: Any) -> bool:
    """Whether a value is a number that can be calculated with (no NaN, no boolean)."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= 1e15


def check_things(scenario: Scenario) -> None:
    """Raise ``BadScenario`` for what cannot be in a scenario, actions and configs left aside."""
    where = scenario.name
    if not where:
        raise BadScenario("a scenario needs a name, got an empty one", ("scenario",))
    check_file_name(where, "scenario")
    check_file_name(scenario.protocol or "as written", "label")
    try:
        parse_version(scenario.kafka_version)
    except errors.ConfigError as error:
        raise BadScenario(f"{where}: {error}", ("kafka_version",)) from error
    _ms(scenario.end_ms, f"{where}: end", ("end",), least=1)
    if not whole(scenario.seed):
        raise BadScenario(f"{where}: seed is {scenario.seed!r}; expected a whole number", ("seed",))
    if not scenario.group:
        raise BadScenario(f"{where}: group is {scenario.group!r}; expected a group id", ("group",))
    _topics(scenario.topics, where)
    _nodes(scenario, where)
    _members(scenario, where)


def check_work(scenario: Scenario, most_s: float | None = None) -> None:
    """Raise ``BadScenario`` for a scenario of plain actions that would be simulated for minutes or hours.

    ``most_s`` is the bound in seconds; None takes ``MOST_WORK_S``, or what the variable ``WORK`` says.
    """
    grown = (
        int(action.args.get("partitions", 0))
        for action in scenario.actions
        if action.do in {"add_partitions", "create_topic"}
    )
    members = len(scenario.members)
    partitions = sum(topic.partitions for topic in scenario.topics) + sum(grown)
    seconds = scenario.end_ms / 1000
    shares = partitions**2 / max(members, 1)
    work_s = (
        seconds * (_PER_MEMBER_SECOND * members + _PER_SHARE_SECOND * shares) + _PER_PAIR * members * members
    )
    most = _most_work_s() if most_s is None else most_s
    hint = f", or a greater bound in the variable {WORK}" if most_s is None else ""
    if work_s > most:
        raise BadScenario(
            f"{scenario.name}: {partitions:,} partitions read by {members:,} members for {seconds:,.0f} s would be simulated for "
            f"about {work_s:,.0f} s; expected at most {most:,.0f}{hint}",
            ("end",),
        )


def _most_work_s() -> float:
    """The bound, as the environment has it."""
    text = os.environ.get(WORK, "")
    try:
        most = float(text) if text else MOST_WORK_S
    except ValueError:
        most = -1.0
    if not 0 < most < 1e9:
        raise BadScenario(f"{WORK} is {text!r}; expected seconds of simulation, more than 0")
    return most


def check_file_name(name: str, key: str) -> None:
    """Raise ``BadScenario`` for a name that cannot be a part of a file's name: results are written under it."""
    printable = all(letter.isprintable() for letter in name)
    if (
        not printable
        or set("/\\") & set(name)
        or name.startswith(".")
        or len(name.encode()) > MOST_NAME_BYTES
    ):
        shown = name if len(name) <= 2 * MOST_NAME_BYTES else name[:40] + "…"
        raise BadScenario(
            f"{key} is {shown!r}; expected a name for files: printable, without / and \\, not beginning with a dot, "
            f"at most {MOST_NAME_BYTES} bytes",
            (key,),
        )


def _ms(value: Any, what: str, path: Path, least: int = 0) -> None:
    if not whole(value) or not least <= value <= MOST_MS:
        raise BadScenario(f"{what} is {value!r}; expected milliseconds from {least} to {MOST_MS}", path)


def _topics(topics: tuple[TopicSpec, ...], where: str) -> None:
    seen: set[str] = set()
    for index, topic in enumerate(topics):
        path: Path = ("topics", index)
        why = illegal_name(topic.name)
        if why is not None:
            raise BadScenario(f"{where}: topic {topic.name!r} cannot be: {why}", (*path, "name"))
        if topic.name in seen:
            raise BadScenario(
                f"{where}: topic {topic.name!r} is named twice; expected each topic once", (*path, "name")
            )
        seen.add(topic.name)
        if not whole(topic.partitions) or not 1 <= topic.partitions <= MOST_PARTITIONS:
            raise BadScenario(
                f"{where}: topic {topic.name} has partitions {topic.partitions!r}; expected 1 to {MOST_PARTITIONS}",
                (*path, "partitions"),
            )
        if not number(topic.rate_per_s) or not 0 <= topic.rate_per_s <= MOST_RATE:
            raise BadScenario(
                f"{where}: topic {topic.name} has rate_per_s {topic.rate_per_s!r}; expected 0 to {MOST_RATE}",
                (*path, "rate_per_s"),
            )


def _nodes(scenario: Scenario, where: str) -> None:
    for node, rack in scenario.nodes.items():
        if not whole(node) or node < 0:
            raise BadScenario(
                f"{where}: nodes names broker {node!r}; expected node ids, whole numbers from 0", ("nodes",)
            )
        if rack == "":
            raise BadScenario(
                f"{where}: broker {node} has rack {rack!r}; expected a name (broker.rack), or null for none",
                ("nodes",),
            )


def _members(scenario: Scenario, where: str) -> None:
    if len(scenario.members) > MOST_MEMBERS:
        raise BadScenario(
            f"{where}: {len(scenario.members)} members; expected at most {MOST_MEMBERS}", ("members",)
        )
    made = {str(action.args.get("topic")) for action in scenario.actions if action.do == "create_topic"}
    known = {topic.name for topic in scenario.topics} | made
    subscribed = {action.member for action in scenario.actions if action.args.get("topics")}
    seen: set[str] = set()
    for index, spec in enumerate(scenario.members):
        path: Path = ("members", index)
        if spec.name in seen:
            raise BadScenario(
                f"{where}: member {spec.name!r} is named twice; expected each member once", (*path, "name")
            )
        if not spec.name or spec.name in RESERVED:
            raise BadScenario(
                f"{where}: {spec.name!r} cannot name a member; expected any other name than {', '.join(RESERVED)}",
                (*path, "name"),
            )
        seen.add(spec.name)
        _member(spec, f"{where}: member {spec.name}", path)
        _patterns(spec, f"{where}: member {spec.name}", path, longest=max(map(len, known), default=0))
        check_topics(spec.topics, known, f"{where}: member {spec.name}", (*path, "topics"))
        if not (spec.topics or spec.pattern or spec.server_pattern or spec.name in subscribed):
            raise BadScenario(
                f"{where}: member {spec.name} subscribes to nothing; expected topics, pattern or server_pattern "
                "(a Kafka consumer without them fails at its first poll)",
                path,
            )
        if spec.start_ms is not None and spec.start_ms > scenario.end_ms:
            raise BadScenario(
                f"{where}: member {spec.name} starts at {spec.start_ms} ms; expected at most the end, {scenario.end_ms}",
                (*path, "start"),
            )


def check_topics(topics: Iterable[str], known: set[str], where: str, path: Path) -> None:
    """Raise ``BadScenario`` for a topic that never exists in the scenario."""
    for topic in topics:
        if topic not in known:
            listed = ", ".join(sorted(known)) or "none, the scenario has no topics"
            raise BadScenario(
                f"{where}: topic {topic!r} never exists{errors.nearest(topic, sorted(known))} (expected one of {listed})",
                path,
            )


def _member(spec: MemberSpec, where: str, path: Path) -> None:
    if spec.start_ms is not None:
        _ms(spec.start_ms, f"{where}: start", (*path, "start"))
    _ms(spec.callback_ms, f"{where}: callback_ms", (*path, "callback_ms"))
    if not number(spec.processing_ms) or not 0 <= spec.processing_ms <= MOST_MS:
        raise BadScenario(
            f"{where}: processing_ms is {spec.processing_ms!r}; expected 0 to {MOST_MS} milliseconds a record",
            (*path, "processing_ms"),
        )
    for key, value, options in (
        ("client", spec.client, CLIENTS),
        ("callback", spec.callback, CALLBACKS),
        ("commit", spec.commit, COMMITS),
    ):
        if value not in options:
            raise BadScenario(
                f"{where}: {key} is {value!r}{errors.nearest(value, options)} (expected one of {', '.join(options)})",
                (*path, key),
            )
    ways = [key for key in ("topics", "pattern", "server_pattern") if getattr(spec, key)]
    if len(ways) > 1:
        raise BadScenario(
            f"{where}: both {' and '.join(ways)} are given; expected one of them", (*path, ways[-1])
        )


def _patterns(spec: MemberSpec, where: str, path: Path, longest: int) -> None:
    """Refuse what is no pattern, and what may try for ever on a topic's name of ``longest`` letters."""
    for key in ("pattern", "server_pattern"):
        pattern = getattr(spec, key) or ""
        try:
            steps = most_steps(pattern, longest)
            re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            raise BadScenario(
                f"{where}: {key} {pattern[:80]!r} is no regular expression: {error}", (*path, key)
            ) from error
        if steps > MOST_STEPS:
            raise BadScenario(
                f"{where}: {key} {pattern[:80]!r} can match a name in too many ways; "
                "expected fewer repeated parts, because trying them all may take for ever",
                (*path, key),
            )


# Refusals that can be foreseen: members whose very first request the coordinator will answer with a fatal error.
#
# A scenario file with such a member is refused, unless it says that this is what it wants to show
# (``expect: [INCONSISTENT_GROUP_PROTOCOL]``); the engine itself runs it and shows the member die.


ERRORS = (
    "INCONSISTENT_GROUP_PROTOCOL",
    "INVALID_SESSION_TIMEOUT",
    "UNSUPPORTED_ASSIGNOR",
    "UNSUPPORTED_VERSION",
)
ENDINGS = frozenset({"close", "crash", "restart", "reconfigure", "remove", "freeze"})


class Refusal(NamedTuple):
    """A foreseen fatal answer: Kafka's error and words, the member's index, the config key at fault, and the figures."""

    error: str
    message: str
    member: int
    key: str
    got: str


def foresee(scenario: Scenario, own: Supports = NOTHING) -> Iterator[Refusal]:
    """Fatal answers to members that start by themselves, as the scenario begins with them (no action considered).

    The scenario must have passed ``check``. Whether members share an assignor is asked only of classic members
    that run at the same time.
    """
    broker = BrokerConfig.of(scenario.broker, scenario.kafka_version)
    base = {"group.id": scenario.group}
    started: list[tuple[int, MemberSpec, ClientConfig]] = []
    for index, spec in enumerate(scenario.members):
        if spec.start_ms is None:
            continue
        config = ClientConfig.of(
            {**base, **spec.configs}, scenario.kafka_version, spec.name, spec.client, own
        )
        started.append((index, spec, config))
        yield from _alone(index, config, broker)
    yield from _together(scenario, started)


def _alone(index: int, config: ClientConfig, broker: BrokerConfig) -> Iterator[Refusal]:
    if config.protocol == "classic":
        if not broker.allows_session(config.session_timeout_ms):
            least, most = broker.min_session_timeout_ms, broker.max_session_timeout_ms
            got = f"session.timeout.ms={config.session_timeout_ms}, expected {least} to {most}"
            yield Refusal(
                "INVALID_SESSION_TIMEOUT",
                errors.MESSAGES["INVALID_SESSION_TIMEOUT"],
                index,
                "session.timeout.ms",
                got,
            )
    elif "consumer" not in broker.rebalance_protocols:
        got = f"group.protocol=consumer, the broker offers group.coordinator.rebalance.protocols={','.join(broker.rebalance_protocols)}"
        yield Refusal(
            "UNSUPPORTED_VERSION", errors.UNSUPPORTED_CONSUMER_PROTOCOL, index, "group.protocol", got
        )
    elif config.remote_assignor is not None and config.remote_assignor not in broker.consumer_assignors:
        listed = ", ".join(broker.consumer_assignors)
        message = f"ServerAssignor {config.remote_assignor} is not supported. Supported assignors: {listed}."
        yield Refusal(
            "UNSUPPORTED_ASSIGNOR",
            message,
            index,
            "group.remote.assignor",
            f"group.remote.assignor={config.remote_assignor}",
        )


def _together(scenario: Scenario, started: list[tuple[int, MemberSpec, ClientConfig]]) -> Iterator[Refusal]:
    classic = [config.assignors for _, _, config in started if config.protocol == "classic"]
    if not classic or frozenset(classic[0]).intersection(*classic[1:]):
        return
    ends = _first_endings(scenario)
    present: list[tuple[int, frozenset[str], str | None, str]] = []
    for index, spec, config in sorted(started, key=lambda entry: entry[1].start_ms or 0):
        if config.protocol != "classic":
            continue
        now = spec.start_ms or 0
        others = [entry for entry in present if entry[0] > now and entry[2] == config.group_id]
        shared = frozenset(config.assignors).intersection(*(names for _, names, _, _ in others))
        if others and not shared:
            others_list = "; ".join(
                f"{name} has {','.join(sorted(names))}" for _, names, _, name in others[:3]
            )
            got = f"partition.assignment.strategy={','.join(config.assignors)}, expected one name that all members have ({others_list})"
            yield Refusal(
                "INCONSISTENT_GROUP_PROTOCOL",
                errors.MESSAGES["INCONSISTENT_GROUP_PROTOCOL"],
                index,
                "partition.assignment.strategy",
                got,
            )
            continue
        present.append(
            (
                ends.get(spec.name, scenario.end_ms + 1),
                frozenset(config.assignors),
                config.group_id,
                spec.name,
            )
        )


def _first_endings(scenario: Scenario) -> dict[str, int]:
    """When something first happens to a member that may take it out of its group."""
    rolling = min(
        (action.at_ms for action in scenario.actions if action.do in {"rolling_restart", "scale_to"}),
        default=None,
    )
    ends: dict[str, int] = {} if rolling is None else {spec.name: rolling for spec in scenario.members}
    for action in scenario.actions:
        if action.do in ENDINGS and action.member is not None:
            ends[action.member] = min(action.at_ms, ends.get(action.member, action.at_ms))
    return ends


MOST_STEPS = 1e7
"""Steps of matching one name that are taken; about half a second."""


def most_steps(pattern: str, letters: int) -> float:
    """The most ways in which parts of ``pattern`` can share out a name of so many letters.

    Each part that may take more or less multiplies the ways, and a repeated part multiplies them at each turn. Raises
    ``re.error`` for what is no pattern.

    >>> most_steps("orders-.*", 10), most_steps("(a|b)?c", 10)
    (11.0, 2.0)
    >>> most_steps("(a+)+", 30) > MOST_STEPS
    True
    """
    parser: Any = importlib.import_module("re._parser")
    exponent = _ways(parser.parse(pattern), letters)
    return round(math.exp(exponent), 3) if exponent < 600 else math.inf


def _ways(parts: Any, letters: int) -> float:
    """The logarithm of the ways of a sequence: those of its parts multiply."""
    return math.fsum(_ways_of_part(str(kind), given, letters) for kind, given in parts)


def _ways_of_part(kind: str, given: Any, letters: int) -> float:
    if kind == "BRANCH":
        return math.log(len(given[1])) + max(_ways(one, letters) for one in given[1])
    if kind == "GROUPREF_EXISTS":
        return math.log(2) + max(_ways(one, letters) for one in given[1:] if one is not None)
    if kind.endswith("_REPEAT"):
        least, most, repeated = given
        turns: int = max(int(least), min(int(most), letters // max(1, int(repeated.getwidth()[0]))))
        return math.log(max(1, turns - int(least) + 1)) + turns * _ways(repeated, letters)
    if kind in {"SUBPATTERN", "ASSERT", "ASSERT_NOT"}:
        return _ways(given[-1], letters)
    return _ways(given, letters) if kind == "ATOMIC_GROUP" else 0.0
