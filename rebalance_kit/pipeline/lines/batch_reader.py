"""Batches of lines become batches of classified lines, inside Spark's Python workers; most lines are passed over as Arrow text.

Turns batches of lines into batches of classified lines, inside Spark's Python workers.

Searches a whole Arrow batch for the lines that may matter; the others never become Python objects.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cache
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from rebalance_kit.forensics.event import MESSAGES_A_LINE, TEXT_FIELDS
from rebalance_kit.forensics.grammar.table import CLUES, CLUES_AT_START, NOISE
from rebalance_kit.forensics.grammar.template import NUMBERS
from rebalance_kit.forensics.lines.anchors import IN_TABBED
from rebalance_kit.forensics.lines.layouts import CONTINUATIONS, DOCKER_JSON, NAMED
from rebalance_kit.forensics.lines.line_reader import KEPT_OF_A_LONG_LINE, LONGEST_LINE, SHOWN, Messages
from rebalance_kit.model.collector import uncollected

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa

    from rebalance_kit.forensics.lines.layouts import Layout, Reading


class Suspects(NamedTuple):
    """Two masks over a batch: the lines that may be in the grammar, and those without a known beginning."""

    possible: pa.Array
    wrong: pa.Array


def suspects(text: pa.Array, layouts: Sequence[Layout]) -> Suspects:
    """Search a batch; every other line has a known layout, or continues the line before, and holds no clue."""
    import pyarrow.compute as pc

    def like(expression: str) -> pa.Array:
        return pc.match_substring_regex(text, f"(?s){expression}")

    # A broker prints its settings in tab-indented lines; many mention groups and none is in the grammar.
    indented = pc.starts_with(text, "\t")
    inside = pc.and_not(like(_one_of(CLUES)), indented)
    if pc.any(indented).as_py():
        anchored = pc.and_(indented, like(IN_TABBED.pattern))
        inside = pc.or_(inside, pc.and_(anchored, like(_one_of(CLUES))))
    possible = pc.or_(inside, like("^" + _one_of(CLUES_AT_START)))
    wrapped = like(_WRAPPED)
    if pc.any(wrapped).as_py():
        blocks = like(_one_of(clue.strip("\t") for clue in CLUES_AT_START[1:]))
        possible = pc.or_(possible, pc.and_(wrapped, blocks))
    possible = pc.and_not(possible, like(_one_of(NOISE)))
    known = like(_known_beginning(layouts))
    return Suspects(possible, pc.and_not(pc.invert(possible), known))


#: How lines begin that a container runtime has wrapped.
_WRAPPED = rf"^(?:2.{{9}}T|{re.escape(DOCKER_JSON)})"


def _one_of(texts: Iterable[str]) -> str:
    """An RE2 expression for any of these texts, which takes one pass however many they are."""
    return f"(?:{'|'.join(map(re.escape, texts))})"


def _known_beginning(layouts: Sequence[Layout]) -> str:
    """An RE2 expression for lines with a layout, with a container's name, or that continue the line before."""
    shapes = [shape for layout in layouts for shape in layout.shapes]
    return f"^(?:{'|'.join([*shapes, NAMED, _one_of(CONTINUATIONS)])}|\\r?$)"


#: The columns of classified lines with their types.  ``n`` counts the lines that a row stands for (0 for the
#: second and later messages of one line), ``row`` orders the rows of a block.
CLASSIFIED: dict[str, str] = {
    "path": "string",
    "file": "string",
    "block": "long",
    "nth": "long",
    "row": "long",
    "n": "long",
    "class": "string",
    "why": "string",
    "at_ms": "long",
    "event": "string",
    "side": "string",
    "level": "string",
    "group": "string",
    "client": "string",
    "instance": "string",
    **dict.fromkeys(TEXT_FIELDS, "string"),
    **dict.fromkeys(sorted(NUMBERS), "long"),
    "partitions": "array<string>",
    "text": "string",
}

_PLACE = {name: place for place, name in enumerate(CLASSIFIED)}


class BatchReader:
    """Reads the batches of one task in order; a block of a file may continue in the next batch.

    A batch has the columns ``location`` (which ``names`` maps to run and file), ``block``, ``value`` (bytes)
    and optionally ``row``; without it, lines are counted from 1 in each block.
    """

    def __init__(self, reading: Reading, names: Mapping[str, tuple[str, str]]) -> None:
        self._layouts = reading.table
        self._names = names
        self._messages = Messages(reading)
        self._key: tuple[str, str, int] | None = None
        self._seen = 0

    def read(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The classified lines of a batch, and one row per block with the number of ignored lines."""
        with uncollected():
            return self._read(batch)

    def _read(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        import pyarrow.compute as pc

        value = batch.column("value")
        size = pc.binary_length(value)
        text = clean_text(value, size)
        possible, wrong = suspects(text, self._layouts)
        selected = pc.indices_nonzero(pc.or_(pc.or_(possible, wrong), pc.greater(size, LONGEST_LINE)))
        places = selected.to_pylist()
        columns = [column.take(selected).to_pylist() for column in (text, size, possible)]
        lines = zip(places, *columns, strict=True)
        rows: list[list[Any]] = []
        begin_at = 0
        for key, begin, end, numbers in self._blocks(batch):
            end_at = bisect_left(places, end)
            ignored = end - begin
            for place, *line in islice(lines, end_at - begin_at):
                line_rows = self._line(*line)
                ignored -= bool(line_rows)
                nth = numbers[place]
                for part, row in enumerate(line_rows):
                    row[:6] = *key, nth, nth * MESSAGES_A_LINE + part, int(part == 0)
                    rows.append(row)
            begin_at = end_at
            if ignored:
                rows.append([*key, None, None, ignored, "ignored", *_NOTHING[7:]])
        return _batch(rows)

    def _blocks(
        self, batch: pa.RecordBatch
    ) -> Iterator[tuple[tuple[str, str, int], int, int, Sequence[int] | _LineNumbers]]:
        """The blocks in a batch: path, file and block; first place; place after the last; the lines' numbers."""
        import numpy as np

        keys = [batch.column(name) for name in ("location", "block")]
        codes = [column.dictionary_encode().indices.to_numpy() for column in keys]
        changes = np.flatnonzero(np.any([code[1:] != code[:-1] for code in codes], axis=0)) + 1
        edges = [0, *changes.tolist(), batch.num_rows]
        row_numbers = batch.column("row").to_pylist() if "row" in batch.schema.names else None
        for begin, end in pairwise(edges):
            if begin == end:
                continue
            location, block = (column[begin].as_py() for column in keys)
            key = (*self._names[location], block)
            if key != self._key:
                self._key, self._seen = key, 0
            yield key, begin, end, row_numbers or _LineNumbers(self._seen + 1 - begin)
            self._seen += end - begin

    def _line(self, text: str, size: int, may_matter: bool) -> list[list[Any]]:
        """The rows of a line; none for an ignored one."""
        result: list[dict[str, Any]] | str | None
        if size > LONGEST_LINE:
            result = f"line of {size} bytes; at most {LONGEST_LINE} are read"
        elif may_matter or "\0" in text or "\1" in text or "\2" in text:
            result = self._messages.read(text)
        else:
            result = "no known layout"
        if result is None:
            return []
        if isinstance(result, str):
            row = list(_NOTHING)
            row[_CLASS], row[_WHY], row[_TEXT] = "rejected", result, text[:SHOWN]
            return [row]
        return [_row(fields) for fields in result]


def clean_text(value: pa.Array, size: pa.Array) -> pa.Array:
    """Lines as valid text of bounded length, without trailing carriage returns."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if (pc.max(size).as_py() or 0) > LONGEST_LINE:
        short = [raw if len(raw) <= LONGEST_LINE else raw[:KEPT_OF_A_LONG_LINE] for raw in value.to_pylist()]
        value = pa.array(short, pa.binary())
    try:
        text = value.cast(pa.string())
    except pa.ArrowInvalid:
        text = pa.array([raw.decode("utf-8", "replace") for raw in value.to_pylist()], pa.string())
    return pc.utf8_rtrim(text, "\r") if pc.any(pc.ends_with(text, "\r")).as_py() else text


class _LineNumbers:
    """Line numbers that continue from the batch before."""

    def __init__(self, offset: int) -> None:
        self._offset = offset

    def __getitem__(self, place: int) -> int:
        return self._offset + place


_NOTHING: tuple[Any, ...] = (None,) * len(CLASSIFIED)
_CLASS, _WHY, _TEXT = (_PLACE[name] for name in ("class", "why", "text"))


def _row(fields: dict[str, Any]) -> list[Any]:
    """An event as a row of the batch."""
    row = list(_NOTHING)
    row[_CLASS] = "parsed"
    for name, value in fields.items():
        row[_PLACE[name]] = value
    return row


def _batch(rows: Sequence[Sequence[Any]]) -> pa.RecordBatch:
    import pyarrow as pa

    columns = list(zip(*rows, strict=True)) or [()] * len(CLASSIFIED)
    return pa.record_batch(
        [
            pa.array(column, _arrow_type(kind))
            for column, kind in zip(columns, CLASSIFIED.values(), strict=True)
        ],
        names=list(CLASSIFIED),
    )


@cache
def _arrow_type(kind: str) -> pa.DataType:
    import pyarrow as pa

    return {"string": pa.string(), "long": pa.int64(), "array<string>": pa.list_(pa.string())}[kind]
