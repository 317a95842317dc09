"""A dynamic member leaves and joins"""

ANSWER = {
    "session.timeout.ms": 15_000,
    "heartbeat.interval.ms": 5_000,
    "max.poll.interval.ms": 60_000,
    "static": False,
}
