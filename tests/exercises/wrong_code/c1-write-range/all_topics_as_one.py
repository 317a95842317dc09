"""Divide each topic separately"""


def assign(partitions, members):
    every = [(topic, number) for topic, count in sorted(partitions.items()) for number in range(count)]
    ids = sorted(member.member_id for member in members)
    each, rest = divmod(len(every), len(ids))
    shares, begin = {}, 0
    for place, member_id in enumerate(ids):
        end = begin + each + (place < rest)
        shares[member_id] = every[begin:end]
        begin = end
    return shares
