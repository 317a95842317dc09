"""records were never read"""

OWNED = set()


def on_assign(consumer, partitions):
    OWNED.update(partition.partition for partition in partitions)
    for partition in partitions:
        partition.offset = -1
    consumer.assign(partitions)


def on_revoke(consumer, partitions):
    OWNED.clear()
    consumer.unassign()
