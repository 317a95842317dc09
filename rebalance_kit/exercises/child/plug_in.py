"""Run one assignor or listener: the module behind the wall of ``exercises.code_running``.

An assignor is called with what the leader of each case was told. A listener is plugged into the engine, and only the
orders that it gave its consumer leave this process: whoever judges repeats the run with them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rebalance_kit.assignors.contract import MemberSubscription
from rebalance_kit.exercises.child import attempt
from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.simulation.learner_code.plug_ins import as_partition

# A learner's listener behind a recorder: what it orders of its consumer is done, and written down as plain values.


Order = list[Any]
_MOST_CALLS = 2_000


class GivenUp(BaseException):
    """Ends the run at once, since the engine goes on after whatever else a callback raises; its text is for the learner."""


class Recorder:
    """All callbacks of one member's listeners, life after life; ``calls`` holds the orders of each callback."""

    def __init__(self, listener: type) -> None:
        self._listener = listener
        self.calls: list[list[Order]] = []

    def make(self) -> type:
        """A class for the engine, which makes one object per life of the member's process."""
        recorder = self

        class Recorded:
            def __init__(self) -> None:
                self._own = recorder._listener()

            def on_assigned(self, partitions: Any, consumer: Any) -> None:
                recorder._call(getattr(self._own, "on_assigned", None), partitions, consumer)

            def on_revoked(self, partitions: Any, consumer: Any) -> None:
                recorder._call(getattr(self._own, "on_revoked", None), partitions, consumer)

            def on_lost(self, partitions: Any, consumer: Any) -> None:
                default = getattr(self._own, "on_revoked", None)  # onPartitionsLost calls onPartitionsRevoked
                recorder._call(getattr(self._own, "on_lost", default), partitions, consumer)

        return Recorded

    def _call(self, callback: Any, partitions: Any, consumer: Any) -> None:
        if len(self.calls) >= _MOST_CALLS:
            raise GivenUp(
                f"more than {_MOST_CALLS:,} callbacks of one member: does a callback raise each time that it is called?"
            )
        orders: list[Order] = []
        self.calls.append(orders)
        if callback is None:
            return
        try:
            callback(partitions, _Noting(consumer, orders))
        except NotImplementedError as error:
            raise GivenUp(attempt.UNWRITTEN) from error
        except Exception as error:
            orders.append(["raise", f"{type(error).__name__}: {error}"[:300]])
            raise


class _Noting:
    """The consumer of one callback; asks are passed on, orders are noted before they are done."""

    def __init__(self, consumer: Any, orders: list[Order]) -> None:
        self._consumer, self._orders = consumer, orders

    def __getattr__(self, name: str) -> Any:
        return getattr(self._consumer, name)

    def commit(self, offsets: Any = None) -> None:
        plain = None if offsets is None else [[*as_partition(tp), offset] for tp, offset in offsets.items()]
        self._orders.append(["commit", plain])
        self._consumer.commit(offsets)

    def seek(self, partition: Any, offset: Any) -> None:
        self._orders.append(["seek", [*as_partition(partition), offset]])
        self._consumer.seek(partition, offset)

    def pause(self, partitions: Any) -> None:
        given = [as_partition(partition) for partition in partitions]
        self._orders.append(["pause", [list(partition) for partition in given]])
        self._consumer.pause(given)

    def resume(self, partitions: Any) -> None:
        given = [as_partition(partition) for partition in partitions]
        self._orders.append(["resume", [list(partition) for partition in given]])
        self._consumer.resume(given)


def main() -> None:
    """Say that the process stands, take the order, and do what it says."""
    attempt.reply({"ready": True})
    order = attempt.next_order()
    attempt.limit_resources(order["cpu_s"], order["memory"], order["file_size"])
    run = {"assignor": _assigned, "listener": _ordered}[order["how"]]

    def outputs() -> Mapping[str, Any]:
        answer = attempt.function_of(order)
        try:
            return {"outputs": [run(answer, case) for case in order["cases"]]}
        except GivenUp as words:
            raise attempt.NoAnswer(str(words)) from words

    attempt.give(attempt.attempted(outputs, order["file"], order["limit_s"]))


def _assigned(assignor: Callable[..., Any], case: Mapping[str, Any]) -> list[Any]:
    """The shares of every call of a case, each partition as ``[topic, number]``."""
    assignor = assignor() if isinstance(assignor, type) else assignor
    return [_shares(assignor(dict(call["partitions"]), _members(call))) for call in case["calls"]]


def _members(call: Mapping[str, Any]) -> tuple[MemberSubscription, ...]:
    return tuple(
        MemberSubscription(
            member["member_id"],
            tuple(member["topics"]),
            member["instance_id"],
            tuple(TopicPartition(*pair) for pair in member["owned"]),
            member["generation"],
        )
        for member in call["members"]
    )


def _shares(answer: Any) -> dict[str, list[list[Any]]]:
    if not isinstance(answer, Mapping):
        raise attempt.NoAnswer(
            f"the assignor returned {answer!r:.80}, expected a mapping of member id to its partitions. Did the last line lose its `return`?"
        )
    try:
        return {str(member): [list(as_partition(tp)) for tp in share] for member, share in answer.items()}
    except (TypeError, ValueError) as error:
        raise attempt.NoAnswer(
            f"the assignor returned something that is no partition ({error}); expected `TopicPartition`, a pair such as ('orders', 4), or 'orders-4'"
        ) from error


def _ordered(listener: Callable[..., Any], case: Mapping[str, Any]) -> dict[str, Any]:
    """Orders of every member, callback by callback, in one run of the engine."""
    if not isinstance(listener, type):
        raise attempt.NoAnswer(
            "the listener is no class. Keep the class of the stub: each process makes one of its own."
        )
    from rebalance_kit.simulation.scenario.yaml_file import read_scenario
    from rebalance_kit.simulation.simulate import simulate

    recorders = {name: Recorder(listener) for name in case["members"]}
    trace = simulate(
        read_scenario(case["scenario"], "case"), case["seed"], case["protocol"],
        listeners={name: recorder.make() for name, recorder in recorders.items()},
    )  # fmt: skip
    for row in trace.of("own_code_fault"):
        if row.detail["fault"] == "blocks":
            raise attempt.NoAnswer(
                f"{row.detail['name']} of member {row.actor} {row.detail['seen']}. Is there a loop without an end?"
            )
    return {name: recorder.calls for name, recorder in recorders.items()}


if __name__ == "__main__":
    main()
