"""Layouts of log lines: where the time, the level and the message stand.

The table is ``layouts.yaml`` beside this file; a user's file of the same form takes precedence.  Two tests
select a layout: how a line begins (cheap, for every line), and an expression for the whole line (only for
lines that may matter).  A line with an unknown beginning continues the event above it (a stack trace, a
block) or is not from a log.

Strips what docker, Kubernetes and Compose put before a line: a name, a time or a stream.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from rebalance_kit.model.errors import ConfigError
from rebalance_kit.model.yaml_text import YamlRules, load_yaml

if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.resources.abc import Traversable
    from pathlib import Path


#: Times that count from 1970 instead of being text.
EPOCH_SECONDS, EPOCH_MILLIS = "epoch seconds", "epoch millis"

#: ISO 8601, optionally with a blank for the T and a comma for the point.
ISO = "iso"

#: The parts that a layout may name; a missing part is empty.
HEAD = ("message", "level", "at", "client")

_KEYS = frozenset({"name", "begins", "pattern", "json", "time"})


@dataclass(frozen=True, slots=True)
class Layout:
    """One way of writing a line: how it ``begins``, its ``pattern`` or the ``json`` keys, its ``time``."""

    name: str
    begins: tuple[str, ...]
    pattern: str = ""
    json: tuple[tuple[str, tuple[str, ...]], ...] = ()
    time: str | None = None

    @property
    def whole(self) -> str:
        """The expression for the whole line."""
        return f"(?s)^(?:{self.pattern})$"

    @property
    def shapes(self) -> tuple[str, ...]:
        """``begins`` as expressions, valid in Python and RE2."""
        return tuple(
            "".join({"#": "[0-9]", "?": "."}.get(letter) or re.escape(letter) for letter in shape)
            for shape in self.begins
        )

    def groups(self, name: str) -> tuple[int, ...]:
        """Numbers of the groups that give ``name``: ``message``, then ``message2`` and so on."""
        places = re.compile(self.pattern).groupindex
        return tuple(place for found, place in places.items() if found.rstrip("0123456789") == name)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader knows about the logs: layouts to try first, the year and zone that lines lack, clock offsets.

    ``offsets`` are pairs of a path pattern and the milliseconds to add to the times of matching files.
    """

    layouts: tuple[Layout, ...] = ()
    year: int | None = None
    time_zone: str | None = None
    offsets: tuple[tuple[str, int], ...] = ()

    @property
    def table(self) -> tuple[Layout, ...]:
        """All layouts, the reader's own first."""
        return self.layouts + LAYOUTS


def load_layouts(path: Path | Traversable) -> tuple[Layout, ...]:
    """Read the layouts of a YAML file; ``ConfigError`` names the file, the entry and what was expected."""
    document = load_yaml(path, YamlRules("a YAML file of layouts", error=ConfigError))
    entries = document.get("layouts") if isinstance(document, dict) else None
    if not isinstance(entries, list) or not entries:
        raise ConfigError(f"{path}: expected a list under the key 'layouts', got {_short(document)}")
    return tuple(_layout(entry, f"{path}: layout {number}") for number, entry in enumerate(entries, start=1))


def _layout(entry: Any, where: str) -> Layout:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise ConfigError(f"{where}: expected an entry with a name, got {_short(entry)}")
    where = f"{where} ({entry['name']})"
    unknown = sorted(str(key) for key in entry if key not in _KEYS)
    if unknown:
        raise ConfigError(f"{where}: unknown key {unknown[0]!r}; expected {', '.join(sorted(_KEYS))}")
    begins = entry.get("begins")
    begins = [begins] if isinstance(begins, str) else begins
    if not isinstance(begins, list) or not begins or not all(isinstance(b, str) and b for b in begins):
        raise ConfigError(f"{where}: begins is {_short(begins)}; expected a text such as '####-##-## '")
    if not all(shape.strip("#?") for shape in begins):
        raise ConfigError(f"{where}: begins must hold at least one character besides # and ?, got {begins}")
    time = entry.get("time")
    if time is not None and not isinstance(time, str):
        raise ConfigError(f"{where}: time is {_short(time)}; expected iso, epoch seconds or a pattern")
    if ("pattern" in entry) == ("json" in entry):
        raise ConfigError(f"{where}: expected either pattern or json")
    if "json" in entry:
        return Layout(entry["name"], tuple(begins), json=_json_keys(entry["json"], where), time=time)
    return Layout(entry["name"], tuple(begins), _checked(entry["pattern"], where), time=time)


#: A character of a pattern that a backslash makes plain, or a whole set; in a set what a later Python may read otherwise.
_SETS = re.compile(r"(?s)\\.|(\[\^?\]?)((?:\\.|[^\\\]])*)\]")
_ODD_IN_SETS = re.compile(r"(?s)(\\.)|\[|(?:(?<=-)-|(?<=&)&|(?<=~)~|(?<=\|)\|)")


def _plain_sets(pattern: str) -> str:
    """The pattern with a backslash before what Python warns of in a set (``[`` and doubled signs): it means the same."""
    return _SETS.sub(
        lambda found: (
            found[0]
            if found[1] is None
            else found[1] + _ODD_IN_SETS.sub(lambda odd: odd[1] or f"\\{odd[0]}", found[2]) + "]"
        ),
        pattern,
    )


def _checked(pattern: Any, where: str) -> str:
    pattern = _plain_sets(str(pattern))
    try:
        re.compile(
            str(pattern), re.ASCII
        )  # brackets that only what stands around it closes are none of its own
        # As lines are read with it: a flag for all of it, say, is nothing that may stand inside.
        whole = re.compile(Layout("", (), str(pattern)).whole, re.ASCII)
    except (re.error, ValueError, OverflowError, RecursionError) as problem:
        raise ConfigError(f"{where}: pattern is no regular expression: {problem}") from problem
    names = {name.rstrip("0123456789") for name in whole.groupindex}
    if "message" not in names:
        raise ConfigError(f"{where}: pattern lacks the group (?P<message>...)")
    unknown = sorted(names - set(HEAD))
    if unknown:
        raise ConfigError(f"{where}: unknown group {unknown[0]!r}; expected {', '.join(HEAD)}")
    return str(pattern)


def _json_keys(keys: Any, where: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(keys, dict) or "message" not in keys or not set(keys) <= set(HEAD):
        raise ConfigError(
            f"{where}: json is {_short(keys)}; expected lists of keys for message, at, level, client"
        )
    return tuple(
        (name, tuple(map(str, keys[name] if isinstance(keys[name], list) else [keys[name]]))) for name in keys
    )


def _short(value: object) -> str:
    return repr(value) if len(repr(value)) < 60 else repr(value)[:57] + "..."


def begins_like(layout: Layout) -> Callable[[str], object]:
    """A predicate: whether a line begins as the layout's lines do."""
    return re.compile(f"(?sa)(?:{'|'.join(layout.shapes)})").match


#: The layouts that come with the kit.
LAYOUTS: tuple[Layout, ...] = load_layouts(files(__package__) / "layouts.yaml")


#: How a line without a layout begins when it continues the event above it.
CONTINUATIONS: tuple[str, ...] = (
    "\t",
    " ",
    "{",
    "}",
    "*",
    "Caused by:",
    "Suppressed:",
    "...",
    "Traceback (most recent call last)",
    "java.",
    "javax.",
    "org.",
    "com.",
    "io.",
    "kafka.",
    "cimpl.",
)


#: docker compose and ``kubectl logs --prefix`` write a name.
NAMED = r"(?:\[pod/\S+\] |[\w.-]+ +\| )"
_NAMED = re.compile(NAMED, re.ASCII)
_TIMED = re.compile(
    r"(?s)(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)) "
    r"(?:(?:stdout|stderr) [FP] |(?=\[\d{4}-|\d{4}-\d\d-\d\d|%\d\||\{|\t| |\[[\w.-]+\] [A-Z]+ +\S+ -)(?! *[A-Z]+ \S+ ---))",
    re.ASCII,
)

#: docker's own log file of a container: one JSON object per line.
DOCKER_JSON = '{"log":"'
_TIMES = ("time", "@timestamp", "timestamp", "ts", "date")


#: A JSON escape of one half of a surrogate pair; alone it is no character.
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")

#: How lines begin that have no such prefix.
_BARE = ("[20", "%", "\t")


def unwrap(line: str) -> tuple[str, str | None]:
    """Return a line as the process wrote it, and the time that the container added (None without one).

    Knows ``docker logs --timestamps``, docker's log files, CRI, ``kubectl logs --prefix`` and compose.
    """
    if line.startswith(_BARE):
        return line, None
    text, at = line, None
    if line.startswith(DOCKER_JSON):
        record = json_object(line) or {}
        log, time = record.get("log"), next((record[key] for key in _TIMES if key in record), None)
        if isinstance(log, str):
            text, at = log.rstrip("\r\n"), time if isinstance(time, str) else None
    else:
        named = _NAMED.match(line)
        text = line[named.end() :] if named else line
    timed = _TIMED.match(text) if text[:1] == "2" and text[10:11] == "T" else None
    if timed is None:
        return text, at
    return text[timed.end() :], timed[1]


def json_object(text: str) -> dict[str, Any] | None:
    """Parse a line as a JSON object, with numbers as they are written; None when it is not one."""
    try:
        value = json.loads(text, parse_int=str, parse_float=str)
        if _SURROGATE.search(text):
            # A lone surrogate cannot be encoded as UTF-8, so nothing could store it.
            repaired = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
            value = json.loads(repaired, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
