"""When it happens: scenario, clock, chance, network, applications, and ``simulate``.

Theory of operation
===================

What it is: a discrete-event simulation that carries out the effects of the machines in ``protocol``. ::

      scenario file --read--> Scenario --check, draw moments, spell macros out--> planned Scenario
                                                                                     |
      Trace <--rows-- World (host, cluster, processes) <--start and actions at their times-+

      a machine's step -> effects -> a later event on the agenda (a timer, a message, a callback's end) -> a step

Invariants: time is whole milliseconds and never goes back; the same scenario and seed give the same rows; a late call of
a life that is over never happens (``Incarnation``). Why so: the machines know no time and no chance, so everything that Kafka
leaves to them (latencies, phases, ids) is drawn here, each from a stream with a name of its own.
"""
