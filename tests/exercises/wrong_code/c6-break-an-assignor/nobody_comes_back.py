"""who can come and go"""

ANSWER = {
    "counts": [{"at": "40s", "do": "restart", "member": "b", "after": "20s"}],
    "returns": [{"at": "40s", "do": "add_partitions", "topic": "orders", "partitions": 6}],
    "blocks": [{"at": "40s", "do": "scale_to", "members": 4}],
}
