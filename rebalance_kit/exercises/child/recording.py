"""A learner's listener behind a recorder: what it orders of its consumer is done, and written down as plain values."""

from __future__ import annotations

from typing import Any

from rebalance_kit.exercises.child.words import UNWRITTEN
from rebalance_kit.simulation.learner_code.plug_ins import as_partition

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
            raise GivenUp(UNWRITTEN) from error
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
