"""C2 A sticky assignor."""


def assign(partitions, members):
    """Return {member_id: [(topic, number), ...]} for every member.

    ``partitions`` maps a topic to its number of partitions; a member has ``member_id``, ``topics`` and ``owned``,
    a tuple of the (topic, number) that it has now. All members subscribe to all topics.
    """
    raise NotImplementedError
