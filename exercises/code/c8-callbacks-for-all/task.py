"""Rebalance callbacks for librdkafka clients that are right under every protocol."""

from rebalance_kit.exercises.code_on_clients import ON_CLIENTS, client_case, read_and_handed_over
from rebalance_kit.exercises.code_task import CodeTask

TWO = {"a": {"from_s": 0}, "b": {"from_s": 4}}
STALLS = {"a": {"from_s": 0, "stalls_at_s": 8, "stalls_s": 9}, "b": {"from_s": 0}}
SHORT = {"max.poll.interval.ms": 5000}

TASK = CodeTask(
    title="Callbacks for every protocol",
    minutes=25,
    level="hard",
    function="on_assign",
    kind=ON_CLIENTS,
    public=(
        client_case("range (eager): a second member joins", "range", 14, TWO),
        client_case("cooperative-sticky: a second member joins", "cooperative-sticky", 14, TWO),
        client_case("KIP-848: a second member joins", "consumer", 14, TWO),
        client_case(
            "cooperative-sticky: a member does not poll for 9 s",
            "cooperative-sticky",
            28,
            STALLS,
            configs=SHORT,
        ),
    ),
    judge=read_and_handed_over,
)
