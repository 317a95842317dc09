"""The text of a time as a moment."""

from __future__ import annotations

import pytest

from rebalance_kit.forensics.lines.layouts import EPOCH_MILLIS, EPOCH_SECONDS, Layout, Reading
from rebalance_kit.forensics.lines.timestamps import Clock

ABSURD = [
    "9" * 17,
    "-" + "9" * 17,
    "9" * 19,
    "9" * 40,
    "1e15",
    "NaN",
    "-" + "9" * 14,
    "+200000-01-01T00:00:00",
    "9999999-01-01T00:00:00",
    '{"epochSecond":9000000000000000000}',
    '{"epochSecond":9000000000000000}',
    "{",
    "",
    "0000-00-00 00:00:00",
    "2026-11-21T99:99:99",
]
OWN = (
    Layout(EPOCH_MILLIS, ("x",), "(?P<message>.*)", time=EPOCH_MILLIS),
    Layout(EPOCH_SECONDS, ("x",), "(?P<message>.*)", time=EPOCH_SECONDS),
    Layout("german", ("x",), "(?P<message>.*)", time="dd.MM.yyyy HH:mm:ss.SSS"),
    Layout("american", ("x",), "(?P<message>.*)", time="MMM d, yyyy h:mm:ss a"),
    Layout("zoned", ("x",), "(?P<message>.*)", time="yyyy-MM-dd'T'HH:mm:ssXXX"),
    Layout("yearless", ("x",), "(?P<message>.*)", time="MMM dd HH:mm:ss"),
)


@pytest.mark.parametrize("at", ABSURD)
@pytest.mark.parametrize("layout", ["iso", EPOCH_MILLIS, EPOCH_SECONDS])
def test_a_time_beyond_all_calendars_is_none(at, layout):
    assert Clock(Reading(OWN, 2026, "Europe/Berlin")).read(at, layout) is None


@pytest.mark.parametrize(
    ("at", "layout", "expected"),
    [
        ("1795227325.032", EPOCH_SECONDS, 1_795_227_325_032),
        ("1795227325032", EPOCH_MILLIS, 1_795_227_325_032),
        ("2026-11-21 02:15:25,032", "kafka", 1_795_227_325_032),
        ("2026-11-21T04:15:25.032999+02:00", "kafka", 1_795_227_325_032),
        ("2026-11-21T04:15:25.032 +0200", "kafka", 1_795_227_325_032),
        ("1795227325.032", "json", 1_795_227_325_032),
        ("1795227325032", "json", 1_795_227_325_032),
        ('{"epochSecond":1795227325,"nanoOfSecond":5}', "json", 1_795_227_325_000),
        ("21.11.2026 02:15:25.032", "german", 1_795_227_325_032),
        ("Nov 21, 2026 2:15:25 AM", "american", 1_795_227_325_000),
        ("Nov 21, 2026 2:15:25 PM", "american", 1_795_270_525_000),
        ("2026-11-21T04:15:25+02:00", "zoned", 1_795_227_325_000),
        ("Nov 21 02:15:25", "yearless", 1_795_227_325_000),
        ("Nob 21 02:15:25", "yearless", None),
        ("31.02.2026 02:15:25.032", "german", None),
    ],
)
def test_times_are_read_as_the_layout_writes_them(at, layout, expected):
    assert Clock(Reading(OWN, 2026)).read(at, layout) == expected


def test_a_time_without_a_zone_is_in_the_zone_that_the_reader_names():
    winter, summer = ("2026-11-21 03:15:25,032", "2026-07-21 04:15:25,032")
    clock = Clock(Reading(time_zone="Europe/Berlin"))
    assert clock.read(winter, "kafka") == 1_795_227_325_032
    assert clock.read(summer, "kafka") == 1_784_600_125_032
    assert clock.read("2026-11-21T02:15:25.032Z", "kafka") == 1_795_227_325_032


def test_a_time_without_a_year_needs_one():
    assert Clock(Reading(OWN)).read("Nov 21 02:15:25", "yearless") is None
