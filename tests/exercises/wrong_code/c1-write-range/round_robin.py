"""A range has no holes"""


def assign(partitions, members):
    ids = sorted(member.member_id for member in members)
    return {
        member_id: [(topic, n) for topic, count in partitions.items() for n in range(place, count, len(ids))]
        for place, member_id in enumerate(ids)
    }
