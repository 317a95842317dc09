"""max.poll.interval.ms has to outlast it"""

ANSWER = {
    "session.timeout.ms": 15_000,
    "heartbeat.interval.ms": 5_000,
    "max.poll.interval.ms": 30_000,
    "static": True,
}
