"""The coordinator of a classic group: JoinGroup and SyncGroup make generations, the client leader assigns.

Theory of operation
===================

What it is: Kafka's ``ClassicGroup`` driven by ``GroupMetadataManager``. The broker computes no assignment. It gathers
JoinGroup requests until everybody has joined or time is up (the *join phase*), raises the generation, has the leader
assign, and hands each member its part when the leader's SyncGroup is stored. ::

               first JoinGroup              last member gone
      Empty ----------------------> Preparing ------------------> Empty
                                    |   ^   ^
             everybody has joined,  |   |   |  JoinGroup of another subscription,
             or the phase is over   v   |   |  LeaveGroup, session or sync timeout
                               Completing   |
                                    |       |
               the leader's answer  v       |
               is stored         Stable ----+        (unload: any state -> Dead; load: Dead -> Empty or Stable)

Invariants:

- A generation is raised when a join phase ends, and at no other time.
- A joiner shares an assignor with every member, so the vote always has a winner.
- At most one request of a member is parked (its JoinGroup in Preparing, its SyncGroup in Completing).
- An instance id belongs to one member id; requests of a replaced id are fenced.

Why so: the state decides what every request is answered, so ``table`` has a row per state and request, refusals
included. A rule is a generator that changes the group and yields its effects in order; ``step`` raises after a move
that the row does not declare. ``group`` holds states and members, ``joining`` JoinGroup, ``join_phase`` what makes a
generation, ``sessions`` heartbeats, commits and how members leave.
"""
