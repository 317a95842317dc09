"""Recorded runs that the suite repeats: every protocol, three Kafka versions, and what differs between them."""

REPEATED = (
    "crash.eager.4.3.1",
    "crash.cooperative.4.3.1",
    "crash.consumer.4.3.1",
    "join.eager.3.9.1",
    "join.cooperative.4.0.0",
    "leave.consumer.4.3.1",
    "leave.eager.4.0.0",
    "poll-timeout.eager.4.3.1",
    "poll-timeout.cooperative.4.3.1",
    "static-restart.consumer.4.3.1",
    "static-restart.eager.4.3.1",
    "duplicate-instance.consumer.4.3.1",
    "duplicate-instance.eager.4.3.1",
    "enforce.cooperative.4.3.1",
    "add-partitions.eager.3.9.1",
    "slow-callback.cooperative.4.3.1",
    "coordinator-restart.consumer.4.3.1",
    "bounce-gone-wrong.classic.4.3.1",
    "rd-leave.eager.4.3.1",
    "crash-2x4.sticky.4.3.1",
    "crash-2x4.roundrobin.4.3.1",
    "crash-2x4.consumer-range.4.3.1",
    "nine-members.consumer.4.3.1",
    "rd-poll-timeout.consumer.4.3.1",
    "rd-poll-timeout.eager.4.3.1",
    "storm.eager.4.3.1",
)

REPEATED_LATER = (
    "close-and-start.roundrobin.4.3.1",
    "crash-in-slow-callback.cooperative.4.3.1",
    "crash-pair.cooperative.4.3.1",
    "downgrade.mixed.4.3.1",
    "drawn-13.consumer.4.0.0",
    "freeze-then-leave.cooperative.4.3.1",
    "grow-in-rebalance.consumer.4.3.1",
    "kill-in-rebalance.consumer.4.3.1",
    "rd-freeze.consumer.4.3.1",
    "rd-storm.consumer.4.3.1",
    "recreated.eager.4.3.1",
    "resub-crash.cooperative.4.3.1",
    "reverse-migration.mixed.4.3.1",
    "rolling-mixed.consumer.4.3.1",
    "rolling-mixed.cooperative.4.0.0",
    "scale-out-in.consumer.4.3.1",
    "scale-out-in.eager.4.3.1",
    "six.range.3.9.1",
    "twelve-members.consumer.4.3.1",
)
"""Those of the second pack that an early draw repeats."""

RACES = {"rolling-restart.cooperative.4.3.1": 66, "scale-out-in.cooperative.4.3.1": 116}
"""Runs in which several races have to go the recorded way, with the first draw in which they do."""
