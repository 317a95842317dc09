"""This group adds and takes partitions"""


def on_assign(consumer, partitions):
    consumer.assign(partitions)


def on_revoke(consumer, partitions):
    consumer.unassign()
