"""the shares may differ by one at most"""


def assign(partitions, members):
    shares = {member.member_id: list(member.owned) for member in members}
    given = {tp for share in shares.values() for tp in share}
    for topic, count in partitions.items():
        for number in range(count):
            if (topic, number) not in given:
                smallest = min(shares, key=lambda member_id: len(shares[member_id]))
                shares[smallest].append((topic, number))
    return shares
