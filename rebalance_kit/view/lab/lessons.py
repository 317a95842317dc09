"""The lessons of the lab: scenarios of the kit in an order to learn in, with what to try and what to watch."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from rebalance_kit.view.lab.lesson_words import also_called

FIRST = "First steps"
CLOCKS = "Barriers and clocks"
CALLBACKS = "Callbacks and commits"
IDENTITY = "Identity"
ASSIGN = "Assignors"
MIGRATION = "Migration"
OPERATIONS = "Operations"
DEFECTS = "Defects of releases"


class Preset(NamedTuple):
    """One lesson: name of its scenario, group, what to try, what to watch for."""

    name: str
    group: str
    try_: str
    watch: str


PRESETS: tuple[Preset, ...] = (
    Preset(
        "two-consumers-crash",
        FIRST,
        "Play. Then switch the protocol and play again.",
        "how long the dead member keeps its partitions: nobody knows before its session ends",
    ),
    Preset(
        "join",
        FIRST,
        "Play under Eager, then under Consumer.",
        "who stops although nobody asked for its partitions",
    ),
    Preset(
        "leave",
        FIRST,
        "Compare with a crash: press U, then C instead of L.",
        "the hand-over begins at once, for the member says that it leaves",
    ),
    Preset(
        "scale-out",
        FIRST,
        "Compare the three protocols.",
        "how often each partition stops while the group grows",
    ),
    Preset(
        "restaurant",
        FIRST,
        "Read members as waiters and partitions as tables.",
        "which tables wait although their waiter is in the room",
    ),
    Preset(
        "crash",
        FIRST,
        "Set session.timeout.ms to 10000 and play again.",
        "detection is nearly all of the outage",
    ),
    Preset(
        "a-to-b-move",
        CLOCKS,
        "Step through with the full stop under Consumer.",
        "the partition is in the rail only between two heartbeats",
    ),
    Preset(
        "fifty-by-five-hundred",
        CLOCKS,
        "Compare the three protocols.",
        "one restart: 500 partitions stop, or ten",
    ),
    Preset(
        "storm",
        CLOCKS,
        "Raise max.poll.interval.ms until the storm ends.",
        "a healthy member pays for two that are slow",
    ),
    Preset(
        "poll-timeout",
        CLOCKS,
        "Open Logs of the slow member.",
        "it looks like a crash, but heartbeats arrived all the time",
    ),
    Preset("slow-consumer", CLOCKS, "Lower max.poll.records.", "batch time against max.poll.interval.ms"),
    Preset(
        "freeze",
        CLOCKS,
        "Scrub to the thaw.",
        "for a blink, a zombie works on partitions that belong to somebody else; its commit is refused",
    ),
    Preset(
        "network-cut",
        CLOCKS,
        "Open Messages.",
        "lost requests; the member reads on for a quarter of a minute after the group has removed it: a zombie",
    ),
    Preset(
        "recovered-member",
        CLOCKS,
        "Play; then crash another member first.",
        "it comes back under a new member id, and the group waits until the session of the old one ends",
    ),
    Preset(
        "crash-in-hand-over",
        CLOCKS,
        "Compare the three protocols.",
        "for whom the group waits, and which partitions flow meanwhile",
    ),
    Preset(
        "lost-records",
        CALLBACKS,
        "Set auto.offset.reset to earliest and play again.",
        "what the next reader passes over, because there is no committed offset",
    ),
    Preset(
        "slow-callback",
        CALLBACKS,
        "Set callback_ms to 0 and compare.",
        "under Eager all wait for the slowest callback",
    ),
    Preset(
        "wrong-librdkafka-callback",
        CALLBACKS,
        "Open Logs of consumer-3.",
        "a member that heartbeats, reads nothing, and whom the group waits for",
    ),
    Preset(
        "duplicate-instance",
        IDENTITY,
        "Open Why at the moment of the second process.",
        "the older process is fenced: FENCED_INSTANCE_ID",
    ),
    Preset(
        "static-restart-in-time",
        IDENTITY,
        "Play, then restart later by hand.",
        "no rebalance at all, and no one else reads meanwhile",
    ),
    Preset(
        "static-restart-too-late",
        IDENTITY,
        "Compare with the restart in time.",
        "the price of a static member that does not come back",
    ),
    Preset(
        "rolling-restart-static",
        IDENTITY,
        "Compare with the dynamic rolling restart.",
        "moved partitions: none",
    ),
    Preset(
        "subscription-change",
        ASSIGN,
        "Switch the assignor under Settings.",
        "which partitions move though nobody needs them to",
    ),
    Preset(
        "partitions-added",
        ASSIGN,
        "Lower metadata.max.age.ms.",
        "how late new partitions are noticed, and by whom",
    ),
    Preset(
        "skewed-range",
        ASSIGN,
        "Switch the assignor to roundrobin under Settings.",
        "the records that wait for consumer-1, and nobody else's",
    ),
    Preset(
        "regex-surprise",
        ASSIGN,
        "Raise metadata.max.age.ms.",
        "a rebalance that no consumer and no operator asked for",
    ),
    Preset(
        "two-bounces",
        MIGRATION,
        "Step from mark to mark.",
        "at no time is a member without a common assignor",
    ),
    Preset(
        "bounce-gone-wrong",
        MIGRATION,
        "Find the moment at which a member dies.",
        "INCONSISTENT_GROUP_PROTOCOL: one bounce too few",
    ),
    Preset(
        "migration",
        MIGRATION,
        "Step from mark to mark; open Members.",
        "who computes the assignment before, between and after",
    ),
    Preset(
        "rolling-restart",
        OPERATIONS,
        "Make the time between restarts longer.",
        "how many generations a deployment costs",
    ),
    Preset(
        "broker-restart", OPERATIONS, "Open Messages.", "members keep what they have; commits and joins wait"
    ),
    Preset(
        "coordinator-failover", OPERATIONS, "Open Logs of the broker.", "the group is read back from its log"
    ),
    Preset(
        "broker-bounce-racks",
        OPERATIONS,
        "Set kafka_version to 4.4.0 and play again.",
        "a rebalance for a broker that holds no group at all",
    ),
    Preset(
        "defect-sticky-stale-leader",
        DEFECTS,
        "Open Invariants.",
        "a leader with old metadata leaves new partitions to nobody",
    ),
    Preset(
        "defect-deleted-topic-hangs",
        DEFECTS,
        "Open Why at the end.",
        "an eager member that is silent for good",
    ),
    Preset(
        "defect-empty-group-waits",
        DEFECTS,
        "Switch kafka_version under Settings.",
        "the first one back in an empty group gets nothing",
    ),
    Preset(
        "defect-joins-too-early",
        DEFECTS,
        "Open Messages at the start.",
        "a KIP-848 consumer inside a classic group's first join phase",
    ),
    Preset(
        "defect-second-revocation", DEFECTS, "Step through the epochs.", "a member epoch that no target has"
    ),
    Preset(
        "defect-commit-races",
        DEFECTS,
        "Set kafka_version to 4.3.1 and compare.",
        "a commit that is refused because the epoch overtook it",
    ),
)


TWICE = frozenset(
    {
        "two-consumers-crash",
        "crash",
        "storm",
        "poll-timeout",
        "slow-consumer",
        "freeze",
        "network-cut",
        "recovered-member",
        "duplicate-instance",
        "defect-sticky-stale-leader",
    }
)
"""Lessons in which dozens of records come twice; a test counts them."""
SKIPPED = frozenset({"lost-records"})
"""Lessons in which records are lost."""
FINDS_TWICE = "records come twice, are delivered again: duplicates, redelivery, at least once"
FINDS_SKIPPED = "records are lost, skipped, never read: data loss"


def search_words(name: str) -> str:
    """What the search finds a lesson by, beside its title and what is to be tried in it."""
    lists = ((TWICE, FINDS_TWICE), (SKIPPED, FINDS_SKIPPED))
    told = [words for names, words in lists if name in names]
    return "; ".join([*told, also_called(name)])


@lru_cache(maxsize=1)
def preset_rows() -> list[dict[str, str]]:
    """All lessons with the titles and stories of their scenarios, as JSON values."""
    from rebalance_kit.scenarios import load, names

    rows = []
    for preset in PRESETS:
        if preset.name in names():
            scenario = load(preset.name)
            rows.append(
                {
                    "name": preset.name,
                    "group": preset.group,
                    "title": scenario.title,
                    "story": scenario.story,
                    "try": preset.try_,
                    "watch": preset.watch,
                    "finds": search_words(preset.name),
                }
            )
    return rows


def lesson_of(name: str) -> Preset | None:
    """The lesson of a scenario's name, None for a scenario of one's own."""
    return next((preset for preset in PRESETS if preset.name == name), None)
