"""The runs behind an answer: every one opens in the lab, with the values drawn, at a moment within it."""

from __future__ import annotations

import io

import pytest

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.items.item import Generated
from rebalance_kit.quiz.proof.generate import drawn
from rebalance_kit.quiz.proof.run_book import RunBook
from rebalance_kit.quiz.proof.verify import is_verified
from rebalance_kit.quiz.sittings.progress import LEAD_MS, replays
from rebalance_kit.quiz.sittings.terminal import run_quiz
from rebalance_kit.simulation.permalink import read_link
from rebalance_kit.simulation.simulate import simulate


def test_every_run_behind_the_bank_is_opened_by_its_link_within_the_run(bank, book):
    told = 0
    for item in bank.items:
        for seed in (1, 2):
            for replay in replays(item, seed, book):
                link = read_link(replay.link)
                assert 0 <= link.at_ms < link.scenario.end_ms, item.head.id
                assert "{" not in replay.name
                told += 1
    assert told >= sum(map(is_verified, bank.items))


def test_a_recipes_run_is_the_one_that_its_variant_was_computed_from(bank, book):
    recipe = bank.item("gen-cooperative-join-unread")
    assert isinstance(recipe, Generated)
    for seed in (1, 2, 3):
        (replay,) = replays(recipe, seed, book)
        link = read_link(replay.link)
        spec = next(iter(drawn(recipe, seed, book)[2].values()))
        assert simulate(link.scenario, link.seed, link.protocol).rows == book.trace(spec, seed).rows


def test_the_lab_opens_a_second_before_the_moment_that_the_key_names(bank, book):
    item = bank.item("eager-crash-which-unread")
    runs = item.proof.runs
    assert book.moments('owner("orders-0", at=40s) == "x"', runs, 1) == [("run", 40_000)]
    removed = book.work_out('removed_ms("consumer-1")', runs, 1)
    assert book.moments('removed_ms("consumer-1") > 0', runs, 1) == [("run", removed)]
    assert book.moments("unread()", runs, 1) == []
    (replay,) = replays(item, 1, book)
    assert replay.at_ms == 30_000 - LEAD_MS


def test_a_run_that_kafka_refuses_to_start_has_nothing_to_open(bank, book):
    assert replays(bank.item("kip848-client-session-timeout"), 1, book) == ()


def test_a_moment_of_a_run_that_is_not_there_is_refused(bank):
    with pytest.raises(DataError, match="run 'other' is unknown; expected one of run"):
        RunBook().moments("other.owner(at=3s)", bank.item("eager-crash-which-unread").proof.runs, 1)


@pytest.mark.parametrize(("links", "expected"), [(False, 0), (True, 1)])
def test_a_terminal_names_the_run_after_the_verdict_and_prints_its_link_when_asked(links, expected):
    out = io.StringIO()
    run_quiz(ids=["eager-crash-which-unread"], source=io.StringIO("b\n"), out=out, links=links)
    asked, verdict = out.getvalue().split("Answer: ")
    assert "the run that decides it" not in asked
    assert "the run that decides it: crash, eager, from 29 s" in verdict
    assert verdict.count("rebalance-kit lab rk1.") == expected
