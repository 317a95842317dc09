"""The layouts people have: the same event at the same time from every one of them."""

from __future__ import annotations

import re
import warnings

import pytest
import yaml

from rebalance_kit.forensics.lines.layouts import LAYOUTS, Reading, load_layouts
from rebalance_kit.forensics.look import look
from rebalance_kit.logs.blocks import PRINTERS
from rebalance_kit.model.errors import ConfigError
from rebalance_kit.pipeline.command import ReadingOptions, reading_of

LOGGER = "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator"
SAID = "[Consumer clientId=c1, groupId=g] Successfully joined group with generation 7"
KAFKA = f"[2026-11-21 02:15:25,032] INFO {SAID} ({LOGGER})"

#: A layout's line; all were written at 02:15:25.032 UTC.
LINES = {
    "kafka": KAFKA,
    "connect": f"[2026-11-21 02:15:25,032] INFO [sink|task-0] {SAID} ({LOGGER}:842)",
    "kafka-zone": f"[2026-11-21T04:15:25.032+02:00] INFO {SAID} ({LOGGER})",
    "spring-boot-3": f"2026-11-21T02:15:25.032Z  INFO 8617 --- [app] [main] o.a.k.c.c.i.ConsumerCoordinator : {SAID}",
    "spring-boot-2": f"2026-11-21 02:15:25.032  INFO 8617 --- [  main] o.a.k.c.c.i.ConsumerCoordinator     : {SAID}",
    "log4j": f"2026-11-21 02:15:25,032 [main] INFO  {LOGGER} - {SAID}",
    "log4j-level-first": f"2026-11-21 02:15:25,032 INFO [main] {LOGGER} - {SAID}",
    "log4j-iso-zone": f"2026-11-21T04:15:25.032+0200 INFO {LOGGER} - {SAID}",
    "log4j-date": f"21 Nov 2026 02:15:25,032 INFO [main] {LOGGER} - {SAID}",
    "logstash": f'{{"@timestamp":"2026-11-21T02:15:25.032Z","level":"INFO","message":"{SAID}","logger_name":"x"}}',
    "ecs": f'{{"@timestamp":"2026-11-21T02:15:25.032Z","log.level":"INFO","message":"{SAID}"}}',
    "json-millis": f'{{"timeMillis":1795227325032,"level":"INFO","message":"{SAID}"}}',
    "docker": f"2026-11-21T02:15:25.040123456Z {KAFKA}",
    "kubectl": f"2026-11-21T02:15:25.04Z {KAFKA}",
    "kubectl-prefix": f"[pod/kafka-0/kafka] {KAFKA}",
    "cri": f"2026-11-21T02:15:25.040123456Z stdout F {KAFKA}",
    "compose": f"broker-1  | {KAFKA}",
    "docker-json": f'{{"log":"{KAFKA}\\n","stream":"stdout","time":"2026-11-21T02:15:25.04Z"}}',
}
AT_MS = 1_795_227_325_032


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    folder = tmp_path_factory.mktemp("layouts")
    for name, line in LINES.items():
        (folder / f"{name}.log").write_text(f"{line}\n", "utf-8")
    result = look([folder])
    told = {row["file"].removesuffix(".log"): row for row in result.rows("events")}
    wrong = {row["file"]: row["why"] for row in result.rows("rejected")}
    return told, wrong


@pytest.mark.parametrize("name", LINES)
def test_every_layout_gives_the_same_event_at_the_same_time(seen, name):
    told, wrong = seen
    assert name in told, wrong.get(f"{name}.log", "ignored")
    row = told[name]
    assert (row["event"], row["generation"], row["group"], row["client"]) == ("joined", 7, "g", "c1")
    assert row["at_ms"] == AT_MS


@pytest.mark.parametrize("layout", sorted(set(PRINTERS) - {"kafka"}))
def test_what_the_maker_writes_in_any_layout_is_read_alike(records, layout):
    told = records("layouts")
    one, other = ({**told[name, "orders-app"]} for name in ("kafka", layout))
    assert len(one["rebalances"]) >= 2
    for record in (one, other):
        record.pop("path")
        # A container gives lines of a block a time (and with it a cost) of their own; one JSON line holds a whole block.
        places = {"file", "line", "evidence", "at_ms", "last_ms", "unread_ms"}
        for name in ("rebalances", "findings"):
            record[name] = [
                {key: value for key, value in row.items() if key not in places} for row in record[name]
            ]
        record["findings"].sort(key=repr)
    assert other == one


def test_a_layout_of_ones_own_a_zone_a_year_and_a_clock_are_taken_at_their_word(tmp_path):
    own = tmp_path / "own.yaml"
    own.write_text(
        'layouts:\n- name: ours\n  begins: "<??? ## ##:##:##> "\n'
        "  pattern: '<(?P<at>[^>]+)> (?P<message>.*)'\n  time: MMM dd HH:mm:ss\n"
    )
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "app.log").write_text(f"<Nov 21 03:15:25> {SAID}\n")
    reading = reading_of(ReadingOptions(own, 2026, "Europe/Berlin", ("*.log=+32ms",)))
    (row,) = look([tmp_path / "logs"], reading).rows("events")
    assert (row["event"], row["generation"], row["at_ms"]) == ("joined", 7, AT_MS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("layouts: 3", "expected a list under the key 'layouts'"),
        ("layouts:\n- begins: x", "layout 1: expected an entry with a name"),
        (
            "layouts:\n- name: a\n  begins: '###'\n  pattern: '(?P<message>.*)'",
            "at least one character besides",
        ),
        (
            "layouts:\n- name: a\n  begins: x\n  pattern: '('",
            r"layout 1 \(a\): pattern is no regular expression",
        ),
        ("layouts:\n- name: a\n  begins: x\n  pattern: '.*'", "lacks the group"),
        ("layouts:\n- name: a\n  begins: x\n  pattern: '(?P<message>.*)'\n  tme: x", "unknown key 'tme'"),
        ("layouts:\n- name: a\n  begins: x", "expected either pattern or json"),
        ("layouts: [", "not YAML"),
    ],
)
def test_a_wrong_entry_is_named_by_file_and_place(tmp_path, text, expected):
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=expected) as problem:
        load_layouts(file)
    assert str(file) in str(problem.value)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (ReadingOptions(time_zone="Mars/Base"), "--time-zone 'Mars/Base' is unknown"),
        (ReadingOptions(year=26), "--year 26"),
        (ReadingOptions(offsets=("broker",)), "--offset 'broker'; expected PATTERN=SECONDS"),
    ],
)
def test_a_wrong_option_says_what_was_expected(told, expected):
    with pytest.raises(ConfigError, match=expected):
        reading_of(told)


def test_an_offset_is_seconds_or_milliseconds_with_a_sign():
    assert reading_of(ReadingOptions(offsets=("a*=+2.5s", "b=-40ms"))).offsets == (("a*", 2500), ("b", -40))


def test_the_readers_layouts_come_before_the_kits():
    assert Reading(LAYOUTS[:1]).table[:2] == (LAYOUTS[0], LAYOUTS[0])


@pytest.mark.parametrize("odd", ["[[a]", "[][]", "[^][]", "[+--]", "[a&&b]", "[+~~|||]", r"\[[[]", r"[\[[]"])
def test_odd_brackets_of_a_layout_mean_what_they_did_and_warn_of_nothing(odd, tmp_path, recwarn):
    path = tmp_path / "layouts.yaml"
    path.write_text(
        yaml.safe_dump({"layouts": [{"name": "x", "begins": "x", "pattern": f"{odd}(?P<message>.*)"}]})
    )
    (layout,) = load_layouts(path)
    re.compile(layout.whole)
    assert not recwarn.list
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = re.compile(f"(?s){odd}(?P<message>.*)")
    texts = [*map(chr, range(128)), *(f"[{chr(letter)}" for letter in range(128))]
    assert [bool(re.fullmatch(layout.whole, text)) for text in texts] == [
        bool(before.fullmatch(text)) for text in texts
    ]
