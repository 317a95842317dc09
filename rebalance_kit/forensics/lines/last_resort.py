"""The reader of last resort: who, what and how much, from the words of any line that speaks of a group.

Templates know what they have met.  What no template knows is read here by words that all clients share; such an event
has a low ``confidence``, which every conclusion from it carries on.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from rebalance_kit.forensics.grammar.template import LONG, Template, named, partitions_of
from rebalance_kit.forensics.lines.anchors import (
    ANCHOR,
    is_prose,
    is_record,
    message_behind,
    speaks_of_a_group,
)
from rebalance_kit.forensics.lines.layouts import CONTINUATIONS
from rebalance_kit.forensics.lines.refusals import REFUSALS, as_said, refusal_in
from rebalance_kit.forensics.lines.times_in_text import time_in

if TYPE_CHECKING:
    from rebalance_kit.forensics.grammar.table import Found

#: What stands before the message: layout, level, time, client; None where the layout has none.
Head: TypeAlias = tuple[str | None, str | None, str | None, str | None]

#: Instance id, client and group of a client's prefix.
Prefix: TypeAlias = tuple[str | None, str | None, str | None]

#: One message of a line (a JSON line may hold several).
Message: TypeAlias = "tuple[Head, Prefix, Found]"

#: The fields that words may tell; the text of the template is never matched.
_FIELDS = "{group} {client} {instance} {member} {generation} {reason} {cause} {limit_ms} {over_ms}"
_WITH_A_SHARE = f"{_FIELDS} {{partitions}}"
#: What a template gives whose line was read by words alone.
LOW = (("confidence", "low"),)


class _What(NamedTuple):
    """A kind of event by the words that tell it."""

    pattern: re.Pattern[str]
    template: Template
    #: The same of a line that tells which partitions.
    of_share: Template


def _what(event: str, pattern: str, side: str = "other") -> _What:
    templates = (Template(event, side, fields, LOW) for fields in (_FIELDS, _WITH_A_SHARE))
    return _What(re.compile(pattern, re.IGNORECASE), *templates)


#: What a coordinator writes, whatever was cut off or masked.
_OF_BROKERS = (
    _what("preparing", r"preparing to re(?:balance|stabilize)\b", "broker"),
    _what("stabilized", r"\bstabilized\b.*generation \d", "broker"),
    _what(
        "member_failed",
        r"\bmember\b.*has failed, removing it|fenced from the group because .*session (?:has )?expired",
        "broker",
    ),
    _what(
        "left",
        r"\bmember\b.*has left (?:the )?group\b|\bmember\b.*has left\b.*LeaveGroup|\bmember\b.*left the consumer group",
        "broker",
    ),
    _what("joins", r"\bmember \S+ joins the consumer group", "broker"),
    _what("emptied", r"generation \d+ is now empty", "broker"),
    _what("computed", r"computed a new target assignment for epoch \d", "broker"),
    _what("broker_step", r"", "broker"),
)

#: Words of a group without any trouble: they tell something only of a group, a member or a generation that is named.
_STEPS = frozenset({"other_step", "broker_step"})

#: What people tell in the same words: read from a line without the look of a record only where it says of what or whom.
_EVERYBODYS = frozenset({"other_assigned", "other_revoked", "other_lost", "joining"})

#: Errors that are told by their name, whatever else the line says.
BY_NAME = frozenset({"join_refused", "other_no_coordinator", "join_retried"})
_OF_REFUSALS = {one.event: _what(one.event, r"") for one, _ in REFUSALS}

#: A share consumer: a group of another kind.
_OF_SHARES = _what("share_step", r"\[ShareConsumer |ShareMembershipManager")

#: What kafka-consumer-groups.sh writes: no member's words.
_OF_TOOLS = _what("tool_rebalancing", r"\AWarning: Consumer group '[^']{1,249}' is rebalancing")

#: What ends a consumer: of kafkajs and spring-kafka.
_CRASHES = _what(
    "consumer_crashed", r"\] Crash: |fatal consumer exception|stopping container (?:due|after|because)"
)

#: What a client writes, the most telling first.
_OF_CLIENTS = (
    _what(
        "client_instance_fenced",
        r"FENCED_INSTANCE_ID|fenced by (?:another|other) (?:consumer|instance)|FencedInstanceId",
    ),
    _what(
        "other_poll_timeout",
        r"max\.?_?poll\.?_?interval\S* ?(?:\w+ )?exceeded|poll (?:interval|timeout).{0,30}(?:exceed|expired)",
    ),
    _what(
        "other_commit_failed",
        r"commit.{0,80}(?:fail|refus|cannot|error|exception|retried|reject|unsuccess)|(?:fail|error).{0,40}commit|CommitFailed",
    ),
    # Kafka says this of a refused commit too, as what it may mean.
    _what(
        "other_poll_timeout",
        r"poll\b.{0,80}(?:longer|more|greater) than.{0,60}(?:interval|limit|max|allowed)",
    ),
    _what("other_session_expired", r"session.{0,30}(?:expired|timed out|timeout exceeded)"),
    _what(
        "other_rebalancing",
        r"is rebalancing|heartbeat error|rebalanc(?:e|ing) (?:was |is |has been )?(?:start|trigger)|rebalancing group|undergoing a rebalance|(?:start|begin)\w* (?:\w+ )?rebalanc",
    ),
    _what(
        "other_heartbeat_failed",
        r"heartbeat\w* (?:\w+ ){0,2}(?:failed|errored|failure|error)\b|(?:error|fail)\w* (?:\w+ ){0,2}heartbeat",
    ),
    _what(
        "other_joined",
        r"\bjoined\b.{0,120}generation|\bsuccessfully joined\b|join(?:ed)? (?:the )?group success",
    ),
    _what(
        "other_leaving", r"leaving (?:the )?(?:consumer )?group|leave group|LeaveGroup|left (?:the )?group"
    ),
    _what(
        "other_join_failed",
        r"join.{0,60}(?:fail|error|refus|timed out|timeout)|(?:fail|error|unable|time(?:d)? ?out).{0,60}\bjoin",
    ),
    _what(
        "coordinator_lost",
        r"coordinator.{0,90}(?:dead|lost|refused|DOWN\b|unreachable|timed out|not the correct|disconnect)|(?:mark|connect)\w*.{0,40}coordinator.{0,60}(?:dead|fail|unknown)",
    ),
    _what(
        "subscription_empty",
        r"subscribed topics?\b.{0,60}(?:not available|not exist|unknown)|no topics? .{0,30}match\w* (?:the )?subscription|topics? are not assigned to any member",
    ),
    _what(
        "partition_foreign",
        r"no current assignment for partition|partitions? .{0,60}(?:is|are|was|were) not (?:currently )?assigned|not assigned to (?:this|the) consumer|"
        r"-- partition not assigned|Erroneous state.{0,40}partition",
    ),
    _CRASHES,
    _what("joining", r"\b(?:re-?)?joining\b(?! *phase)"),
    _what("other_lost", r"partitions? (?:assignment |were )?lost|lost partitions?"),
    # librdkafka's examples, and the callbacks of its Rust client, of which the one before a revocation and the one after an assignment count
    _what("other_revoked", r"Local: Revoke partitions|Pre rebalance Revoke"),
    _what("other_assigned", r"Local: Assign partitions|Post rebalance Assign|\bAssignedPartitions\b"),
    _what("other_step", r"(?:Pre|Post) rebalance \w+\("),
    _what("other_revoked", r"revok"),
    _what(
        "other_assigned",
        r"\bassign partitions?\b|\bassign(?:ed|ments?)\b.{0,40}(?:partition|received)|partitions?.{0,40}(?<!un)assigned|\bassigned:? \[|new(?:ly)? assign|partition assignment: ",
    ),
    _what("other_step", r"rebalanc|heartbeat|synced|coordinator|generation|assign|member|group|fetch"),
)

#: Of lines that begin as Kafka's own do, whose templates are known, words alone tell trouble and no more.
_LEAVES = _what("other_leaving", r"\bsending LeaveGroup request to coordinator\s*\Z")
_TROUBLE = (*_OF_CLIENTS[:5], _LEAVES, _OF_CLIENTS[-1])

#: Kinds that say more than the error of Kafka's that a line holds besides.
_MORE_THAN_AN_ERROR = frozenset({"other_poll_timeout", "other_commit_failed", "client_instance_fenced"})

#: Requests and their answers, and librdkafka's book-keeping: steps, whether a name stands there or not.
_BOOK_KEEPING = re.compile(
    r"\b(?:JoinGroup|SyncGroup|LeaveGroup|Heartbeat|OffsetCommit|OffsetFetch|FindCoordinator|GroupCoordinator)"
    r"(?:Request|Response|\(key)|%7\||RDKAFKA-7-"
)

#: Classes of exceptions that every error of a client's has.
_NAMELESS = re.compile(r"(?:Librd)?(?:Kafka|RdKafka|Runtime)?(?:Error)?(?:Exception|Error)", re.IGNORECASE)

#: What is told by a line of its own, even where the line is indented; and a logger that begins as a package does.
_STANDS_ALONE = re.compile(
    r'\A[a-z][\w.]*:? ?\[?(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL)\b|sending LeaveGroup request|\bGroup "[^"]{1,249}"|poll timeout has expired|\] Crash: '
)

_IS_BROKERS = re.compile(
    r"\[Group(?:Coordinator|MetadataManager)\b|\[GroupId \S+\] (?:Member|Static|Computed|Bumped)|^broker |"
    r"Preparing to re(?:balance|stabilize) group|Stabilized group|has left group .{0,400}through explicit|Assignment received from leader|"
    r"has failed, removing it from the group|in state PreparingRebalance|Computed a new target assignment|with generation \d+ is now empty|"
    r"fenced from the group because|\b(?:left|joins) the consumer group"
)
_GROUP = (
    r"""["']?(?<!oordinator for )\b(?:group\.id|groupId|group_id|groupID|consumer[_.-]?group(?:[_.-]?id)?|group)\\*["']?\s?[=:]\s?\\*["'`]?([^\s"'`\\,;}\[\]()]{1,249}+)(?!\[| authorization)""",
    r"""\[Group(?:Id)? ([^\]\s]{1,249})\]""",
    r"""\b[Gg]roup ["'`]([^"'`]{1,249})["'`]""",
    r"""\bGroup member \(([^,()\s]{1,249}),""",
    r"""\b[Gg]roup coordinator for ([\w.<>-]{1,249})""",
    r"""\bconsumergr?oup[/ ]([^/\s]{1,249})""",
    r"""\[\[([^\]\s]{1,249})\] \{""",
    r"""\b(?:rebalance|restabilize|in|joins|left|for|of) (?:group|\w+) ([\w.<>-]{1,249}) (?:in state|with old|has failed|generation)""",
    r"""(?<!Not coordinator )\b(?:to|for|in|the|joined|joining|leaving|stabilized|rebalance) (?:consumer )?group:? ([\w.<>-]{2,249}+)(?!\[| authorization)""",
)
_NOT_A_NAME = frozenset(
    "is was has because the a an in on of for to and due with failed session member members id null nil None info fatal error "
    "left joins joined rejoins fenced updated expired got cannot could does did should must can already still now current coordinator coordinators requests request membership generation this that it its will may rebalance rebalancing "
    "management leader metadata state group groups not at by from when while after before who which".split()
)
_CLIENT = re.compile(
    r"""\b(?:[cC]lientId|client_id|client\.id|client)\\*["']?[=:]\s?\\*["']?([^\s"'\\,;}\])]{1,249})|(rdkafka#[\w.-]+)|\bcoor=(#PID<[\d.]+>)"""
)
_MEMBER = re.compile(
    r"""\[MemberId ([^\]\s]{1,249})\]|\b(?:memberId|member_id|member\.id|member id|Member)\\*["']?[=: ]\s?\\*["'`]?([\w.@<>'/-]{3,249})|\b([\w.-]*-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b"""
)
_INSTANCE = re.compile(
    r"""\b(?:groupInstanceId|group_instance_id|instance_?[iI]d|group\.instance\.id)\\*["']?[=: ]\s?\\*["'`]?([\w.@-]{1,249})"""
)
_GENERATION = re.compile(
    r"""\b(?:old )?(?:generation(?:_?[iI]d)?|epoch)\\*["']?[=: ]{1,2}(-?\d{1,18})""", re.IGNORECASE
)
#: Epochs of a fetch session or of a partition's leader.
_OTHER_EPOCH = re.compile(r"sessionId=|LeaderAndEpoch|FetchPosition|leader.?epoch", re.IGNORECASE)
#: What comes before a list of partitions.
_OF_PARTITIONS = re.compile(
    r"(?:partitions?|assign\w*|revok\w*|lost)\b\W{0,4}(?=(?:set|frozenset|list|listbuffer|hashset|map)?[\[{(])",
    re.IGNORECASE,
)
_PARTITION = re.compile(r"[\w.-]*\d")
_REASON = re.compile(
    r"""reason: (.{1,300}?)\)?[.]?(?: \([\w.]+\))?$|"(?:err|error|why|reason)":\s?"((?:[^"\\]|\\.){1,300})|\b([A-Z]{2,30}(?:_[A-Z]{2,30})+)\b|\b(\w+(?:Exception|Error))\b|(?:due to|because|err(?:or)?[:=]) ?(.{1,200})"""
)
_LIMIT = re.compile(r"\((\d{1,12}) ?ms\)|(?:interval|timeout)\S* ?[=:]? ?(\d{2,12}) ?ms")
_OVER = re.compile(r"(?:exceeded by|after|took) (\d{1,12}) ?ms")
_AGO = re.compile(r"poll\b.{0,40}?\b(\d{1,12}) ?ms ago")
_AT = re.compile(r"""["'](?:@timestamp|timestamp|time|ts)["']:\s?["']?([\dT:.+Z -]{10,40})""")
_LEVEL = re.compile(r"""\b(TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\b""", re.IGNORECASE)


def by_words(line: str, container_time: str | None, *, cut: bool = False) -> list[Message] | None:
    """What the words of a line tell; None for one that does not speak of a group, or continues another line.

    ``cut``: it begins as a line of Kafka's and ends otherwise, so only what a coordinator writes in any case is read.
    """
    text = line[:LONG]
    key = (_IN_NUMBERS.sub("0", text), cut)
    if key in _EMPTY:
        return None
    told = _by_words(text, container_time, cut=cut)
    if told is None:
        if len(_EMPTY) >= _MOST_EMPTY:
            _EMPTY.clear()
        _EMPTY.add(key)
    return told


#: No pattern of this file asks for a certain number of two digits or more, so lines that differ in these alone tell alike.
_IN_NUMBERS = re.compile(r"\d(?=\d)|(?<=\d)\d")
_EMPTY: set[tuple[str, bool]] = set()
_MOST_EMPTY = 4096


#: Kafka's own classes: names, not words.
_CLASSES = re.compile(
    r"(?:[a-z]\w{0,40}\.){0,9}\b(?:Consumer|Abstract|Worker)Coordinator\b(?:[.$]\w+)*(?::\d+)?"
)


#: A field that says that nothing is wrong.
_NO_ERROR = re.compile(
    r"""\b(?:error_?code|error|err)\\*["']?\s?[=:]\s?\\*["']?(?:0|None|null|nil|<nil>|NONE|NO_ERROR|no_error|Ok\(\(\)\)|Success)(?!\w)""",
    re.IGNORECASE,
)
#: A person tells: no line of a log.
_PROSE = re.compile(
    r"\b(?:I|we|my|our) (?:am|'m|have|had|wish|could|can|see|saw|get|got|use|are|was|were|do|did|think|tried|consumer|app|application)\b|\bI'(?:m|ve|d)\b"
)


def _by_words(text: str, container_time: str | None, *, cut: bool) -> list[Message] | None:
    if not speaks_of_a_group(text) or _PROSE.search(text) or is_prose(text):
        return None
    text = _NO_ERROR.sub("-", text)
    text = _CLASSES.sub("-", text) if "Coordinator" in text else text
    if text.startswith(CONTINUATIONS) and not _may_stand_alone(text):
        return None
    found = next((one for one in _kinds(text, cut=cut) if one.pattern.search(text)), None)
    if _OF_SHARES.pattern.search(text):
        found = _OF_SHARES
    elif _OF_TOOLS.pattern.search(text):
        found = _OF_TOOLS
    told = _settings(text, container_time)
    if told and (found is None or found.template.event in _STEPS):
        return told
    refusal = (
        refusal_in(text)
        if found is None or not (found is _OF_TOOLS or found.template.side == "broker")
        else None
    )
    if refusal is not None and (found is None or found.template.event not in _MORE_THAN_AN_ERROR):
        found = _OF_REFUSALS[refusal.event]
    if found is None and _BOOK_KEEPING.search(text):
        found = _OF_CLIENTS[-1]
    if found is None:
        return None
    at, layout = time_in(text)
    if at is None:
        said = _AT.search(text)
        at = said[1] if said else container_time
    fields = _fields(text, found.template.event)
    if refusal is not None and (
        not fields["reason"] or refusal.event in BY_NAME or _NAMELESS.fullmatch(fields["reason"])
    ):
        fields["reason"] = as_said(refusal, text)
    of_whom = fields["group"] or fields["member"] or fields["generation"] or _BOOK_KEEPING.search(text)
    if found.template.event in _STEPS and not of_whom and refusal is None:
        return None
    if container_time is None and found.template.event in _STEPS | _EVERYBODYS and not is_record(text):
        facts = [fields[name] for name in ("partitions", "generation", "member", "client")]
        if found.template.event in _STEPS or not any(facts):
            return None
    level = _LEVEL.search(text[:200])
    head = (layout, level[1].upper() if level else None, at, None)
    told = [_message(head, found, fields)]
    if found is not _CRASHES and _CRASHES.pattern.search(text):
        # Why it crashed, and that it did.
        told.append(_message(head, _CRASHES, _fields(text, _CRASHES.template.event)))
    return told


def _message(head: Head, found: _What, fields: dict[str, Any]) -> Message:
    template = found.of_share if fields["partitions"] else found.template
    return (head, _NOBODY, (template, tuple(fields.get(name, "") for name in template.fields)))


_NOBODY: Prefix = (None, None, None)


def _may_stand_alone(text: str) -> bool:
    """Whether a line that begins as continuations do may be one of its own.

    What a person indented may be; frames of a stack and its causes are indented by tabs or not at all.
    """
    if "{" in text[:40] or _STANDS_ALONE.search(text):
        return True
    if text[:1] != " " or text.lstrip().startswith(("at ", "...")):
        return False
    return refusal_in(text) is not None or "CommitFailedException: " in text


def _settings(text: str, container_time: str | None) -> list[Message]:
    """What a line says of the limits of a member, in any client's spelling."""
    head = (None, None, time_in(text)[0] or container_time, None)
    prefix = (None, _first(_CLIENT, text) or None, _group(text) or None)
    return [
        (head, prefix, (_CONFIG, (_dotted(found[1]), found[2].replace("_", ""))))
        for found in _LIMIT_SET.finditer(text)
    ]


_CONFIG = Template("config", "other", "{key} {value}", LOW)
_LIMIT_SET = re.compile(
    r"""\b(max[._-]?poll[._-]?(?:interval[._-]?ms|records)|session[._-]?timeout[._-]?ms)["']?\s*[=:]\s*["']?(\d[\d_]{0,12})(?:ms)?\b""",
    re.IGNORECASE,
)


def _dotted(key: str) -> str:
    """``MaxPollIntervalMs``, ``max_poll_interval_ms`` and ``max-poll-interval-ms`` as Kafka spells it."""
    return ".".join(re.findall("max|poll|interval|ms|records|session|timeout", key.lower()))


def _kinds(text: str, *, cut: bool) -> tuple[_What, ...]:
    """What may be read from a line's words, by whose line it is."""
    if _IS_BROKERS.search(text):
        return _OF_BROKERS[:-1] if cut else _OF_BROKERS
    if cut:
        return _TROUBLE[:-1]
    return _TROUBLE if ANCHOR.search(text) and "..." not in text else _OF_CLIENTS


def _fields(text: str, event: str) -> dict[str, Any]:
    """Who and how much."""
    body = text[message_behind(text) :]
    told = {"group": _group(text), "client": _first(_CLIENT, text), "instance": _first(_INSTANCE, text)}
    numbered = "" if _OTHER_EPOCH.search(text) else _first(_GENERATION, text)
    told |= {"member": _first(_MEMBER, text), "generation": numbered}
    told |= {"partitions": _share(body), "limit_ms": _first(_LIMIT, text), "over_ms": _first(_OVER, text)}
    if (
        event == "other_poll_timeout"
        and not told["over_ms"]
        and (ago := _AGO.search(text))
        and told["limit_ms"]
    ):
        told["over_ms"] = str(max(0, int(ago[1]) - int(told["limit_ms"])))
    if event == "consumer_crashed" and (crash := _CRASH.search(text)):
        return told | {"reason": crash[1].rstrip(" .,")}
    phrase = _PHRASES.search(text)
    reason = phrase[0] if phrase else _unquoted(_first(_REASON, text), in_json='":' in text)
    reason = _LOGGER.sub("", reason).rstrip(" .(\\")
    if reason in _LEVELS or _SAYS.match(reason) is None:
        reason = ""
    # What an application throws of a refused commit names the client's own exception.
    if (
        event == "other_commit_failed"
        and (refused := _COMMIT_FAILED.search(text))
        and _THROWN.fullmatch(reason)
    ):
        reason = refused[0]
    told["cause" if event == "coordinator_lost" else "reason"] = reason
    for name in ("member", "instance", "client"):
        if told[name].lower() in _NOT_A_NAME or named(told[name]) is None:
            told[name] = ""
    return told


_THROWN = re.compile(r"\w+(?:Exception|Error)")
_COMMIT_FAILED = re.compile(r"\w*CommitFailed(?:Exception|Error)\b")

#: What kafkajs says of the exception that ended a consumer, without the JSON behind it.
_CRASH = re.compile(r"""\] Crash: (.{1,200}?)(?: \{"|\\*",\\*"|$)""")

#: What a refusal says in Kafka's own words, wherever it stands.
_PHRASES = re.compile(
    r"undergoing a rebalance|group has already rebalanced|not part of an active group|is not the correct coordinator"
    r"|not aware of this member|Illegal_?Generation\w*|ILLEGAL_GENERATION|Unknown_?Member\w*|UNKNOWN_MEMBER\w*"
    r"|CoordinatorLoadInProgress\w*|NotCoordinator\w*|FencedInstanceId\w*|FENCED_INSTANCE_ID"
)
_LOGGER = re.compile(r" \((?:[a-z_]\w*\.)+\w+(?::\d+)?\).*\Z")
_LEVELS = frozenset({"WARNING", "INFO", "ERROR", "DEBUG", "CRITICAL", "NOTICE", "FATAL", "TRACE"})


def _unquoted(text: str, *, in_json: bool) -> str:
    """A text to where the quotes around it end: its own, or those of the value of JSON in which it stands."""
    if text[:1] in _QUOTES and (own := re.match(r"""(["'])((?:[^\\]|\\.)*?)\1""", text)):
        return own[2]
    return _END_OF_VALUE.split(text, maxsplit=1)[0].replace('\\"', '"') if in_json else text


_QUOTES = frozenset("\"'")
_END_OF_VALUE = re.compile(r"""(?<!\\)"\s*(?:[,}\]]|\Z)""")
#: A word: what has none is no reason.
_SAYS = re.compile(r"[\w\[(<:].*?(?:[A-Za-z]{3}|[^\W\d_a-zA-Z]{2})|[A-Za-z]{3}|[^\W\d_a-zA-Z]{2}")


#: How librdkafka's callbacks print partitions in its examples and in Rust.
_IN_CALLBACKS = re.compile(r"Local: (?:Assign|Revoke) partitions|(?:Pre|Post) rebalance \w+\(TPL ")
_OF_CALLBACKS = re.compile(r"([\w.-]{1,249})(?:\[(\d{1,9})\]|/(\d{1,9}):)")


def _share(text: str) -> str:
    """The list of partitions that a message tells, as it is written."""
    if callback := _IN_CALLBACKS.search(text):
        parts = (
            f"{topic}-{one or other}" for topic, one, other in _OF_CALLBACKS.findall(text[callback.end() :])
        )
        return f"[{', '.join(parts)}]"
    for found in _OF_PARTITIONS.finditer(text):
        told = _closed(text[found.end() :])
        partitions = partitions_of(told)
        if partitions is not None and all(map(_PARTITION.fullmatch, partitions)):
            return told
    return ""


def _closed(text: str) -> str:
    """A text to where its first bracket closes."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter in "[{(") - (letter in "]})")
        if depth == 0 and letter in "]})":
            return text[: place + 1]
    return text


def _group(text: str) -> str:
    names = (found[1].strip("<>.,:;") for pattern in _GROUP for found in re.finditer(pattern, text))
    return next((name for name in names if name and name not in _NOT_A_NAME), "")


def _first(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return next((part for part in found.groups() if part), "") if found else ""
