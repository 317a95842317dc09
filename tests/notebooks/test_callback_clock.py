"""The poster of callbacks: what it draws is what the trace says."""

from __future__ import annotations

from rebalance_kit.notebook import run
from rebalance_kit.notebook.strips import callback_clock


def test_every_callback_of_the_window_is_told_with_its_count():
    join = run("join", "cooperative")
    text = callback_clock({"cooperative": join}, 33.5, 43.5, event="a join").text
    inside = [row for row in join.of("callback_begin") if 33_500 <= row.at_ms <= 43_500]
    assert len(inside) == 11
    for row in inside:
        assert f"{row.detail['callback']} {len(row.detail['partitions'])} at {row.at_ms / 1000:.1f} s" in text
    assert text.splitlines()[0] == "a join"


def test_a_member_without_a_callback_says_so_and_a_member_that_reads_nothing_has_no_bar():
    leave = run("join", "cooperative")
    quiet = callback_clock({"x": leave}, 20, 22)
    assert quiet.text.count("no callback") == 4
    assert quiet.svg.count("<rect") == callback_clock({"x": leave}, 0.0, 0.5).svg.count("<rect") + 3
