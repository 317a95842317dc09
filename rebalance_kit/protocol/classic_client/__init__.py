"""A classic consumer: an application thread that joins inside poll(), and a heartbeat thread beside it.

Theory of operation
===================

What it is: Java's ``AbstractCoordinator`` and ``ConsumerCoordinator``; librdkafka's client where it differs. Membership is
``MemberState`` (UNJOINED, PREPARING_REBALANCE, COMPLETING_REBALANCE, STABLE); what the application is in the middle of
is a ``PollStep``. A rebalance goes on only while the application is inside poll(). ::

      IDLE --must join--> COMMITTING_BEFORE_JOIN --> REVOKING_BEFORE_JOIN --> JOINING --> SYNCING
        ^                  (auto-commit)              (EAGER: everything)                    |
        |                                                                                    |
        +---- ASSIGNING <---- REVOKING (COOPERATIVE: what was taken; then joins once more) <-+

      close(): any step -> CLOSE_COMMITTING -> CLOSE_CALLBACK -> CLOSED

Invariants:

- Records reach the application only of partitions that it owns and that no callback is about to take.
- Heartbeats rest while JoinGroup is parked, and go on during callbacks.
- A member that lost its membership calls onPartitionsLost, one that gives partitions up
  onPartitionsRevoked; never both of the same partition.

Why so: two threads of Java's become one machine whose events say which thread they belong to, so ``table`` has a row per
event and step. ``joining`` is the way from one generation to the next, ``heartbeating`` the other thread, commits, and what makes it join again,
``requests`` what is sent, close() included.
"""
