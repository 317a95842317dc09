"""C1 Write range: for each topic its subscribers in order, then one contiguous range each."""


def assign(partitions, members):
    """Return {member_id: [(topic, number), ...]}."""
    shares = {member.member_id: [] for member in members}
    for topic, count in sorted(partitions.items()):
        subscribed = [member for member in members if topic in member.topics]
        if not subscribed:
            continue
        static = sorted(
            (one for one in subscribed if one.group_instance_id is not None),
            key=lambda one: one.group_instance_id,
        )
        dynamic = sorted(
            (one for one in subscribed if one.group_instance_id is None), key=lambda one: one.member_id
        )
        each, rest = divmod(count, len(subscribed))
        begin = 0
        for place, member in enumerate([*static, *dynamic]):
            end = begin + each + (place < rest)
            shares[member.member_id] += [(topic, number) for number in range(begin, end)]
            begin = end
    return shares
