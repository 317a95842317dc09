"""a revocation of some partitions leaves the others yours"""

OWNED = set()


def on_assign(consumer, partitions):
    OWNED.update(partition.partition for partition in partitions)


def on_revoke(consumer, partitions):
    OWNED.clear()
