"""What a line is, in plain Python: its layout, its prefix, the message in it and the event that it means.

Spark hands the lines over in batches (``intake``); ``suspects`` first sets apart those that cannot
matter, by searches over a whole batch, and ``LineReader`` reads the few that are left.
"""

from __future__ import annotations

import json
import re
from operator import itemgetter
from typing import TYPE_CHECKING, TypeAlias

from rebalance_kit.forensics.grammar.table import IN_MESSAGES, IN_UNLAID, Found
from rebalance_kit.forensics.lines.containers import json_object, unwrap
from rebalance_kit.forensics.lines.layouts import CONTINUATIONS, HEAD, begins_like
from rebalance_kit.forensics.lines.safe_regex import LONG

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rebalance_kit.forensics.lines.layouts import Layout

#: Prefix of a client's lines; a Connect worker's group coordinator prints the same with its own name.
_CLIENT_PREFIX = re.compile(
    r"(?s)\[(?:Consumer|Worker) (?:instanceId=(.*?), )?clientId=(.*?), groupId=(.*?)\] ?", re.ASCII
)
_LOGGER = re.compile(r" \([\w.$]{1,200}(?::\d{1,9})?\)\Z", re.ASCII)
_BROKER_PREFIX = re.compile(r"\[Group(?:Coordinator|MetadataManager) [^\]]*\]:? ", re.ASCII)

#: What a line says of itself before its message: layout, level, time, client; None where its layout lacks it.
Head: TypeAlias = tuple[str | None, str | None, str | None, str | None]

#: Instance id, client and group of a client's prefix.
Prefix: TypeAlias = tuple[str | None, str | None, str | None]

#: One message of a line (a line of JSON may hold several).
Said: TypeAlias = tuple[Head, Prefix, Found]

_NO_HEAD: Head = (None, None, None, None)
_NO_PREFIX: Prefix = (None, None, None)


class LineReader:
    """Reads lines that may matter; ``layouts`` are tried in order."""

    def __init__(self, layouts: Sequence[Layout]) -> None:
        self._layouts = [
            (begins_like(layout), _parts(layout), layout.name, bool(layout.json)) for layout in layouts
        ]
        self._first = re.compile(
            "(?s)" + "|".join(f"({'|'.join(layout.shapes)})" for layout in layouts)
        ).match

    def read(self, line: str) -> list[Said] | str | None:
        """The messages of a line that the grammar knows; why it is rejected; or None: it is ignored."""
        text, outer = unwrap(line)
        like = self._first(text)
        if like is not None:
            first = (like.lastindex or 1) - 1
            for place, (begins, parts, name, many) in enumerate(self._layouts[first:]):
                told = parts(text) if place == 0 or begins(text) else None
                if told is not None:
                    message, level, at, client = told
                    return self._laid(message or "", (name, level, at or outer, client), many)
            return f"not quite the layout {self._layouts[first][2]}"
        found = IN_UNLAID.find(text)
        if found is not None:
            return _settled([((None, None, outer, None), _NO_PREFIX, found)])
        return None if text == "" or text.startswith(CONTINUATIONS) else "no known layout"

    def _laid(self, message: str, head: Head, many: bool) -> list[Said] | str | None:
        rest: Sequence[str] = ()
        if many:
            # An exception or a block follows in the same message, as the lines after it do elsewhere.
            message, *rest = (part.rstrip("\r") for part in message.split("\n"))
        prefix = _NO_PREFIX
        if message.startswith(("[Consumer ", "[Worker ")):
            client = _CLIENT_PREFIX.match(message, 0, LONG)
            if client:
                prefix, message = (client[1], client[2], client[3]), message[client.end() :]
        elif message.startswith("[Group"):
            broker = _BROKER_PREFIX.match(message)
            message = message[broker.end() :] if broker else message
        found: list[Said] = [(head, prefix, one)] if (one := IN_MESSAGES.find(message)) else []
        found += [(_NO_HEAD, _NO_PREFIX, one) for part in rest if (one := IN_UNLAID.find(part))]
        return _settled(found) if found else None


def _settled(said: list[Said]) -> list[Said] | str:
    whole = [one for one in said if one[2][1] is not None]
    return whole or "begins like a group line but ends otherwise than Kafka writes it"


def _parts(layout: Layout) -> Callable[[str], Sequence[str | None] | None]:
    """A function that takes a line apart in the order of ``HEAD``; None when it is laid out otherwise."""
    if layout.json:
        keys = dict(layout.json)
        return lambda text: _json_parts(text, [keys.get(name, ()) for name in HEAD])
    match = re.compile(layout.whole, re.ASCII).match
    messages = [place - 1 for place in layout.groups("message")]
    places = [[place - 1 for place in layout.groups(name)] or [-1] for name in HEAD]
    pick = itemgetter(*[first for first, *_ in places])
    more = [(part, place) for part, others in enumerate(places) for place in others[1:]]

    def parts(text: str) -> Sequence[str | None] | None:
        found_whole = match(text[:LONG])
        if found_whole is None:
            return None
        fit = found_whole.groups("")
        if len(text) > LONG:
            # Only the message may be long: what the layout puts behind it is cut off its end.
            fit = tuple(
                _LOGGER.sub("", text[found_whole.start(place + 1) :], count=1)
                if place in messages and found_whole.end(place + 1) == LONG
                else part
                for place, part in enumerate(fit)
            )
        found: Sequence[str | None] = pick((*fit, None))
        for part, place in more:
            if fit[place] and not found[part]:
                found = (*found[:part], fit[place], *found[part + 1 :])
        return found

    return parts


def _json_parts(text: str, keys: Sequence[Sequence[str]]) -> list[str | None] | None:
    told = json_object(text)
    if told is None:
        return None
    found = [next((told[key] for key in some if told.get(key) is not None), None) for some in keys]
    texts = [one if one is None or isinstance(one, str) else json.dumps(one) for one in found]
    return texts if texts[0] else None
