"""A line that was read before, but for its time, gives what it would have given by itself."""

from __future__ import annotations

import pytest

from rebalance_kit.forensics.grammar.table import MESSAGES as MESSAGES_OF_THE_GRAMMAR
from rebalance_kit.forensics.lines import repeats
from rebalance_kit.forensics.lines.file_reader import FileRead, FileReader
from rebalance_kit.forensics.lines.layouts import Layout, Reading
from rebalance_kit.forensics.lines.line_reader import Messages
from rebalance_kit.forensics.lines.repeats import NOTHING, QuickReader, Repeats, sieve
from tests.support.pipeline.grammar_samples import sample

MESSAGES = (
    "[Consumer clientId=c1, groupId=g] (Re-)joining group",
    "[GroupCoordinator id=1] Stabilized group g generation 3 with 2 members.",
    "[Consumer clientId=c1, groupId=g] Node 1 disconnected.",
    "[GroupCoordinator 0]: Stabilized group g generation three",
    "quite something else",
)
FORMS = (
    "[{day} 02:15:25,{ms}] INFO {message} (org.apache.kafka.Logger)",
    "[{day}T02:15:25.{ms}Z] INFO {message} (org.apache.kafka.Logger)",
    "[{day} 02:15:25,{ms}] {message}",
    "{day} 02:15:25,{ms} INFO org.apache.kafka.Logger - {message}",
    "{day}T02:15:25.{ms}Z  INFO 8617 --- [main] o.a.k.Logger : {message}",
    "{day}T02:15:25.{ms}+02:00  INFO 8617 --- [main] o.a.k.Logger : {message}",
    "{day} 02:15:25.{ms} [main] INFO o.a.k.Logger - {message}",
    "[2026-02-30 02:15:25,{ms}] INFO {message} (org.apache.kafka.Logger)",
    "[{day} 02:15:61,{ms}] INFO {message} (org.apache.kafka.Logger)",
    "%7|1795229275.{ms}|JOIN|c1#consumer-1| [thrd:main]: {message}",
    '{{"@timestamp":"{day}T02:15:25.{ms}Z","level":"INFO","message":"{message}"}}',
    "{day}T02:15:25.{ms}Z {message}",
    "] {message}",
    "\t{message}",
)
READINGS = (
    Reading(),
    Reading(time_zone="Europe/Berlin"),
    Reading(
        (Layout("own", ("[####-##-## ##:##:##,##7",), r"\[(?P<at>.{23})\] (?P<message>.*)", time="iso"),)
    ),
)


def lines() -> list[str]:
    """Each message in each form, in winter and in summer, at moments that differ in their last digit."""
    return [
        form.format(day=day, ms=ms, message=message)
        for day in ("2026-11-21", "2026-07-21")
        for ms in ("032", "037", "999")
        for form in FORMS
        for message in MESSAGES
    ]


def told(read: FileRead) -> list[object]:
    """What was read of a file, without the places."""
    hidden = {"line", "row", "file"}
    events = [{k: v for k, v in vars(event).items() if k not in hidden} for event in read.events]
    return [events, [(why, text) for _, why, text in read.rejected], read.ignored]


@pytest.mark.parametrize("reading", READINGS, ids=("plain", "zone", "own layout"))
def test_a_line_that_was_read_before_gives_what_it_gives_by_itself(reading: Reading) -> None:
    reader = FileReader(reading)
    for line in lines():
        alone = FileReader(reading).read("run", "one", [line.encode()])
        among = reader.read("run", "one", [line.encode()])
        assert told(among) == told(alone), line


def test_what_is_remembered_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeats, "MOST", 50)
    reader = FileReader(Reading())
    text = "\n".join(f"[2026-11-21 02:15:25,032] INFO line {number} (a.B)" for number in range(1_000))
    assert reader.read("run", "one", [text.encode()]).lines == 1_000
    assert max(len(memory) for memory in reader.memories()) <= 50


def ordinary_lines() -> list[str]:
    """Every message of the grammar behind the prefixes of brokers and clients, and lines that are nearly ordinary."""
    heads = ("", "[Consumer clientId=c1, groupId=g] ", "[Consumer instanceId=pod-1, clientId=c1, groupId=g] ", "[GroupCoordinator 0]: ",
             "[GroupCoordinator id=1 topic=__consumer_offsets partition=0] ", "[Worker clientId=connect-1, groupId=g] ",
             "[worker|task-0] [Consumer clientId=c1, groupId=g] ", "[Consumer clientId=a, clientId=b, groupId=g] ",
             "[Consumer clientId=c[1], groupId=g] ", "[Consumer clientId=c1, groupId=g]", "[GroupCoordinator] ", " ")  # fmt: skip
    tails = (
        " (org.apache.kafka.Logger)",
        " (org.apache.kafka.Logger:17)",
        " (a logger)",
        " (a) ",
        "",
        " (org.apache.kafka.Logger)\r",
    )
    messages = [
        sample(template, optional)[0] for template in MESSAGES_OF_THE_GRAMMAR for optional in (True, False)
    ]
    few = [
        *messages[::23],
        *(message[: len(message) // 2] for message in messages[::7]),
        "Node 1 sent an invalid full fetch response with extraIds=(x), response=()",
        "Node 1 sent *",
        "Node 1 sent |",
        "said [Consumer clientId=c2, groupId=g] (Re-)joining group",
        "",
        "Rebootstrapping with [x]",
        "] Rebootstrapping with [x] group",
        "a\0b (Re-)joining group",
        "(Re-)joining group   ",
    ]
    plain = [
        f"[2026-11-21 02:15:25,032] INFO {head}{message}{tails[0]}" for head in heads for message in messages
    ]
    odd = [f"[2026-11-21 02:15:25,032] {level}{head}{message}{tail}" for level in ("INFO ", "WARN  ", "Info ", "") for head in heads
           for message in few for tail in tails]  # fmt: skip
    return plain + odd


def test_a_line_in_kafkas_own_layout_says_the_same_when_it_is_read_quickly() -> None:
    reading = Reading()
    messages, may_matter = Messages(reading), sieve(reading.table)
    quick, cut, read, nothing = QuickReader(may_matter), Repeats(reading, messages.clock).cut, 0, 0
    for line in ordinary_lines():
        said = quick.read(line, *cut(line)[1:])
        if said is NOTHING:
            nothing += 1
            assert messages.read(line.rstrip("\r")) is None, line
        elif said is not None:
            read += 1
            assert may_matter(line)
            found = messages.read(line.rstrip("\r"))
            assert isinstance(found, list), line
            # The place of a line is filled in by who counts the lines.
            assert [said] == [
                {**fields, **dict.fromkeys(("path", "file", "line", "row"))} for fields in found
            ], line
    # Lines that speak of a group and are in no template are read the slow way, by their words.
    assert read > 1_500 and nothing > 100
