"""are enough"""


class Listener:
    """Commits everything consumed in every callback in which a commit is still accepted."""

    def on_revoked(self, partitions, consumer):
        consumer.commit(
            {
                partition: consumer.position(partition) - 60
                for partition in partitions
                if consumer.position(partition)
            }
        )

    def on_lost(self, partitions, consumer):
        """The partitions have other owners: a commit is refused, and what is raised here ends the consumer."""
