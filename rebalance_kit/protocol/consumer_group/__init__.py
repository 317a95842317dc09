"""The coordinator of a KIP-848 group: one request, three epochs, and no barrier.

Theory of operation
===================

What it is: Kafka's ``ConsumerGroup`` driven by ``GroupMetadataManager``. The broker assigns. What members ask for raises
the *group epoch*; a heartbeat computes the *target assignment* for it (the assignment epoch follows); each member is led
to its part of the target by its own heartbeats (its member epoch follows), and nobody waits for anybody but the owner
of a partition that it is to get. ::

      group:   Empty --join--> Assigning --target computed--> Reconciling --every member there--> Stable
                 ^                ^                                |                                 |
                 +--last leaves---+------- epoch raised -----------+---------------------------------+

      member:  STABLE --the target takes something--> UNREVOKED_PARTITIONS --a heartbeat no longer owns it--+
                 ^  |                                                                                     |
                 |  +--the target gives what another still holds--> UNRELEASED_PARTITIONS <----------------+
                 +--------------- a heartbeat finds nothing missing ---------------+

Invariants:

- The assignment epoch never passes the group epoch; a member reaches the target's epoch when it holds all of its part.
- A partition is assigned to one member at a time, one that it is asked to revoke included.
- The group's state follows from its epochs (``ConsumerGroup.state_by_epochs``); it is never set by itself.

Why so: here the epochs decide and not the state, so ``table`` has a row per event with the moves of the state that it
may cause. ``group`` holds states, members and fencing, ``heartbeating`` the request, how members leave, subscriptions, target and the way to it,
``migration`` classic members in the group and back.
"""
