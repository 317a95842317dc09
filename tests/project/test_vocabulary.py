"""One vocabulary: texts that learners see say *unread* and *gap* of a partition that nobody reads (docs/design.md)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXTS = (
    "README.md",
    "docs/*.md",
    "exercises/quiz/*.yaml",
    "exercises/code/*/*.md",
    "exercises/spark/*/*.md",
    "exercises/spark/*/task.py",
    "notebooks/src/*/*.py",
    "rebalance_kit/classroom/*.yaml",
    "rebalance_kit/glossary.yaml",
    "rebalance_kit/scenarios/*.yaml",
    "rebalance_kit/view/lab/lessons.py",
    "rebalance_kit/view/lab/predictions.py",
    "rebalance_kit/view/words/*.py",
    "rebalance_kit/forensics/findings/*.py",
)
OLD = re.compile(
    r"""
    \b paus(?:e|es|ed|ing) \b
    | \b rest(?:s|ed|ing) \b
    | \b (?:partitions?|rows|they|it|all|two|four|six|would|that) \s rest \b
    | \b rest \s (?:for|until|from) \b
    | \b (?:a|at|to|found) \s rest \b
    | \b (?:stands?|standing|stood) \s still \b
    | \b silen(?:ce|ces|ced) \b
    | \b (?:in|goes?|went) \s (?:the \s)? dark \b
    | \b partitions \s (?:is|are|has|have) \s stopped \b
    """,
    re.VERBOSE | re.IGNORECASE,
)
ALLOWED = (
    # the application calls pause(), and the flag that it sets
    r"\bpause\(\)",
    r"KafkaConsumer\.pause",
    r"consumer\.paused?\(|consumer\.pause\(consumer|[Aa]\s(?:\#\s)?paused\sconsumer|What was paused and",
    r"paused all its partitions",
    r"[Ww]hile (?:everything is|all partitions are) paused|\(also while paused\)|with the partitions paused",
    r"member stays paused|paused partition|paused orders-1|paused again|pause again|what is paused",
    r"[Pp]ause flags?|\bA pause belongs|\bPause belongs|Pausing exists|the pause that \{who\}",
    r"paused-still-has-to-poll|pause-exempts-from-poll|pause-survives-rebalance|ticket-pause-flag-removed",
    r"commit, pause, crash|unsubscribed, paused, leader",
    # Kafka Connect pauses a connector and its consumer
    r"framework pauses|PAUSED|paused (?:connector|tasks)|offsets-of-paused-connector|/pause: 202",
    # the JVM's own word, the player's button, and the definition itself
    r"GC pauses?",
    r"\*Pause\* is kept|Pause button|Play, pause|Play and Pause",
    # heartbeats of a member that waits for JoinGroup, in Kafka's sources a thread that is disabled
    r"heartbeat_thread_rests|heartbeat thread rests",
    # a member, not a partition (the title is in every trace of the scenario)
    r"silences an eager member",
    # to rest on: to depend on
    r"\brests? on\b",
)


def old_words(text: str) -> list[str]:
    """The old words in a text, each with what surrounds it; allowed uses are taken out first."""
    for allowed in ALLOWED:
        text = re.sub(allowed, "", text)
    return [text[max(0, word.start() - 40) : word.end() + 30] for word in OLD.finditer(text)]


@pytest.mark.parametrize("pattern", TEXTS)
def test_texts_for_learners_have_no_other_word_for_unread(pattern: str) -> None:
    paths = sorted(ROOT.glob(pattern))
    assert paths, f"no file matches {pattern}"
    found = [
        f"{path.relative_to(ROOT)}: …{words}…"
        for path in paths
        for words in old_words(path.read_text("utf-8"))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "text",
    [
        "Which partitions rest?",
        "how long a moving partition rests",
        "each pause is short",
        "eager members stand still",
        "a rest of 45 s",
        "All 4 partitions are stopped.",
    ],
)
def test_old_words_are_seen(text: str) -> None:
    assert old_words(text)


@pytest.mark.parametrize(
    "text",
    [
        "what pause() leaves running",
        "a long GC pause",
        "the rest of the partitions",
        "their keys rest on sources",
    ],
)
def test_accepted_words_are_not(text: str) -> None:
    assert not old_words(text)
