"""on_lost of member c raises"""


class Listener:
    """Commits everything consumed in every callback in which a commit is still accepted."""

    def on_assigned(self, partitions, consumer):
        consumer.commit()

    def on_revoked(self, partitions, consumer):
        consumer.commit()
