"""C3 A listener that loses nothing."""


class Listener:
    """Commits what leaves; a partition without an offset is read from its beginning."""

    def on_assigned(self, partitions, consumer):
        for partition in partitions:
            if consumer.committed(partition) is None:
                consumer.seek(partition, 0)

    def on_revoked(self, partitions, consumer):
        positions = {partition: consumer.position(partition) for partition in partitions}
        consumer.commit({partition: offset for partition, offset in positions.items() if offset is not None})

    def on_lost(self, partitions, consumer):
        """Others may have read on already: nothing to commit."""
