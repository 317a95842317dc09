"""What the two clients share: a poll loop whose steps are named, and a table that is read by event and step.

Theory of operation
===================

What it is: an application calls poll() again and again; whatever its membership asks of it (commits, callbacks, joining)
happens inside. ``PollStep`` names what is under way, so the machine never blocks: an event that finishes a step starts
the next. ::

      IDLE --> a step of the protocol --> ... --> IDLE          any --> CLOSE_COMMITTING --> CLOSE_CALLBACK --> CLOSED

Invariants: one step at a time; a consumer that is CLOSED hears nothing; an event whose kind the table lacks
is refused. Why so: Java's client blocks in poll() and librdkafka's serves a queue, yet both can be told as steps
and events, so one table language serves both.
"""
