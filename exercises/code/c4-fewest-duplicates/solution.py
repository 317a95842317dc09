"""C4 A listener that duplicates least."""


class Listener:
    """Commits everything consumed in every callback in which a commit is still accepted."""

    def on_assigned(self, partitions, consumer):
        consumer.commit()

    def on_revoked(self, partitions, consumer):
        consumer.commit()

    def on_lost(self, partitions, consumer):
        """The partitions have other owners: a commit is refused, and what is raised here ends the consumer."""
