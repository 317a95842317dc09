"""are enough"""

ANSWER = {
    "session.timeout.ms": 15_000,
    "heartbeat.interval.ms": 500,
    "max.poll.interval.ms": 60_000,
    "static": True,
}
