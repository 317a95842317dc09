"""Groups of up to three are right"""

ANSWER = {
    "counts": [{"at": "40s", "do": "restart", "member": "b", "after": "20s"}],
    "returns": [
        {"at": "40s", "do": "start", "member": "d"},
        {"at": "60s", "do": "add_partitions", "topic": "orders", "partitions": 6},
        {"at": "90s", "do": "close", "member": "d"},
    ],
    "blocks": [],
}
