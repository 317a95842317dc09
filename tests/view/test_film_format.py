"""The film as it is described: docs/film.md, the kernel that writes it and the page that reads it agree."""

from __future__ import annotations

import json
import re

import pytest

from rebalance_kit.scenarios import load
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.lab.playing.playback import SEATS, VERSION, film
from tests.support.paths import ROOT

TEXT = (ROOT / "docs" / "film.md").read_text("utf-8")
FORMAT = (ROOT / "page" / "lab" / "film" / "format.js").read_text("utf-8")


def rows_of(heading):
    """The rows of the table under a heading, as pairs of cells."""
    section = TEXT.split(f"## {heading}\n")[1].split("\n## ")[0]
    return [line.strip("| ").split(" | ", 1) for line in section.splitlines() if line.startswith("| `")]


def quoted(cell):
    return re.findall(r"`(\w+)`", cell)


@pytest.fixture(scope="module")
def shown():
    """Films of a classic and a consumer group."""
    return [
        json.loads(json.dumps(film(Boards(simulate(load("crash"), protocol=name)))))
        for name in ("eager", "consumer")
    ]


def test_every_key_of_a_film_is_described_and_every_described_key_is_there(shown):
    described = [key for cell, _ in rows_of("Keys") for key in quoted(cell)]
    for one in shown:
        assert sorted(one) == sorted(set(described) - {"known"})


def test_every_row_has_the_described_columns(shown):
    for cell, words in rows_of("Columns"):
        (table,) = quoted(cell)
        columns = quoted(re.sub(r"\([^()]*\)", "", words))
        told = re.search(rf"\b{table}: \[([^\]]*)\]", FORMAT)
        assert re.findall(r'"(\w+)"', told[1]) == columns, table
        for one in shown:
            assert {len(row) for row in one[table]} == {len(columns)}, table


def test_kernel_page_and_description_name_one_version():
    assert f"This is version {VERSION}." in TEXT
    assert f"FILM_VERSION = {VERSION};" in FORMAT


@pytest.mark.parametrize("name", ["crash", "storm", "static-restart-too-late", "duplicate-instance"])
def test_the_seats_are_the_waiting_room_and_a_session_runs_where_the_board_says_so(name):
    boards = Boards(simulate(load(name), protocol="eager"))
    told = film(boards)
    for at_ms in boards.change_times:
        board = boards.at(at_ms)
        seats = {
            member: SEATS[state_at(track, at_ms)]
            for member, track in zip(boards.names, told["seatTracks"], strict=True)
        }
        for seat, members in (("joined", board.group.joined), ("awaited", board.group.awaited)):
            assert {member for member, taken in seats.items() if taken == seat} == set(members), at_ms
        for view, track in zip(board.members, told["memberTracks"], strict=True):
            session = told["memberStates"][state_at(track, at_ms)][-1]
            assert not (view.session_ends_ms is not None and not session), (at_ms, view.name)


def state_at(track, at_ms):
    """The number that holds at a moment of ``[wait, number, ...]``."""
    at, number = 0, track[1]
    for wait, value in zip(track[::2], track[1::2], strict=True):
        at += wait
        if at > at_ms:
            break
        number = value
    return number
