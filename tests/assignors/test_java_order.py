"""Java's orders, against what Java 17 and Kafka 4.3.1's ``TimelineHashMap`` printed for the same keys."""

from __future__ import annotations

import itertools

import pytest

from rebalance_kit.assignors.java_order import (
    hash_map_order,
    hash_set_of,
    int_hash,
    java_sorted,
    partition_hash,
    string_hash,
    timeline_order,
    uuid_hash,
)
from rebalance_kit.model.topology import TopicId, TopicPartition


def numbered(order):
    return [f"consumer-{number}" for number in order]


def signed(code):
    return code - (1 << 32) if code >> 31 else code


def test_hashes_are_those_of_java():
    assert signed(string_hash("日本c😀")) == -891050561
    assert signed(partition_hash(TopicPartition("orders", 4))) == -1008769246
    assert signed(uuid_hash(TopicId(-5, 7))) == 3
    assert signed(uuid_hash(TopicId(1234567890123, -987654321))) == 1260744036


HASH_MAP = {
    12: [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0],
    13: [11, 10, 6, 5, 4, 3, 2, 1, 12, 0, 9, 8, 7],
    20: [11, 10, 6, 17, 5, 16, 4, 19, 3, 18, 2, 13, 1, 12, 0, 15, 14, 9, 8, 7],
}
TIMELINE = {
    3: [2, 1, 0],
    12: [2, 11, 7, 4, 9, 1, 10, 6, 3, 8, 0, 5],
    13: [2, 11, 7, 4, 9, 1, 10, 6, 3, 12, 8, 0, 5],
    20: [19, 2, 11, 16, 7, 4, 13, 9, 18, 1, 10, 15, 6, 3, 12, 17, 8, 0, 5, 14],
}


@pytest.mark.parametrize("count", HASH_MAP)
def test_a_hash_map_reads_its_keys_in_bucket_order_before_and_after_doubling(count):
    assert hash_map_order(numbered(range(count))) == numbered(HASH_MAP[count])


@pytest.mark.parametrize("count", TIMELINE)
def test_a_timeline_hash_map_has_another_order(count):
    assert timeline_order(numbered(range(count))) == numbered(TIMELINE[count])


def test_a_timeline_hash_map_stays_as_wide_as_it_has_been():
    # rolling-restart of three: the assignor's map had these two in one bucket, and the one listed first got orders-0.
    two = ["R5Mc1KPGRnajcUFfsgIjFA", "2Ec9i3U4Qmy9VNOD4mz94w"]
    assert timeline_order(two) == two[::-1], "two slots, added once"
    assert timeline_order(two, held=2) == timeline_order(two, held=3) == two


def test_within_a_bucket_the_first_put_comes_first():
    assert string_hash("Aa") == string_hash("BB")
    assert hash_map_order(["Aa", "BB"]) == ["Aa", "BB"]
    assert hash_map_order(["BB", "Aa"]) == ["BB", "Aa"]


def test_nine_keys_in_one_bucket_double_a_small_table_early():
    colliding = ["".join(pair) for pair in itertools.product(["Aa", "BB"], repeat=4)][:9]
    assert hash_map_order([*colliding, "x", "topic7"]) == [*colliding, "topic7", "x"]
    assert hash_map_order([*colliding[:8], "x", "topic7"]) == ["x", *colliding[:8], "topic7"]


def test_a_set_made_of_a_collection_is_sized_for_it():
    assert hash_set_of([33, 1, 17, 16, 0, 32, 5], int_hash) == [16, 0, 32, 33, 1, 17, 5]
    assert hash_set_of([*range(16), 16, 32], int_hash) == [0, 32, *range(1, 17)]


def test_strings_sort_by_utf16_units_and_not_by_code_points():
    assert java_sorted(["z\uffee", "c", "😀", "\uffee", "日", "A", "a"]) == [
        "A",
        "a",
        "c",
        "z\uffee",
        "日",
        "😀",
        "\uffee",
    ]
