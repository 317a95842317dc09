"""Inputs that a hostile or unlucky user would try, command by command: words, files beside, variables, what is typed."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support.bad_input.found import ITEM, SCENARIO, token

NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Try:
    """One command; ``{}`` in a word, a file's text or a variable is the folder it runs in."""

    entry: str
    name: str
    words: tuple[str, ...]
    files: Mapping[str, str | bytes] = field(default_factory=lambda: NOTHING)
    variables: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    typed: str = ""


def by_hand() -> Iterator[Try]:
    """All of them."""
    for tries in (
        _scenarios, _runs, _links, _makers, _logs, _watches, _items, _exams, _exercises, _courses, _workshops,
        _searches, _sweeps, _assignors, _replays, _variables, _words,
    ):  # fmt: skip
        yield from tries()


def _scenarios() -> Iterator[Try]:
    members = "members: [{name: c1, topics: [orders]}]\nend: 5s\n"
    texts = {
        "a topic without partitions": "topics: {orders: 0}\n" + members,
        "a topic of half a partition": "topics: {orders: 1.5}\n" + members,
        "a topic called ..": "topics: {'..': 1}\nmembers: [{name: c1, topics: ['..']}]\nend: 5s\n",
        "a topic called like a partition": "topics: {orders-1: 2, orders: 12}\nmembers: [{name: c1, topics: [orders-1, orders]}]\nend: 5s\n",
        "a topic of 249 letters": f"topics: {{{'t' * 249}: 1}}\nmembers: [{{name: c1, topics: [{'t' * 249}]}}]\nend: 5s\n",
        "a topic of 250 letters": f"topics: {{{'t' * 250}: 1}}\nmembers: [{{name: c1, topics: [{'t' * 250}]}}]\nend: 5s\n",
        "topics as a list": "topics: [orders]\n" + members,
        "the topic that nobody made": "topics: {orders: 1}\nmembers: [{name: c1, topics: [bills]}]\nend: 5s\n",
        "twice the same topic": "topics: {orders: 1}\nmembers: [{name: c1, topics: [orders, orders]}]\nend: 5s\n",
        "twice the same member": "topics: {orders: 1}\nmembers: [{name: c1, topics: [orders]}, {name: c1, topics: [orders]}]\nend: 5s\n",
        "a member called coordinator": "topics: {orders: 1}\nmembers: [{name: coordinator, topics: [orders]}]\nend: 5s\n",
        "a member called with a slash": "topics: {orders: 1}\nmembers: [{name: a/b, topics: [orders]}]\nend: 5s\n",
        "a member called in Arabic": "topics: {orders: 1}\nmembers: [{name: قارئ, topics: [orders]}]\nend: 5s\n",
        "a member called with an emoji family": "topics: {orders: 1}\nmembers: [{name: 👩‍👩‍👧, topics: [orders]}]\nend: 5s\n",
        "a member called in letters that turn round": 'topics: {orders: 1}\nmembers: [{name: "a\\u202eb", topics: [orders]}]\nend: 5s\n',
        "zero members": "topics: {orders: 1}\nmembers: []\nend: 5s\n",
        "count of members zero": "topics: {orders: 1}\nmembers: [{prefix: c, count: 0, topics: [orders]}]\nend: 5s\n",
        "count of members negative": "topics: {orders: 1}\nmembers: [{prefix: c, count: -3, topics: [orders]}]\nend: 5s\n",
        "count of members true": "topics: {orders: 1}\nmembers: [{prefix: c, count: yes, topics: [orders]}]\nend: 5s\n",
        "an end of zero": SCENARIO.replace("5s", "0s"),
        "an end of a nanosecond": SCENARIO.replace("5s", "0.000001ms"),
        "an end in the words of ISO": SCENARIO.replace("5s", "PT5S"),
        "an end in sexagesimal": SCENARIO.replace("5s", "1:30"),
        "an end with a comma": SCENARIO.replace("5s", "'1,5s'"),
        "an end in hexadecimal": SCENARIO.replace("5s", "0x10"),
        "an end in octal": SCENARIO.replace("5s", "0o17"),
        "an action before the start": SCENARIO + "actions: [{at: -1s, do: crash, member: c1}]\n",
        "an action after the end": SCENARIO + "actions: [{at: 1h, do: crash, member: c1}]\n",
        "a crash of nobody": SCENARIO + "actions: [{at: 1s, do: crash}]\n",
        "a freeze without end": SCENARIO + "actions: [{at: 1s, do: freeze, member: c1, for: .inf}]\n",
        "a freeze of a negative time": SCENARIO + "actions: [{at: 1s, do: freeze, member: c1, for: -2s}]\n",
        "two crashes at once": SCENARIO + "actions: [{at: 1s, do: crash, member: c1}, {at: 1s, do: crash, member: c1}]\n",
        "500 crashes": SCENARIO + "actions: [" + ", ".join(["{at: 1s, do: crash, member: c1}"] * 500) + "]\n",
        "actions as a mapping": SCENARIO + "actions: {at: 1s, do: crash, member: c1}\n",
        "an unknown action": SCENARIO + "actions: [{at: 1s, do: explode, member: c1}]\n",
        "a config that nobody has": SCENARIO.replace("topics: [orders]}", "topics: [orders], configs: {x.y: 1}}"),
        "a session of zero": SCENARIO.replace("topics: [orders]}", "topics: [orders], configs: {session.timeout.ms: 0}}"),
        "a session of 2 to the 31st": SCENARIO.replace("topics: [orders]}", "topics: [orders], configs: {session.timeout.ms: 2147483648}}"),
        "a heartbeat longer than the session": SCENARIO.replace("topics: [orders]}", "topics: [orders], configs: {heartbeat.interval.ms: 90000}}"),
        "a heartbeat of text": SCENARIO.replace("topics: [orders]}", "topics: [orders], configs: {heartbeat.interval.ms: soon}}"),
        "configs as a list": SCENARIO.replace("topics: [orders]}", "topics: [orders], configs: [session.timeout.ms]}"),
        "a pattern that is no pattern": "topics: {orders: 1}\nmembers: [{name: c1, pattern: '(('}]\nend: 5s\n",
        "a pattern with a look-behind": "topics: {orders: 1}\nmembers: [{name: c1, pattern: '(?<=o)rders'}]\nend: 5s\n",
        "a pattern with 100 groups": f"topics: {{orders: 1}}\nmembers: [{{name: c1, pattern: '{'(o)' * 100}'}}]\nend: 5s\n",
        "a pattern with alternatives that overlap": f"topics: {{{'a' * 60}b: 1}}\nmembers: [{{name: c1, pattern: '(a|a)*$'}}]\nend: 5s\n",
        "a pattern with repeats side by side": f"topics: {{{'a' * 90}b: 1}}\nmembers: [{{name: c1, pattern: '{'a*' * 12}$'}}]\nend: 5s\n",
        "a rack of a list": SCENARIO.replace("topics: [orders]}", "topics: [orders], rack: [a]}"),
        "a key given twice": SCENARIO + "end: 6s\n", "a key in capitals": SCENARIO.replace("end:", "END:"),
        "a key that is a list": SCENARIO + "? [a]\n: b\n", "a key that is empty": SCENARIO + "'': b\n", "two documents": SCENARIO + "---\n" + SCENARIO,
        "tabs": SCENARIO.replace(" ", "\t"), "CRLF": SCENARIO.replace("\n", "\r\n"), "a BOM": "\ufeff" + SCENARIO, "only a comment": "# nothing\n",
        "a merge key": SCENARIO + "<<: {end: 6s}\n", "a binary value": SCENARIO + "title: !!binary aGVsbG8=\n", "a set": SCENARIO + "topics2: !!set {a, b}\n",
        "JSON": json.dumps({"topics": {"orders": 2}, "members": [{"name": "c1", "topics": ["orders"]}], "end": "5s"}),
        "a percent directive": "%YAML 9.9\n---\n" + SCENARIO, "a story of 900,000 letters": SCENARIO + "story: " + "a" * 900_000 + "\n",
        "a file of a megabyte": SCENARIO + "story: " + "a" * 1_000_001 + "\n", "keys without end": "".join(f"k{number}: 1\n" for number in range(20_000)),
        "latencies negative": SCENARIO + "latencies: {request: -5}\n", "latencies as text": SCENARIO + "latencies: fast\n",
        "expect an unknown error": SCENARIO + "expect: [NO_SUCH_ERROR]\n", "data_plane as text": SCENARIO + "data_plane: maybe\n",
    }  # fmt: skip
    for name, text in texts.items():
        yield Try("scenario files, by hand", name, ("run", "{}/s.yaml", "--one-run"), {"s.yaml": text})


def _runs() -> Iterator[Try]:
    words = {
        "json beside out": ("run", "crash", "--one-run", "--json", "--out", "{}/o"), "a scenario called --": ("run", "--", "--one-run"), "no scenario": ("run",),
        "two scenarios": ("run", "crash", "join"), "a URL": ("run", "https://example.org/s.yaml"), "home": ("run", "~/s.yaml"), "a percent": ("run", "%s%n"),
        "a name with a NUL": ("run", "a\0b"), "a name of 10,000 letters": ("run", "a" * 10_000), "a glob": ("run", "*.yaml"), "a protocol in capitals": ("run", "crash", "--protocol", "EAGER", "--one-run"),
        "a draw": ("run", "crash", "--draws", "1", "--seconds", "0"), "minus draws": ("run", "crash", "--draws=-5"), "seconds that are no number": ("run", "crash", "--draws", "3", "--seconds", "nan"),
        "seed beyond 64 bits": ("run", "crash", "--one-run", "--seed", str(2**80)), "seed with an underscore": ("run", "crash", "--one-run", "--seed", "1_0"),
        "out that is a broken link": ("run", "crash", "--one-run", "--out", "{}/dangling/x"), "out of spaces": ("run", "crash", "--one-run", "--out", "{}/ "),
        "out that is no UTF-8": ("run", "crash", "--one-run", "--out", "{}/\udcff\udcfe"), "out with a newline": ("run", "crash", "--one-run", "--out", "{}/a\nb"),
    }  # fmt: skip
    for name, given in words.items():
        yield Try("run, by hand", name, given)


def _links() -> Iterator[Try]:
    plain = {"scenario": SCENARIO}
    contents: dict[str, Any] = {
        "a list": [], "no scenario": {"at": 5}, "a scenario that is a number": {"scenario": 5}, "a moment of true": {**plain, "at": True}, "a moment beyond the end": {**plain, "at": 10**12},
        "a moment of 10 to the 400": {**plain, "at": 10**400}, "a negative moment": {**plain, "at": -1}, "501 deeds": {**plain, "deeds": [{"do": "crash", "at": 1, "member": "c1"}] * 501},
        "500 deeds": {**plain, "deeds": [{"do": "crash", "at": 1, "member": "c1"}] * 500}, "a deed at a text": {**plain, "deeds": [{"do": "crash", "at": "x", "member": "c1"}]},
        "a deed at infinity": {**plain, "deeds": [{"do": "crash", "at": float("inf"), "member": "c1"}]}, "a deed of a list": {**plain, "deeds": [{"do": ["crash"], "at": 1, "member": "c1"}]},
        "a deed before time": {**plain, "deeds": [{"do": "crash", "at": -1, "member": "c1"}]}, "a deed nested deeply": {**plain, "deeds": [{"do": "crash", "at": 1, "member": "c1", "args": json.loads("[" * 400 + "]" * 400)}]},
        "a protocol of a list": {**plain, "protocol": ["eager"]}, "an empty protocol": {**plain, "protocol": ""}, "a seed of text": {**plain, "seed": "1"}, "a huge seed": {**plain, "seed": 10**300},
        "a scenario of a week": {"scenario": SCENARIO.replace("5s", "168h")}, "a scenario with a path": {"scenario": SCENARIO.replace("scenario: s", "scenario: ../../x")},
        "a title with a script": {"scenario": SCENARIO + "title: <script>alert(1)</script>\n"}, "the key __proto__": {**plain, "__proto__": {"a": 1}},
        "an assignor of nobody": {**plain, "protocol": "eager", "assignor": "mine"}, "an assignor of a path": {**plain, "protocol": "eager", "assignor": "../x"},
        "900,000 letters": {"scenario": SCENARIO + "story: " + "a" * 900_000}, "10 million letters": {"scenario": SCENARIO + "story: " + "a" * 10_000_000},
    }  # fmt: skip
    for name, content in contents.items():
        yield Try("links, by hand", name, ("lab", token(content), "--text"))
    link = token(plain)
    around = {"in quotes": f'"{link}"', "in angle brackets": f"<{link}>", "with a full stop": f"{link}.", "in the middle of words": f"see {link} please", "in capitals": link.upper(), "twice": link + link, "with a newline inside": link[:30] + "\n" + link[30:]}  # fmt: skip
    for name, text in around.items():
        yield Try("links, by hand", name, ("lab", text, "--text"))
    yield Try("links, by hand", "to a page, cut", ("lab", link[:-7], "--html", "{}/x.html"))
    yield Try("links, by hand", "to a notebook, cut", ("lab", link[:-7], "--notebook", "{}/x.ipynb"))


def _makers() -> Iterator[Try]:
    to = ("--out", "{}/o")
    words: dict[str, tuple[str, ...]] = {
        "noise of 2": ("--noise", "2"), "noise of nan": ("--noise", "nan"), "noise below zero": ("--noise", "-0.1"), "a layout of nobody": ("--layout", "xml"), "rotated every minus second": ("--rotate", "-1"),
        "begins without a zone": ("--begins", "2026-01-01T00:00:00"), "begins on 30 February": ("--begins", "2026-02-30T00:00:00Z"), "begins at 25:00": ("--begins", "2026-01-01T25:00:00Z"),
        "begins in a leap second": ("--begins", "2016-12-31T23:59:60Z"), "begins yesterday": ("--begins", "yesterday"), "hours of zero": ("--hours", "0"), "hours of a tenth of a millionth": ("--hours", "1e-7"),
        "hours of a million": ("--hours", "1000000"), "a size below nothing": ("--size", "-5"), "Kafka 1.0": ("--kafka-version", "1.0"), "Kafka 99": ("--kafka-version", "99.0"), "Kafka 4": ("--kafka-version", "4"),
        "Kafka 4.1 SNAPSHOT": ("--kafka-version", "4.1.0-SNAPSHOT"), "truth where the logs are": ("--truth", "{}/o/truth.jsonl"), "truth in a folder": ("--truth", "{}"), "a protocol of nobody": ("--protocol", "raft"),
    }  # fmt: skip
    for name, given in words.items():
        yield Try("make-logs, by hand", name, ("make-logs", "crash", *to, *given))
    yield Try(
        "make-logs, by hand",
        "into a folder with a file of mine",
        ("make-logs", "crash", *to),
        {"o/broker.log": "mine\n"},
    )
    yield Try("make-logs, by hand", "into a file", ("make-logs", "crash", *to), {"o": "mine\n"})


_LINE = "[2026-11-21 02:15:18,894] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=0] Preparing to rebalance group g in state Stable with old generation 1 (reason: x) (kafka.coordinator.group.GroupCoordinator)\n"


def _logs() -> Iterator[Try]:
    def zipped(name: str, data: bytes) -> bytes:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(name, data)
        return packed.getvalue()

    line = _LINE.encode()
    files: dict[str, tuple[str, bytes]] = {
        "half a gz": ("a.log.gz", gzip.compress(line * 500)[:-20]), "a gz that is none": ("a.log.gz", line), "a gz in a gz": ("a.log.gz", gzip.compress(gzip.compress(line))), "an empty gz": ("a.log.gz", b""),
        "two gz in one": ("a.log.gz", gzip.compress(line) + gzip.compress(line)), "a gz with rubbish behind it": ("a.log.gz", gzip.compress(line) + b"rubbish"), "a log that is a gz": ("a.log", gzip.compress(line)),
        "a zip with a path out": ("a.zip", zipped("../../x.log", line)), "a zip with an absolute path": ("a.zip", zipped("/etc/x.log", line)), "a zip of a bomb": ("a.zip", zipped("x.log", b"a" * 5_000_000)), "half a zip": ("a.zip", zipped("x.log", line * 50)[:-30]),
        "UTF-16 with a BOM": ("a.log", "\ufeff".encode("utf-16-le") + _LINE.encode("utf-16-le")), "UTF-8 with a BOM": ("a.log", b"\xef\xbb\xbf" + line), "Latin-1": ("a.log", _LINE.replace("group g", "group é").encode("latin-1")),
        "NULs at the end": ("a.log", line + b"\0" * 100_000), "carriage returns alone": ("a.log", (line * 3).replace(b"\n", b"\r")), "form feeds": ("a.log", (line * 3).replace(b"\n", b"\n\x0c")),
        "colours": ("a.log", b"\x1b[32m" + line.rstrip() + b"\x1b[0m\n"), "a prompt of docker": ("a.log", b"broker-1  | " + line), "JSON of docker": ("a.log", json.dumps({"log": _LINE, "stream": "stdout", "time": "x"}).encode() + b"\n"),
        "the year 0000": ("a.log", line.replace(b"2026", b"0000")), "month 13": ("a.log", line.replace(b"-11-", b"-13-")), "a second of 60": ("a.log", line.replace(b":18,", b":60,")), "a time in Arabic digits": ("a.log", _LINE.replace("2026", "٢٠٢٦").encode()),
        "a time that goes back": ("a.log", line + line.replace(b"02:15", b"01:15")), "a generation below zero": ("a.log", line.replace(b"generation 1", b"generation -9")), "a generation of 2 to the 63rd": ("a.log", line.replace(b"generation 1", b"generation 9223372036854775808")),
        "a group of 30,000 letters": ("a.log", line.replace(b"group g", b"group " + b"g" * 30_000)), "a group called nan": ("a.log", line.replace(b"group g", b"group nan")), "a group called like a file": ("a.log", line.replace(b"group g", b"group ../../x")),
        "a group with a tab": ("a.log", line.replace(b"group g", b"group a\tb")), "2,000 groups": ("a.log", b"".join(line.replace(b"group g", b"group g%d" % number) for number in range(2_000))),
        "a stack trace of 50,000 lines": ("a.log", line + b"\tat a.b.c(D.java:1)\n" * 50_000), "brackets without end": ("a.log", b"[" * 300_000 + b"\n"), "a CSV": ("a.log", b"a,b,c\n1,2,3\n"), "a picture": ("a.log", bytes(range(256)) * 200),
    }  # fmt: skip
    for name, (file, data) in files.items():
        yield Try(
            "logs, by hand", name, ("logs", "{}/in", "--books", "--fail-on", "never"), {f"in/{file}": data}
        )
    flags: dict[str, tuple[str, ...]] = {
        "year 0": ("--year", "0"), "year 10000": ("--year", "10000"), "a zone of nobody": ("--time-zone", "Mars/Olympus"), "a zone that is a path": ("--time-zone", "../../etc/passwd"), "a zone that is absolute": ("--time-zone", "/etc/localtime"), "an empty zone": ("--time-zone", ""),
        "an offset without a sign": ("--offset", "a=5"), "an offset without a pattern": ("--offset", "=+5s"), "an offset of infinity": ("--offset", "a=+infs"), "an offset of 30 digits": ("--offset", f"*=+{'9' * 30}s"), "an offset with a bad pattern": ("--offset", "[=+5s"),
        "json into out": ("--json", "--out", "{}/o"), "a master with this process": ("--engine", "local", "--master", "local[1]"), "no layouts": ("--layouts", "{}/none.yaml"), "an out where the logs are": ("--out", "{}/in"),
        "an out that is no UTF-8": ("--out", "{}/\udcff"), "an out below a log": ("--out", "{}/in/a.log/o"),
    }  # fmt: skip
    for name, given in flags.items():
        yield Try("logs, by hand", name, ("logs", "{}/in", *given), {"in/a.log": line})
    yield Try("logs, by hand", "the same file twice", ("logs", "{}/a.log", "{}/a.log"), {"a.log": line})
    yield Try("logs, by hand", "a folder and its file", ("logs", "{}/in", "{}/in/a.log"), {"in/a.log": line})
    yield Try(
        "logs, by hand",
        "a file that is missing beside a good one",
        ("logs", "{}/in", "{}/gone.log"),
        {"in/a.log": line},
    )


def _watches() -> Iterator[Try]:
    words: dict[str, tuple[str, ...]] = {
        "nothing": (), "a missing folder": ("{}/gone", "--idle", "0.1"), "idle below zero": ("{}/in", "--idle", "-1"), "idle nan": ("{}/in", "--idle", "nan"), "idle infinite and stdin": ("-", "--idle", "inf"), "a command without a name": ("--from", "=echo x"), "a command without a command": ("--from", "a="),
        "a command without an equals sign": ("--from", "echo"), "a command that is missing": ("--from", "a=/no/such/command", "--idle", "0.1"), "a command that fails": ("--from", "a=false", "--idle", "0.2"), "a command with an open quote": ("--from", "a=echo '", "--idle", "0.1"),
        "two commands of one name": ("--from", "a=echo x", "--from", "a=echo y", "--idle", "0.1"), "a name with a slash": ("--from", "../a=echo x", "--idle", "0.1"), "this process with out": ("{}/in", "--engine", "local", "--out", "{}/o"), "Spark with a command": ("--engine", "spark", "--from", "a=echo x"),
        "Spark over two folders": ("{}/in", "{}/in", "--once"), "Spark over a file that is missing": ("{}/gone", "--once"), "a checkpoint without a store": ("-", "--checkpoint", "{}/c"), "a file of the time before": ("{}/in", "--idle", "0.1"), "a file that is a folder": ("{}", "--idle", "0.1"),
        "a command that prints bytes": ("--from", "a=head -c 20000 /dev/urandom", "--idle", "0.2"), "a command that prints one line of 3 MB": ("--from", "a=head -c 3000000 /dev/zero", "--idle", "0.2"),
    }  # fmt: skip
    for name, given in words.items():
        yield Try("watch, by hand", name, ("watch", *given), {"in/a.log": _LINE.replace("2026", "0001")})


def _items() -> Iterator[Try]:
    long = "x" * 70_000
    texts = {
        "two right options": ITEM.replace("misconception: cooperative-is-default", "right: true"), "no right option": ITEM.replace("right: true, ", ""), "a belief of nobody": ITEM.replace("kip848-is-instant", "no-such-belief"),
        "an option's id twice": ITEM.replace("{id: b", "{id: a"), "an option's id of a list": ITEM.replace("{id: b", "{id: [b]"), "an id with a slash": ITEM.replace("good-item", "../good-item"), "an id with capitals": ITEM.replace("good-item", "Good-Item"), "an id of 70,000 letters": ITEM.replace("good-item", long),
        "a stem of 70,000 letters": ITEM.replace("Which partitions does an eager member revoke?", long), "a stem with a script": ITEM.replace("Which partitions", "<script>alert(1)</script> Which partitions"), "a version of nobody": ITEM.replace("2.4+", "99+"), "a version of text": ITEM.replace("2.4+", "new"),
        "the same item twice": ITEM + ITEM.removeprefix("items:\n"), "26 options": ITEM.replace("  options_note", "".join(f"    - {{id: o{number}, text: t{number}, why: a reason that is long enough}}\n" for number in range(26)) + "  options_note"),
        "claims without runs": ITEM + "  verify: {claims: {a: 1, b: 2, c: 3}}\n", "a claim that is a list": ITEM + "  verify: {runs: {run: {scenario: crash}}, claims: {a: [1], b: 1 < 0, c: 1 < 0}}\n", "a claim of code": ITEM + "  verify: {runs: {run: {scenario: crash}}, claims: {a: '__import__(\"os\")', b: 1 < 0, c: 1 < 0}}\n",
        "a claim of 20,000 brackets": ITEM + f"  verify: {{runs: {{run: {{scenario: crash}}}}, claims: {{a: '{'(' * 20_000}', b: 1 < 0, c: 1 < 0}}}}\n", "a run of a path": ITEM + "  verify: {runs: {run: {scenario: ../../etc/passwd}}, claims: {a: 1 > 0, b: 1 < 0, c: 1 < 0}}\n",
        "seeds of text": ITEM + "  verify: {runs: {run: {scenario: crash}}, seeds: [a], claims: {a: 1 > 0, b: 1 < 0, c: 1 < 0}}\n", "seeds without end": ITEM + f"  verify: {{runs: {{run: {{scenario: crash}}}}, seeds: [{', '.join(map(str, range(5000)))}], claims: {{a: 1 > 0, b: 1 < 0, c: 1 < 0}}}}\n",
        "a power that never ends": ITEM + "  verify: {runs: {run: {scenario: crash}}, claims: {a: 9 * 9 * 9 > 0, b: '9 ** 9 ** 9 > 0', c: 1 < 0}}\n", "a product of digits": ITEM + f"  verify: {{runs: {{run: {{scenario: crash}}}}, claims: {{a: '{' * '.join(['9' * 900] * 60)} > 0', b: 1 < 0, c: 1 < 0}}}}\n",
        "items as a mapping": ITEM.replace("- id", "  id"), "nothing in items": "items:\n", "items of nulls": "items: [~, ~]\n", "items of 5,000 numbers": f"items: [{', '.join(['1'] * 5000)}]\n",
    }  # fmt: skip
    for name, text in texts.items():
        yield Try("items, by hand", name, ("items", "check", "{}/i.yaml"), {"i.yaml": text})
    exports: dict[str, tuple[str, ...]] = {
        "an unknown format": ("xml", "{}/x"), "a tag of nobody": ("gift", "{}/x", "--tag", "no-such-tag"), "ids of nobody": ("gift", "{}/x", "--ids", "no-such-id"), "count zero": ("gift", "{}/x", "--count", "0"), "seed below zero": ("gift", "{}/x", "--count", "1", "--seed", "-1"),
        "into a folder that is missing": ("gift", "{}/a/b/c.gift", "--count", "1"), "onto a file": ("gift", "{}/mine", "--count", "1"),
    }  # fmt: skip
    for name, given in exports.items():
        yield Try("items, by hand", f"export: {name}", ("items", "export", *given), {"mine": "mine"})
    one = {"item": "x", "asked": 1, "right": 1, "chosen": {}, "compared": 0, "compared_right": 0, "rest": 0, "rest_squared": 0, "rest_if_right": 0}  # fmt: skip
    sums: dict[str, Any] = {
        "an infinite number": {**one, "asked": float("inf")}, "a number that is none": {**one, "rest": float("nan")}, "more right than asked": {**one, "right": 5}, "chosen of a list": {**one, "chosen": [1]}, "an item of nobody": one, "a number of 5,000 digits as text": {**one, "asked": "9" * 5000},
    }  # fmt: skip
    for name, entry in sums.items():
        yield Try(
            "items, by hand",
            f"stats: {name}",
            ("items", "stats", "{}/s.json"),
            {"s.json": json.dumps({"item_statistics": 1, "items": [entry]})},
        )
    yield Try(
        "items, by hand",
        "stats: items that are a number",
        ("items", "stats", "{}/s.json"),
        {"s.json": '{"item_statistics": 1, "items": 5}'},
    )
    yield Try(
        "items, by hand", "new: an id with a path", ("items", "new", "single", "../x", "--to", "{}/x.yaml")
    )
    yield Try(
        "items, by hand",
        "new: a kind of nobody",
        ("items", "new", "essay", "my-new-item", "--to", "{}/x.yaml"),
    )


def _exams() -> Iterator[Try]:
    begun = ("exam", "CCDAK", "--questions", "1")
    typed = {"nothing": "", "an option that is none": "z\n", "control characters": "\x1b[A\x03\x04\n", "60,000 letters": "a" * 60_000 + "\n", "half a letter": "\udcff\n", "numbers": "1\n2\n3\n", "commas alone": ",,,,\n", "a NUL": "\0\n", "all commands at once": "flag\nnext\nback\nend\nyes\n"}  # fmt: skip
    for name, text in typed.items():
        yield Try("exams, by hand", f"typed: {name}", begun, typed=text)
    words: dict[str, tuple[str, ...]] = {
        "an exam of nobody": ("exam", "CCNA"), "no questions": ("exam", "CCDAK", "--questions", "0"), "201 questions": ("exam", "CCDAK", "--questions", "201"), "a seed below zero": (*begun, "--seed", "-1"), "a seed of 60 digits": (*begun, "--seed", "9" * 60),
        "minutes of 1e-9": (*begun, "--minutes", "1e-9"), "a store that is a folder": (*begun, "--store", "{}"), "a store in a file": (*begun, "--store", "{}/mine/a.sqlite"), "a store that is a text": (*begun, "--store", "{}/mine"), "a store in /proc": (*begun, "--store", "/proc/a.sqlite"), "a store with a NUL": (*begun, "--store", "{}/a\0b"),
        "a quiz about nothing": ("quiz", "no-such-topic"), "a quiz of minus one": ("quiz", "eager", "--count", "-1"), "a quiz of a billion": ("quiz", "eager", "--count", "1000000000"), "a review of minus one": ("review", "--count", "-1"),
        "answers to a folder": ("answers", "export", "--to", "{}"), "answers to nowhere": ("answers", "export", "--to", "/proc/x"), "a vote for nobody": ("vote", "no-such-item", "k2m4p"), "a vote in a room with a slash": ("vote", "commit-before-processing-crash", "../x"), "a vote in a room of 90 letters": ("vote", "commit-before-processing-crash", "x" * 90),
        "a vote into a file": ("vote", "commit-before-processing-crash", "k2m4p", "--folder", "{}/mine"),
    }  # fmt: skip
    for name, given in words.items():
        yield Try("exams, by hand", name, given, {"mine": "mine"})


def _exercises() -> Iterator[Try]:
    at = ("--folder", "{}")
    words: dict[str, tuple[str, ...]] = {
        "check of nobody": ("check", "99", *at), "check before start": ("check", "03", *at), "hint zero": ("hint", "03", "0", *at), "hint 99": ("hint", "03", "99", *at), "a name that is a path": ("start", "../../x", *at), "a name with a NUL": ("start", "a\0b", *at), "an empty name": ("start", "", *at), "solution of nobody": ("solution", "zz", *at),
        "a limit of zero": ("check", "03", "--limit", "0", *at), "a limit below zero": ("check", "03", "--limit=-5", *at), "a limit of nan": ("check", "03", "--limit", "nan", *at), "a limit of infinity": ("check", "03", "--limit", "inf", *at), "a folder that is a file": ("start", "13", "--folder", "{}/mine", "--learner", "x"), "a learner of 9,000 letters": ("start", "13", *at, "--learner", "x" * 9000),
        "a learner called ..": ("start", "13", *at, "--learner", ".."), "a learner with an escape": ("start", "13", *at, "--learner", "\x1b[31m"), "a learner of nothing": ("start", "13", *at, "--learner", ""), "list of a missing folder": ("list", "--folder", "{}/gone"), "list of a file": ("list", "--folder", "{}/mine"),
    }  # fmt: skip
    for name, given in words.items():
        yield Try("exercise, by hand", name, ("exercise", *given), {"mine": "mine"})
    answers = {"a folder in place of the workspace's file": {"13/workspace.json/x": "x"}, "a workspace of a list": {"workspace.json": "[]"}, "a workspace of deep brackets": {"workspace.json": "[" * 90_000}}  # fmt: skip
    for name, files in answers.items():
        yield Try("exercise, by hand", name, ("exercise", "list", *at), files)


def _courses() -> Iterator[Try]:
    to = ("classroom", "collect", "{}/in", "--to", "{}/course")
    work = "def rebalances_per_run(events):\n    return events\n"
    files: dict[str, Mapping[str, str | bytes]] = {
        "a learner called ..": {"in/ ../03-count-rebalances/answer.py": work}, "a learner with a newline": {"in/a\nb/03-count-rebalances/answer.py": work}, "a learner with a script": {"in/<script>/03-count-rebalances/answer.py": work}, "a learner with half a letter": {"in/\udcff/03-count-rebalances/answer.py": work},
        "a learner with an escape": {"in/\x1b[31m/answer.py": work}, "a learner of 250 letters": {f"in/{'a' * 250}/03-count-rebalances/answer.py": work}, "an answer of a megabyte": {"in/ada/03-count-rebalances/answer.py": "#" * 1_100_000}, "an answer of NULs": {"in/ada/03-count-rebalances/answer.py": b"\0" * 500},
        "an answer in UTF-16": {"in/ada/03-count-rebalances/answer.py": work.encode("utf-16")}, "an answer of brackets": {"in/ada/answer.py": "(" * 90_000}, "a notebook of brackets": {"in/ada/a.ipynb": "[" * 90_000}, "a notebook of a number": {"in/ada/a.ipynb": "5"}, "a notebook whose cells are a number": {"in/ada/a.ipynb": '{"nbformat": 4, "cells": 5}'},
        "a notebook of format 3": {"in/ada/a.ipynb": '{"nbformat": 3, "worksheets": []}'}, "a notebook with sources of numbers": {"in/ada/a.ipynb": '{"nbformat": 4, "cells": [{"cell_type": "code", "source": [1, null]}]}'}, "a workspace of a list": {"in/ada/workspace.json": "[1]", "in/ada/answer.py": work}, "a workspace of another learner": {"in/ada/workspace.json": '{"learner": "eve"}', "in/ada/03-count-rebalances/answer.py": work},
        "answers of nobody": {"in/ada/a.jsonl": '{"item": "x"}\n[]\n5\n{\n'}, "600 files": {f"in/ada/{number}.py": "x = 1\n" for number in range(600)}, "a zip that is none": {"in/ada.zip": "no zip"}, "a zip of a bomb": {"in/ada.zip": _zip({"03-count-rebalances/answer.py": b"#" * 50_000_000})},
        "a zip with a path out": {"in/ada.zip": _zip({"../../../x/answer.py": work.encode()})}, "a zip with an absolute path": {"in/ada.zip": _zip({"/03-count-rebalances/answer.py": work.encode()})}, "a zip in a zip": {"in/ada.zip": _zip({"in.zip": _zip({"answer.py": work.encode()})})}, "a zip with a name of NULs": {"in/ada.zip": _zip({"a.py": work.encode()}).replace(b"a.py", b"\0.py")},
        "two learners of one name": {"in/ada/03-count-rebalances/answer.py": work, "in/ada (1).zip": _zip({"03-count-rebalances/answer.py": b"x = 1\n"})}, "learners that differ in case": {"in/Ada/03-count-rebalances/answer.py": work, "in/ada/03-count-rebalances/answer.py": work}, "files among the folders": {"in/readme.txt": "x", "in/ada/answer.py": work}, "nothing": {"in/.keep": ""},
    }  # fmt: skip
    for name, given in files.items():
        yield Try("classroom, by hand", f"collect: {name}", to, given)
    words: dict[str, tuple[str, ...]] = {
        "collect into itself": ("collect", "{}/in", "--to", "{}/in/course"), "collect a file": ("collect", "{}/mine", "--to", "{}/course"), "collect into a file": ("collect", "{}/in", "--to", "{}/mine"), "collect into a folder of mine": ("collect", "{}/in", "--to", "{}"), "collect for a room with a slash": ("collect", "{}/in", "--to", "{}/course", "--room", "a/b"),
        "collect for a course of 9,000 letters": ("collect", "{}/in", "--to", "{}/course", "--course", "x" * 9000), "mark what is no course": ("mark", "{}/in"), "mark what is missing": ("mark", "{}/gone"), "mark with a limit of nan": ("mark", "{}/bad", "--limit", "nan"), "mark an exercise of nobody": ("mark", "{}/bad", "--exercise", "99"), "report of what is missing": ("report", "{}/gone"),
        "report of a damaged course": ("report", "{}/bad"), "mark a damaged course": ("mark", "{}/bad"), "report of a course of a list": ("report", "{}/list"), "report with damaged marks": ("report", "{}/marks"), "collect into a damaged course": ("collect", "{}/in", "--to", "{}/bad"), "report of damaged work": ("report", "{}/work"), "mark damaged work": ("mark", "{}/work"),
    }  # fmt: skip
    course = json.dumps({"course": "c", "rooms": []})
    beside = {
        "in/ada/03-count-rebalances/answer.py": work, "mine": "mine", "bad/course.json": "{", "list/course.json": "[]", "marks/course.json": course, "marks/marks.json": "[[[", "marks/submissions/ada/1/work.json": '{"votes": [], "questions": [], "notes": []}',
        "work/course.json": course, "work/submissions/ada/1/work.json": '{"votes": 5, "questions": [1], "notes": {}}', "work/submissions/ada/x/work.json": "{}", "work/submissions/eve/1/work.json": "[" * 50_000,
    }  # fmt: skip
    for name, given in words.items():
        yield Try("classroom, by hand", name, ("classroom", *given), beside)


def _zip(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()


def _workshops() -> Iterator[Try]:
    words: dict[str, tuple[str, ...]] = {
        "a workshop of nobody": ("workshop", "30min"), "a workshop that is a path": ("workshop", "../../x"), "a workshop with a NUL": ("workshop", "a\0b"), "onto a file of mine": ("workshop", "90min", "--to", "{}/mine"), "onto a folder": ("workshop", "90min", "--to", "{}"), "plan B onto a file": ("workshop", "90min", "--to", "{}/new.ipynb", "--plan-b", "{}/mine"),
        "cards onto a file": ("cards", "--out", "{}/mine"), "cards below a file": ("cards", "--out", "{}/mine/x", "--svg"), "a bundle onto a folder": ("bundle", "--out", "{}", "--without-spark"), "a bundle below a file": ("bundle", "--out", "{}/mine/x.zip", "--without-spark"), "a bundle in /proc": ("bundle", "--out", "/proc/x.zip", "--without-spark"),
        "a doctor with words": ("doctor", "now"),
    }  # fmt: skip
    for name, given in words.items():
        yield Try("workshop, by hand", name, given, {"mine": "mine"})


def _searches() -> Iterator[Try]:
    words: dict[str, tuple[str, ...]] = {
        "count of zero": ("--count", "0"), "count below zero": ("--count", "-1"), "a seed below zero": ("--count", "1", "--seed", "-1"), "a seed of 60 digits": ("--count", "1", "--seed", "9" * 60), "out that is a file": ("--count", "1", "--out", "{}/mine"), "out in /proc": ("--count", "1", "--out", "/proc/x"), "a scenario that is missing": ("{}/gone.yaml", "--count", "1"),
        "a scenario that cannot run": ("{}/bad.yaml", "--count", "1"), "a scenario of a week": ("{}/week.yaml", "--count", "1"),
    }  # fmt: skip
    files = {
        "mine": "mine",
        "bad.yaml": SCENARIO.replace("end: 5s", "end: x"),
        "week.yaml": SCENARIO.replace("5s", "168h"),
    }
    for name, given in words.items():
        yield Try("search, by hand", name, ("search", *given), files)


def _sweeps() -> Iterator[Try]:
    texts = {
        "no scenarios": "set: {members: [2]}\n", "scenarios of a number": "scenarios: 5\n", "scenarios of a mapping": "scenarios: {a: b}\n", "a scenario in a scenario": "scenarios: [[crash]]\n", "set of a list": "scenarios: [crash]\nset: [members]\n", "a setting of nobody": "scenarios: [crash]\nset: {no.such: [1]}\n", "members of zero": "scenarios: [crash]\nset: {members: [0]}\n",
        "members of text": "scenarios: [crash]\nset: {members: [many]}\n", "members of a billion": "scenarios: [crash]\nset: {members: [1000000000]}\n", "partitions of nan": "scenarios: [crash]\nset: {partitions: [.nan]}\n", "an empty list of values": "scenarios: [crash]\nset: {members: []}\n", "values of lists": "scenarios: [crash]\nset: {members: [[2]]}\n",
        "seeds of text": "scenarios: [crash]\nseeds: many\n", "seeds of zero": "scenarios: [crash]\nseeds: 0\n", "seeds of a date": "scenarios: [crash]\nseeds: [2026-01-01]\n", "freezes below zero": "scenarios: [crash]\nset: {freezes: [-1]}\n", "seeds of true": "scenarios: [crash]\nseeds: true\n", "a protocol of nobody": "scenarios: [crash]\nprotocols: [raft]\n", "protocols of a number": "scenarios: [crash]\nprotocols: 5\n",
        "a path out of the folder": "scenarios: [../../../etc/passwd]\n", "a million settings": f"scenarios: [crash]\nset: {{members: [{', '.join(['2'] * 50_000)}], partitions: [{', '.join(['2'] * 50_000)}]}}\n", "a number for a name": "scenarios: [crash]\nset: {5: [1]}\n", "a date for a value": "scenarios: [crash]\nset: {members: [2026-01-01]}\n",
    }  # fmt: skip
    for name, text in texts.items():
        yield Try("sweep, by hand", name, ("sweep", "{}/w.yaml"), {"w.yaml": text})


def _assignors() -> Iterator[Try]:
    good = {"assignor": "range", "topics": {"t": 2}, "members": [{"member_id": "a", "topics": ["t"]}]}
    cases: dict[str, Any] = {
        "partitions below zero": {**good, "topics": {"t": -1}}, "partitions of half": {**good, "topics": {"t": 1.5}}, "partitions of 2 to the 31st": {**good, "topics": {"t": 2**31}}, "partitions of 30 million": {**good, "topics": {"t": 30_000_000}}, "topics of a list": {**good, "topics": ["t"]}, "members of a mapping": {**good, "members": {"a": 1}},
        "a member twice": {**good, "members": good["members"] * 2}, "a member without a name": {**good, "members": [{"topics": ["t"]}]}, "an assignor of a list": {**good, "assignor": ["range"]}, "an assignor of nobody": {**good, "assignor": "rnage"}, "a generation below zero": {**good, "max_generation": -9}, "expected of a list": {**good, "expected": [1]}, "racks of text": {**good, "replica_racks": "a"},
    }  # fmt: skip
    for name, case in cases.items():
        yield Try("assign, by hand", name, ("assign", "{}/c.json"), {"c.json": json.dumps([case])})
    for name, text in {
        "nan": "[NaN]",
        "a number": "5",
        "an empty list": "[]",
        "an empty object": "{}",
        "100,000 nulls": f"[{', '.join(['null'] * 100_000)}]",
        "a BOM": "\ufeff[]",
        "two documents": "[][]",
    }.items():
        yield Try("assign, by hand", name, ("assign", "{}/c.json"), {"c.json": text})


def _replays() -> Iterator[Try]:
    heads: dict[str, str] = {
        "an empty object": "{}", "steps of nothing": '{"steps": []}', "steps of a number": '{"steps": 5}', "a step of a number": '{"steps": [5]}', "a step without a time": '{"steps": [{"do": "start"}]}', "a step at infinity": '{"steps": [{"t": Infinity, "do": "start", "member": "c1"}]}', "a step at 10 to the 300": f'{{"steps": [{{"t": {10**300}, "do": "start", "member": "c1"}}]}}',
        "a step of a member that is a list": '{"steps": [{"t": 1, "do": "start", "member": ["c1"], "configs": {}}]}', "configs of a list": '{"steps": [{"t": 1, "do": "start", "member": "c1", "configs": []}]}', "deep": "[" * 90_000, "half": '{"steps": [',
    }  # fmt: skip
    for name, text in heads.items():
        yield Try(
            "replay, by hand",
            name,
            ("replay", "{}/r", "--draws", "1"),
            {"r/run.json": text, "r/broker.log": _LINE},
        )
    yield Try("replay, by hand", "draws of zero", ("replay", "{}/r", "--draws", "0"), {"r/run.json": "{}"})


def _variables() -> Iterator[Try]:
    run, quiz = ("run", "crash", "--one-run"), ("answers", "report")
    tries: dict[str, tuple[tuple[str, ...], Mapping[str, str]]] = {
        "seconds of text": (run, {"REBALANCE_KIT_MOST_SECONDS": "many"}), "seconds of nothing": (run, {"REBALANCE_KIT_MOST_SECONDS": ""}), "seconds below zero": (run, {"REBALANCE_KIT_MOST_SECONDS": "-1"}), "seconds of nan": (run, {"REBALANCE_KIT_MOST_SECONDS": "nan"}), "seconds of infinity": (run, {"REBALANCE_KIT_MOST_SECONDS": "inf"}),
        "a store that is a folder": (quiz, {"REBALANCE_KIT_ATTEMPTS": "{}"}), "a store of nothing": (quiz, {"REBALANCE_KIT_ATTEMPTS": ""}), "a store with a newline": (quiz, {"REBALANCE_KIT_ATTEMPTS": "{}/a\nb.sqlite"}), "a store with half a letter": (quiz, {"REBALANCE_KIT_ATTEMPTS": "{}/\udcff.sqlite"}), "a store of 5,000 letters": (quiz, {"REBALANCE_KIT_ATTEMPTS": "{}/" + "a" * 5000}),
        "a store that is a device": (quiz, {"REBALANCE_KIT_ATTEMPTS": "/dev/null"}), "a store that is a pipe of itself": (quiz, {"REBALANCE_KIT_ATTEMPTS": "file:memory?mode=memory"}), "a learner with a slash": (("exercise", "start", "13", "--folder", "{}/w"), {"REBALANCE_KIT_LEARNER": "../x"}), "a learner with half a letter": (("exercise", "start", "13", "--folder", "{}/w"), {"REBALANCE_KIT_LEARNER": "\udcff"}),
        "a course with a newline": (("exercise", "start", "13", "--folder", "{}/w", "--learner", "ada"), {"REBALANCE_KIT_COURSE": "a\nb"}), "a cache that is a file": (run, {"XDG_CACHE_HOME": "{}/mine"}), "a home that is missing": (("answers", "report"), {"HOME": "/no/such/home", "REBALANCE_KIT_ATTEMPTS": ""}), "data that is a file": (("answers", "report"), {"XDG_DATA_HOME": "{}/mine", "REBALANCE_KIT_ATTEMPTS": ""}),
        "no colours of no width": (run, {"COLUMNS": "0", "NO_COLOR": ""}), "a width below zero": (run, {"COLUMNS": "-5"}), "a width of text": (run, {"COLUMNS": "wide"}), "a width of a billion": (("--help",), {"COLUMNS": "1000000000"}), "Java that is none": (("doctor",), {"JAVA_HOME": "/no/such/java"}), "Java that is a file": (("doctor",), {"JAVA_HOME": "{}/mine"}), "Java that is no UTF-8": (("doctor",), {"JAVA_HOME": "/\udcff"}),
    }  # fmt: skip
    for name, (words, variables) in tries.items():
        yield Try("variables, by hand", name, words, {"mine": "mine"}, variables)


def _words() -> Iterator[Try]:
    words: dict[str, tuple[str, ...]] = {
        "no command": (), "a command of nobody": ("rnu",), "an empty command": ("",), "a command with an escape": ("\x1b[31mrun",), "half a letter": ("\udcff",), "debug alone": ("--debug",), "a flag of nobody": ("run", "crash", "--fast"), "explain nothing": ("explain", ""), "explain a path": ("explain", "../../x"), "explain 9,000 letters": ("explain", "x" * 9000),
        "explain since nothing": ("explain", "rebalance", "--since", ""), "explain since 99": ("explain", "rebalance", "--since", "99.0"), "explain with an escape": ("explain", "\x1b[31m"), "scenarios with a word": ("scenarios", "x"),
    }  # fmt: skip
    for name, given in words.items():
        yield Try("words, by hand", name, given)
