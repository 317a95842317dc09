"""Assignors that a classic group's leader runs: range, round robin, sticky, cooperative-sticky, librdkafka's sticky."""
