"""Take out what on_revoke and on_lost are given"""

OWNED = set()


def on_assign(consumer, partitions):
    OWNED.update(partition.partition for partition in partitions)
    consumer.assign(partitions)


def on_revoke(consumer, partitions):
    OWNED.clear()
    consumer.unassign()


def on_lost(consumer, partitions):
    consumer.unassign()
