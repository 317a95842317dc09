"""Rebalance callbacks for librdkafka clients in an eager group."""

from rebalance_kit.exercises.code_on_clients import ON_CLIENTS, client_case, read_and_handed_over
from rebalance_kit.exercises.code_task import CodeTask

TWO = {"a": {"from_s": 0}, "b": {"from_s": 4}}
STALLS = {"a": {"from_s": 0, "stalls_at_s": 8, "stalls_s": 9}, "b": {"from_s": 0}}
SHORT = {"max.poll.interval.ms": 5000}

TASK = CodeTask(
    title="Callbacks for an eager group",
    minutes=20,
    level="medium",
    function="on_assign",
    kind=ON_CLIENTS,
    public=(
        client_case("range: a second member joins", "range", 14, TWO),
        client_case("roundrobin: a second member joins", "roundrobin", 14, TWO),
        client_case("range: a member does not poll for 9 s", "range", 24, STALLS, configs=SHORT),
    ),
    judge=read_and_handed_over,
)
