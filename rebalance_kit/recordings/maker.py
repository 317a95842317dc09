"""Logs of any length from a scenario: a broker's and one a member, as full as real ones, and the truth beside them.

A scenario alone gives one run. Asked for more lines (or hours), the maker lets the same thing happen again and again:
each time it ends with every process closed, so that the group is empty, and begins anew some minutes later from the
generation, and the offsets, that were reached. A few variants (other seeds) are simulated and worded once, the rest
is the joining of text (``logs/blocks.py``), at some million lines a second and in constant memory.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self, cast

from rebalance_kit.analysis.rebalances import lives, rebalances, rests
from rebalance_kit.logs.blocks import (
    CLOSE,
    OPEN,
    Block,
    Clock,
    Marker,
    Place,
    block,
    ends_where_it_began,
    mark,
    printed,
    printer,
)
from rebalance_kit.logs.broker import broker_lines
from rebalance_kit.logs.lines import EPOCH, LogLine
from rebalance_kit.logs.noise import RATIO, broker_noise, member_noise
from rebalance_kit.logs.write import file_names, member_lines, split_by_member
from rebalance_kit.model.errors import DataError
from rebalance_kit.model.files import draft_folder
from rebalance_kit.model.trace import Trace, TraceRow
from rebalance_kit.model.versions import CHANGES, has
from rebalance_kit.simulation.scenario.actions import open_faults
from rebalance_kit.simulation.scenario.expansion import expand
from rebalance_kit.simulation.scenario.scenario import Action, Scenario, with_protocol
from rebalance_kit.simulation.simulate import simulate

# Several files written side by side, rotated and packed as they grow, in place under their names only when all are done.


_BEGINS_AN_EVENT = frozenset("[{%0123456789")
_LEVEL = 5


class _Stream:
    """One process's log: the part that is being written, and those that are full."""

    def __init__(self, target: Path, packed: bool) -> None:
        self.target, self.packed = target, packed
        self.full: list[Path] = []
        self.lines = 0
        self.out: IO[bytes] = self._open()

    @property
    def part(self) -> Path:
        """Where the text goes until everything is written."""
        return self.target.with_name(f".{self.target.name}.part{len(self.full)}")

    def _open(self) -> IO[bytes]:
        raw = self.part.open("wb")
        return cast("IO[bytes]", _Packed(raw)) if self.packed else raw

    def next(self) -> None:
        """Begin the next file."""
        self.out.close()
        self.full.append(self.part)
        self.lines = 0
        self.out = self._open()

    def finish(self) -> list[Path]:
        """Close, rename, and return the files, the oldest first."""
        self.out.close()
        parts = [*self.full, self.part]
        ending = ".gz" if self.packed else ""
        names = [f"{self.target.name}.{len(parts) - 1 - place}{ending}" for place in range(len(parts) - 1)]
        final = [self.target.with_name(name) for name in [*names, self.target.name + ending]]
        for part, name in zip(parts, final, strict=True):
            os.replace(part, name)
        return final

    def drop(self) -> None:
        """Remove what was begun."""
        self.out.close()
        for part in [*self.full, self.part]:
            part.unlink(missing_ok=True)


class _Packed(gzip.GzipFile):
    """A gzip stream without a time in its head, that closes its file too."""

    def __init__(self, raw: io.BufferedWriter) -> None:
        super().__init__(fileobj=raw, mode="wb", compresslevel=_LEVEL, mtime=0, filename="")
        self._raw = raw

    def close(self) -> None:
        super().close()
        self._raw.close()


class Rolling:
    """Files of a folder, by name, and the truth's file; use it in a ``with``: on an error nothing is left.

    ``rotate`` is after how many lines a log is begun anew (at the next event), None: never. The truth is neither
    rotated nor packed.
    """

    def __init__(
        self, folder: Path, names: Iterable[str], packed: bool, rotate: int | None, truth: Path | None
    ) -> None:
        self.rotate, self.lines = rotate, 0
        self._streams = {name: _Stream(folder / name, packed) for name in names if name.endswith(".log")}
        self._truth = None if truth is None else _Stream(truth, packed=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            for stream in [*self._streams.values(), *([self._truth] if self._truth else [])]:
                stream.drop()

    def write(self, name: str, text: str, lines: int) -> None:
        """Append to a log; any other name is the truth's."""
        stream = self._streams.get(name)
        if stream is None:
            if self._truth is not None:
                self._truth.out.write(text.encode())
            return
        self.lines += lines
        if self.rotate is None or stream.lines + lines <= self.rotate:
            stream.lines += lines
            stream.out.write(text.encode())
            return
        self._rotated(stream, text, self.rotate)

    @staticmethod
    def _rotated(stream: _Stream, text: str, rotate: int) -> None:
        held: list[str] = []
        for line in text.splitlines(keepends=True):
            if stream.lines >= rotate and line[0] in _BEGINS_AN_EVENT:
                stream.out.write("".join(held).encode())
                held = []
                stream.next()
            held.append(line)
            stream.lines += 1
        stream.out.write("".join(held).encode())

    def finish(self) -> tuple[Path, ...]:
        """Put every file in its place and return the logs, each process's oldest first."""
        found = [path for stream in self._streams.values() for path in stream.finish()]
        if self._truth is not None:
            self._truth.finish()
        return tuple(found)


# A scenario brought to an end at which it could begin anew: everything mended, every process closed, every session over.


_QUIET_MS = 60_000
"""After the last close: longer than the default session (45 s), after which closed static members are gone too."""


def closed(scenario: Scenario, trace: Trace) -> Scenario:
    """The scenario with its open faults mended at its end, and all that still runs closed; ``trace`` is a run of it."""
    planned = expand(scenario)
    faults = open_faults(planned)
    running: set[str] = set()
    for row in trace.of("process_started", "process_ended"):
        (running.add if row.kind == "process_started" else running.discard)(row.actor)
    end = planned.end_ms
    alive = replace(faults, frozen=tuple(name for name in faults.frozen if name in running))
    recoveries = alive.recovery_actions(end)
    closing = end + (5_000 if recoveries else 0)
    closes = [Action(closing + 300 * place, "close", name) for place, name in enumerate(sorted(running))]
    last = max([closing, *(action.at_ms for action in closes)])
    sessions = [
        int(value)
        for spec in planned.members
        for key, value in spec.configs.items()
        if key == "session.timeout.ms"
    ]
    sessions += [
        int(value) for key, value in planned.broker.items() if key == "group.consumer.session.timeout.ms"
    ]
    return replace(
        planned,
        actions=(*planned.actions, *recoveries, *closes),
        end_ms=last + max([_QUIET_MS, *(one + 15_000 for one in sessions)]),
    )


VARIANTS = 8
TRUTH = "truth"
"""The sheet of a block that goes into no log."""
_BARE = re.compile(f'"({OPEN}[tgn][^{CLOSE}]*{CLOSE})"')
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Made:
    """What was written: ``files`` (several of one process when they were rotated), physical ``lines``, how often it happened."""

    folder: Path
    truth: Path | None
    files: tuple[Path, ...]
    lines: int
    incidents: int


@dataclass(frozen=True, slots=True)
class Recipe:
    """How logs shall look. ``noise`` is lines of other loggers a line about a group; 0 leaves start-up blocks out too.

    ``rotate`` begins a new file after that many lines (``broker.log.1`` is the last full one); ``packed`` is gzip.
    """

    layout: str = "kafka"
    noise: float = RATIO
    packed: bool = False
    rotate: int | None = None
    begins: datetime = EPOCH

    def __post_init__(self) -> None:
        printer(self.layout)
        if not 0 <= self.noise <= 1000:
            raise DataError(
                f"noise {self.noise} is no ratio; expected 0 to 1000 lines of other loggers a line about a group"
            )
        if self.rotate is not None and self.rotate < 1:
            raise DataError(f"rotate {self.rotate} is no number of lines; expected at least 1")


def make_logs(
    scenario: Scenario,
    folder: str | Path,
    *,
    lines: int | None = None,
    hours: float | None = None,
    protocol: str | None = None,
    kafka_version: str | None = None,
    seed: int | None = None,
    recipe: Recipe | None = None,
    truth: str | Path | None = None,
    progress: Progress | None = None,
) -> Made:
    """Write the logs of ``scenario`` into the new or empty ``folder``; what is told there stands as JSON lines in ``truth``.

    Without ``lines`` and ``hours`` it happens once; with one of them it is repeated until that many physical lines (of all
    files together) or hours are reached, always to the end of an incident. The same arguments give the same bytes.
    ``progress(done, wanted)`` is called after each incident. Raises ``DataError`` for what cannot be written so, and what
    ``simulate`` raises.
    """
    how = recipe or Recipe()
    place = Path(folder)
    _refuse(place, None if truth is None else Path(truth), lines, hours)
    chosen = for_version(
        with_protocol(scenario, protocol) if protocol is not None else scenario, kafka_version
    )
    drawn = chosen.seed if seed is None else seed
    once = lines is None and hours is None
    blocks = _Blocks(chosen, drawn, how, once=once)
    target = Path(truth) if truth is not None else None
    with draft_folder(place.resolve().parent) as draft:
        logs, told = draft / "logs", None if target is None else draft / TRUTH
        logs.mkdir()
        with Rolling(logs, tuple(blocks.first.sheets), how.packed, how.rotate, told) as files:
            count = _write(blocks, files, Place(Clock(how.begins).base, drawn), lines, hours, progress)
            names = tuple(place / path.name for path in files.finish())
        _put_in_place(logs, place, told, target)
    return Made(place, target, names, files.lines, count)


def _put_in_place(logs: Path, place: Path, told: Path | None, target: Path | None) -> None:
    """Rename the finished folder, then the truth: neither is ever there in part."""
    try:
        logs.replace(place)
        if told is not None and target is not None:
            shutil.move(told, target)
    except OSError as problem:
        raise DataError(
            f"{place}: cannot be written ({problem.strerror}); expected a place for a new folder"
        ) from problem


def _refuse(place: Path, truth: Path | None, lines: int | None, hours: float | None) -> None:
    if lines is not None and hours is not None:
        raise DataError("both lines and hours are given; expected one of them")
    if lines is not None and lines < 1:
        raise DataError(f"{lines} lines cannot be written; expected at least 1")
    if hours is not None and not 0 < hours <= 100_000:
        raise DataError(f"{hours} hours cannot be written; expected more than 0 and at most 100,000")
    if place.resolve() == Path.cwd() or place.resolve().name == "":
        raise DataError(f"{place} is the folder you are in, or the root; expected a name for a new folder")
    if truth is not None and truth.exists():
        raise DataError(f"{truth} is there already; expected another place for the truth, or move it away")
    if truth is not None and not truth.resolve().parent.is_dir() and truth.parent != place.parent:
        raise DataError(
            f"{truth}: there is no folder {truth.parent}; expected one that exists, for the truth"
        )
    if truth is not None and truth.resolve().parent == place.resolve():
        raise DataError(
            f"{truth} would lie among the logs that it explains; expected a place outside of {place}"
        )
    if place.exists() and not place.is_dir():
        raise DataError(f"{place} is a file; expected a folder for the logs")
    if place.is_dir() and any(place.iterdir()):
        raise DataError(
            f"{place} holds files already; expected a new or an empty folder, so that nothing is mixed"
        )


def _write(
    blocks: _Blocks,
    files: Rolling,
    place: Place,
    lines: int | None,
    hours: float | None,
    progress: Progress | None,
) -> int:
    dice = random.Random(f"rests/{place.seed}")
    wanted = lines if lines is not None else round(hours * 60) if hours is not None else 1
    while True:
        one = blocks.at(place.number)
        values = place.values(one)
        for name, sheet in one.sheets.items():
            files.write(name, sheet.text(values), sheet.lines if name != TRUTH else 0)
        place.move(one, dice.randrange(1, 10))
        done = files.lines if lines is not None else place.minutes if hours is not None else 1
        if progress is not None:
            progress(min(done, wanted), wanted)
        if done >= wanted:
            return place.number


class _Blocks:
    """The first incident, and the variants that take turns after it."""

    def __init__(self, scenario: Scenario, seed: int, recipe: Recipe, *, once: bool) -> None:
        self.scenario, self.seed, self.recipe = scenario, seed, recipe
        trace = simulate(scenario, seed)
        file_names(trace)
        if not once:
            self.scenario = closed(scenario, trace)
            trace = simulate(self.scenario, seed)
            if not ends_where_it_began(trace, Marker(trace).groups):
                raise DataError(
                    f"scenario {scenario.name!r} leaves members in a group when all are closed, so it cannot be repeated; expected one that comes to rest"
                )
        self.first = _block(trace, recipe, opening=True)
        self.others: dict[int, Block] = {}

    def at(self, number: int) -> Block:
        """The block of the n-th time; all have the files of the first."""
        if number == 0:
            return self.first
        variant = (number - 1) % VARIANTS
        if variant not in self.others:
            trace = simulate(self.scenario, self.seed + 1 + variant)
            self.others[variant] = _block(_with_commits(trace), self.recipe, opening=False)
        return self.others[variant]


def for_version(scenario: Scenario, version: str | None) -> Scenario:
    """The scenario as a cluster of that Kafka version could run it: before KIP-848 without its settings.

    Raises ``DataError`` when a member asks for the consumer protocol there.
    """
    chosen = scenario if version is None else replace(scenario, kafka_version=version)
    if has("consumer-protocol", chosen.kafka_version):
        return chosen
    told = [dict(spec.configs) for spec in chosen.members] + [
        dict(one.args["configs"]) for one in chosen.actions if "configs" in one.args
    ]
    if any(str(configs.get("group.protocol", "classic")).lower() == "consumer" for configs in told):
        raise DataError(
            f"Kafka {chosen.kafka_version} knows no consumer protocol (KIP-848); expected {CHANGES['consumer-protocol'].since} or newer, or members of the classic protocol"
        )
    members = tuple(replace(spec, configs=_without(spec.configs)) for spec in chosen.members)
    actions = tuple(
        replace(one, args={**one.args, "configs": _without(one.args["configs"])})
        if "configs" in one.args
        else one
        for one in chosen.actions
    )
    return replace(chosen, members=members, actions=actions, broker=_without(chosen.broker))


def _without(configs: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: value
        for key, value in configs.items()
        if key not in {"group.protocol", "group.remote.assignor"} and not key.startswith("group.consumer.")
    }


def _with_commits(trace: Trace) -> Trace:
    """The same run in a group that has committed before: reading begins at an offset that was committed."""

    def known(row: TraceRow) -> TraceRow:
        held = row.detail
        if row.kind != "fetch_resumed" or held.get("committed") is not None or held.get("position") is None:
            return row
        return row._replace(detail={**held, "committed": held["position"]})

    return replace(trace, rows=tuple(known(row) for row in trace.rows))


def _block(trace: Trace, recipe: Recipe, *, opening: bool) -> Block:
    marker, clock = Marker(trace), Clock(recipe.begins, marked=True)
    layouts = printer(recipe.layout), printer(recipe.layout, native=True)
    texts = {}
    for name, lines in _files(trace, marker, clock.lead_ms, recipe, opening=opening):
        texts[name] = printed(lines, layouts, clock)
    texts[TRUTH] = "".join(f"{line}\n" for line in truth_lines(trace, marker, clock.lead_ms))
    return block(texts, trace, marker)


def _files(
    trace: Trace, marker: Marker, lead_ms: int, recipe: Recipe, *, opening: bool
) -> Iterator[tuple[str, Iterable[LogLine]]]:
    version, dice = str(trace.meta["kafka_version"]), random.Random(f"noise/{trace.seed}")

    def epoch_ms(at_ms: int) -> str:
        return mark("t", at_ms + lead_ms)

    told = [marker.line(line, None) for line in broker_lines(trace)]
    yield (
        "broker.log",
        broker_noise(told, version, trace.end_ms, dice, recipe.noise, boot=opening) if recipe.noise else told,
    )
    for name, own in split_by_member(trace).items():
        lines = [marker.line(line, name) for line in member_lines(own, name)]
        yield (
            f"{name}.log",
            member_noise(lines, own, name, version, dice, recipe.noise, epoch_ms) if recipe.noise else lines,
        )


def truth_lines(trace: Trace, marker: Marker | None = None, lead_ms: int = 0) -> Iterator[str]:
    """What happened in a run, a JSON object a line: ``what`` is fault, rebalance, life or rest.

    With ``marker`` times, ids and generations are marks; without it times are ms of the run.
    """
    for row in trace.of("action"):
        yield _line(
            "fault",
            {"at_ms": row.at_ms, **{key: value for key, value in row.detail.items() if value is not None}},
            "",
            marker,
            lead_ms,
        )
    for what, rows in (("rebalance", rebalances(trace)), ("life", lives(trace)), ("rest", rests(trace))):
        for one in rows:
            yield _line(what, asdict(one), one.group, marker, lead_ms)


def _line(what: str, held: dict[str, Any], group: str, marker: Marker | None, lead_ms: int) -> str:
    out: dict[str, Any] = {"what": what, "incident": mark("n", "") if marker else 0}
    for key, value in held.items():
        out[key] = value
        if marker is None or value is None:
            continue
        if (key.endswith("_ms") and what != "fault") or key == "at_ms":
            out[key] = mark("t", int(value) + lead_ms)
        elif key in {"before", "after"} and isinstance(value, int):
            out[key] = mark("g", f"{marker.groups.index(group)}:{value}")
        elif key in {"member", "said"} and what != "fault":
            out[key] = marker.text(str(value), group)
    return _BARE.sub(r"\1", json.dumps(out, ensure_ascii=False, default=_plain))


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)
