"""this is no scenario:"""

ANSWER = {
    "counts": [{"at": "40s", "do": "explode", "member": "b"}],
    "returns": [
        {"at": "40s", "do": "start", "member": "d"},
        {"at": "60s", "do": "add_partitions", "topic": "orders", "partitions": 6},
        {"at": "90s", "do": "close", "member": "d"},
    ],
    "blocks": [{"at": "40s", "do": "scale_to", "members": 4}],
}
