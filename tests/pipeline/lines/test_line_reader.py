"""Lines in plain Python: every one counted once, wherever a batch begins, and none too odd or too long to read."""

from __future__ import annotations

import random
import signal
from contextlib import contextmanager

import pyarrow as pa
import pytest

from rebalance_kit.forensics.lines.layouts import LAYOUTS, Layout, Reading, load_layouts
from rebalance_kit.model.errors import ConfigError
from rebalance_kit.pipeline.lines.batch_reader import CLASSIFIED, BatchReader
from rebalance_kit.pipeline.lines.tables import LONGEST_LINE
from tests.support.pipeline.damage import damaged, real_lines

SAID = "[Consumer clientId=c1, groupId=g] Successfully joined group with generation 7"
KAFKA = f"[2026-11-21 02:15:25,032] INFO {SAID} (a.B)"
BOOT = "2026-11-21T02:15:25.032Z  INFO 8617 --- "
MANY = LONGEST_LINE * 9 // 10


def batch(lines, row=None):
    """Lines (file, block, text) as Spark hands them over."""
    columns = [[line[place] for line in lines] for place in range(3)]
    kinds = {"location": pa.string(), "block": pa.int64(), "value": pa.binary()}
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds.values(), strict=True)]
    if row is not None:
        return pa.record_batch([*arrays, pa.array(row, pa.int64())], names=[*kinds, "row"])
    return pa.record_batch(arrays, names=list(kinds))


def reader(layouts=()):
    return BatchReader(Reading(tuple(layouts)), {"a": ("run", "a.log"), "b": ("run", "b.log")})


def read(line, layouts=()):
    """The rows of one line, which is counted once."""
    line = line if isinstance(line, bytes) else line.encode()
    rows = reader(layouts).read(batch([("a", 0, line)])).to_pylist()
    assert sum(row["n"] for row in rows) == 1
    assert len({row["class"] for row in rows}) == 1
    return rows


def verdict(line, layouts=()):
    row = read(line, layouts)[0]
    return row["why"] or row["event"] or row["class"]


def counted(rows):
    """What is known of the lines once all batches are read: those kept, and how many are ignored in each block."""
    kept = [row for row in rows if row["class"] != "ignored"]
    ignored = {}
    for row in rows:
        if row["class"] == "ignored":
            key = row["file"], row["block"]
            ignored[key] = ignored.get(key, 0) + row["n"]
    return kept, ignored


@contextmanager
def within(seconds):
    """Fail when the block takes longer; an expression that goes through all ways to fit takes for ever."""

    def late(signum, frame):
        raise TimeoutError(f"not done within {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def files_of_damaged_lines(count=1200, seed=3):
    dice = random.Random(seed)
    texts = [dice.choice(real_lines()) for _ in range(count)]
    texts = [damaged(text, dice) if dice.random() < 0.5 else text for text in texts]
    cuts = [("a", 0)] * (count // 2) + [("a", 4096)] * (count // 4) + [("b", 0)] * (count // 4)
    return [(*cut, text) for cut, text in zip(cuts, texts, strict=True)]


@pytest.mark.parametrize("sizes", [(1,), (7, 0, 301), (599, 1, 1), (1199,)])
def test_wherever_batches_are_cut_the_same_lines_have_the_same_numbers(sizes):
    lines = files_of_damaged_lines()
    whole = counted(reader().read(batch(lines)).to_pylist())
    assert len(whole[0]) > 300
    assert len(whole[1]) == 3
    for row in whole[0]:
        block = [line[2] for line in lines if line[:2] == (row["file"][0], row["block"])]
        # A damaged line may hold the beginning of one more record.
        assert row["text"] in block[row["nth"] - 1].decode("utf-8", "replace")
    pieces, begin, cut, turn = [], 0, reader(), 0
    while begin < len(lines):
        size = sizes[turn % len(sizes)]
        pieces += cut.read(batch(lines[begin : begin + size])).to_pylist()
        begin, turn = begin + size, turn + 1
    assert counted(pieces) == whole


def test_lines_that_bring_their_numbers_keep_them():
    lines = files_of_damaged_lines()
    numbers = [10 + 3 * place for place in range(len(lines))]
    kept, ignored = counted(reader().read(batch(lines, numbers)).to_pylist())
    plain, as_many = counted(reader().read(batch([("a", 0, text) for _, _, text in lines])).to_pylist())
    assert [row["nth"] for row in kept] == [10 + 3 * (row["nth"] - 1) for row in plain]
    assert sum(ignored.values()) == sum(as_many.values())


def test_a_batch_without_a_line_gives_none():
    rows = reader().read(batch([]))
    assert (rows.num_rows, rows.schema.names) == (0, list(CLASSIFIED))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"", "ignored"),
        (b"\r\r", "ignored"),
        (b"\0 group", "binary, not text"),
        (b"\xff group", "no known layout"),
        (b"\xed\xa0\x80 group", "no known layout"),
        (KAFKA.encode() + b"\r", "joined"),
        (KAFKA.replace("c1", "c\x7f").encode(), "joined"),
        (KAFKA.encode().replace(b"c1", b"c\xc3"), "joined"),
        (f'{{"message":"{SAID}","level":"INFO"}}', "joined"),
        (
            f'{{"message":"{SAID}","level":["x"],"@timestamp":{{"a":[1e400,NaN]}}}}',
            'no time that can be read: {"a": ["1e400", NaN]}',
        ),
        ('{"message":null,"msg":"group"}', "ignored"),
        ('{"message":null,"level":"group"}', "not quite the layout json"),
        ('{"message":{"group":[12,true]}}', "ignored"),
        ('{"message":"group', "not quite the layout json"),
        ('{"group":' + "[" * 400_000, "not quite the layout json"),
        ('{"log":"group\\n","time":17}', "no known layout"),
        (f'{{"log":"INFO a.B - {SAID}\\n","time":[17]}}', "joined"),
        ('{"log":"group","log":["group"]}', "not quite the layout json"),
        (f'{{"log":"{KAFKA}', "joined"),
        (
            KAFKA.replace(SAID, "[GroupCoordinator id=1] Stabilized group g generation 7 with 2 members."),
            "stabilized",
        ),
        (
            KAFKA.replace(
                SAID, "[GroupId a] [GroupCoordinator id=1] Stabilized group g generation 7 with 2 members."
            ),
            "stabilized",
        ),
    ],
)
def test_an_odd_line_is_read_ignored_or_rejected_and_stops_nothing(line, expected):
    assert verdict(line) == expected


def test_half_a_letter_in_json_is_replaced_and_a_whole_one_kept():
    line = f'{{"message":"{SAID}","level":"\\udfff"}}'.replace("c1", "c\\ud800\\ud83d\\ude00")
    (row,) = read(line)
    assert (row["event"], row["client"], row["level"]) == ("joined", "c?😀", "?")


@pytest.mark.parametrize(("digits", "expected"), [(18, int("9" * 18)), (19, None), (5_000, None)])
def test_a_number_that_no_column_holds_is_none(digits, expected):
    (row,) = read(KAFKA.replace("generation 7", f"generation {'9' * digits}"))
    assert (row["event"], row["generation"]) == ("joined", expected)


@pytest.mark.parametrize(
    ("more", "expected"),
    [(0, "rejoin_requested"), (1, f"line of {LONGEST_LINE + 1} bytes; at most {LONGEST_LINE} are read")],
)
def test_the_longest_line_is_read_and_one_byte_more_is_not(more, expected):
    line = KAFKA.replace(SAID, "[Consumer clientId=c1, groupId=g] Request joining group due to: é")
    line = line.replace("é", "é" + "x" * (LONGEST_LINE - len(line.encode()) + more))
    assert len(line.encode()) == LONGEST_LINE + more
    assert verdict(line) == expected


def test_a_json_line_with_a_block_gives_all_its_lines_of_which_one_counts():
    told = '{"message":"' + SAID + r"\r\n\tgroup.id = g\r\n\tgroup.instance.id = i1" + '"}'
    rows = read(told)
    assert [(row["event"], row["key"], row["value"], row["n"]) for row in rows] == [
        ("joined", None, None, 1),
        ("config", "group.id", "g", 0),
        ("config", "group.instance.id", "i1", 0),
    ]
    assert [row["row"] for row in rows] == [1_000_000, 1_000_001, 1_000_002]


@pytest.mark.parametrize(
    "line",
    [
        BOOT + "[a] " * 40 + "group",
        BOOT + "[a] " * (MANY // 4) + "group",
        "2026-11-21 02:15:25,032 INFO " + "[a] A " * (MANY // 6) + "group",
        "INFO " + "[a] A " * (MANY // 6) + "group",
        f"[2026-11-21 02:15:25,032] INFO [Consumer {'clientId=a, groupId=' * (MANY // 20)}",
        f"[2026-11-21 02:15:25,032] INFO Preparing to rebalance group {' in state x with old generation 1 (reason: ' * (MANY // 44)}",
        f"[2026-11-21 02:15:25,032] INFO [GroupId g] Static member {' with instance id  joins the consumer group using the ' * (MANY // 60)}",
        f"[2026-11-21 02:15:25,032] INFO {SAID} {'9' * MANY}",
        '{"message":"group' + r"\n" * (MANY // 2) + '"}',
    ],
    ids=lambda line: line[:60],
)
def test_no_line_is_so_hostile_that_reading_it_takes_long(line):
    with within(5):  # 0.1 s, or days
        assert verdict(line) != "joined"


@pytest.mark.parametrize("threads", ["[app] [  main] ", "[] [main] [4bf9-a1] ", "[a]b] [[x]] "])
def test_spring_boot_may_put_several_names_in_brackets(threads):
    assert verdict(f"{BOOT}{threads}o.a.k.X : {SAID}") == "joined"


def test_a_long_line_is_taken_apart_as_a_short_one_is():
    plan = (
        f"[Consumer clientId=c1, groupId=g] Finished assignment for group at generation 7: {{{'x' * 5000}}}"
    )
    long, short = (read(f"[2026-11-21 02:15:25,032] INFO {one} (a.B)") for one in (plan, plan[:200]))
    told = [{**row, "detail": None, "text": None} for row in long + short]
    assert told[0] == told[1]
    assert len(long[0]["detail"]) > 5000


def test_a_layout_may_name_each_part_twice_and_begin_with_any_letter():
    pattern = r"[\W\d](?:(?P<level>[A-Z]+) (?P<at>\d+) (?P<client>\w+)|(?P<at2>\d+) (?P<level2>\w+) (?P<client2>\w+)) : (?P<message2>.*)"
    for begin in "~&-^$.*+()[]{}|\\/'\"§é 1":
        own = Layout("own", (begin,), pattern, time="epoch millis")
        for head in ("INFO 12 me", "12 INFO me"):
            line = begin + head + " : Successfully joined group with generation 7"
            (row,) = read(line, [own])
            assert (row["event"], row["level"], row["at_ms"], row["client"]) == (
                "joined",
                "INFO",
                12,
                "me",
            ), begin


def test_what_a_layout_holds_beyond_re2_is_read_by_python():
    own = Layout("own", ("<",), r"<(?!x)(\w+)> (?P<message>.*)")
    for size in (1, 5_000):
        line = f"<a> [Consumer clientId=c, groupId=g] Request joining group due to: {'x' * size}"
        assert verdict(line, [own]) == "rejoin_requested"
        assert verdict(f"<x> Nothing of a group: {'x' * size}", [own]) == "not quite the layout own"


@pytest.mark.parametrize("pattern", ["(?i)(?P<message>.*)", "(?u)(?P<message>.*)", "(?P<message>"])
def test_a_pattern_that_lines_cannot_be_read_with_is_refused_by_name(tmp_path, pattern):
    file = tmp_path / "own.yaml"
    file.write_text(f"layouts:\n- name: own\n  begins: x\n  pattern: '{pattern}'\n")
    with pytest.raises(ConfigError, match=r"layout 1 \(own\): pattern is no regular expression"):
        load_layouts(file)


def test_every_layout_of_the_kit_is_read_by_python_and_re2_alike():
    import pyarrow.compute as pc

    for layout in LAYOUTS:
        if layout.pattern:
            assert pc.extract_regex(pa.array(["x"]), layout.whole)[0].as_py() is None
