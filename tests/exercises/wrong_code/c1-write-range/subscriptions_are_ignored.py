"""which does not subscribe to audit"""


def assign(partitions, members):
    ids = sorted(member.member_id for member in members)
    shares = {member_id: [] for member_id in ids}
    for topic, count in partitions.items():
        each, rest = divmod(count, len(ids))
        begin = 0
        for place, member_id in enumerate(ids):
            end = begin + each + (place < rest)
            shares[member_id] += [(topic, number) for number in range(begin, end)]
            begin = end
    return shares
