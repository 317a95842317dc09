"""The lower bound of an item's label is no older than the release that brought what the item rests on."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import yaml

from rebalance_kit.model.versions import CHANGES
from rebalance_kit.quiz.items.bank import home, read_bank
from rebalance_kit.quiz.items.item import Generated, Item, RunSpec
from rebalance_kit.quiz.proof.run_book import RunBook
from rebalance_kit.quiz.proof.verify import contradictions
from rebalance_kit.quiz.sittings.page import question_lines
from rebalance_kit.quiz.sittings.poll import question

Release = tuple[int, int]

FIRST_RELEASE_OF_TEXT: dict[str, Release] = {
    "Request joining group due to": (3, 0),
    "otherThread(id: ": (3, 5),
    "internals.ClassicKafkaConsumer": (3, 9),
    "topic=__consumer_offsets partition=": (4, 0),
    "isFenced: ": (4, 0),
    "with metadata hash ": (4, 1),
    "previously assigned partitions [": (4, 1),
    "newly assigned partitions: [": (4, 1),
}
"""What an exhibit shows, and the first release whose defaults print it so."""

READS_DURING_COOPERATIVE_REBALANCE: Release = (2, 5)
"""poll() returns records during a cooperative rebalance since KAFKA-8421."""

SESSION_OF_45_SECONDS: Release = (3, 0)
"""The default session.timeout.ms before was 10 s (KIP-735). Recipes say in their stem where a 45 comes from."""

_RESTS_ON_READING = re.compile(r"\b(unread|gap|longest_gap|gaps_over)\(")


def lower_bound(item: dict[str, Any]) -> Release:
    major, minor = re.match(r"(\d+)\.(\d+)", str(item["versions"])).groups()
    return int(major), int(minor)


def needed(item: dict[str, Any]) -> Release:
    exhibit = str(item.get("exhibit", ""))
    releases = [first for text, first in FIRST_RELEASE_OF_TEXT.items() if text in exhibit]
    measured = str([item.get(part, "") for part in ("verify", "runs", "proof", "key")])
    if "cooperative" in measured and _RESTS_ON_READING.search(measured):
        releases.append(READS_DURING_COOPERATIVE_REBALANCE)
    said = [
        item.get("stem", ""),
        *(option["text"] for option in item.get("options", []) if option.get("right") and "text" in option),
    ]
    if item.get("kind") != "generated" and re.search(r"\b45\b", " ".join(said)):
        releases.append(SESSION_OF_45_SECONDS)
    return max(releases, default=(0, 0))


@cache
def items() -> list[dict[str, Any]]:
    files = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(home().glob("*.yaml"))]
    return [item for file in files for item in file.get("items", [])]


def test_no_label_is_older_than_what_the_item_rests_on():
    assert [item["id"] for item in items() if lower_bound(item) < needed(item)] == []


def shown_in(text: str) -> Release:
    """The first release that prints all of what a page of the quiz shows."""
    page = " ".join(text.split())
    return max((first for quoted, first in FIRST_RELEASE_OF_TEXT.items() if quoted in page), default=(0, 0))


def test_no_label_is_older_than_the_lines_that_are_drawn_from_its_run():
    older = {
        item.head.id: release
        for item in read_bank().items
        if lower_bound({"versions": item.head.versions})
        < (release := shown_in("\n".join(question_lines(question(item, 1), 1))))
    }
    assert older == {}


@pytest.mark.parametrize(
    ("item", "release"),
    [
        ({"exhibit": "INFO Request joining group due to: group is already rebalancing"}, (3, 0)),
        ({"verify": {"runs": {"run": {"protocol": "cooperative"}}, "value": "count(unread())"}}, (2, 5)),
        ({"verify": {"runs": {"run": {"protocol": "eager"}}, "value": "count(unread())"}}, (0, 0)),
        ({"stem": "How long?", "options": [{"text": "About 45 s", "right": True}]}, (3, 0)),
        ({"stem": "How long?", "options": [{"text": "About 45 s"}]}, (0, 0)),
    ],
)
def test_the_release_that_an_item_needs(item, release):
    assert needed(item) == release


# --- the release itself, by the engine's version table -------------------------------------------
def at_its_lower_bound(item: Item) -> Item:
    """The item with its runs made by the release at which its label begins (a run that names a release keeps it)."""
    assert not isinstance(item, Generated) and item.proof is not None
    first = "{}.{}.0".format(*re.match(r"(\d+)\.(\d+)", item.head.versions).groups())

    def dated(run: RunSpec) -> RunSpec:
        return run if run.kafka_version else replace(run, kafka_version=first)

    runs = {name: dated(run) for name, run in item.proof.runs.items()}
    return replace(item, proof=replace(item.proof, runs=runs, seeds=(1,)))


def test_every_key_that_runs_decide_holds_in_the_release_at_which_its_label_begins():
    book = RunBook()
    items = [item for item in read_bank().items if not isinstance(item, Generated) and item.proof is not None]
    wrong = [str(finding) for item in items for finding in contradictions(at_its_lower_bound(item), book)]
    assert len(items) > 250 and wrong == []


def test_an_older_label_than_the_release_bears_is_found():
    item = read_bank().item("default-session-crash")
    assert not list(contradictions(at_its_lower_bound(item), RunBook()))
    older = replace(item, head=replace(item.head, versions="2.4+"))
    assert list(contradictions(at_its_lower_bound(older), RunBook()))


NAMED: dict[str, Release] = {
    r"KIP-848|group\.protocol=consumer|ConsumerGroupHeartbeat|group\.consumer\.": (3, 7),
    r"share groups?\b|KIP-932|KafkaShareConsumer": (4, 2),
    r"streams group\b|KIP-1071|group\.protocol=streams": (4, 2),
    r"LEAVE_GROUP|CloseOptions": (4, 1),
    r"enforceRebalance": (2, 6),
    r"exactly_once_v2": (3, 0),
    r"by_duration": (4, 0),
    r"offsets\.retention\.minutes": (2, 1),
    r"group\.max\.size|GROUP_MAX_SIZE_REACHED": (2, 2),
    r"RebalanceInProgressException|UNSTABLE_OFFSET_COMMIT": (2, 5),
    r"errors\.deadletterqueue": (2, 0),
    r"/offsets is allowed|connectors/NAME/offsets": (3, 6),
}
"""What a stem or a right option names, and the first release that has it."""


@pytest.mark.parametrize("named", NAMED)
def test_no_label_is_older_than_the_feature_that_its_stem_names(named):
    older = []
    for item in items():
        right = [option.get("text", "") for option in item.get("options", []) if option.get("right")]
        text = " ".join(map(str, [item["stem"], *right]))
        if re.search(named, text) and lower_bound(item) < NAMED[named] and "old" not in item.get("tags", ()):
            older.append(item["id"])
    assert older == []


def test_the_table_of_versions_is_what_the_engine_runs_by():
    assert len(CHANGES) > 20 and all(change.since and change.source for change in CHANGES.values())
