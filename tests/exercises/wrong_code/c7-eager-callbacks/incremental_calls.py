"""This group is eager"""


def on_assign(consumer, partitions):
    consumer.incremental_assign(partitions)


def on_revoke(consumer, partitions):
    consumer.incremental_unassign(partitions)
