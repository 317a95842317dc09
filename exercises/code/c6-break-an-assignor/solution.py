"""C6 A restart (three members, then two, then three others), a guest who comes and goes while a topic grows, and one scale_to."""

ANSWER = {
    "counts": [{"at": "40s", "do": "restart", "member": "b", "after": "20s"}],
    "returns": [
        {"at": "40s", "do": "start", "member": "d"},
        {"at": "60s", "do": "add_partitions", "topic": "orders", "partitions": 6},
        {"at": "90s", "do": "close", "member": "d"},
    ],
    "blocks": [{"at": "40s", "do": "scale_to", "members": 4}],
}
