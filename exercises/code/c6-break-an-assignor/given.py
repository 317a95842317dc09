"""Three assignors, each with a defect. The README shows them; ``task.py`` plugs them into the engine."""


def dealt(partitions, member_ids):
    """Every partition in turn: right."""
    every = [(topic, number) for topic, count in sorted(partitions.items()) for number in range(count)]
    ids = sorted(member_ids)
    return {member_id: every[place :: len(ids)] for place, member_id in enumerate(ids)}


class Counts:
    """Remembers the assignment for each number of members."""

    def __init__(self):
        self.known = {}

    def __call__(self, partitions, members):
        key = (len(members), tuple(sorted(partitions.items())))
        if key not in self.known:
            self.known[key] = dealt(partitions, [member.member_id for member in members])
        return self.known[key]


class Returns:
    """Deals anew for each change, but remembers the assignment for members who have been a group before."""

    def __init__(self):
        self.known, self.last = {}, None

    def __call__(self, partitions, members):
        ids = frozenset(member.member_id for member in members)
        if ids == self.last or ids not in self.known:
            self.known[ids] = dealt(partitions, ids)
        self.last = ids
        return self.known[ids]


class Blocks:
    """Cuts all partitions into blocks; written for a group of three."""

    def __call__(self, partitions, members):
        every = [(topic, number) for topic, count in sorted(partitions.items()) for number in range(count)]
        size = len(every) // len(members) if len(members) > 3 else -(-len(every) // len(members))
        ids = sorted(member.member_id for member in members)
        return {member_id: every[place * size : place * size + size] for place, member_id in enumerate(ids)}


GIVEN = {"counts": Counts, "returns": Returns, "blocks": Blocks}
