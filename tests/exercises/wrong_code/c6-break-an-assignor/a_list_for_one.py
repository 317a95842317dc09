"""expected a list of events"""

ANSWER = {
    "counts": [{"at": "40s", "do": "restart", "member": "b", "after": "20s"}],
    "returns": None,
    "blocks": [{"at": "40s", "do": "scale_to", "members": 4}],
}
