"""The larger shares belong to the members that own the most already"""


def assign(partitions, members):
    every = [(topic, number) for topic, count in sorted(partitions.items()) for number in range(count)]
    each, larger = divmod(len(every), len(members))
    shares, sizes = {}, {}
    for place, member in enumerate(sorted(members, key=lambda one: one.member_id, reverse=True)):
        sizes[member.member_id] = each + (place < larger)
        shares[member.member_id] = list(member.owned)[: sizes[member.member_id]]
    left = [tp for tp in every if not any(tp in share for share in shares.values())]
    for member_id, share in shares.items():
        while len(share) < sizes[member_id]:
            share.append(left.pop())
    return shares
