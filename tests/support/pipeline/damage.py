"""Lines of the recorded runs, damaged at random: bytes lost, doubled, moved or foreign, fields blown up or swapped."""

from __future__ import annotations

import re
from functools import cache

from rebalance_kit.recordings.folder import RECORDED, _members, run_names

_FOREIGN = (
    b"\x00",
    b"\x01",
    b"\x02",
    b"\xff\xfe",
    b"\xc3",
    "ü".encode(),
    "\u2028".encode(),
    b"\r",
    b"\t",
    b"$1",
    b"\\",
    b"{",
    b"}",
    b"[[",
    b'"',
    b"'",
    b"%7|",
)
_HUGE = (b"9" * 30, b"-1", b"1e9", b"0x7f", b"2147483648", b"")
_FILES = 16


@cache
def real_lines():
    """Different lines of all recorded logs: every one that tells of a group, and a few of the rest."""
    found = {}
    for name, data in _members(RECORDED, set(run_names())):
        if name.endswith(".log"):
            for line in data.split(b"\n"):
                known = re.sub(rb"\d+|[\w-]{22,}", b"#", line)
                found.setdefault(known, line)
    return tuple(found.values())


def damaged(line, dice):
    """One line with one to three faults; never a line feed, so that it stays one line."""
    for _ in range(dice.randint(1, 3)):
        line = dice.choice(_FAULTS)(line, dice)
    return line.replace(b"\n", b" ")


def damaged_files(folder, count, dice):
    """Write ``count`` lines, most of them damaged, to sixteen files; lines by file."""
    lines, wanted = real_lines(), {}
    for number in range(_FILES):
        size = count // _FILES + (number < count % _FILES)
        name = f"{number:02}.log"
        with (folder / name).open("wb") as out:
            for _ in range(size):
                line = dice.choice(lines)
                out.write((damaged(line, dice) if dice.random() < 0.9 else line) + b"\n")
        wanted[name] = size
    return wanted


def _cut(line, dice):
    return line[: dice.randrange(len(line) + 1)]


def _behead(line, dice):
    return line[dice.randrange(len(line) + 1) :]


def _drop(line, dice):
    place = dice.randrange(len(line) + 1)
    return line[:place] + line[place + dice.randint(1, 8) :]


def _insert(line, dice):
    place = dice.randrange(len(line) + 1)
    return line[:place] + dice.choice(_FOREIGN) * dice.randint(1, 3) + line[place:]


def _flip(line, dice):
    if not line:
        return line
    place = dice.randrange(len(line))
    return line[:place] + bytes([line[place] ^ (1 << dice.randrange(8))]) + line[place + 1 :]


def _double(line, dice):
    place = dice.randrange(len(line) + 1)
    return line[:place] + line


def _blow_up(line, dice):
    numbers = list(re.finditer(rb"\d+", line))
    if not numbers:
        return line
    found = dice.choice(numbers)
    return line[: found.start()] + dice.choice(_HUGE) + line[found.end() :]


def _join(line, dice):
    return line + dice.choice((b"", b" ", b"; ")) + dice.choice(real_lines())


_FAULTS = (_cut, _behead, _drop, _insert, _flip, _double, _blow_up, _join)
