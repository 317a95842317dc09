"""is given to nobody"""


def assign(partitions, members):
    shares = {member.member_id: [] for member in members}
    for topic, count in partitions.items():
        subscribed = sorted(member.member_id for member in members if topic in member.topics)
        each = count // len(subscribed)
        for place, member_id in enumerate(subscribed):
            shares[member_id] += [(topic, number) for number in range(place * each, place * each + each)]
    return shares
