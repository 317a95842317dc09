"""static members come first, by group_instance_id"""


def assign(partitions, members):
    shares = {member.member_id: [] for member in members}
    for topic, count in partitions.items():
        subscribed = sorted(member.member_id for member in members if topic in member.topics)
        each, rest = divmod(count, len(subscribed))
        begin = 0
        for place, member_id in enumerate(subscribed):
            end = begin + each + (place < rest)
            shares[member_id] += [(topic, number) for number in range(begin, end)]
            begin = end
    return shares
