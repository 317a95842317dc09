"""C7 Eager: assign everything that comes, give everything up."""

OWNED = set()


def on_assign(consumer, partitions):
    OWNED.update(partition.partition for partition in partitions)
    consumer.assign(partitions)


def on_revoke(consumer, partitions):
    OWNED.clear()
    consumer.unassign()


def on_lost(consumer, partitions):
    OWNED.clear()
    consumer.unassign()
