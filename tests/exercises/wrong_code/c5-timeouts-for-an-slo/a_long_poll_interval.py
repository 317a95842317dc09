"""only max.poll.interval.ms ends this"""

ANSWER = {
    "session.timeout.ms": 15_000,
    "heartbeat.interval.ms": 5_000,
    "max.poll.interval.ms": 300_000,
    "static": True,
}
