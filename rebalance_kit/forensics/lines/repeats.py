"""The quick ways through a log: most lines are passed over, most of the rest begin in a known way, and lines repeat themselves.

Logs repeat themselves: what a line says besides its time is read once and remembered.

A line is cut into its time and the rest.  Most rests have occurred before in the same logs (nine of ten in those
of the log maker), and a rest says the same whenever it is written.  Only a plain time at the beginning is cut
off; any other line is a rest by itself.

Reads lines in Kafka's own layout without searching for their parts: most have a beginning and an end that occurred before.

``[2026-11-21 02:15:25,032] INFO [Consumer clientId=c1, groupId=g] message (logger)``: level and prefix are looked up, and so
is the logger.  Only what is quite ordinary is read here; any other line is left to ``Messages``, which would say the same.

Which lines may matter: most of a log is passed over on a few searches for short texts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeAlias

from rebalance_kit.forensics.grammar.table import BLOCK_LINES, CLUES, CLUES_AT_START, IN_MESSAGES, NOISE
from rebalance_kit.forensics.grammar.template import LONG, NUMBERS, is_group
from rebalance_kit.forensics.lines.anchors import IN_TABBED, speaks_of_a_group
from rebalance_kit.forensics.lines.layouts import CONTINUATIONS, DOCKER_JSON, NAMED
from rebalance_kit.forensics.lines.line_reader import (
    SHOWN,
    client_prefix,
    fields_at_once,
    instance_of,
    is_broker_prefix,
)
from rebalance_kit.forensics.lines.timestamps import MILLIS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rebalance_kit.forensics.lines.layouts import Layout, Reading
    from rebalance_kit.forensics.lines.timestamps import Clock


#: What a line gave: the fields of its one event or of its events, why it is rejected, or None: it is ignored.
Told: TypeAlias = "dict[str, Any] | list[dict[str, Any]] | str | None"

#: Rests of one kind of time by what they gave; the moment of an event counts from the line's time.
Memory: TypeAlias = "dict[str, Told]"

#: So many rests are remembered, and only those up to this length.
MOST, LONGEST = 50_000, 1_000

#: Further from UTC than this is no time zone.
_MOST_OFFSET_MS = 86_400_000

#: What is counted is another number in the next line.
_COUNTED = NUMBERS - {"hash", "static"}

#: So many lines at the beginning of a piece are looked at for the form of its times.
_LOOKED_AT = 200

#: What makes a time that is cut off no plain one: its zone follows.
ZONE = re.compile(r" ?[+-]\d\d")

#: A line without its time: where its like is remembered, the rest, and the moment (0: no plain time).
Cut: TypeAlias = tuple[Memory, str, int]


class Form:
    """One form of plain times: with or without a bracket, T or blank, comma or point."""

    def __init__(self, bracket: str, letters: str = "") -> None:
        #: The bracket, the letter between day and time, the one before the milliseconds.
        self.letters = letters
        #: How many letters of a line there are before the milliseconds.
        self.width = 20 + len(bracket)
        #: When the seconds begin that have occurred.
        self.seconds: dict[str, int] = {}
        self.memory: Memory = {}


class Repeats:
    """Remembers rests of lines."""

    def __init__(self, reading: Reading, clock: Clock) -> None:
        self._clock = clock
        # A reader's own layouts may look at the digits of a time.
        self._cuts = not reading.layouts
        self._zoned = reading.time_zone is not None
        #: Lines without a plain time.
        self.whole: Memory = {}
        self._forms = {
            f"{bracket}{middle}{point}": Form(bracket, f"{bracket}{middle}{point}")
            for bracket in ("", "[")
            for middle in "T "
            for point in ",."
        }
        self._any = Form("")

    def form_of(self, lines: Sequence[str]) -> Form:
        """The form of the first plain time near the beginning; an empty one where there is none."""
        for line in lines[:_LOOKED_AT]:
            memory = self.cut(line)[0]
            if memory is not self.whole:
                return next(form for form in self._forms.values() if form.memory is memory)
        return self._any

    def is_zoned(self, form: Form, lines: Sequence[str]) -> bool:
        """Whether a zone follows the first time of this form."""
        rests = (cut[1] for line in lines[:_LOOKED_AT] if (cut := self.cut(line))[0] is form.memory)
        return ZONE.match(next(rests, "")) is not None

    def cut(self, line: str) -> Cut:
        """A line without the plain time that begins it: ``2026-11-21 02:15:25,032``, or the same in brackets."""
        start = 1 if line[:1] == "[" else 0
        end = start + 23
        if self._cuts and (line[end : end + 1] == "]") == bool(start):
            form = self._forms.get(
                line[:start] + line[start + 10 : start + 11] + line[start + 19 : start + 20]
            )
            ms = MILLIS.get(line[end - 3 : end])
            if form is not None and ms is not None:
                begun = form.seconds.get(line[: form.width])
                begun = self._second(form, line, start) if begun is None else begun
                if begun is not None:
                    return form.memory, line[end:], begun + ms
        return self.whole, line, 0

    def second_of(self, form: Form, line: str) -> int | None:
        """The moment at which the second of a line in this form begins; None for a line in another one."""
        start, end = form.width - 20, form.width + 3
        letters = line[:start] + line[start + 10 : start + 11] + line[start + 19 : start + 20]
        if letters != form.letters or (line[end : end + 1] == "]") != bool(start):
            return None
        return self._second(form, line, start)

    def _second(self, form: Form, line: str, start: int) -> int | None:
        """The moment at which the second of a line begins; None where it has none."""
        begun = self._clock.second(line[start : start + 19])
        if begun is not None:
            if len(form.seconds) >= MOST:
                form.seconds.clear()
            form.seconds[line[: form.width]] = begun
        return begun

    def is_kafkas(self, memory: Memory) -> bool:
        """Whether lines are remembered there that begin as Kafka's own layout does."""
        return memory is self._forms["[ ,"].memory

    def memories(self) -> list[Memory]:
        """All that is remembered."""
        return [self.whole, *(form.memory for form in self._forms.values())]

    def remember(self, cut: Cut, told: Told) -> None:
        """Remember what a line gave, unless the next line with this rest may give something else, or hardly comes."""
        memory, rest, ms = cut
        if type(told) is dict:
            if not told.keys().isdisjoint(_COUNTED) or ("at_ms" in told) is (memory is self.whole):
                return
            if memory is not self.whole and not self._counts_from(cut, told["at_ms"]):
                return
            told = told.copy()
            if memory is not self.whole:
                told["at_ms"] -= ms
        elif type(told) is list:
            told = [fields.copy() for fields in told]
            for fields in told:
                if "at_ms" in fields:
                    if not self._counts_from(cut, fields["at_ms"]):
                        return
                    fields["at_ms"] -= ms
        elif type(told) is not str and told is not None:
            # Of several records only the first has the line's time.
            return
        if len(rest) > LONGEST:
            return
        if len(memory) >= MOST:
            memory.clear()
        memory[rest] = told

    def _counts_from(self, cut: Cut, at_ms: int | None) -> bool:
        """Whether the moment of an event follows from the time that was cut off."""
        memory, _, ms = cut
        if at_ms is None or memory is self.whole:
            return False
        return at_ms == ms or (not self._zoned and abs(at_ms - ms) <= _MOST_OFFSET_MS)


#: Level, instance, client and group.
_Head: TypeAlias = "tuple[str, str | None, str | None, str | None]"

_LEVEL = re.compile(r"\] ([A-Z]+) ", re.ASCII)
_LOGGER = re.compile(r" \([\w.$]+(?::\d+)?\)", re.ASCII)

#: A beginning that is not remembered.
_UNKNOWN: _Head = ("", None, None, None)

#: So many beginnings are remembered.
_MOST = 10_000

#: What an ordinary line gives that tells nothing.
NOTHING: dict[str, Any] = {}

#: A message that holds the first may hold another message, and the others may be a border that a terminal drew.
_MORE, _BORDER = "[", "\t│|*"

#: What is written at most once in an ordinary prefix.
_ONCE = ("instanceId=", "clientId=", "groupId=")


class QuickReader:
    """Reads the rests of lines whose time was cut off, in the form of Kafka's own layout."""

    def __init__(self, may_matter: Callable[[str], bool | None]) -> None:
        self._may_matter = may_matter
        self._heads: dict[str, _Head | None] = {}
        self._loggers: set[str] = set()

    def read(self, line: str, rest: str, at_ms: int) -> dict[str, Any] | None:
        """The fields of the one event in a line; ``NOTHING`` where there is none; None where it is no ordinary line."""
        begin = rest.find(" ", 2) + 1
        bare = rest[begin : begin + 1] != "["
        if not bare:
            begin = rest.find("] ", begin) + 2
        beginning = rest[:begin]
        head = self._heads.get(beginning, _UNKNOWN)
        if head is _UNKNOWN:
            head = self._learn(beginning)
        # Another record may stand behind the first.
        if (
            head is None
            or len(line) > LONG
            or line.find(line[:11], 12) >= 0
            or "\0" in line
            or "\1" in line
            or "\2" in line
        ):
            return None
        end = rest.rfind(" (")
        if rest[end:] not in self._loggers and not self._learn_logger(rest[end:]):
            return None
        message = rest[begin:end]
        if message[:1] == " " or message[-1:] == " " or (bare and not self._may_matter(line)):
            return None
        found = IN_MESSAGES.find(message)
        if found is None:
            # Nor may it be a message together with its logger.
            known = (
                speaks_of_a_group(line)
                or bare
                or _MORE in message
                or message[-1:] in _BORDER
                or IN_MESSAGES.find(rest[begin:])
            )
            return None if known else NOTHING
        if found[1] is None or NOISE[0] in line:
            return None
        told = fields_at_once(found[0], found[1])
        if (of_group := told.get("group")) and not is_group(of_group):
            return None
        told["text"], told["at_ms"] = line[:SHOWN], at_ms
        told["level"], instance, client, group = head
        if group and not told.get("group"):
            told["group"] = group
        if client and not told.get("client"):
            told["client"] = client
        if instance and not told.get("instance"):
            told["instance"] = instance_of(instance)
        return told

    def _learn(self, beginning: str) -> _Head | None:
        """What a beginning says; None for one that is not of the ordinary form."""
        if len(self._heads) >= _MOST:
            self._heads.clear()
        level = _LEVEL.match(beginning)
        prefix = beginning[level.end() :] if level else ""
        head: _Head | None = None
        if level and (not prefix or is_broker_prefix(prefix)):
            head = level[1], None, None, None
        elif level and prefix.count("]") == 1 and all(prefix.count(name) <= 1 for name in _ONCE):
            told = client_prefix(prefix)
            head = None if told is None else (level[1], *told)
        self._heads[beginning] = head
        return head

    def _learn_logger(self, end: str) -> bool:
        if _LOGGER.fullmatch(end) is None:
            return False
        if len(self._loggers) >= _MOST:
            self._loggers.clear()
        self._loggers.add(end)
        return True


#: How the lines of a block begin where a container has wrapped them: without their tab.
_BLOCKS = tuple(template.literals[0].strip("\t") for template in BLOCK_LINES)


def sieve(layouts: Sequence[Layout]) -> Callable[[str], bool | None]:
    """A test of a line: True, it may be in the grammar; None, it is like no line of a log; False, it is neither.

    A line that is neither is laid out as logs are, or continues the line before, and holds no clue.
    """
    clue = re.compile(_one_of(CLUES)).search
    known = re.compile(_known_beginning(layouts), re.DOTALL).match
    usual = layouts[0].shapes[0]
    usually = re.compile(usual, re.DOTALL).match
    noise = NOISE[0]

    def test(line: str) -> bool | None:
        told = (
            line.startswith(CLUES_AT_START)
            or (clue(line) and (line[:1] != "\t" or IN_TABBED.search(line)))
            or _wrapped_block(line)
        )
        if told and noise not in line:
            return True
        return False if usually(line) or known(line) else None

    return test


def _wrapped_block(line: str) -> bool:
    """Whether a container has wrapped a line of a block."""
    if line[10:11] == "T" and line[:1] == "2":
        return any(block in line for block in _BLOCKS)
    return line.startswith(DOCKER_JSON) and any(block in line for block in _BLOCKS)


def _one_of(texts: Iterable[str]) -> str:
    """An expression for any of these texts, by their first letters: Python tries one branch after another at each place."""
    by_letter: dict[str, list[str]] = {}
    for text in texts:
        by_letter.setdefault(text[0], []).append(re.escape(text[1:]))
    branches = (re.escape(letter) + f"(?:{'|'.join(rest)})" for letter, rest in by_letter.items())
    return f"(?:{'|'.join(branches)})"


def _known_beginning(layouts: Sequence[Layout]) -> str:
    """The lines that a log may hold: laid out, with a container's name, or continuing."""
    shapes = [shape for layout in layouts for shape in layout.shapes]
    return f"(?:{'|'.join([*shapes, NAMED, _one_of(CONTINUATIONS)])}|\\r?$)"
