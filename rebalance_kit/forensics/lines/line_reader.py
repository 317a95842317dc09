"""From a line to its events.

Reads one line in plain Python: its layout, its prefix, its message and the event that it means.

Spark hands the lines over in batches (``batch_reader``).  ``suspects`` first discards the lines that cannot
matter by searching a whole batch at once, and ``LineReader`` reads the few that are left.

From a line to its events: what the reader found, as the fields of ``Event``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from rebalance_kit.forensics.grammar.other_clients import BY_THEIR_ERROR
from rebalance_kit.forensics.grammar.table import IN_MESSAGES, IN_UNLAID, find_of_others
from rebalance_kit.forensics.grammar.template import (
    LONG,
    NUMBERS,
    Template,
    is_group,
    last_name,
    named,
    partitions_of,
)
from rebalance_kit.forensics.lines.anchors import (
    UNCLEAR,
    anchored,
    is_about_a_group,
    is_prose,
    is_record,
    level_in,
    message_behind,
    records_in,
    texts_of,
)
from rebalance_kit.forensics.lines.last_resort import BY_NAME, Head, Message, Prefix, by_words
from rebalance_kit.forensics.lines.layouts import (
    CONTINUATIONS,
    HEAD,
    LAYOUTS,
    begins_like,
    json_object,
    unwrap,
)
from rebalance_kit.forensics.lines.refusals import as_said, refusal_in
from rebalance_kit.forensics.lines.times_in_text import time_in
from rebalance_kit.forensics.lines.timestamps import Clock, is_date

if TYPE_CHECKING:
    from rebalance_kit.forensics.lines.layouts import Layout, Reading


#: Prefix of a client's lines; a Connect worker and a schema registry are members with names of their own.
_CLIENT_PREFIX = re.compile(
    r"(?s)\[(?:Consumer|Worker|Schema registry) (?:instanceId=(.*?), )?(?:clientId=)?(.*?)(?:, groupId=(.*?))?\] ?",
    re.ASCII,
)
_LOGGER = re.compile(r" \([\w.$]{1,200}(?::\d{1,9})?\)\Z", re.ASCII)
_BROKER_PREFIX = re.compile(r"\[Group(?:Coordinator|MetadataManager) [^\]]*\]:? ", re.ASCII)

#: The layout of lines that need not have a time.
_TIMELESS = "plain"

#: What a document or a comment puts before the lines of a log that it quotes.
_MARGIN = " \t*#>/|"
_INDENTED = re.compile(
    r"\A[ \t*#>/|]{1,16}(?=\[?(?:\d{4}[-/.]\d\d[-/.]\d\d[T ]|\d\d:\d\d:\d\d)|%[0-7]\||\[(?:Group|Consumer client|Worker client|thrd:)"
    r"|(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b|kafka-node:|\{\")"
)

#: A heading, or what the author of a document or a program remarks.
_REMARK = re.compile(r"\A[ \t>]{0,8}(?:#{1,6}|//)[ \t]")

_BULLET = re.compile(r"\A[ \t>*#`-]{1,8}")

_NOT_WHOLE = "begins like a group line but ends otherwise than Kafka writes it"
#: What was said of lines whose words may still be read: nothing, or that they fit no layout of the kit's own.
_MAY_BE_READ = {None, "no known layout", _NOT_WHOLE, *(f"not quite the layout {one.name}" for one in LAYOUTS)}
_NO_HEAD: Head = (None, None, None, None)
_NO_PREFIX: Prefix = (None, None, None)


class LineReader:
    """Reads the lines that may matter; tries ``layouts`` in order."""

    def __init__(self, layouts: Sequence[Layout]) -> None:
        self._layouts = [
            (begins_like(layout), _parts(layout), layout.name, bool(layout.json)) for layout in layouts
        ]
        self._first = re.compile(
            "(?s)" + "|".join(f"({'|'.join(layout.shapes)})" for layout in layouts)
        ).match
        own = "|".join(shape for layout in layouts if layout not in LAYOUTS for shape in layout.shapes)
        self._begins_as_own = re.compile(f"(?s){own}").match if own else None

    def read(self, line: str) -> list[Message] | str | None:
        """The messages that the grammar knows in a line; the reason to reject it; or None to ignore it."""
        quoted = line[:1] in _MARGIN and not (self._begins_as_own and self._begins_as_own(line))
        if quoted and _REMARK.match(line) and not is_record(line):
            return None
        text, container_time = unwrap(_INDENTED.sub("", line) if quoted else line)
        laid = self._by_layout(text, container_time)
        if isinstance(laid, list):
            return laid
        told = self._by_anchor(text, container_time, laid)
        if isinstance(told, list):
            return told
        # What no template knows may still speak of a group.
        if told in _MAY_BE_READ:
            # What somebody left out of a line does not make it one of another kind.
            cut = told == _NOT_WHOLE and "..." not in text and "…" not in text
            read = by_words(text, container_time, cut=cut)
            return read or (UNCLEAR if told is None and _unclear(text) and is_record(line) else told)
        return told

    def _by_layout(self, text: str, container_time: str | None) -> list[Message] | str | None:
        beginning = self._first(text)
        if beginning is not None:
            first = (beginning.lastindex or 1) - 1
            for place, (begins, parts, name, is_json) in enumerate(self._layouts[first:]):
                fields = parts(text) if place == 0 or begins(text) else None
                if fields is not None:
                    message, level, at, client = fields
                    if at is None and container_time is None:
                        at = time_in(text)[0] if name == _TIMELESS else None
                    return self._messages(message or "", (name, level, at or container_time, client), is_json)
            return f"not quite the layout {self._layouts[first][2]}"
        found = IN_UNLAID.find(text)
        if found is not None:
            return _whole_messages([((None, None, container_time, None), _NO_PREFIX, found)])
        return None if text == "" or text.startswith(CONTINUATIONS) else "no known layout"

    def _by_anchor(
        self, line: str, container_time: str | None, laid: str | None
    ) -> list[Message] | str | None:
        """Read a line that no layout made sense of; what the layout said (``laid``) stays where this fails too."""
        told: list[Message] | str | None = None
        any_anchor = False
        for found in anchored(line):
            any_anchor = True
            at, layout = (found.at, found.layout) if found.at else (container_time, None)
            for text in found.texts:
                messages = self._messages(text, (layout, found.level, at, found.client), is_json=False)
                if isinstance(messages, list):
                    return messages
                told = told or messages
        if not any_anchor:
            # A layout that fits has found the message.
            place = message_behind(line) if laid is not None or line[:1] == " " else 0
            bare = self._bare(line, container_time) if laid == "no known layout" and not place else None
            told = bare or _of_others(line, container_time)
            return told or (self._behind(line, place, container_time) if place else None) or laid
        # A line that holds an anchor is a log's, whatever its layout.
        return told or (None if laid in {None, "no known layout"} or "not quite" in (laid or "") else laid)

    def _behind(self, line: str, place: int, container_time: str | None) -> list[Message] | None:
        """A message behind a head of any layout: time, level, thread and logger in any order."""
        at, layout = time_in(line)
        head = (layout, level_in(line[:place]), at or container_time, None)
        for text in texts_of(line[place:], quoted=False):
            told = self._messages(text, head, is_json=False)
            if isinstance(told, list):
                return told
        return None

    def _bare(self, line: str, container_time: str | None) -> list[Message] | None:
        """A message that stands without anything before it, as people quote them."""
        at, layout = time_in(line[:_HEAD_OF_A_LINE])
        head = (layout, None, at or container_time, None)
        for text in texts_of(_BULLET.sub("", line), quoted=False):
            told = self._messages(text, head, is_json=False)
            if isinstance(told, list):
                return told
        return None

    def _messages(self, message: str, head: Head, is_json: bool) -> list[Message] | str | None:
        rest: Sequence[str] = ()
        if is_json:
            # One JSON message holds the exception or block that follows on lines of its own elsewhere.
            message, *rest = (part.rstrip("\r") for part in message.split("\n"))
        prefix = _NO_PREFIX
        if message[:1] == "[":
            if message.startswith(("[Consumer ", "[Worker ", "[Schema registry ")):
                client = _CLIENT_PREFIX.match(message, 0, LONG)
                if client:
                    prefix, message = _who(client), message[client.end() :]
            elif message.startswith("[Group"):
                broker = _BROKER_PREFIX.match(message)
                message = message[broker.end() :] if broker else message
        # Some tools fill their lines up with blanks.
        found = IN_MESSAGES.find(message.rstrip(" ") if message[-2:] == "  " else message)
        if not rest:
            return None if found is None else _NOT_WHOLE if found[1] is None else [(head, prefix, found)]
        messages: list[Message] = [] if found is None else [(head, prefix, found)]
        messages += [(_NO_HEAD, _NO_PREFIX, more) for part in rest if (more := IN_UNLAID.find(part))]
        return _whole_messages(messages) if messages else None


def _unclear(text: str) -> bool:
    """Whether a line that nothing reads looks like a group's, and does not only continue the line before."""
    return not text.startswith(CONTINUATIONS) and is_about_a_group(text[:LONG])


def client_prefix(prefix: str) -> Prefix | None:
    """Instance id, client and group of a text that is a client's prefix and nothing else."""
    found = _CLIENT_PREFIX.fullmatch(prefix)
    return None if found is None else _who(found)


#: What a consumer without a group writes as its group.
_NO_GROUP_ID = frozenset({"", "null", "None", "nil", "<nil>", "undefined"})


def _who(prefix: re.Match[str]) -> Prefix:
    instance, client, group = prefix.groups("")
    return named(instance), named(client), None if group in _NO_GROUP_ID else group


def is_broker_prefix(prefix: str) -> bool:
    """Whether a text is the prefix of a broker's line and nothing else."""
    return _BROKER_PREFIX.fullmatch(prefix) is not None


def _of_others(line: str, container_time: str | None) -> list[Message] | None:
    """What another client says in a line."""
    bare = next(texts_of(line, quoted=False))
    # A logger in brackets may stand before the message, too.
    found = find_of_others(bare if 2 * len(bare) > len(line) else line)
    if found is None or is_prose(line, found[0].literals[0]):
        return None
    template, texts = found
    told = {name: _cleaned(name, text) for name, text in zip(template.fields, texts or (), strict=True)}
    at, layout = time_in(line)
    group, client, member = (
        _said(name, line) for name in ("groupId|group_id|group", "[cC]lientId|client_id", "memberId")
    )
    if group is None and (tagged := _TAGGED.search(line)):
        group = tagged[1]
    if client is None and member is not None and (made := _MADE_OF.fullmatch(member)):
        client = made[1]
    client = client and named(client)
    event = template.event
    for name, keys in _BESIDE.get(event, {}).items():
        if not told.get(name) and (value := _value(keys, line)):
            told[name] = value
    if event in BY_THEIR_ERROR and (error := refusal_in(told.get("reason", ""))):
        event = error.event if error.event in BY_THEIR_ERROR[event] else event
        told["reason"] = as_said(error, told["reason"]) if error.event in BY_NAME else told["reason"]
    # The rest of a line that goes on below is not read.
    if not told.get("partitions", "-").strip():
        del told["partitions"]
    if event != template.event or len(told) != len(template.fields):
        template = _made(event, template, *told)
    return [
        ((layout, None, at or container_time, client), (None, None, group), (template, (*told.values(),)))
    ]


@cache
def _made(event: str, template: Template, *names: str) -> Template:
    """A template with another kind of event or more fields; its text is never matched."""
    return Template(event, template.side, " ".join(f"{{{name}}}" for name in names), template.given)


def _cleaned(name: str, text: str) -> str:
    """A field of a line of another client without what is not its own."""
    if name == "group":
        return _name_in(text)
    if name not in _TO_THE_END:
        return text
    text = _NOTE.split(text, maxsplit=1)[0]
    # Of an Erlang term the place in the code is left out, and all after it.
    return text.split(", [file: ", 1)[0].strip(" :") if name == "reason" else text


#: What loggers write as keys and values behind a message, by kind of event: field and keys.
_WHY, _WHO = {"reason": "err|error"}, {"member": "member_id", "generation": "generation"}
_BESIDE: dict[str, dict[str, str]] = {
    **dict.fromkeys(("other_heartbeat_failed", "other_join_failed", "other_commit_failed"), _WHY),
    "other_unknown_member": _WHY | _WHO,
    **dict.fromkeys(("other_joined", "other_leaving", "join_retried"), _WHO),
    "other_rejoins": {"reason": "why"},
    "other_assigns": {"detail": "how", "reason": "why"},
    "other_assigned": {"partitions": "added|assigned", "detail": "lost"},
    "other_revoked": {"partitions": "revoking|lost"},
}


def _value(keys: str, line: str) -> str:
    """The value of the first of these keys, as JSON, logfmt or ``key: value, key: value`` write it; empty for none."""
    found = re.search(
        rf"""[ ,{{;]\\*"?(?:{keys})\\*"?(?:=|: ?)(?:\\*"((?:[^"\\]|\\[^"])*)\\*"|(\{{[^{{}}]*\}}|[^"{{}}]*?)(?=, \w+: | \w+=|,\\*"|}}|\Z))""",
        line[:LONG],
    )
    told = (found[1] if found[1] is not None else found[2]) if found else ""
    return "[]" if found and keys in _OF_SHARES and not told.strip() else told.strip()


_OF_SHARES = frozenset({"added|assigned", "revoking|lost"})


#: The member id that a coordinator makes of a client id.
_MADE_OF = re.compile(r"(.{1,200})-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

#: How ruby-kafka's logger names the group before a message: ``[[orders] {}:]``.
_TAGGED = re.compile(r"\[\[([^\]\s]{1,249})\] \{")

#: A person may have quoted a name.
_QUOTES = "'`\""

#: Fields that a line ends with.
_TO_THE_END = frozenset({"reason", "partitions"})

#: What people write behind the lines that they quote.
_NOTE = re.compile(r"\)?\.? {3,}|\)?\.? *(?:←|<--|//)")


def _name_in(text: str) -> str:
    """A name without its quotes, and without what stands behind it."""
    told = re.match(r"""[\s"'`\\]*([^\s"'`\\,;})]{1,249})""", text)
    return told[1] if told else text


def _said(names: str, line: str) -> str | None:
    """A field of a logger that writes JSON or key=value behind its message: ``"groupId":"orders"``, ``group=orders``."""
    found = re.search(rf"""\b(?:{names})\\*["']?[=:] ?\\*["']?([^\s"'\\,;}}\])]{{1,249}})""", line[:LONG])
    return found[1] if found else None


def _whole_messages(messages: list[Message]) -> list[Message] | str:
    """The messages that fit their template entirely; the reason to reject the line when none does."""
    whole = [message for message in messages if message[2][1] is not None]
    return whole or _NOT_WHOLE


def _parts(layout: Layout) -> Callable[[str], Sequence[str | None] | None]:
    """A function that splits a line in the order of ``HEAD``, and returns None for a line of another layout."""
    if layout.json:
        keys = dict(layout.json)
        return lambda text: _json_parts(text, [keys.get(name, ()) for name in HEAD])
    match = re.compile(layout.whole, re.ASCII).match
    messages = [place - 1 for place in layout.groups("message")]
    places = [[place - 1 for place in layout.groups(name)] or [-1] for name in HEAD]
    pick = itemgetter(*[first for first, *_ in places])
    alternatives = [(part, place) for part, others in enumerate(places) for place in others[1:]]

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
        for part, place in alternatives:
            if fit[place] and not found[part]:
                found = (*found[:part], fit[place], *found[part + 1 :])
        return found

    return parts


def _json_parts(text: str, keys: Sequence[Sequence[str]]) -> list[str | None] | None:
    record = json_object(text)
    if record is None:
        return None
    # A collector wraps the record that it took, as an object or as text.
    within = [part for part in record.values() if isinstance(part, dict)]
    if not any(isinstance(record.get(key), str) for key in keys[0]):
        record |= next((part for part in within if any(key in part for key in keys[0])), {})
    values = [next((record[key] for key in some if record.get(key) is not None), None) for some in keys]
    values[0] = next((record[key] for key in keys[0] if isinstance(record.get(key), str | dict)), None)
    texts = [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]
    if texts[0] and texts[0][:2] == '{"' and (inner := _json_parts(texts[0].rstrip("\n"), keys)):
        return [one or other for one, other in zip(inner, texts, strict=True)]
    return texts if texts[0] else None


#: A leader prints the plan of a whole group in one line: 10,000 partitions take about 250 kB.
LONGEST_LINE = 1_000_000

#: How many letters of a longer one are kept.
KEPT_OF_A_LONG_LINE = 500

#: So long is what stands before a message at most, where only its time is asked for.
_HEAD_OF_A_LINE = 200
_MAY_HOLD_A_TIME = re.compile(r"\d:\d\d|\d{10}|\{")

#: How much of a line is kept to be shown as evidence.
SHOWN = 500

_LARGEST = 2**63

#: Python refuses to read numbers of some thousand digits; one of fewer digits than these fits any column.
_DIGITS, _SURE_DIGITS = 100, 19


class Several(list[dict[str, Any]]):
    """The events of a line that holds several records: each with the text of its own."""


class Messages:
    """Reads lines that may matter: their events as dictionaries of fields, with ``at_ms`` and ``text``."""

    def __init__(self, reading: Reading) -> None:
        self._reader = LineReader(reading.table)
        self.clock = Clock(reading)

    def read(self, line: str) -> list[dict[str, Any]] | str | None:
        """The events of a line; why it is rejected; or None: it is ignored."""
        if "\0" in line or "\1" in line or "\2" in line:
            return "binary, not text"
        records = records_in(line)
        if len(records) > 1:
            told = [self._of_record(record) for record in records]
            events = [event for one in told if isinstance(one, list) for event in one]
            why = next((one for one in told if isinstance(one, str)), None)
            return Several(events) if events else why
        return self._of_record(line)

    def _of_record(self, line: str) -> list[dict[str, Any]] | str | None:
        found = self._reader.read(line)
        if found is None or isinstance(found, str):
            return found
        text = line[:SHOWN]
        events = []
        for said in found:
            event = self._event(said, text)
            at = said[0][2]
            if at and event["at_ms"] is None and (why := self._unreadable(at, said[0][0])):
                return why
            events.append(event)
        return events

    def written_at(self, line: str) -> int | None:
        """When a line was written; None for one without a time before its message, or in its JSON."""
        if _MAY_HOLD_A_TIME.search(line, 0, _HEAD_OF_A_LINE) is None:
            return None
        line = _INDENTED.sub("", line[: LONG if "{" in line[:40] else _HEAD_OF_A_LINE])
        text = "" if _REMARK.match(line) else unwrap(line.lstrip(_MARGIN))[0]
        head = text if text[:1] in {"{", "%"} else text[: message_behind(text)]
        return self.clock.read(*time_in(head)) if head else None

    def _moment(self, at: str, layout: str | None) -> int | None:
        """When that is: as the layout says, else as loggers write it anywhere, in the digits of any script."""
        ms = self.clock.read(at, layout)
        return self.clock.read(*time_in(at)) if ms is None else ms

    def _unreadable(self, at: str, layout: str | None) -> str | None:
        """Why a time that gave no moment is wrong; None where only its year is missing."""
        plain, said_by = time_in(at)
        if is_date(plain or at):
            return f"no such date or time: {at}"
        return None if self.clock.lacks_year(said_by or layout) else f"no time that can be read: {at[:SHOWN]}"

    def _event(self, said: Message, text: str) -> dict[str, Any]:
        (layout, level, at, writer), (instance, client, group), (template, fields) = said
        told = fields_of(template, fields or ())
        told["text"] = text
        if at:
            told["at_ms"] = self._moment(at, layout)
        if level:
            told["level"] = level
        if (of_group := told.get("group")) and not is_group(of_group):
            told["group"] = last_name(of_group) if template.text.startswith("{group}") else None
        if group and not told.get("group"):
            told["group"] = group
        if (of_group := told.get("group")) and of_group[0] in _QUOTES:
            told["group"] = of_group.strip(_QUOTES) or of_group
        if (of_client := told.get("client")) and named(of_client) is None:
            del told["client"]
        if not told.get("client") and (who := client or (_writer(writer) if writer else None)):
            told["client"] = who
        if instance and not told.get("instance"):
            told["instance"] = instance_of(instance)
        return told


def _writer(name: str) -> str:
    """The client of librdkafka's ``c1#consumer-1``; where it is called as all are, its instance is told too."""
    bare = name.split("#", 1)[0]
    return name if bare == "rdkafka" else bare


def fields_of(template: Template, texts: Sequence[str]) -> dict[str, Any]:
    """What a message says by itself: the kind of event and its fields."""
    fixed, values = _form(template)
    return _filled(fixed.copy(), values, texts)


def fields_at_once(template: Template, texts: Sequence[str]) -> dict[str, Any]:
    """The same with room for what every dated event has, which the caller fills in: a dictionary that grows is slow."""
    room, values = _room(template)
    return _filled(room.copy(), values, texts)


def _filled(
    told: dict[str, Any], values: list[tuple[str, Callable[[str], Any] | None]], texts: Sequence[str]
) -> dict[str, Any]:
    for (name, value_of), text_of in zip(values, texts, strict=True):
        if value_of is not None:
            told[name] = value_of(text_of)
        elif text_of:
            told[name] = text_of
        else:
            told.pop(name, None)
    return told


@cache
def _form(template: Template) -> tuple[dict[str, Any], list[tuple[str, Callable[[str], Any] | None]]]:
    """The fields that are the same for all lines of a template, and what makes values of the others."""
    fixed: dict[str, Any] = {"event": template.event, "side": template.side}
    for name, value in template.given:
        fixed[name] = _VALUES[name](value) if name in _VALUES else value
    return fixed, [(name, _VALUES.get(name)) for name in template.fields]


@cache
def _room(template: Template) -> tuple[dict[str, Any], list[tuple[str, Callable[[str], Any] | None]]]:
    fixed, values = _form(template)
    names = ("path", "file", "line", "row", "at_ms", "level", "text", *(name for name, _ in values))
    return fixed | dict.fromkeys(names), values


def _whole(text: str) -> int | None:
    """A number that a column of type long holds, and one less too."""
    if 0 < len(text) < _SURE_DIGITS:
        return int(text)
    number = int(text) if 0 < len(text) <= _DIGITS else None
    return None if number is None or not -_LARGEST < number < _LARGEST else number


def instance_of(text: str) -> str | None:
    """A ``group.instance.id``; None for the ways Kafka writes that there is none."""
    bare = next((text[len(some) : -1] for some in ("Some(", "Optional[") if text.startswith(some)), text)
    return None if bare in {"null", "None", "", "Optional.empty"} else named(bare)


#: What makes values of fields that are not plain text.
_VALUES: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(NUMBERS, _whole),
    **dict.fromkeys(("member", "other", "leader"), named),
    "instance": instance_of,
    "partitions": partitions_of,
}
