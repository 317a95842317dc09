"""keeps no set of numbers named OWNED"""


def on_assign(consumer, partitions):
    pass


def on_revoke(consumer, partitions):
    pass
