"""Plain words for numbers, partitions and members, as sentences and screen readers need them.

A sentence that counts with the clock holds marks, ``{left:66200}`` (seconds until) and
``{ago:22000}`` (seconds since), so that a player can count without asking again; ``fill`` puts the
numbers in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from rebalance_kit.model.config import CLIENTS, ClientConfig
from rebalance_kit.model.errors import ConfigError
from rebalance_kit.model.topology import TopicPartition, parse_partition
from rebalance_kit.model.versions import PREFERRED
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.board.states import BoardState, MemberView
from rebalance_kit.view.kinds import PARTITION_WORDS

_MARK = re.compile(r"\{(left|ago):(\d+)\}")
LISTED = 6


def seconds(ms: int) -> str:
    """A length of time, one decimal and its unit.

    >>> seconds(42_040)
    '42.0 s'
    """
    return f"{ms / 1000:.1f} s"


def length(ms: int) -> str:
    """How long something lasted: below a second in milliseconds.

    >>> length(46), length(45_046)
    ('46 ms', '45.0 s')
    """
    return f"{ms} ms" if ms < 1000 else seconds(ms)


def fill(text: str, at_ms: int) -> str:
    """Put the clock's numbers into a sentence.

    >>> fill("At most {left:66200} more, crashed {ago:22000} ago.", 24_200)
    'At most 42.0 s more, crashed 2.2 s ago.'
    """
    return _MARK.sub(
        lambda mark: seconds(max(0, int(mark[2]) - at_ms if mark[1] == "left" else at_ms - int(mark[2]))),
        text,
    )


def listing(words: Sequence[str]) -> str:
    """Words as a list in a sentence.

    >>> listing(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else list(words))


def partitions_in_words(names: Iterable[str]) -> str:
    """Partitions as one says them: the topic once, then numbers; long lists are counted.

    >>> partitions_in_words(["orders-1", "orders-3", "orders-5"]), partitions_in_words(["orders-4"])
    ('orders-1, 3 and 5', 'orders-4')
    """
    known = in_order(names)
    if len(known) > LISTED:
        return f"{known[0]} and {len(known) - 1} more partitions"
    spoken, topic = [], ""
    for name in known:
        number = _order(name)
        spoken.append(str(number.partition) if number.topic == topic else name)
        topic = number.topic
    return listing(spoken) if spoken else "nothing"


def in_order(names: Iterable[str]) -> list[str]:
    """Partitions by topic and number.

    >>> in_order(["orders-10", "orders-9"])
    ['orders-9', 'orders-10']
    """
    return sorted(names, key=_order)


@lru_cache(maxsize=4096)
def _order(name: str) -> TopicPartition:
    return parse_partition(name)


# --- one line each ------------------------------------------------------------------------------
def member_line(member: MemberView, board: BoardState) -> str:
    """A member in one sentence, as a screen reader says it."""
    parts = [
        member.state.doing
        if member.state.doing not in {"crashed", "gone", "died"}
        else f"{member.state.doing} {seconds(board.at_ms - member.since_ms)} ago"
    ]
    if member.state.error:
        parts.append(member.state.error)
    if member.state.generation is not None and member.state.life == "alive":
        parts.append(
            f"{'epoch' if member.state.protocol == 'consumer' else 'generation'} {member.state.generation}"
        )
    if member.state.life in {"crashed", "frozen", "died"} and member.session_ends_ms is not None:
        parts.append(f"session ends in {seconds(member.session_ends_ms - board.at_ms)}")
    parts.append(_holding(member, board))
    return f"{member.name}: {', '.join(parts)}."


def _holding(member: MemberView, board: BoardState) -> str:
    also = [each.name for each in board.partitions if member.name in each.state.also]
    if also:
        return f"still reads {partitions_in_words(also)}"
    if not member.owned:
        return "owns nothing"
    partitions = [each for each in board.partitions if each.name in set(member.owned)]
    words = {PARTITION_WORDS[each.state.word].spoken for each in partitions}
    state = (
        words.pop()
        if len(words) == 1
        else ", ".join(
            f"{each.name} {PARTITION_WORDS[each.state.word].spoken}"
            for each in partitions
            if each.state.word != "flows"
        )
    )
    verb = "holds" if member.state.life in {"crashed", "died", "frozen"} else "owns"
    return f"{verb} {partitions_in_words(member.owned)} ({state})"


# Refusals of the engine in a learner's words.


_OF_AN_ACTION = re.compile(
    r"^[^:]{1,80}: action \d+ \((?P<do>\w+)(?: (?P<member>[^ ]+))? at (?P<at>\d+) ms\): (?P<why>.+?)(?:; expected .*)?$",
    re.DOTALL,
)
_HINTS = {
    "duplicate": "Only a static member can have a second process with its id; the lessons under Identity have some.",
    "heal_network": "Cut it off first (X).",
    "cut_network": "Let it reach the coordinator again first.",
}


def plainly(words: str) -> str:
    """A refusal without the number of the action that is refused, and with what helps.

    >>> plainly("crash: action 6 (broker_up at 1064 ms): the broker is up; expected a broker_down before")
    'Not at 1.1 s: the broker is up.'
    """
    told = _OF_AN_ACTION.match(words)
    if told is None:
        return words
    hint = _HINTS.get(told["do"], "")
    return f"Not at {seconds(int(told['at']))}: {told['why'].rstrip('.')}. {hint}".rstrip()


# The three protocols of a group as the lab names them, and which of them the members of a run speak.


PROTOCOL_WORDS: Mapping[str, str] = MappingProxyType(
    {"eager": "Eager", "cooperative": "Cooperative", "consumer": "Consumer"}
)
PROTOCOL_SAYS: Mapping[str, str] = MappingProxyType(
    {
        "eager": "The classic protocol, eager: every member gives up all its partitions before it joins again.",
        "cooperative": "The classic protocol, cooperative (KIP-429): members keep what they own, and give up only what has to move.",
        "consumer": "The consumer group protocol (KIP-848): the coordinator assigns, and each member follows with its heartbeats.",
    }
)


def own_protocols(boards: Boards) -> list[str]:
    """The protocols that the members of a run are configured for, in the order of ``PROTOCOL_WORDS``.

    >>> from rebalance_kit.scenarios import load
    >>> from rebalance_kit.simulation.simulate import simulate
    >>> [own_protocols(Boards(simulate(load(name)))) for name in ("wrong-librdkafka-callback", "migration")]
    [['cooperative'], ['eager', 'consumer']]
    """
    version = str(boards.trace.meta.get("kafka_version", PREFERRED))
    spoken = {
        _spoken(row.detail, version)
        for row in boards.trace.of("process_started")
        if row.detail.get("group", boards.group_name) == boards.group_name
    }
    return [name for name in PROTOCOL_WORDS if name in spoken]


def _spoken(started: Mapping[str, Any], version: str) -> str:
    """The protocol of one process; empty for a configuration that Kafka refuses."""
    configs, client = started.get("configs", {}), str(started.get("client", CLIENTS[0]))
    try:
        config = ClientConfig.of({"group.id": "group", **configs}, version, client=client)
    except ConfigError:
        return ""
    return "consumer" if config.protocol == "consumer" else config.mode.lower()
