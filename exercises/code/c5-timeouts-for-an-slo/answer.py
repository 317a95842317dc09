"""C5 Timeouts for an objective. This file is read as data and never run."""

ANSWER = None  # a dict with session.timeout.ms, heartbeat.interval.ms, max.poll.interval.ms and static
