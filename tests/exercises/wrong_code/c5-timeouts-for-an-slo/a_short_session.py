"""session.timeout.ms has to outlast that"""

ANSWER = {
    "session.timeout.ms": 6_000,
    "heartbeat.interval.ms": 2_000,
    "max.poll.interval.ms": 60_000,
    "static": True,
}
