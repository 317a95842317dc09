"""C6 A restart (three members, then two, then three others), two topics that keep the sum, and one scale_to."""

ANSWER = {
    "counts": [{"at": "40s", "do": "restart", "member": "b", "after": "20s"}],
    "totals": [
        {"at": "40s", "do": "add_partitions", "topic": "orders", "partitions": 6},
        {"at": "41s", "do": "delete_topic", "topic": "audit"},
    ],
    "blocks": [{"at": "40s", "do": "scale_to", "members": 4}],
}
