"""What came last before a moment, and what next: the same as by looking at every pair."""

from __future__ import annotations

import random

import pytest

KEYS = ("path", "group")


def some(dice, count, name):
    """Rows of keys, a time and a number; few values, so that ties and nulls are many."""
    return [
        (
            dice.choice(["p", "q"]),
            dice.choice(["g", "h", None]),
            dice.choice([None, *range(12)]),
            name + number,
        )
        for number in range(count)
    ]


def nearest(row, points, *, forward, strictly):
    """The one point of the same keys, by a look at all of them; None for none."""
    path, group, at, _ = row
    if at is None or group is None:
        return None

    def fits(time):
        if time == at:
            return not strictly
        return time > at if forward else time < at

    fitting = [one for one in points if one[:2] == (path, group) and one[2] is not None and fits(one[2])]
    choose = min if forward else max
    return choose(fitting, key=lambda one: one[2:], default=None)


@pytest.mark.spark
def test_the_nearest_point_is_the_one_that_a_look_at_every_pair_finds(spark):
    from pyspark.sql import functions as F

    from rebalance_kit.pipeline.spark.asof import with_last, with_next

    dice = random.Random(5)
    rows, points = some(dice, 150, 0), some(dice, 40, 1000)
    rows += rows[:5]  # rows that are equal stay as many as they are
    ways = {
        "last": (with_last, False),
        "last before": (with_last, True),
        "next": (with_next, False),
        "next after": (with_next, True),
    }
    asked = spark.createDataFrame(rows, "path string, group string, at_ms long, name long")
    known = spark.createDataFrame(points, "path string, group string, told_ms long, number long")
    for into, (step, strictly) in ways.items():
        asked = step(asked, known, KEYS, at=F.col("at_ms"), point_at="told_ms", into=into, strictly=strictly)
    found = asked.collect()
    assert sorted(row["name"] for row in found) == sorted(row[3] for row in rows)
    hits = 0
    for row in found:
        for into, (step, strictly) in ways.items():
            wanted = nearest(tuple(row)[:4], points, forward=step is with_next, strictly=strictly)
            assert (row[into] and tuple(row[into])) == wanted, (into, row)
            hits += wanted is not None
    assert hits > 200
