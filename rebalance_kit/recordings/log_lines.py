"""Log lines of a simulated run against the recorded text: per file, the same lines in the same order.

Compared are broker.log and the log of every Java member, from the run's first step to ``admin stop``.
A line counts when it is one of ``logs.broker_templates`` and its siblings: those are the lines that tell of groups, members,
generations, assignments, callbacks, commits and the coordinator. Ids, uuids, offsets, hashes,
addresses and durations are masked; level, logger and all other words are compared.

A file is equal when both sides hold the same masked lines equally often, and when two lines that stand
in opposite order are within 0.3 s of each other on both sides. Where partitions begin (found no
committed offset, setting or resetting it) is compared without order, since that order follows the
client's hash maps. Members that leave within 0.3 s of each other leave in any order, so a rebalance
"because of a LeaveGroup" may name any of them. Both threads of a client look for a lost coordinator,
and one or both say that they found it; a commit that is refused and sent again counts once. What a broker says while it loads for the first time, before there is a group, is
its own start and no part of the run. A recorded line without its logger (Spring Boot shortens it) is
compared without it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from string import Formatter
from typing import NamedTuple

from rebalance_kit.logs.broker import broker_lines
from rebalance_kit.logs.broker_templates import LOADING
from rebalance_kit.logs.lines import TEMPLATES
from rebalance_kit.logs.write import member_lines
from rebalance_kit.model.trace import Trace
from rebalance_kit.recordings.compare import UNORDERED_MS, Difference
from rebalance_kit.recordings.folder import RecordedRun

TWICE = frozenset({"discovered_classic", "discovered_consumer"})
"""Lines that two threads of one client may both write: the same again within 0.3 s counts once."""
RETRIED = frozenset({"commit_retried_on", "auto_commit_thrown"})
"""Lines of a request that is tried again and again: how often depends on back-off, so the same one counts once."""
UNORDERED = frozenset({"no_offset_classic", "no_offset_consumer", "reset_offset", "set_offset"})
"""Lines whose order follows hash maps of partitions."""
_LOGGER = re.compile(r"\n? ?\(((?:org|kafka)\.[\w.$]+)\)(?=\n|$)")
_WHO = re.compile(r"\[(?:Consumer |GroupCoordinator |GroupMetadataManager )[^]]*\]:? ")
_LEAVER = re.compile(r"(?<=LeaveGroup` request for )\(.*?\)|(?<=Removing member )\S+(?= on LeaveGroup)")
_MASKS = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
        (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UUID"),
        (r"(?<![\w+/-])[\w+/-]{22}(?![\w+/-])", "ID"),
        (r"\boffset=\d+(?:, offsetEpoch=Optional[^,]*)?|\bat offset \d+", "offset N"),
        (r"metadata hash -?[1-9]\d*", "metadata hash N"),
        (r"\bin \d+ ?(?:ms|milliseconds)\b", "in N ms"),
        (r"(where|of which) \d+ ?(?:ms|milliseconds) was spent", "N ms was spent"),
        (r"exceeded approximately by \d+ ms", "exceeded approximately by N ms"),
        (r"Loaded \d+ records which total to \d+ bytes", "Loaded N records"),
        (r"\(version\d+:", "(version:"),
        (r"\b\d+\.\d+\.\d+\.\d+(?::\d+)?\b", "ADDRESS"),
        (r"host='[^']*', port=\d+", "ADDRESS"),
    )
)


class Seen(NamedTuple):
    """One relevant line: ms of the run, its template's name, level and masked message, logger."""

    at_ms: int
    name: str
    text: str
    logger: str | None


@dataclass(frozen=True, slots=True)
class LineComparison:
    """How many lines were compared, how many have no counterpart or stand elsewhere, and the first of them."""

    files: int
    lines: int
    differing: int
    first: Difference | None

    @property
    def equal(self) -> bool:
        """Every file has the same lines in the same order."""
        return self.first is None


Files = Mapping[str, Sequence[Seen]]


def java_members(run: RecordedRun) -> tuple[str, ...]:
    """Members whose recorded log is a Java client's."""
    others = {
        str(step["member"])
        for step in run.steps
        if step["do"] == "start" and step.get("client", "java") != "java"
    }
    return tuple(name for name in run.members if name not in others)


def recorded_lines(run: RecordedRun) -> Files:
    """Relevant lines of a record, by file, from its first step to its own shutdown."""
    texts = {"broker": run.broker, **{name: run.members[name] for name in java_members(run)}}
    files = {}
    for name, lines in texts.items():
        seen = (
            _recorded(line.t - run.begin, line.level, line.text)
            for line in lines
            if run.begin <= line.t < run.stop
        )
        files[name] = _any_leaver(_begun(one for one in seen if one is not None))
    return files


def simulated_lines(trace: Trace, files: Iterable[str]) -> Files:
    """The same of a simulated run, for the given files."""
    found = {}
    for name in files:
        lines = broker_lines(trace) if name == "broker" else member_lines(trace, name)
        seen = (_seen(line.at_ms, line.level, line.message, line.logger) for line in lines)
        found[name] = _any_leaver(_begun(one for one in seen if one is not None))
    return found


def compare_lines(recorded: Files, simulated: Files) -> LineComparison:
    """Compare file by file; the first difference is the earliest of all files."""
    first: tuple[int, Difference] | None = None
    lines = differing = 0
    for name, theirs in recorded.items():
        ours: Sequence[Seen] = simulated.get(name, ())
        if any(one.logger is None for one in theirs):
            theirs, ours = ([one._replace(logger=None) for one in side] for side in (theirs, ours))  # noqa: PLW2901
        lines += len(theirs)
        odd = sorted(
            _unmatched(name, theirs, ours) + _out_of_order(name, theirs, ours), key=lambda one: one[0]
        )
        differing += len(odd)
        if odd and (first is None or odd[0][0] < first[0]):
            first = odd[0]
    return LineComparison(len(recorded), lines, differing, first[1] if first else None)


# --- reading -------------------------------------------------------------------------------------
@cache
def _table() -> Mapping[str, tuple[tuple[str, str, re.Pattern[str]], ...]]:
    """Names, levels and texts of the templates by the first word of their message."""
    table: dict[str, list[tuple[str, str, re.Pattern[str]]]] = defaultdict(list)
    for name, forms in TEMPLATES.items():
        for form in forms:
            if form.text:
                text = _WHO.sub("", form.text.replace("{who}", "").replace("{broker}", "1"), count=1).strip()
                table[_first_word(text)].append((name, form.level, _pattern(text)))
    return {word: tuple(found) for word, found in table.items()}


def _pattern(text: str) -> re.Pattern[str]:
    parts = []
    for literal, value, _, _ in Formatter().parse(text):
        parts.append(re.escape(literal))
        if value is not None:
            parts.append(".*?")
    return re.compile("".join(parts), re.DOTALL)


def _first_word(text: str) -> str:
    return re.split(r"[ \n:{]", text, maxsplit=1)[0]


def _recorded(at_ms: int, level: str, text: str) -> Seen | None:
    found = _LOGGER.search(text)
    return _seen(at_ms, level, text[: found.start()] if found else text, found[1] if found else None)


def _seen(at_ms: int, level: str, message: str, logger: str | None) -> Seen | None:
    bare = _WHO.sub("", message, count=1).strip()
    names = {
        usual: name
        for name, usual, pattern in reversed(_table().get(_first_word(bare), ()))
        if pattern.fullmatch(bare)
    }
    if not names:
        return None
    name = names.get(level) or next(iter(names.values()))
    return Seen(at_ms, name, f"{level} {_masked(message.rstrip())}", logger)


def _masked(message: str) -> str:
    for pattern, text in _MASKS:
        message = pattern.sub(text, message)
    return message


def _begun(lines: Iterable[Seen]) -> tuple[Seen, ...]:
    """Without what a broker says while it loads before there is a group, and without what is said twice."""
    held: list[Seen] = []
    refused: set[str] = set()
    for line in lines:
        near = (one.text for one in held[-3:] if line.at_ms - one.at_ms <= UNORDERED_MS)
        if (line.name in TWICE and line.text in near) or line.text in refused:
            continue
        if line.name in RETRIED:
            refused.add(line.text)
        held.append(line)
    start = next((place for place, one in enumerate(held) if one.name not in LOADING), len(held))
    return tuple(held[start:])


def _any_leaver(lines: Sequence[Seen]) -> tuple[Seen, ...]:
    """With the leaver of a rebalance masked where several leave within 0.3 s."""
    left = [one.at_ms for one in lines if one.name == "left"]
    return tuple(
        one._replace(text=_LEAVER.sub("one of the leaving members", one.text))
        if one.name == "preparing" and sum(abs(at_ms - one.at_ms) <= UNORDERED_MS for at_ms in left) > 1
        else one
        for one in lines
    )


# --- comparing -----------------------------------------------------------------------------------
def _key(line: Seen) -> str:
    return line.text if line.logger is None else f"{line.text} ({line.logger})"


def _unmatched(
    file: str, recorded: Sequence[Seen], simulated: Sequence[Seen]
) -> list[tuple[int, Difference]]:
    """Lines that one side has more often than the other."""
    odd = []
    for side, other, ours in ((recorded, simulated, False), (simulated, recorded, True)):
        left = Counter(map(_key, other))
        for place, line in enumerate(side):
            if left[_key(line)]:
                left[_key(line)] -= 1
                continue
            near = _near(other, line.at_ms)
            pair = (near, _say(line)) if ours else (_say(line), near)
            odd.append((line.at_ms, Difference("log lines", f"{file}.log", *pair, place)))
    return odd


def _near(other: Sequence[Seen], at_ms: int) -> str:
    """What the other side says at about that time instead."""
    before = [one for one in other if one.at_ms <= at_ms + UNORDERED_MS]
    return f"no such line (its nearest: {_say(before[-1])})" if before else "no such line"


def _out_of_order(
    file: str, recorded: Sequence[Seen], simulated: Sequence[Seen]
) -> list[tuple[int, Difference]]:
    """Pairs of equal lines that stand in opposite order and are apart on either side."""
    places: dict[str, list[Seen]] = defaultdict(list)
    for line in simulated:
        places[_key(line)].append(line)
    pairs = [
        (line, places[_key(line)].pop(0))
        for line in recorded
        if places[_key(line)] and line.name not in UNORDERED
    ]
    odd = []
    for ours in (0, 1):
        by_time = sorted(pairs, key=lambda pair: pair[ours].at_ms)
        behind = 0
        latest: tuple[Seen, Seen] | None = None
        for pair in by_time:
            while by_time[behind][ours].at_ms < pair[ours].at_ms - UNORDERED_MS:
                if latest is None or by_time[behind][1 - ours].at_ms > latest[1 - ours].at_ms:
                    latest = by_time[behind]
                behind += 1
            if latest is not None and latest[1 - ours].at_ms > pair[1 - ours].at_ms:
                both = sorted((latest, pair), key=lambda one: one[0].at_ms)
                theirs, mine = (
                    " before ".join(
                        _say(one) for one in sorted((p[side] for p in both), key=lambda s: s.at_ms)
                    )
                    for side in (0, 1)
                )
                odd.append((pair[0].at_ms, Difference("order of log lines", f"{file}.log", theirs, mine, 0)))
    return odd


def _say(line: Seen) -> str:
    text = line.text if len(line.text) <= 300 else f"{line.text[:300]} ..."
    return f"{text!r} at {line.at_ms / 1000:.2f} s"
