"""A KIP-848 consumer: a background thread that heartbeats, and an application thread that takes one step per poll().

Theory of operation
===================

What it is: Java's ``ConsumerMembershipManager``; librdkafka's client where it differs. The coordinator's answer names the
whole assignment; the client goes from what it owns to it (*reconciles*) and says so with the next heartbeat. ::

      UNSUBSCRIBED --subscribe--> JOINING --answer--> RECONCILING --callbacks done--> ACKNOWLEDGING --heartbeat--> STABLE
                                    ^                     ^                                                         |
        FENCED --onPartitionsLost---+                     +------------------- another assignment -----------------+
        STALE  --poll() again-------+        (fenced: epoch 0, same id; stale: left because poll() was late)

      reconcile: commit -> onPartitionsRevoked -> onPartitionsAssigned -> acknowledge, one step per poll()

Invariants:

- What is revoked is not fetched from the moment that its reconciliation begins.
- The member id outlives fencing; the epoch is the coordinator's, 0 to join, -1 to leave, -2 for a static member that will be back.
- A heartbeat goes out at once to acknowledge, to join and to leave, else after the interval that the coordinator named.

Why so: the application never waits for the group here, so no step is a barrier, and ``table`` has a row per event and step, below
the way to an assignment. ``heartbeating`` is what is sent, and what ends a membership, close() included.
"""
