"""The lower bound of an item's label is no older than the release that brought what the item rests on."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from rebalance_kit.quiz.items.bank import home

Release = tuple[int, int]

FIRST_RELEASE_OF_TEXT: dict[str, Release] = {
    "Request joining group due to": (3, 0),
    "otherThread(id: ": (3, 5),
    "topic=__consumer_offsets partition=": (4, 0),
}
"""What an exhibit quotes, and the first release whose defaults print it so."""

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


def items() -> list[dict[str, Any]]:
    files = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(home().glob("*.yaml"))]
    return [item for file in files for item in file.get("items", [])]


def test_no_label_is_older_than_what_the_item_rests_on():
    assert [item["id"] for item in items() if lower_bound(item) < needed(item)] == []


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
