"""What backs each number in the prose of notebooks 00 to 15; writes build/numbers.md.

A number (in digits, or in a word from *two* on) is backed when it is, in this order:

- a name: a version, a KIP, a notebook, an exercise, a number in a heading or list;
- the output of a cell at most eight cells away, rounded as the prose rounds it (the nearest one before it, else after it);
- what a cell sets: its source, or the scenario that it names;
- the default of a configuration key that its paragraph or its notebook names, now or in an earlier version;
- an entry of docs/numbers.yaml, which gives a fragment of the prose and the source of its numbers.

Exits 1 when a number has no backing. ``--check`` writes nothing.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from rebalance_kit import scenarios
from rebalance_kit.model.config import all_keys
from rebalance_kit.model.files import write_atomically

ROOT = Path(__file__).resolve().parent.parent
LISTED = ROOT / "docs" / "numbers.yaml"
TARGET = ROOT / "build" / "numbers.md"
COVERED = re.compile(r"0\d|1[0-5]")
NEAR = 8
"""How many cells before and after it a number in prose is looked for."""
_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
_TENS = {
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "seventy": 70,
    "eighty": 80,
    "ninety": 90,
}
_SMALL = {word: value for value, word in enumerate(_UNITS) if value >= 2} | _TENS
_COUNTED = "|".join(sorted(_SMALL, key=len, reverse=True))
WORDS = re.compile(
    rf"\b(?:(?P<many>{_COUNTED}|a) (?P<power>hundred|thousand)(?: and (?P<rest>{_COUNTED}))?"
    rf"|(?P<tens>{'|'.join(_TENS)})-(?P<unit>{'|'.join(_UNITS[1:10])})|(?P<word>{_COUNTED}))\b",
    re.IGNORECASE,
)
DIGITS = re.compile(r"(?<![\w.,/-])\d[\d,]*(?:\.\d+)?(?![\w/]|\.\d)")
NAMED = re.compile(
    r"""
      (?m: ^\#{1,4}\ .*?$ | ^\d+\.\ | ^\*\*\d+\.\*\* )
    | KIP-\d+ | `[^`]*` | \]\([^)]*\) | \d\d:\d\d(?::\d\d(?:\.\d+)?)?
    | (?: [Nn]otebooks? | [Ee]xercises? | [Mm]yth | sections? ) \s+ [\d*]+ b? (?: (?: ,\s | \sand\s | \sto\s ) \d+ b? )*
    | \*\*\d\d\*\* | \b0\d b?,\s is\b | \*\*\d+\ minutes\*\*(?:,\ and\ \d+\ for\ its\ exercises)?
    | ^\|\s*\d\.\d\s*\|
    """,
    re.VERBOSE | re.MULTILINE,
)
VERSION = re.compile(r"\b[0-6]\.\d{1,2}(?:\.\d)?(?:\.x)?\b|\b4\.x\b")
_NUMBER = re.compile(r"(?<![\w.])-?\d[\d,_]*(?:\.\d+)?")
_NAMES = re.compile(r"\b[a-z][a-z-]*-\d+(?:(?:, | and )(?:[a-z][a-z-]*-)?\d+)*\b")
"""``orders-0, 1 and 2``: the number of a partition backs no seconds."""


@dataclass(frozen=True, slots=True)
class Found:
    """A number in prose: as written, its value, its sentence, and what backs it (None: nothing)."""

    notebook: str
    cell: int
    written: str
    value: float
    sentence: str
    backing: str | None


def numbers(notebook: Path) -> Iterator[Found]:
    """Every number in the prose of a stored notebook, with its backing."""
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    sources = [_source(cell) for cell in cells]
    outputs = [_numbers_of(_NAMES.sub(" ", _output(cell))) for cell in cells]
    settings = [
        _numbers_of(_settings(source)) if cell["cell_type"] == "code" else set()
        for cell, source in zip(cells, sources, strict=True)
    ]
    listed = [entry for entry in _listed() if entry["notebook"] == notebook.stem]
    for index, cell in enumerate(cells):
        if cell["cell_type"] != "markdown":
            continue
        for written, value, sentence in in_prose(sources[index]):
            backing = (
                _of_list(sentence, listed)
                or _of_cells(value, written, index, outputs, "output")
                or _of_cells(value, written, index, settings, "set in")
                or _of_defaults(value, sentence, "\n".join(sources))
            )
            yield Found(notebook.stem, index, written, value, sentence, backing)


def in_prose(text: str) -> Iterator[tuple[str, float, str]]:
    """The numbers of a text that are not names, each with its value and its sentence."""
    plain = NAMED.sub(lambda match: " " * len(match[0]), re.sub(r"```.*?```", _blank, text, flags=re.DOTALL))
    plain = VERSION.sub(
        lambda match: " " * len(match[0]) if match[0] in _known_versions() else match[0], plain
    )
    for match in DIGITS.finditer(plain):
        yield match[0], float(match[0].replace(",", "")), _sentence(text, match.start())
    for match in WORDS.finditer(plain):
        yield match[0], _value(match), _sentence(text, match.start())


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _value(match: re.Match[str]) -> float:
    if match["power"]:
        many = _SMALL.get(match["many"].lower(), 1)
        return many * {"hundred": 100, "thousand": 1000}[match["power"].lower()] + _SMALL.get(
            (match["rest"] or "").lower(), 0
        )
    if match["tens"]:
        return _TENS[match["tens"].lower()] + _UNITS.index(match["unit"].lower())
    return _SMALL[match["word"].lower()]


def _sentence(text: str, at: int) -> str:
    """The sentence or table row around a place, on one line."""
    begin = max(
        text.rfind(mark, 0, at) + len(mark) for mark in (". ", "? ", "! ", "\n\n", ": ", "\n- ", "\n|", "\n#")
    )
    ends = [
        place for mark in (". ", ".\n", "? ", "?\n", "\n\n", "|\n") if (place := text.find(mark, at)) >= 0
    ]
    return " ".join(text[max(0, begin) : min(ends, default=len(text)) + 1].split())


# --- what may back a number -----------------------------------------------------------------------
def _of_cells(value: float, written: str, index: int, cells: Sequence[set[float]], how: str) -> str | None:
    places = len(written.partition(".")[2]) if written[0].isdigit() else 0
    near = [
        *range(index - 1, max(-1, index - 1 - NEAR), -1),
        *range(index + 1, min(len(cells), index + 1 + NEAR)),
    ]
    for cell in near:
        for shown in cells[cell]:
            if any(
                round(shown / unit, places) == value and (unit == 1 or shown >= unit)
                for unit in (1, 1000, 60_000)
            ):
                return f"{how} cell {cell}"
    return None


def _of_defaults(value: float, sentence: str, text: str) -> str | None:
    for name, key in all_keys().items():
        if name not in text:
            continue
        for since, default in key.history:
            known = isinstance(default, int) and not isinstance(default, bool)
            if known and value in {default, default / 1000, default / 60_000}:
                return f"default of `{name}` since {since}"
    return None


def _of_list(sentence: str, listed: Sequence[Mapping[str, str]]) -> str | None:
    return next((entry["source"] for entry in listed if " ".join(entry["text"].split()) in sentence), None)


@lru_cache(maxsize=1)
def _listed() -> tuple[Mapping[str, str], ...]:
    return tuple(yaml.safe_load(LISTED.read_text("utf-8")))


@lru_cache(maxsize=1)
def _known_versions() -> frozenset[str]:
    """Every version that the kit's own tables name; a version in prose must be one of them."""
    text = "\n".join(
        path.read_text("utf-8") for path in sorted((ROOT / "rebalance_kit" / "model").rglob("*.py"))
    )
    text += (ROOT / "rebalance_kit" / "glossary.yaml").read_text("utf-8")
    return frozenset(VERSION.findall(text)) | {"4.x"}


# --- what cells hold ------------------------------------------------------------------------------
def _source(cell: Mapping[str, Any]) -> str:
    return "".join(cell["source"])


def _output(cell: Mapping[str, Any]) -> str:
    shown = []
    for output in cell.get("outputs", ()):
        data = output.get("data", {})
        shown.append("".join(output.get("text", data.get("text/plain", ""))))
        page = "".join(data.get("text/html", ""))
        if "rk-still" not in page:  # a lab's film holds every number; its words stand in text/plain
            shown.append(re.sub(r"<[^>]+>", " ", page))
    return "\n".join(shown)


def _settings(source: str) -> str:
    """A cell's source, with the text of each scenario of the kit that it names."""
    named = [name for name in re.findall(r"\"([a-z][a-z0-9-]+)\"", source) if name in scenarios.names()]
    return "\n".join([source, *(scenarios.source(name) for name in named)])


def _numbers_of(text: str) -> set[float]:
    found = {abs(float(number.replace(",", "").replace("_", ""))) for number in _NUMBER.findall(text)}
    found |= {float(number) for number in re.findall(r"(?<=\d)?(?:^|[^\w.])(\d+(?:\.\d+)?)\s?s\b", text)}
    return found


# --- the document ---------------------------------------------------------------------------------
def document(found: Sequence[Found]) -> str:
    """build/numbers.md: each number of the prose with what backs it."""
    lines = [
        "# What backs each number in the prose",
        "",
        "Written by `python scripts/prose_numbers.py` (do not edit; sources that no cell shows stand in `docs/numbers.yaml`).",
        f"{len(found)} numbers in the prose of notebooks 00 to 15, {sum(one.backing is None for one in found)} of them without backing.",
        "Cells are counted from 0. Names (versions, KIPs, notebooks, headings, code) are not listed.",
    ]
    for notebook in dict.fromkeys(one.notebook for one in found):
        lines += ["", f"## {notebook}", "", "| number | where | backed by |", "|---|---|---|"]
        for one in found:
            if one.notebook == notebook:
                sentence = one.sentence.replace("|", "·")
                shown = sentence if len(sentence) <= 100 else sentence[:97] + "…"
                lines.append(f"| {one.written} | [{one.cell}] {shown} | {one.backing or '**nothing**'} |")
    return "\n".join(lines) + "\n"


def covered() -> list[Path]:
    """The notebooks whose numbers are checked."""
    return sorted(path for path in (ROOT / "notebooks").glob("*.ipynb") if COVERED.match(path.name))


def main(arguments: list[str]) -> int:
    """Write or check the document; return 1 when a number has no backing."""
    found = [one for notebook in covered() for one in numbers(notebook)]
    bare = [one for one in found if one.backing is None]
    for one in bare:
        print(f"{one.notebook}[{one.cell}] {one.written!r}: {one.sentence}", file=sys.stderr)
    if "--check" not in arguments:
        TARGET.parent.mkdir(exist_ok=True)
        write_atomically(TARGET, document(found))
    print(f"{len(found)} numbers, {len(bare)} without backing")
    return 1 if bare else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
