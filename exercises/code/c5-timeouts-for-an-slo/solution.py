"""C5 The session outlasts 9 s of standstill and a heartbeat; a third of it is the interval; a poll outlasts a batch."""

ANSWER = {
    "session.timeout.ms": 15_000,
    "heartbeat.interval.ms": 5_000,
    "max.poll.interval.ms": 60_000,
    "static": True,
}
