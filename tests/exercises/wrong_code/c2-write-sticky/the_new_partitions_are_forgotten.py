"""is given to nobody"""


def assign(partitions, members):
    every = [tp for member in members for tp in member.owned]
    each = len(every) // len(members)
    shares, left = {}, []
    for member in sorted(members, key=lambda one: -len(one.owned)):
        shares[member.member_id], more = list(member.owned[: each + 1]), member.owned[each + 1 :]
        left += more
    for tp in left:
        shares[min(shares, key=lambda member_id: len(shares[member_id]))].append(tp)
    return shares
