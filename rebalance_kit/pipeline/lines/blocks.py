"""What is known of the files once all packets are there: line counts, clocks, whose file it is, groups of each run."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from rebalance_kit.forensics.lines.file_reader import shift
from rebalance_kit.forensics.lines.layouts import Reading
from rebalance_kit.pipeline.lines.packets import COUNTS, Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TypeAlias

    from pyspark.sql import DataFrame

    from rebalance_kit.forensics.lines.files import LogFile

    #: Path, file, block and place in the block of a piece of a file, and its counts.
    Piece: TypeAlias = tuple[str, str, int, int, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks of all files, what became of the lines of each file, and the groups of each run."""

    places: tuple[Place, ...]
    counts: Mapping[tuple[str, str], Mapping[str, int | None]]
    groups: Mapping[str, frozenset[str]]
    events: int


def blocks_of(packets: DataFrame, files: Sequence[LogFile], reading: Reading | None) -> Blocks:
    """Collect the counts of all pieces; computed eagerly."""
    rows = packets.filter(packets["kind"] == COUNTS).select("path", "file", "block", "nth", "data").collect()
    return blocks_by_pieces([(*row[:4], json.loads(row[4])) for row in rows], files, reading)


def blocks_by_pieces(pieces: Iterable[Piece], files: Sequence[LogFile], reading: Reading | None) -> Blocks:
    """The same from the counts of all pieces, in any order."""
    pieces = sorted(pieces, key=itemgetter(0, 1, 2, 3))
    clocks = {(file.run, file.name): shift(file.run, file.name, reading or Reading()) for file in files}
    places: list[Place] = []
    counts: dict[tuple[str, str], Mapping[str, int | None]] = {}
    groups: dict[str, set[str]] = defaultdict(set)
    for key, several in groupby(pieces, itemgetter(0, 1)):
        of_file = list(several)
        here = places_in(of_file, clocks[key])
        places += here
        counts[key] = _counts([piece[4] for piece in of_file], clocks[key])
        groups[key[0]].update(*(piece[4]["named"] for piece in of_file))
    return Blocks(
        tuple(places),
        counts,
        {path: frozenset(names) for path, names in groups.items()},
        sum(piece[4]["events"] for piece in pieces),
    )


#: Counts of pieces that add up.
SUMMED = ("parsed", "ignored", "rejected", "unclear", "by_words")


def _counts(pieces: Sequence[dict[str, Any]], shift_ms: int) -> dict[str, int | None]:
    """What became of the lines of a file, and when they were written."""
    told: dict[str, int | None] = {name: sum(piece[name] for piece in pieces) for name in SUMMED}
    for name, choose in (("from_ms", min), ("to_ms", max)):
        moments = [piece[name] for piece in pieces if piece[name] is not None]
        told[name] = choose(moments) + shift_ms if moments else None
    return told


def places_in(pieces: Sequence[Piece], shift_ms: int) -> list[Place]:
    """The blocks of one file, in order."""
    client, group = (_only(name for piece in pieces for name in piece[4][of]) for of in ("clients", "groups"))
    places: list[Place] = []
    before, before_ms = 0, None
    for (path, file, block), several in groupby(pieces, itemgetter(0, 1, 2)):
        places.append(Place(path, file, block, before, shift_ms, client, group, before_ms))
        for *_, counts in several:
            before += counts["lines"]
            before_ms = before_ms if counts["last_ms"] is None else counts["last_ms"]
    return places


def _only(names: Iterable[str]) -> str | None:
    different = set(names)
    return next(iter(different)) if len(different) == 1 else None
