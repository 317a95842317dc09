"""Write the pictures that notebooks link to, ``notebooks/images/*.svg``: from the engine's runs, and three that are drawn by hand.

They are files and not outputs of cells, because JupyterLab shows no SVG output of a notebook that was never run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from drawings import connect, share_group, streams

from rebalance_kit.model.files import write_atomically
from rebalance_kit.notebook import one_clock, run, three
from rebalance_kit.notebook.strips import callback_clock
from rebalance_kit.notebook.strips import one_clock as strip
from rebalance_kit.view.figures.state_machines import member_states
from rebalance_kit.view.style.showing import Picture

IMAGES = Path(__file__).resolve().parent.parent / "notebooks" / "images"


def three_protocols() -> Picture:
    """One waiter goes home, three strips."""
    return one_clock(three("restaurant"), event="Dan goes home")


def callbacks_clock() -> Picture:
    """The callbacks of a join under three protocols."""
    runs = three("join")
    named = {"eager": runs["eager"], "cooperative": runs["cooperative"], "KIP-848": runs["consumer"]}
    return callback_clock(named, 33.5, 43.5, event="A fourth consumer joins: every callback, on one clock")


def mixed_group() -> Picture:
    """An online migration, member by member."""
    return strip(
        {"classic, mixed, KIP-848": run("migration")},
        25,
        125,
        event="the first member leaves for KIP-848",
        event_s=run("migration").of("action").__next__().at_ms / 1000,
    )


def kip_848_member() -> Picture:
    """The states of a KIP-848 consumer, from the engine's table."""
    return member_states()


PICTURES: Mapping[str, Callable[[], Picture]] = {
    "three-protocols": three_protocols,
    "callbacks": callbacks_clock,
    "mixed-group": mixed_group,
    "kip-848-member": kip_848_member,
    "streams-tasks": streams,
    "connect-groups": connect,
    "share-group": share_group,
}


def drawn(name: str = "three-protocols") -> str:
    """A picture as SVG."""
    return PICTURES[name]().svg + "\n"


if __name__ == "__main__":
    for each in PICTURES:
        write_atomically(IMAGES / f"{each}.svg", drawn(each))
        print(IMAGES / f"{each}.svg")
