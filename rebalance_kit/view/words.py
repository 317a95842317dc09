"""Plain words for a moment: the sentence, the line below it, one line a member and a partition.

A sentence that counts with the clock holds marks, ``{left:66200}`` (seconds until) and
``{ago:22000}`` (seconds since), so that a player can count without asking again; ``fill`` puts the
numbers in. Order of causes: fault, waiting, callback, move, steady.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rebalance_kit.model.topology import parse_partition
from rebalance_kit.view.state import BoardState, MemberView, PartitionView

_MARK = re.compile(r"\{(left|ago):(\d+)\}")
LISTED = 6
AS_A_FACT = {"flows": "flowing", "give up": "to be given up", "callback": "stopped by a callback", "new": "new, no record yet", "was leaving": "stopped while leaving"}


class Sentence(NamedTuple):
    """What is going on (drawn bold), and what follows from it."""

    cause: str
    effect: str


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
    return _MARK.sub(lambda mark: seconds(max(0, int(mark[2]) - at_ms if mark[1] == "left" else at_ms - int(mark[2]))), text)


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
    known = sorted(names, key=parse_partition)
    if len(known) > LISTED:
        return f"{known[0]} and {len(known) - 1} more partitions"
    spoken, topic = [], ""
    for name in known:
        one = parse_partition(name)
        spoken.append(str(one.partition) if one.topic == topic else name)
        topic = one.topic
    return listing(spoken) if spoken else "nothing"


# --- the sentence -------------------------------------------------------------------------------
def sentence(board: BoardState) -> Sentence:
    """The sentence of a moment, with marks for ``fill``."""
    cause, told = _cause(board)
    return Sentence(cause, " ".join(part for part in (told, _effect(board)) if part))


def _cause(board: BoardState) -> tuple[str, str]:
    for rule in (_coordinator_away, _fault, _waiting, _handing_over, _callback, _moving):
        found = rule(board)
        if found is not None:
            return found
    return _steady(board)


def _coordinator_away(board: BoardState) -> tuple[str, str] | None:
    if board.group.up:
        return None
    return "The coordinator is away.", "Members keep what they have; nobody can join, leave or commit."


def _fault(board: BoardState) -> tuple[str, str] | None:
    bad = [one for one in board.members if one.state.doing in {"crashed", "frozen", "died", "left"} and one.state.standing == "member"]
    if not bad:
        return _zombie(board)
    one = bad[0]
    did = {"crashed": "crashed", "frozen": "is frozen", "died": f"died of {one.state.error}", "left": "left without a word"}[one.state.doing]
    left = f"At most {{left:{one.session_ends_ms}}} more, then its session ends." if one.session_ends_ms is not None else ""
    if board.group.state == "PreparingRebalance" and one.name in board.group.awaited:
        return f"The join phase waits for {one.name}, which {did}.", left
    if len(bad) > 1:
        return f"{listing([each.name for each in bad])} do nothing any more. The group does not know yet.", left
    return f"{one.name} {did}. The group does not know yet.", left


def _zombie(board: BoardState) -> tuple[str, str] | None:
    for one in board.members:
        if one.state.doing == "removed, still works":
            return f"{one.name} was removed from the group but still works.", "What it does now is done twice."
    return None


def _waiting(board: BoardState) -> tuple[str, str] | None:
    group = board.group
    if group.state == "PreparingRebalance":
        return _join_phase(board)
    if group.state == "CompletingRebalance":
        leader = next((one.name for one in board.members if one.state.leader), None)
        return f"Everybody has joined generation {group.generation}. The leader's plan is on its way.", f"Leader: {leader}." if leader else ""
    return None


def _join_phase(board: BoardState) -> tuple[str, str]:
    awaited = board.group.awaited
    if not awaited:
        return "The join phase is open and waits for more members.", "The first rebalance of an empty group waits group.initial.rebalance.delay.ms."
    busy = [one for one in board.members if one.name in awaited and one.state.callback is not None]
    if busy:
        return f"The join phase waits for {busy[0].name}, which is in {busy[0].state.callback}.", ""
    if len(awaited) > LISTED:
        return f"The join phase waits for {len(awaited)} members.", "They hear of it with their next heartbeat."
    hears = "it hears" if len(awaited) == 1 else "they hear"
    return f"The join phase waits for {listing(awaited)}.", f"{hears.capitalize()} of the rebalance with the next heartbeat."


def _handing_over(board: BoardState) -> tuple[str, str] | None:
    waits = [one for one in board.partitions if one.state.target is not None and one.state.target != one.state.owner]
    if board.group.protocol != "consumer" or not waits:
        return None
    held = [one for one in waits if one.state.owner is not None]
    if held:
        first = held[0].state
        several = [one.name for one in held if (one.state.owner, one.state.target) == (first.owner, first.target)]
        return f"{first.owner} has to give up {partitions_in_words(several)} for {first.target}.", f"Group epoch {board.group.generation}: nobody else waits."
    takers = sorted({one.state.target or "" for one in waits})
    return f"{listing(takers[:LISTED])} will get {partitions_in_words(one.name for one in waits)} with the next heartbeat.", ""


def _callback(board: BoardState) -> tuple[str, str] | None:
    busy = [one for one in board.members if one.state.callback is not None]
    if not busy:
        return None
    names = listing([one.name for one in busy[:LISTED]])
    return f"{names} {'is' if len(busy) == 1 else 'are'} in {busy[0].state.callback}.", ""


def _moving(board: BoardState) -> tuple[str, str] | None:
    fresh = [one for one in board.partitions if one.state.word == "new"]
    if not fresh:
        return None
    owners = sorted({one.state.owner or "" for one in fresh})
    return f"{listing(owners[:LISTED])} {'has' if len(owners) == 1 else 'have'} new partitions: {partitions_in_words(one.name for one in fresh)}.", "First records are on their way."


def _steady(board: BoardState) -> tuple[str, str]:
    alive = [one for one in board.members if one.state.life == "alive"]
    if not alive:
        return "Nobody is in the group.", "Add a member."
    if not any(one.state.standing == "member" for one in board.members):
        return f"{listing([one.name for one in alive[:LISTED]])} {'starts' if len(alive) == 1 else 'start'}.", ""
    if board.flowing == len(board.partitions):
        return f"All {len(board.partitions)} partitions flow.", "Nothing waits."
    return f"{board.flowing} of {len(board.partitions)} partitions flow.", ""


def _effect(board: BoardState) -> str:
    stopped = [one.name for one in board.partitions if not one.state.flows]
    if not stopped or (len(stopped) == len(board.partitions) and not any(one.stopped_since_ms for one in board.partitions)):
        return ""
    still = "is" if len(stopped) == 1 else "are"
    if len(stopped) == len(board.partitions):
        return f"All {len(stopped)} partitions are stopped."
    flowing = [one.name for one in board.partitions if one.state.flows]
    on = "flows" if len(flowing) == 1 else "flow"
    return f"{_capital(partitions_in_words(stopped))} {still} stopped. {_capital(partitions_in_words(flowing))} {on} on."


def _capital(text: str) -> str:
    return text


# --- one line each ------------------------------------------------------------------------------
def member_line(one: MemberView, board: BoardState) -> str:
    """A member in one sentence, as a screen reader says it."""
    parts = [one.state.doing if one.state.doing not in {"crashed", "gone", "died"} else f"{one.state.doing} {seconds(board.at_ms - one.since_ms)} ago"]
    if one.state.error:
        parts.append(one.state.error)
    if one.state.generation is not None and one.state.life == "alive":
        parts.append(f"{'epoch' if one.state.protocol == 'consumer' else 'generation'} {one.state.generation}")
    if one.state.life in {"crashed", "frozen", "died"} and one.session_ends_ms is not None:
        parts.append(f"session ends in {seconds(one.session_ends_ms - board.at_ms)}")
    parts.append(_holding(one, board))
    return f"{one.name}: {', '.join(parts)}."


def _holding(one: MemberView, board: BoardState) -> str:
    if not one.owned:
        return "owns nothing"
    held = [each for each in board.partitions if each.name in set(one.owned)]
    words = {AS_A_FACT.get(each.state.word, each.state.word) for each in held}
    state = words.pop() if len(words) == 1 else ", ".join(f"{each.name} {AS_A_FACT.get(each.state.word, each.state.word)}" for each in held if not each.state.flows)
    verb = "holds" if one.state.life in {"crashed", "died", "frozen"} else "owns"
    return f"{verb} {partitions_in_words(one.owned)} ({state})"


def partition_line(one: PartitionView, board: BoardState) -> str:
    """A partition in a few words: owner, state, how long it has stopped, what waits."""
    owner = one.state.owner or "no owner"
    word = "" if one.state.owner is None else f", {one.state.word}"
    stopped = "" if one.stopped_since_ms is None else f", stopped for {seconds(board.at_ms - one.stopped_since_ms)}"
    return f"{one.name}: {owner}{word}{stopped}" + (f", {one.lag} records wait" if one.lag else "")
