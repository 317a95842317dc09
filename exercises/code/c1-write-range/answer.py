"""C1 Write range."""


def assign(partitions, members):
    """Return {member_id: [(topic, number), ...]} for every member.

    ``partitions`` maps a topic to its number of partitions; a member has ``member_id``, ``topics`` and
    ``group_instance_id`` (None for a dynamic member).
    """
    raise NotImplementedError
