"""Events travel as packets: wherever a file is cut into blocks, what is unpacked is what one reader reads from the whole."""

from __future__ import annotations

import json
import random

import pytest

from rebalance_kit.forensics.lines.file_reader import FileReader
from rebalance_kit.forensics.lines.layouts import Reading
from rebalance_kit.pipeline.lines.classify import Range, RangeReader
from rebalance_kit.pipeline.lines.tables import (
    COUNTS,
    EVENTS_OF_GROUP,
    REJECTED_LINES,
    places_in,
    rejected_lines,
    unpacked,
)
from tests.support.pipeline.damage import damaged, real_lines

SHIFT_MS = 250


def shuffled_lines(count=3_000, seed=11):
    """Lines in no order of time, of a broker and of one client alone, whose blocks of settings do not name it."""
    dice = random.Random(seed)
    theirs = [line for line in real_lines() if b"clientId=c2" not in line and b"clientId=c3" not in line]
    lines = [dice.choice(theirs) for _ in range(count)]
    return [damaged(line, dice) if dice.random() < 0.1 else line for line in lines]


def alike(events):
    return sorted(json.dumps(fields, sort_keys=True) for fields in events)


def read_in_blocks(path, size):
    """Events and rejected lines, through packets, of a file cut into ranges of so many bytes."""
    end, rows = path.stat().st_size, []
    reader = RangeReader(Reading())
    for start in range(0, end, size):
        piece = Range("run", path.name, str(path), start, min(end, start + size), size)
        rows += [row for batch in reader.read(piece) for row in batch.to_pylist()]
    pieces = [
        (row["path"], row["file"], row["block"], row["nth"], json.loads(row["data"]))
        for row in rows
        if row["kind"] == COUNTS
    ]
    places = {place.block: place for place in places_in(pieces, SHIFT_MS)}
    events = [
        fields
        for row in rows
        if row["kind"] == EVENTS_OF_GROUP
        for fields in unpacked(row["data"], places[row["block"]])
    ]
    rejected = [
        line
        for row in rows
        if row["kind"] == REJECTED_LINES
        for line in rejected_lines(row["data"], places[row["block"]])
    ]
    return events, rejected, places, pieces


@pytest.mark.parametrize("size", [3_001, 40_000, 10_000_000])
def test_a_file_read_in_blocks_gives_the_events_of_the_whole_file(tmp_path, size):
    path = tmp_path / "c1.log"
    path.write_bytes(b"\n".join(shuffled_lines()) + b"\n")
    whole = FileReader(Reading(offsets=(("*", SHIFT_MS),))).read("run", path.name, [path.read_bytes()])
    events, rejected, places, pieces = read_in_blocks(path, size)
    assert sum(counts["lines"] for *_, counts in pieces) == whole.lines
    assert sum(counts["ignored"] for *_, counts in pieces) == whole.ignored
    assert alike(events) == alike(event.__dict__ for event in whole.events)
    assert sorted(rejected) == sorted(whole.rejected)
    assert len(places) == -(-path.stat().st_size // size)
    assert sum("back_ms" in fields for fields in events) > 300


def test_lines_that_name_no_client_get_the_only_one_of_their_file(tmp_path):
    path = tmp_path / "c1.log"
    named = b"[2026-11-21 02:15:25,032] INFO [Consumer clientId=c1, groupId=g] (Re-)joining group (a.B)\n"
    nameless = b"[2026-11-21 02:15:24,032] INFO Kafka version: 4.3.1 (o.a.k.AppInfoParser)\n"
    path.write_bytes(nameless + named + nameless)
    for size in (len(nameless), 10_000):
        events, *_ = read_in_blocks(path, size)
        told = sorted((fields["line"], fields["client"], fields["group"]) for fields in events)
        assert told == [(line, "c1", "g") for line in (1, 2, 3)]
        assert [fields["line"] for fields in events if "back_ms" in fields] == [3]
