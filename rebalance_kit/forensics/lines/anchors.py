"""Finds a message by its anchor, whatever stands before it and after it.

Kafka puts ``[GroupCoordinator 0]: ``, ``[Consumer clientId=...`` and the like at the beginning of a message.  Where
no layout fits a line, the message is read from there on; what looks like a time and a level elsewhere is taken for
them, and what loggers, exports and terminals put behind a message is cut off.

Which lines look like a group's, so that nothing is said to be absent while one of them was not understood.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import NamedTuple

from rebalance_kit.forensics.grammar.template import LONG
from rebalance_kit.forensics.lines.times_in_text import in_plain_digits, iso_in, time_in

#: How messages of brokers, Java clients and librdkafka begin.
ANCHOR = re.compile(
    r"\[(?:GroupCoordinator|GroupMetadataManager) [^\]]{1,99}\]|\[(?:Consumer|Worker|Schema registry) (?:instanceId=|clientId=|[\w.-]{1,99}, groupId=|(?:\.\.\.|…)\])"
    r"|\[thrd:[^\]]{0,99}\]: ?|\|[A-Z]{3,16}\| (?:Group \"|(?:Join|Sync)Group )|stream-(?:thread|client) \["
)

#: What makes a line that begins with a tab more than the line of a block.
IN_TABBED = re.compile(ANCHOR.pattern + r'|\{"')

#: A line is searched for so many anchors.
_MOST_ANCHORS = 4

_LEVEL = re.compile(r"\b(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|Trace|Debug|Info|Warn|Warning|Error)\b")
_GROUP_BROKER = re.compile(r"(?:GroupCoordinator/\d{1,9}: |\S{1,99}:\d{1,5}/(?:\d{1,9}|bootstrap): )")
CLIENT_OF_RDKAFKA = re.compile(r"[\w.-]{1,99}#(?:consumer|producer)-\d{1,9}\b|rdkafka#[\w.-]{1,99}")

#: What stands behind messages: a logger in brackets and all after it; the rest of a CSV or JSON line; borders.
_LOGGER = re.compile(
    r"\s*(?:\((?:[A-Za-z_$][\w$]*\.)+[\w$]+(?::\d+)?\)[^()]{0,400}|\s[\[{<](?:[A-Za-z_$][\w$-]*[./])+[\w$]+(?::\d+)?[\]}>])\Z",
    re.ASCII,
)
_EXPORT_TIME = re.compile(r",\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,]?\d*Z?\Z", re.ASCII)
_REST_OF_QUOTED = re.compile(r'(?<!\\)"[,}\]].*\Z|(?<!\\)"\Z')
_BORDER = " \t│|*`"


#: What loggers write before a message, in any order: a time, a level, a thread or another text in brackets, a number
#: (of a process), what stands between them, and the logger.
_TIME_IN_HEAD = re.compile(
    r"""(?x)(?:
    \d{4}[-/.]\d\d[-/.]\d\d(?:[T _-]\d\d[:.]\d\d(?:[:.]\d\d)?(?:[.,:]\d{1,9}(?:\.\d{1,20}){0,2})?+(?:Z|[ ]?[+-]\d\d:?\d\d)?)?
    |\d{1,2}[-/.](?:\d\d|[A-Z][a-z]{2})[-/.]\d{2,4}(?:[T ,:_]{1,2}\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?+(?:[ \u202f][AP]M\b)?)?
    |(?:[A-Z][a-z]{2},?[ ])?(?:[A-Z][a-z]{2}[ ]{1,2}\d{1,2}|\d{1,2}[ ][A-Z][a-z]{2}),?[ ](?:\d{4},?[ ])?(?:@[ ])?\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?+(?:[ ][A-Z]{3,4}[ ]\d{4}|[ ]\d{4}\b)?
    |\d{1,2}:\d\d:\d\d(?:[.,:]\d{1,9})?+(?:Z|[ ]?[+-]\d\d:?\d\d)?(?:[ \u202f]?[AP]M)?
    |[IWEF]\d{4}[ ]\d\d:\d\d:\d\d\.\d{1,9}|\d{10}\.\d{1,9}|1\d{12}|T?\+\d{1,9}\.\d{1,9}s?
    )(?=[\s\]|,:)>(\[<"'}]|\Z)""",
    re.ASCII,
)
_LEVEL_IN_HEAD = re.compile(
    r"(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL|SEVERE|TRC|DBG|INF|WRN|ERR)\b|(?:Trace|Debug|Info(?:rmation)?|Warn(?:ing)?|Error|Fatal|trace|debug|info|warn(?:ing)?|error|fatal)(?=[\]:|>\t]|\s{2}|\s+\[)"
)
_LEVEL_ALONE = re.compile(r"[\[(<](?:trace|debug|info|warn|error|fatal)[\])>]")
_IN_BRACKETS = re.compile(
    r"(?!\[(?:Group|GroupId|MemberId|Consumer|Worker|Schema registry|ShareConsumer)\b.|\[\[)"
    r"(?:\[(?:[^\[\]]|\[[^\[\]]{0,80}\]){0,120}\]|\((?!Re-\))[^()]{1,80}\)|<[^<>]{1,80}>|\{\})"
)
_NAME_OF_LOGGER = re.compile(
    r"(?:[A-Za-z_$][\w$-]*\.){1,9}[\w$-]+(?::\d+|\([\w.]+(?::\d+)?\))?(?=[\s\]:,|-]|\Z)|[\w@./-]{1,120}\.(?:py|go|js|ts|rb|rs|cs|java|scala|c)(?::\d+|\[line:\d+\])?(?=[\s:])|[A-Za-z_$][\w$]*(?=[ ]{0,40}[:-] )(?!:)|(?:[A-Z][a-z0-9]+){2,}(?=: | [^a-z])"
)
_BETWEEN = re.compile(
    r"[-–—|:,;>•]+(?=\s|\Z|[\[<(])|:(?:[A-Za-z_][\w.]{0,80}|\d{1,20}):(?=[^\s:])|:(?=[A-Z])"
)
_BARE_WORD = re.compile(r"[\w@./=:-]{1,60},?(?=\s)")
#: What syslog writes behind its time.
_PROCESS = re.compile(r"(?:[\w.-]{1,60} )?[\w./-]{1,60}\[\d{1,9}\]:(?=\s)")
#: A text of any other form behind the time, before the level and the logger.
_BEFORE_LEVEL = re.compile(
    r"\S{1,160}(?=\s{1,8}(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\s+(?:\w+\.)+\w+\s+[-:]\s)"
)
_BLANKS = re.compile(r"\s*")
#: So many words that are none of these may stand before the time or the level: a host, a process, a container.
_MOST_WORDS = 4


def message_behind(line: str) -> int:
    """Where the message of a line begins, whatever its layout; 0 where nothing like a logger's head stands before it.

    >>> line = "[orders] 10:00:00.123  INFO --- o.a.k.Coordinator : Rebalance started"
    >>> line[message_behind(line) :]
    'Rebalance started'
    """
    place, words, begun, named, over = 0, 0, False, False, False
    line = in_plain_digits(line[:LONG])
    while True:
        blanks = _BLANKS.match(line, place, LONG)
        place = blanks.end() if blanks else place
        if ANCHOR.match(line, place):
            break
        if part := _TIME_IN_HEAD.match(line, place, LONG) or _LEVEL_IN_HEAD.match(line, place, LONG):
            begun = True
        elif part := _IN_BRACKETS.match(line, place, LONG):
            begun = begun or _LEVEL_ALONE.fullmatch(part[0]) is not None or _LEVEL.search(part[0]) is not None
            begun = begun or time_in(part[0])[0] is not None
        else:
            part = _BETWEEN.match(line, place, LONG) or _NUMBER.match(line, place, LONG)
            over = over or (part is not None and named)
            if part is None and begun and not over:
                named = True
                part = (
                    _NAME_OF_LOGGER.match(line, place, LONG)
                    or _PROCESS.match(line, place, LONG)
                    or _BEFORE_LEVEL.match(line, place, LONG)
                )
        if part is None and not begun and words < _MOST_WORDS:
            part = _BARE_WORD.match(line, place, LONG)
            words += 1
        if part is None or part.end() == place:
            break
        place = part.end()
    return place if begun else 0


_NUMBER = re.compile(r"\d{1,8}(?=\s{0,4}(?:---|[|\[\])]))|(?<=:)\d{1,20}(?=:)")

#: What may stand before the time of a record inside a line, and how near its level is.
_BEFORE_A_TIME = frozenset(" \t\u3000\"'`>|[(。：:;,.")
_TO_ITS_LEVEL = re.compile(
    r"[\])]?[\s|,:-]{1,5}(?:[\[(][^\[\]()]{0,200}[\])]\s{1,3}){0,3}[\[<(]?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\b"
)
_LEVEL_BEFORE = re.compile(r"\b(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\b[\s|,:\[(-]{1,8}\Z")
#: Records without a time.
_LEVEL_AND_LOGGER = re.compile(
    r"(?:(?<=\s)|\A)(?:\[[^\[\]]{1,60}\] )?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL) +(?:\[[^\[\]]{1,60}\] +)?(?:[a-zA-Z_$][\w$]*\.)+[\w$]+ +[-:] "
)
_OF_RDKAFKA = re.compile(r"%\d\|\d{10}\.\d{3}\|[A-Z]+\|")
_LEVELS = re.compile(r"\b(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)")
_VARIES = re.compile(r"\d+|[A-Z]{4,7}")


def records_in(line: str) -> list[str]:
    """The records that a line holds: a paste may have lost the ends of its lines.

    Each begins as the first does, with a time of the same form and a level near it; or is a JSON object of its own.

    >>> records_in("10:00:00 INFO joined 10:00:01 WARN left")
    ['10:00:00 INFO joined', '10:00:01 WARN left']
    """
    if line[:2] == '{"':
        return _objects_in(line) if "}" in line[:-2] else [line]
    if "%" in line and len(begins := [found.start() for found in _OF_RDKAFKA.finditer(line)]) > 1:
        return _cut(line, begins)
    # Each has its level.
    if len(list(islice(_LEVELS.finditer(line), 2))) < 2:
        return [line]
    begins, form = [], ""
    plain = in_plain_digits(line)
    for found in _TIME_IN_HEAD.finditer(plain, 0, 20 * LONG):
        if found.start() and plain[found.start() - 1] not in _BEFORE_A_TIME:
            continue
        begin = found.start() - (plain[found.start() - 1 : found.start()] in {"[", "("})
        level = _TO_ITS_LEVEL.match(plain, found.end())
        if level is None and (level := _LEVEL_BEFORE.search(plain, max(0, begin - 30), found.start())):
            begin = level.start()
        its_form = _VARIES.sub("0", plain[begin : found.end()]) if level else None
        if its_form and (not form or its_form == form):
            begins, form = [*begins, begin], its_form
    if not begins and len(begins := [found.start() for found in _LEVEL_AND_LOGGER.finditer(line)]) == 1:
        return [line]
    return _cut(line, begins) if len(begins) > 1 else [line]


def _cut(line: str, begins: list[int]) -> list[str]:
    """The line cut before each of these places; what stands before the first is a part too."""
    edges = [0, *(begin for begin in begins if begin), len(line)]
    parts = (line[begin:end].strip() for begin, end in pairwise(edges))
    return [part for part in parts if part]


_JSON = json.JSONDecoder()


def _objects_in(line: str) -> list[str]:
    """JSON objects that stand behind each other."""
    parts: list[str] = []
    place = 0
    while line[place : place + 1] == "{":
        try:
            _, end = _JSON.raw_decode(line, place)
        except (ValueError, RecursionError):
            return [line]
        parts.append(line[place:end])
        place = end + len(line[end:]) - len(line[end:].lstrip(" ,\t"))
    return parts if len(parts) > 1 and place >= len(line.rstrip()) else [line]


class Anchored(NamedTuple):
    """A message found by its anchor: its possible texts, the likeliest first, its time, level and client."""

    texts: tuple[str, ...]
    at: str | None
    layout: str | None
    level: str | None
    client: str | None


def anchored(line: str) -> Iterator[Anchored]:
    """The messages in a line that an anchor begins, the first first (it may only stand before another)."""
    for found in islice(ANCHOR.finditer(line, 0, LONG), _MOST_ANCHORS):
        yield _anchored(line, found)


def _anchored(line: str, found: re.Match[str]) -> Anchored:
    head, text = line[: found.start()], line[found.start() :]
    client = None
    if found[0].startswith(("[thrd:", "|")):
        # Arrow's patterns know no lookahead, so an anchor of ``|CGRP|`` holds the message's first word too.
        text = text[len(found[0]) if found[0][0] == "[" else text.index("| ") + 2 :]
        broker = _GROUP_BROKER.match(text)
        text = text[broker.end() :] if broker else text
        name = CLIENT_OF_RDKAFKA.search(head)
        client = name[0] if name else None
    at, layout = time_in(head)
    if at is None:
        at, layout = iso_in(text[-200:]), None
    texts = tuple(dict.fromkeys(texts_of(text, quoted='"' in head)))
    return Anchored(texts, at, layout, level_in(head), client)


def level_in(head: str) -> str | None:
    """The level that stands before a message."""
    level = _LEVEL.search(head)
    return level[0].upper() if level else None


def texts_of(text: str, *, quoted: bool) -> Iterator[str]:
    """The text without what may stand behind it."""
    bare = text.rstrip(_BORDER)
    if quoted:
        bare = _REST_OF_QUOTED.sub("", bare, count=1).replace('\\"', '"').replace('""', '"')
    cut = _EXPORT_TIME.sub("", bare[-1_000:])
    cut = _LOGGER.sub("", cut).rstrip(_BORDER)
    yield bare[:-1_000] + cut
    yield bare
    yield text


#: Lines about a group: its coordinator, its members, joining, rebalancing, assignments, heartbeats.
ABOUT = re.compile(
    r"rebalanc|[Jj]oin(?:ing|ed|s|Group| group)|\bgroup\b.*(?:coordinator|member|generation)|[Cc]oordinator|heartbeat|"
    r"[Rr]evok|(?:assign|Assign)(?:ed|ment)|generation|max\.poll\.interval|LeaveGroup|[Mm]ember\b|SyncGroup|epoch \d|"
    r"Rebalanc|REBALANC|[Ll]ost partition|[Pp]artitions were lost|poll timeout has expired|Broker: Group authorization failed|offsets after a leader|topic has not yet been created|FENCED_|UNKNOWN_MEMBER|IllegalGeneration|ILLEGAL_GENERATION|CommitFailedException|max_poll_interval|[Cc]onsumer.?[Gg]roup|group\.instance\.id|Heartbeat|\bGroup \"|"
    r"Unknown_?Member|Rebalance_?In_?Progress|[Ee]rror.?[Cc]ode\W{1,4}(?:1[456]|2[2-7]|30|79|8[12]|11[0-3])\b|MAX_POLL_EXCEEDED|maximum poll interval|"
    r"(?:abandoned|dead) subscription|RebalanceCb|part of an active group|auto-commit of offsets|Offset ?[Cc]ommit (?:request|failed)|"
    r"[Nn]ot authorized to access group|session timeout is not within|protocols are incompatible|max(?:imum)? size of|[Ii]nstance id .{1,80} (?:fenced|used)|"
    r"uncaught and unrecoverable exception|No current assignment for|\] Crash: |[Ss]topping container|Fatal consumer exception"
)

#: Start-up, tombstones, threads, stack frames, the controller and librdkafka's book-keeping: they use a group's words
#: and tell nothing of it.
NOISE = re.compile(
    r"Startup|Starting|--bootstrap-server|Created log|[Tt]ombstone|heartbeat\.(?:interval|topic)|^\s+at |\.ms = |^\t[a-z.]+ = |"
    r"LogManager|Elected as|BrokerHeartbeat|channel-manager|channel manager|Kafka(?:Server|RaftServer)|"
    r"TransactionCoordinator|transaction\.|event-processor|coordinator-reaper|leader epoch|[Uu]nloading|"
    r"Scheduling loading|expired offsets|[Ss]hutting down|[Ss]hutdown|Closing coordinator|runtime closed|"
    r"Event processor|AssignmentsManager|BrokerLifecycleManager|MetadataRe(?:quest|sponse)|"
    r"brokers, \d+ topics|ClusterId:|Topic \S+ with \d+ partitions|joining broker|Resigned as|"
    r"controller_epoch|Creating topic|CreateTopics|RaftManager|QuorumController|KafkaZkClient|"
    r"\|(?:DUMP|COMMIT|ASSIGNMENT|SRVPEND|REMOVE|PAUSE|OFFSETFETCH|OFFSET|STOPSERVE|CLEARASSIGN|REMOVEASSIGN|ASSIGN)\||"
    r"LOG-7-(?:DUMP|SRVPEND|OFFSETFETCH|OFFSET|ASSIGNMENT|PAUSE|REMOVE)\b|Expediting next heartbeat|"
    r"\[thrd:[^\]]*\]: (?:Metadata (?:not|available)|\S+ received target|Reconciliation starts|Acknowledging target|Target assignment)|"
    r"received target assignment|Reconciliation starts|Target assignment acked|Acknowledging target assignment|"
    r"error in fetch for partition|Timed out \d+ in-flight|\[thrd:[^\]]*\]: \S+: Connected \(#\d+\)|"
    r"won't include epoch|Interrupting reconciliation|cleaning share group|\] (?:Disconnecting from node|Node \S+ disconnected|Client requested disconnect from|Cancelled in-flight (?!HEARTBEAT|CONSUMER_GROUP|JOIN|SYNC|OFFSET))|SyncGroup response|LeaveGroup response received|"
    r"elected leader for group|Joining main background thread|sub-system terminated|ExpirationReaper|GroupHeartbeat response received|"
    r"Added (?:plugin|alias(?:es)?) '|^\* |Final assignment of partitions|^ ?\(org\.apache"
)

#: Why such a line is rejected.
UNCLEAR = "looks like a group's line, and is not understood"

#: Reasons of other rejections, behind which a line of a group may stand.
_MAY_HIDE = (
    "no known layout",
    "not quite the layout",
    "begins like a group line",
    "no such date",
    "no time that can",
)

_LIKE = (
    ("franz-go", re.compile(r"franz-go|\bkgo\b|kgo[@/]")),
    ("ruby-kafka", re.compile(r"Kafka::\w+|\[\[\S+\] \{")),
    ("brod", re.compile(r"brod|coor=#PID|generation_id=")),
    ("librdkafka", re.compile(r"rdkafka|\[thrd:", re.IGNORECASE)),
    ("sarama", re.compile(r"sarama|consumergroup/")),
    ("kafkajs", re.compile(r"kafkajs|ConsumerGroup\]|\[Runner\]|\[Connection\]")),
    ("kafka-go", re.compile(r"kafka-go|member/topic/partitions")),
    (
        "a broker",
        re.compile(
            r"\[Group(?:Coordinator|MetadataManager)|MemberMetadata\(|\[GroupId |kafka\.coordinator\.group"
        ),
    ),
    (
        "a Java client",
        re.compile(
            r"org\.apache\.kafka|\bkafka\.(?:common|consumer|utils)\.[A-Z]|\.scala:\d|\[(?:Consumer|Worker|Schema registry|ShareConsumer) client|o\.a\.k\.|stream-thread|o\.s\.k\.|org\.springframework|(?<!--- )(?:INFO|WARN|ERROR|DEBUG) +(?:\d+ )?--- "
        ),
    ),
    ("aiokafka", re.compile(r"aiokafka")),
    ("kafka-python", re.compile(r"(?<![\w.])kafka\.(?:coordinator|consumer)\b|TopicPartition\(topic=")),
)


#: How a record of a log begins, behind a document's margin: a bracket, a key, a logger's name; or its level is near.
_RECORD = re.compile(
    r"[\s*#>/|-]{0,16}(?:[\[{%(]|\"?[\w.@-]{1,40}\"?=|(?:[A-Za-z_$][\w$-]{0,60}[./]){1,9}[\w$-]{1,60}(?::|\s|$))"
    r"|.{0,80}?\b(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL)\b"
)


def is_record(line: str) -> bool:
    """Whether a line has the look of a log's: a time, a level, or the beginning that loggers write; prose has none.

    >>> is_record("[sarama] joining group"), is_record("Below, the coordinator assigns nothing.")
    (True, False)
    """
    text = line[:LONG]
    return _RECORD.match(text) is not None or ANCHOR.search(text) is not None or time_in(text)[0] is not None


#: How a person begins who then quotes a log: some words, or letters of a script that writes none apart.
_WORDS = re.compile(r"\W{0,8}(?:[A-Za-z'’]+,? ){6}")
_OTHER_WORDS = re.compile(r"[^\[{(\"]{0,20}[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{4}")
#: Words of somebody who tells; Kafka's own sentences that hold them are known.
_PERSON = re.compile(r"\b(?:I|we|they|my|our)\b(?![-.])")


def is_prose(line: str, quoted: str = "") -> bool:
    """Whether a line is a person's sentence, be there a log's words in it or not; ``quoted``: how those begin.

    >>> is_prose("Later on it said in the log that joining group orders failed.", "joining group")
    True
    """
    before = line[: max(0, line.find(quoted))]
    told = _OTHER_WORDS.match(line) or _WORDS.match(before) or _PERSON.search(line)
    return told is not None and not is_record(line)


def speaks_of_a_group(line: str) -> bool:
    """Whether a line looks like one about a consumer group.

    >>> speaks_of_a_group("joining group"), speaks_of_a_group("GET /index.html")
    (True, False)
    """
    if ABOUT.search(line) is None and not ("group" in line and "failed" in line and _FAILED.search(line)):
        return False
    return NOISE.search(line) is None


_FAILED = re.compile(r"\b(?:join|sync|commit)\w* failed\b")


def is_unclear(why: str, text: str) -> bool:
    """Whether a rejected line looks like a group's."""
    return why == UNCLEAR or (why.startswith(_MAY_HIDE) and is_about_a_group(text) and is_record(text))


def is_about_a_group(line: str) -> bool:
    """Whether the message of a line looks like one about a consumer group, whatever its thread and logger are called."""
    return speaks_of_a_group(line) and speaks_of_a_group(_CLASS.sub("-", line[message_behind(line) :]))


#: A class with its package, or the end of one.
_CLASS = re.compile(r"(?:[a-z][\w$]*)?(?:\.[\w$]+)*\.[A-Z][\w$]*")


def client_like(text: str) -> str | None:
    """Whose line it looks like; None where nothing tells."""
    return next((name for name, pattern in _LIKE if pattern.search(text)), None)
