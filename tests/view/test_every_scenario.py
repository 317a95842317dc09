"""Every scenario that comes with the kit can be shown, under every protocol it can run."""

from __future__ import annotations

import json
import zlib

import pytest

from rebalance_kit.analysis.deliveries import flows
from rebalance_kit.scenarios import load, names
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.figures.board_svg import still
from rebalance_kit.view.figures.flow import flow_figure
from rebalance_kit.view.figures.gantt import gantt_figure
from rebalance_kit.view.lab.playing.playback import film_bytes
from rebalance_kit.view.words.descriptions import describe_board, describe_flow, describe_gantt


@pytest.mark.parametrize("name", names())
def test_every_scenario_of_the_kit_has_its_pictures_and_its_words(name):
    trace = simulate(load(name))
    boards = Boards(trace)
    held = json.loads(zlib.decompress(film_bytes(boards)))
    assert len(held["memberTracks"]) == len(boards.names) > 0
    assert describe_flow(trace)
    assert describe_gantt(trace)
    assert flow_figure(trace, frames=20)["data"]
    assert gantt_figure(trace)["data"]
    for share in range(5):
        moment = boards.at(trace.end_ms * share // 4)
        assert describe_board(moment)
        assert still(moment).endswith("</svg>")
    for partition, stretches in flows(trace).items():
        last = stretches[-1]
        middle = (last.from_ms + last.to_ms) // 2
        assert boards.partitions[str(partition)].at(middle).flows
