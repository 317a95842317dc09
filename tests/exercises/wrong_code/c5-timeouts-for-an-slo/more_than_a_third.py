"""two lost heartbeats would end a session"""

ANSWER = {
    "session.timeout.ms": 15_000,
    "heartbeat.interval.ms": 7_000,
    "max.poll.interval.ms": 60_000,
    "static": True,
}
