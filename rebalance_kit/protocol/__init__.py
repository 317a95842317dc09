"""How they agree: sans-IO machines of both group protocols, coordinator side and client side.

A driver owns clock, network and dice. For each machine it repeats one loop::

    for effect in step(state, event):      # step changes the state, effects come in order
        carry_out(effect)                  # what comes back later is another event

========================= ======================================= ==========================================
coordinator               what the driver carries out             what it sends in
========================= ======================================= ==========================================
``Arrived(request)``      ``Reply``                               a request, with a token for its answer
``TimerFired(key)``       ``SetTimer``, ``CancelTimer``           a timer of that key ran out
``Appended(key)``         ``Append``                              what was to be stored is stored
``Unload``, ``Load``                                              the coordinator gives the group up, or gets it
..                        ``Note``                                (a trace row)
..                        ``Downgrade``                           (``migration.downgrade``, after the others)
========================= ======================================= ==========================================

========================= ======================================= ==========================================
client                    what the driver carries out             what it sends in
========================= ======================================= ==========================================
``Polled``                ``WantPoll``                            the application is inside poll()
``Answered``              ``Send``                                the answer to a request
``Disconnected``          ``Send``                                no answer will come
``CoordinatorFound``      ``FindCoordinator``                     the look-up succeeded
``TimerFired(key)``       ``SetTimer``, ``CancelTimer``           a timer of that key ran out
``CallbackDone``          ``Callback``                            the listener has returned
``CommitDone``            ``Commit``                              there was nothing to commit
``MetadataSeen``          ``FreshMetadata``                       topics, partitions, racks
``PollTimeout``                                                   max.poll.interval.ms without poll()
``PolledAgain``                                                   poll() after that, before anybody noticed
``Subscribed``                                                    subscribe() was called
``RejoinEnforced``                                                enforceRebalance() was called
``CloseCalled``           ``Closed``, ``Die``                     close() was called; how it ends
..                        ``Own``, ``StartFetching``,             (what the application may read)
                          ``StopFetching``, ``RestartAutoCommit``
..                        ``Note``                                (a trace row)
========================= ======================================= ==========================================

The four machines, each with a theory of operation at its head and a table to read first: ``classic_group``, ``consumer_group``
(coordinator), ``classic_client``, ``consumer_client`` (client; ``client`` is what they share). Effects and events are in
``effects``, requests and answers in ``messages``.
"""
