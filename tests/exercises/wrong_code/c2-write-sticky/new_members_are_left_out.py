"""A member without partitions gets an empty list"""


def assign(partitions, members):
    owners = [member for member in members if member.owned]
    every = [(topic, number) for topic, count in partitions.items() for number in range(count)]
    return {member.member_id: every[place :: len(owners)] for place, member in enumerate(owners)}
