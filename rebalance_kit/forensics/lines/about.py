"""Which lines look like a group's, so that nothing is said to be absent while one of them was not understood."""

from __future__ import annotations

import re

#: Lines about a group: its coordinator, its members, joining, rebalancing, assignments, heartbeats.
ABOUT = re.compile(
    r"rebalanc|[Jj]oin(?:ing|ed|s|Group| group)|\bgroup\b.*(?:coordinator|member|generation)|[Cc]oordinator|heartbeat|"
    r"[Rr]evok|(?:assign|Assign)(?:ed|ment)|generation|max\.poll\.interval|LeaveGroup|[Mm]ember\b|SyncGroup|epoch \d|"
    r"Rebalanc|FENCED_|UNKNOWN_MEMBER|IllegalGeneration|ILLEGAL_GENERATION|CommitFailedException|max_poll_interval|[Cc]onsumer.?[Gg]roup|group\.instance\.id|Heartbeat|\bGroup \""
)

#: Start-up, tombstones, threads, stack frames, the controller and librdkafka's book-keeping: they use a group's words
#: and tell nothing of it.
NOISE = re.compile(
    r"Startup|Starting|Created log|[Tt]ombstone|heartbeat\.(?:interval|topic)|^\s+at |\.ms = |^\t[a-z.]+ = |"
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
    r"Timed out \d+ in-flight|"
    r"won't include epoch|Interrupting reconciliation|cleaning share group|SyncGroup response|LeaveGroup response received|"
    r"elected leader for group|sub-system terminated|ExpirationReaper|GroupHeartbeat response received|"
    r"^\* |Final assignment of partitions|^ ?\(org\.apache"
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
    ("kafka-python", re.compile(r"kafka\.(?:coordinator|consumer)|aiokafka|TopicPartition\(topic=")),
    ("kafka-go", re.compile(r"kafka-go|member/topic/partitions")),
    ("a broker", re.compile(r"\[Group(?:Coordinator|MetadataManager)|MemberMetadata\(|\[GroupId ")),
    (
        "a Java client",
        re.compile(r"org\.apache\.kafka|\[(?:Consumer|Worker|ShareConsumer) client|o\.a\.k\.|stream-thread"),
    ),
)


def speaks_of_a_group(line: str) -> bool:
    """Whether a line looks like one about a consumer group.

    >>> speaks_of_a_group("joining group"), speaks_of_a_group("GET /index.html")
    (True, False)
    """
    return ABOUT.search(line) is not None and NOISE.search(line) is None


def is_unclear(why: str, text: str) -> bool:
    """Whether a rejected line looks like a group's."""
    return why == UNCLEAR or (why.startswith(_MAY_HIDE) and speaks_of_a_group(text))


def client_like(text: str) -> str | None:
    """Whose line it looks like; None where nothing tells."""
    return next((name for name, pattern in _LIKE if pattern.search(text)), None)
