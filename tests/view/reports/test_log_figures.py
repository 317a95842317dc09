"""The pictures of a group's logs, and their words, from rows as the pipeline's tables hold them."""

from __future__ import annotations

import json
import re

from rebalance_kit.view.board.group_view import GroupView, describe_gaps, describe_lives, describe_timeline
from rebalance_kit.view.figures.forensics_figures import BINS, gap_map, lives, palette, timeline

BEGIN = 1_795_000_000_000


def rebalance(number, at_s, trigger="join", culprit="c1", duration_ms=1_000):
    start = BEGIN + at_s * 1000
    end = None if duration_ms is None else start + duration_ms
    return {
        "number": number,
        "trigger": trigger,
        "culprit": culprit,
        "start_ms": start,
        "end_ms": end,
        "duration_ms": duration_ms,
        "before": number,
        "after": number + 1,
        "cause": f"{culprit} did {trigger}",
    }


def pause(partition, from_s, to_s):
    return {
        "partition": partition,
        "from_ms": BEGIN + from_s * 1000,
        "to_ms": BEGIN + to_s * 1000,
        "duration_ms": (to_s - from_s) * 1000,
        "owner_before": "c1",
        "owner_after": "c2",
    }


def life(name, from_s, to_s=None, end=None):
    return {
        "client": name,
        "member": f"{name}-id",
        "instance": None,
        "joined_ms": BEGIN + from_s * 1000,
        "ended_ms": None if to_s is None else BEGIN + to_s * 1000,
        "end": end,
    }


def view(rebalances=(), pauses=(), members=()):
    return GroupView({"rebalances": list(rebalances)}, list(pauses), list(members), [])


def test_a_pause_fills_its_columns_by_the_share_that_it_covers():
    held = view([rebalance(1, 0), rebalance(2, 119)], [pause("orders-10", 30, 60), pause("orders-9", 0, 1)])
    heat = gap_map(held)["data"][0]
    start, end = held.span
    share = {
        name: sum(row) / 100 * (end - start) / BINS for name, row in zip(heat["y"], heat["z"], strict=True)
    }
    assert abs(share["orders-10"] - 30_000) < 50 and abs(share["orders-9"] - 1_000) < 50
    assert heat["y"] == ["orders-9", "orders-10"]


def test_a_rebalance_too_short_to_see_is_drawn_wide_enough_and_an_unfinished_one_too():
    held = view([rebalance(1, 0, duration_ms=3), rebalance(2, 300, duration_ms=None)])
    start, end = held.span
    assert min(timeline(held)["data"][0]["x"]) >= (end - start) / 300


def test_a_rebalance_upon_another_is_drawn_narrower_so_that_both_show():
    held = view([rebalance(1, 0, culprit="c1", duration_ms=9_000), rebalance(2, 3, culprit="c2")])
    widths = {bar["name"]: bar["width"][0] for bar in timeline(held)["data"]}
    assert widths["c2"] < widths["c1"]


def test_a_member_keeps_its_colour_in_all_pictures():
    held = view([rebalance(1, 0, culprit="c2")], [], [life("c1", 0), life("c2", 1, 50, "expired")])
    colours = {
        bar["name"]: bar["marker"]["color"] for bar in timeline(held)["data"] + lives(held)["data"][:2]
    }
    assert colours["c2"] == held.colour("c2") == "@m2@"


def test_every_colour_that_a_picture_asks_for_is_in_both_themes():
    held = view([rebalance(1, 0)], [pause("orders-0", 1, 2)], [life("c1", 0, 9, "fenced")])
    asked = set(re.findall(r"@(\w+)@", json.dumps([timeline(held), gap_map(held), lives(held)])))
    for theme in ("light", "dark"):
        assert asked <= set(palette(theme))


def test_the_words_tell_what_the_pictures_show():
    held = view(
        [rebalance(1, 0, "poll_timeout", "c2", None)],
        [pause("orders-0", 1, 4)],
        [life("c2", 0, 9, "expired"), life("c3", 2)],
    )
    assert "c2 did poll_timeout" in describe_timeline(held) and "unfinished" in describe_timeline(held)
    assert "the longest gap was on orders-0: 3.0 s" in describe_gaps(held)
    assert "c2: joined" in describe_lives(held) and "still a member" in describe_lives(held)


def test_without_gaps_the_words_say_what_it_would_take():
    assert "logs of the members" in describe_gaps(view([rebalance(1, 0)]))
