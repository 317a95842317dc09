"""A run written by hand, row by row: two consumers share four partitions, consumer-1 crashes at 10 s.

Its truth is known without any engine: the session ends at 54 s (last heartbeat at 9 s), consumer-2
gives everything up at 55 s, has all four at 55.1 s and reads them again at 55.2 s.
"""

from __future__ import annotations

from typing import Any

from rebalance_kit.model.trace import Trace, TraceRow

ALL = ["orders-0", "orders-1", "orders-2", "orders-3"]


class Hand:
    """Rows in order, numbered."""

    def __init__(self) -> None:
        self.rows: list[TraceRow] = []
        self.corr = 0

    def row(
        self,
        at_ms: int,
        actor: str,
        kind: str,
        generation: int | None = None,
        partition: str | None = None,
        **detail: Any,
    ) -> None:
        """One row."""
        topic, number = partition.rsplit("-", 1) if partition else (None, None)
        self.rows.append(
            TraceRow(
                at_ms,
                len(self.rows),
                actor,
                kind,
                "classic",
                generation,
                None,
                topic,
                int(number) if number else None,
                detail,
            )
        )

    def ask(self, at_ms: int, name: str, api: str, answered_ms: int, generation: int | None = None) -> None:
        """A request that takes 2 ms each way; its answer is sent at ``answered_ms``."""
        self.corr += 1
        self.row(at_ms, name, "request", generation, api=api, corr=self.corr, arrives_ms=at_ms + 2)
        self.answers.append((answered_ms, name, api, self.corr))

    answers: list[tuple[int, str, str, int]]

    def flow(
        self, at_ms: int, name: str, partitions: list[str], position: int, *, reason: str | None = None
    ) -> None:
        """Records of these start (no reason) or stop to reach a member."""
        for one in partitions:
            if reason is None:
                self.row(
                    at_ms, name, "fetch_resumed", 1, one, position=position, log_end=position, committed=0
                )
            else:
                self.row(
                    at_ms,
                    name,
                    "fetch_stopped",
                    1,
                    one,
                    position=position,
                    log_end=position,
                    committed=position,
                    reason=reason,
                )

    def callback(self, at_ms: int, until_ms: int, name: str, which: str, partitions: list[str]) -> None:
        """A listener callback from its begin to its end."""
        generation = 2 if at_ms > 55_050 else 1
        self.row(at_ms, name, "callback_begin", generation, callback=which, partitions=partitions)
        self.row(
            until_ms, name, "callback_end", generation, callback=which, partitions=partitions, error=None
        )


def crash_trace() -> Trace:
    """The run described above, eager, 60 s long."""
    hand = Hand()
    hand.answers = []
    names = ("consumer-1", "consumer-2")
    for name in names:
        hand.row(
            0,
            name,
            "process_started",
            group="orders-app",
            client="java",
            configs={},
            topics=["orders"],
            life=1,
        )
        hand.ask(500, name, "JoinGroup", 3500)
        hand.row(
            502, "coordinator", "member_added", group="orders-app", name=name, instance_id=None, reason=""
        )
    hand.row(
        502,
        "coordinator",
        "group_state",
        **{
            "group": "orders-app",
            "from": "Empty",
            "to": "PreparingRebalance",
            "reason": "Adding new member",
            "trigger": "join",
            "culprit": "consumer-1",
        },
    )
    hand.row(
        3500,
        "coordinator",
        "generation",
        1,
        group="orders-app",
        assignor="range",
        leader="consumer-1",
        members={"a": "consumer-1", "b": "consumer-2"},
    )
    hand.row(
        3500,
        "coordinator",
        "group_state",
        **{
            "group": "orders-app",
            "from": "PreparingRebalance",
            "to": "CompletingRebalance",
            "reason": "",
            "trigger": "join",
            "culprit": None,
        },
    )
    for name, share in zip(names, (ALL[:2], ALL[2:]), strict=True):
        hand.row(3502, name, "joined", 1, leader=name == "consumer-1", assignor="range")
        hand.ask(3502, name, "SyncGroup", 3510, 1)
        hand.row(3512, name, "synced", 1, assigned=share, owned=[], added=share, revoked=[])
        hand.row(3512, name, "owned", 1, partitions=share)
        hand.callback(3512, 3512, name, "assigned", share)
        hand.flow(3600, name, share, 0)
    hand.row(
        3510,
        "coordinator",
        "group_state",
        **{
            "group": "orders-app",
            "from": "CompletingRebalance",
            "to": "Stable",
            "reason": "",
            "trigger": "sync",
            "culprit": None,
        },
    )
    hand.ask(6000, "consumer-1", "Heartbeat", 6002, 1)
    hand.ask(8998, "consumer-1", "Heartbeat", 9000, 1)
    hand.row(10_000, "consumer-1", "action", do="crash", member="consumer-1")
    hand.flow(10_000, "consumer-1", ALL[:2], 64, reason="crash")
    hand.row(10_000, "consumer-1", "process_ended", how="crash", error=None, life=1)
    for beat in range(6000, 54_001, 3000):
        hand.ask(beat, "consumer-2", "Heartbeat", beat + 2, 1)
    hand.row(
        54_000,
        "coordinator",
        "member_removed",
        group="orders-app",
        name="consumer-1",
        how="session",
        reason="heartbeat expired",
    )
    hand.row(
        54_000,
        "coordinator",
        "group_state",
        **{
            "group": "orders-app",
            "from": "Stable",
            "to": "PreparingRebalance",
            "reason": "heartbeat expired",
            "trigger": "session",
            "culprit": "consumer-1",
        },
    )
    hand.flow(55_000, "consumer-2", ALL[2:], 514, reason="revoke")
    hand.callback(55_000, 55_010, "consumer-2", "revoked", ALL[2:])
    hand.row(55_010, "consumer-2", "owned", 1, partitions=[])
    hand.ask(55_010, "consumer-2", "JoinGroup", 55_012, 1)
    hand.row(
        55_012,
        "coordinator",
        "generation",
        2,
        group="orders-app",
        assignor="range",
        leader="consumer-2",
        members={"b": "consumer-2"},
    )
    hand.row(
        55_012,
        "coordinator",
        "group_state",
        **{
            "group": "orders-app",
            "from": "PreparingRebalance",
            "to": "CompletingRebalance",
            "reason": "",
            "trigger": "join",
            "culprit": None,
        },
    )
    hand.row(55_014, "consumer-2", "joined", 2, leader=True, assignor="range")
    hand.ask(55_014, "consumer-2", "SyncGroup", 55_098, 2)
    hand.row(
        55_098,
        "coordinator",
        "group_state",
        **{
            "group": "orders-app",
            "from": "CompletingRebalance",
            "to": "Stable",
            "reason": "",
            "trigger": "sync",
            "culprit": None,
        },
    )
    hand.row(55_100, "consumer-2", "owned", 2, partitions=ALL)
    hand.callback(55_100, 55_100, "consumer-2", "assigned", ALL)
    hand.flow(55_200, "consumer-2", ALL, 514)
    for answered_ms, name, api, corr in hand.answers:
        hand.row(
            answered_ms,
            "coordinator",
            "response",
            api=api,
            corr=corr,
            to=name,
            error="NONE",
            arrives_ms=answered_ms + 2,
            group="orders-app",
        )
    hand.row(60_000, "run", "run_end", reason="end of the scenario")
    rows = sorted(hand.rows, key=lambda one: (one.at_ms, one.seq))
    numbered = tuple(row._replace(seq=place) for place, row in enumerate(rows))
    meta = {"scenario": "by-hand", "group": "orders-app", "topics": {"orders": 4}, "members": list(names)}
    return Trace("by-hand-eager-1", "eager", 1, 60_000, numbered, meta=meta)
