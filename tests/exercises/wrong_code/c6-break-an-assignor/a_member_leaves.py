"""how does a group change its members and keep their number?"""

ANSWER = {
    "counts": [{"at": "40s", "do": "close", "member": "b"}],
    "returns": [
        {"at": "40s", "do": "start", "member": "d"},
        {"at": "60s", "do": "add_partitions", "topic": "orders", "partitions": 6},
        {"at": "90s", "do": "close", "member": "d"},
    ],
    "blocks": [{"at": "40s", "do": "scale_to", "members": 4}],
}
