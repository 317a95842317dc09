"""Begin with what each member owns"""


def assign(partitions, members):
    every = [(topic, number) for topic, count in sorted(partitions.items()) for number in range(count)]
    ids = sorted((member.member_id for member in members), reverse=True)
    return {member_id: every[place :: len(ids)] for place, member_id in enumerate(ids)}
