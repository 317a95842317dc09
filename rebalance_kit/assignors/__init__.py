"""Who gets what: every assignor of Kafka, client and server side, as a pure function with the order of Java's maps.

Theory of operation
===================

What it is: ``(cluster, members) -> partitions by member``, equal to Kafka's classes list for list. ``contract`` says what goes in and
comes out, ``java_order`` in which order Java's maps are read, which decides every tie; ``client`` and ``server`` hold one module
per assignor, ``sticky`` what the sticky family shares.

Invariants: a partition has at most one owner (but for Kafka's own defect ``sticky-stale-leader``); two runs give one answer; what an assignor explains
(``explain``) sums up to what it gives. Why so: an assignor that only balanced as Kafka does would still move other
partitions than Kafka, and a rebalance is about which ones move.
"""
