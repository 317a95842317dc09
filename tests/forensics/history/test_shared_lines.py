"""Lines of no group are taken once for all groups: every group's tables are those that it has when it takes them itself."""

from __future__ import annotations

import random

from rebalance_kit.forensics.group_tables import PAST_MS, group_tables
from rebalance_kit.forensics.lines.file_reader import FileReader
from rebalance_kit.forensics.lines.layouts import Reading
from rebalance_kit.forensics.look import by_group, look
from tests.support.pipeline.damage import damaged_files
from tests.support.pipeline.kafka_lines import GROUP, broker, native


def damaged_events(folder, count, within_ms, seed):
    """The events of damaged lines of all recorded runs, all times moved into a span of so many milliseconds."""
    reader = FileReader(Reading())
    events = []
    for name in damaged_files(folder, count, random.Random(seed)):
        events += reader.read("run", name, [(folder / name).read_bytes()]).events
    for event in events:
        if event.at_ms is not None:
            event.at_ms %= within_ms
    return events


def test_lines_that_are_looked_up_tell_a_group_what_lines_that_it_takes_would(tmp_path):
    events = damaged_events(tmp_path, 24_000, PAST_MS, seed=3)
    shared = [event for event in events if event.group is None]
    groups = {event.group for event in events}
    assert len(shared) > 150 and len(groups) > 50
    told = dict(by_group(events))
    assert told.keys() == groups
    for group in groups - {None}:
        own = [event for event in events if event.group == group]
        assert told[group] == group_tables(group, own + shared, alone=False), group


def test_each_group_is_told_whose_member_it_lost_by_a_client_that_names_no_group(tmp_path):
    other, file = "payments-app", tmp_path / "all.log"
    expired = "Member hvXkRe6uS3C-jBlmBOzPBQ fenced from the group because the member session expired."
    answer = 'ConsumerGroupHeartbeat response received for member id "hvXkRe6uS3C-jBlmBOzPBQ" with epoch 3'
    file.write_text(
        native(0, "c7", "HEARTBEAT", answer)
        + broker(50, f"[GroupId {GROUP}] {expired}")
        + broker(50, f"[GroupId {GROUP}] Bumped group epoch to 4 with metadata hash 1.")
        + broker(60, f"[GroupId {other}] {expired}")
        + broker(60, f"[GroupId {other}] Bumped group epoch to 9 with metadata hash 1.")
    )
    told = look([tmp_path]).rows("rebalances")
    assert [(row["group"], row["culprit"], row["fate"]) for row in told] == [
        (GROUP, "c7", "gone"),
        (other, "c7", "gone"),
    ]
