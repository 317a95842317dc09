"""C2 A sticky assignor: everybody keeps what fits into an even share; what is left goes to the smallest shares."""


def assign(partitions, members):
    """Return {member_id: [(topic, number), ...]}."""
    every = [(topic, number) for topic, count in sorted(partitions.items()) for number in range(count)]
    each, larger = divmod(len(every), len(members))
    shares, given = {}, set()
    for member in sorted(members, key=lambda one: (-len(one.owned), one.member_id)):
        owned = [tp for tp in every if tp in set(member.owned) and tp not in given]
        size = each + 1 if larger and len(owned) > each else each
        larger -= size > each
        shares[member.member_id] = owned[:size]
        given.update(owned[:size])
    for tp in every:
        if tp not in given:
            smallest = min(shares, key=lambda member_id: (len(shares[member_id]), member_id))
            shares[smallest].append(tp)
    return shares
