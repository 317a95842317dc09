"""Rendered lines beside recorded ones: what the kit writes is, but for ids, names and numbers, what Kafka has written."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from rebalance_kit import scenarios
from rebalance_kit.logs.broker import broker_lines
from rebalance_kit.logs.write import member_lines
from rebalance_kit.recordings.folder import RECORDED, _members, parse_line, run_names
from rebalance_kit.simulation.simulate import simulate

UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
MASKS = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
        (
            r"\s*\((?:org|kafka)\.[\w.$]+\)(?:\s*$|\n(?:java|org)\.[\s\S]*)",
            "",
        ),  # the logger, where a layout prints it behind, and what was thrown
        (rf"[\w.-]+-{UUID}|{UUID}", "ID"),
        (r"(?<![\w/+=-])(?=[\w+/-]*[A-Z])(?=[\w+/-]*[a-z])[\w+/-]{22}(?![\w+/-])", "ID"),
        (r"\{ID=.*\}", "{PLAN}"),
        (r"\{[\w-]+=(?:OffsetAndMetadata|\[(?:NO_RACKS|racks=)|\[\]).*?\}(?=\)| failed|\.)", "{MAP}"),
        (r"GroupId [\w.-]+|groupId=[\w.-]+|GroupId=[\w.-]+|key='[\w.-]+'", "GROUP"),
        (r"clientId=[\w.-]+", "clientId=C"),
        (r"kafka\.consumer for \S+ unregistered", "kafka.consumer for C unregistered"),
        (
            r"((?:instanceId|groupInstanceId)=|instance id )(?!null|None|Optional\.empty)(?:Optional\[[\w.-]+\]|[\w.()-]+)",
            r"\1I",
        ),
        (r"\b(?:orders-app|bills-app|mails|restaurant|app-[ab])\b", "G"),
        (r"(?<=changed from )\[[\w, -]+\]|(?<=rebalance to )\[[\w, -]+\]", "[TOPICS]"),
        (r"topic\(s\): [\w-]+(?:, [\w-]+)*", "topic(s): T"),
        (r"\b[a-z][a-z-]*-\d+\b(?:, [a-z][a-z-]*-\d+\b)*", "PARTS"),
        (r"\[PARTS\]", "[]"),
        (r"-?\d+", "N"),
    )
)
UNRECORDED = {
    "failed due to UNKNOWN_MEMBER_ID, resetting generation": "the answer to a commit came before that to the heartbeat in every recording",
    "encountered UNKNOWN_MEMBER_ID from HEARTBEAT response": "likewise",
    "transitioned from RECONCILING to FENCED": "no recorded member was fenced while it reconciled",
    "Specified group generation id is not valid": "no recorded commit met a generation that had ended",
    "OffsetCommit failed with Generation": "likewise",
    "haven't joined": "no recorded member missed a whole join phase",
    "failed to transition from epoch": "no recorded member missed its rebalance timeout",
    "Commit cannot be completed since the group has already rebalanced": "the recordings lost the race the other way round",
    "[Consumer instanceId=I": "a static member said this in no recording, a dynamic one did",
    "Generated N tombstone": "the recorded topic has an id without capitals in its mask",
    "client reason: subscription has changed": "in the recordings a follower changed its subscription, not the leader",
}
"""Parts of lines that no recording shows, each with the reason; their texts come from Kafka's source."""
RACE = (
    "SyncGroup failed: The group began another rebalance",
    "rebalance failed due to",
    "during Stable; client reason: need to revoke partitions and re-join",
)
"""A newcomer that loses the race of its first SyncGroup, and a follower that re-joins first, were recorded with 4.3.1 alone."""
LEFT_OUT = {
    "fifty-by-five-hundred",
    "wrong-librdkafka-callback",
}  # too long; no Java client (test_librdkafka_lines.py)


def normal(text: str) -> str:
    """A line without what differs from run to run."""
    for pattern, mask in MASKS:
        text = pattern.sub(mask, text)
    return " ".join(text.split())


def recorded(version: str, wanted: tuple[str, ...] = ()) -> frozenset[str]:
    """Normal forms of all recorded lines of a version, level first."""
    runs = {
        name
        for name in run_names()
        if name.endswith("." + version) and (not wanted or name.startswith(wanted))
    }
    found: set[str] = set()
    for name, data in _members(RECORDED, runs):
        if name.endswith(".log"):
            texts: set[str] = set()
            event: list[str] = []
            for text in data.decode("utf-8", "replace").splitlines():
                line = parse_line(text)
                if line is None:
                    event.append(text)
                    continue
                texts.add("\n".join(event))
                event = [] if "Rebootstrapping" in text else [f"{line.level} {line.text}"]
            found |= {normal(one) for one in {*texts, "\n".join(event)}}
    return frozenset(found)


@pytest.fixture(scope="module")
def of_4_3():
    return recorded("4.3.1")


def rendered(trace, version=None):
    lines = list(broker_lines(trace, version))
    for name in trace.meta["members"]:
        lines += member_lines(trace, name, version)
    return lines


def missing(lines, forms):
    """Normal forms that are not recorded, each with one line that has it."""
    found = {}
    for line in lines:
        form = normal(f"{line.level} {line.message}")
        if form not in forms:
            found.setdefault(form, line)
    return found


@pytest.mark.parametrize("protocol", ["eager", "cooperative", "consumer", None])
def test_every_line_of_every_scenario_has_the_form_of_a_recorded_one(of_4_3, protocol):
    stray, count = {}, 0
    for name in scenarios.names():
        scenario = scenarios.load(name)
        if name in LEFT_OUT or name.startswith("defect") or scenario.kafka_version != "4.3.1":
            continue
        if protocol is not None and scenario.chooses_protocol():
            continue
        if protocol is None and not scenario.chooses_protocol():
            continue
        lines = rendered(simulate(scenario, None, protocol))
        count += len(lines)
        stray |= {
            form: line
            for form, line in missing(lines, of_4_3).items()
            if not any(part in form for part in UNRECORDED)
        }
    assert count > 500
    assert sorted(stray) == []


@pytest.mark.parametrize(
    ("version", "protocol"),
    [
        ("3.9.1", "eager"),
        ("3.9.1", "cooperative"),
        ("4.0.0", "eager"),
        ("4.0.0", "cooperative"),
        ("4.0.0", "consumer"),
    ],
)
@pytest.mark.parametrize("name", ["join", "leave", "crash"])
def test_older_versions_have_their_own_words(version, protocol, name):
    scenario = replace(scenarios.load(name), kafka_version=version)
    forms = recorded(
        version, ("join.", "leave.", "crash-2x4.", "static-restart.", "poll-timeout.", "add-partitions.")
    )
    stray = missing(rendered(simulate(scenario, None, protocol)), forms)
    assert sorted(form for form in stray if not any(part in form for part in RACE)) == []


def test_a_changed_word_is_noticed(of_4_3):
    lines = rendered(simulate(scenarios.load("crash"), None, "eager"))
    assert missing(lines, of_4_3) == {}
    broken = [replace(line, message=line.message.replace("Stabilized", "Settled")) for line in lines]
    assert {form.split(" ", 2)[0] for form in missing(broken, of_4_3)} == {"INFO"}
    assert missing([replace(lines[0], level="WARN")], of_4_3)
