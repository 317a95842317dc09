"""Attacks by somebody who has read the kit: notebooks, archives, links, votes, logs and configuration, each through the command that meets it.

Of each: nothing is read or written outside the folder that the command was given, no status says a defect, and what is told or
written holds no control character, no script and nothing of what an attacker hid.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import hashlib
import io
import json
import os
import re
import socket
import stat
import struct
import subprocess
import sys
import tarfile
import threading
import time
import zipfile
import zlib
from base64 import urlsafe_b64encode
from copy import deepcopy
from types import SimpleNamespace
from urllib.request import urlopen

import pytest

from rebalance_kit.cli import WRITTEN, _parser
from rebalance_kit.forensics import tellers
from rebalance_kit.live.inspection import look as looking
from rebalance_kit.quiz.sittings.poll import MOST_VOTERS, Ballot, PollCount, write_code
from rebalance_kit.quiz.sittings.store import Store
from tests.support.bad_input.command import ended

pytestmark = pytest.mark.timeout(60)

ESCAPE = "\x1b]0;EVIL\x07\x1b[31m\u202e"
SCRIPT = "<script>alert(1)</script>"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
SECRET = "TOPSECRET"
ROOTED = "/var/tmp/rebalance-kit-attack.log"  # noqa: S108 - what an attacker aims at


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder to work in; beside it a home and another's work, which nothing may touch."""
    for name in ("home/.ssh/id_test", "course/submissions/zed/1/answer.py"):
        file = tmp_path / "outside" / name
        file.parent.mkdir(parents=True)
        file.write_text(f"{SECRET} {name}\n", "utf-8")
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("REBALANCE_KIT_ATTEMPTS", str(here / "answers.sqlite"))
    before = digest(tmp_path / "outside")
    yield here
    assert digest(tmp_path / "outside") == before
    assert sorted(one.name for one in tmp_path.iterdir()) == ["here", "outside"]


def digest(folder):
    """Names, kinds and bytes below a folder."""
    return {
        str(path): (path.lstat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in folder.rglob("*")
    }


def attempt(place, *words, given=()):
    """Run the command; look at what it told and at the files that it wrote."""
    result = ended(*words)
    assert result.status in {0, 1, 2, 3}, result.error[-400:]
    texts = [result.out, result.error]
    for path in place.rglob("*"):
        inside = path.relative_to(place).as_posix()
        if path.is_file() and not path.is_symlink() and not inside.startswith(("in/", "logs/", *given)):
            data = path.read_bytes()
            assert SECRET.encode() not in data, inside
            if path.suffix in {".md", ".yaml", ".svg", ".txt", ".csv", ".json", ".ipynb"}:
                texts.append(data.decode("utf-8"))
            if path.suffix == ".html":  # a browser acts on no control character
                assert b"Content-Security-Policy" in data
            if path.suffix in {".html", ".md", ".svg"}:
                shown = [line for line in data.decode("utf-8").splitlines() if not line.startswith(" " * 4)]
                assert not [line for line in shown if SCRIPT in line], inside  # beside blocks of code
    for text in texts:
        assert SECRET not in text
        assert CONTROL.search(text) is None, CONTROL.search(text)
    return result


# --- notebooks -------------------------------------------------------------------------------
WIDGET = {"application/vnd.jupyter.widget-state+json": {"state": {"m": {"state": {"_esm": "EVIL"}}}}}
CODE = {"cell_type": "code", "metadata": {}, "source": "x = 1", "outputs": [], "execution_count": None}


def cell(**more):
    return {"cells": [{**CODE, **more}]}


def output(kind, **more):
    return cell(outputs=[{"output_type": "display_data", "metadata": {}, "data": {kind: "EVIL"}, **more}])


NOTEBOOKS = {
    "saved widgets": {"metadata": {"widgets": WIDGET}},
    "saved widgets of a cell": cell(metadata={"widgets": WIDGET}),
    "a view of a widget": output("application/vnd.jupyter.widget-view+json"),
    "HTML": output("text/html"),
    "a script": output("application/javascript"),
    "a drawing": output("image/svg+xml"),
    "a mime bundle of an extension": output("application/vnd.evil.v1+json"),
    "an error with escapes": cell(
        outputs=[{"output_type": "error", "ename": "EVIL", "evalue": ESCAPE, "traceback": [ESCAPE]}]
    ),
    "a stream": cell(outputs=[{"output_type": "stream", "name": "stdout", "text": "EVIL" + ESCAPE}]),
    "an attachment": {
        "cells": [
            {"cell_type": "markdown", "metadata": {}, "source": "x", "attachments": {"a": {"t": "EVIL"}}}
        ]
    },
    "a kernel of its own": {"metadata": {"kernelspec": {"name": "EVIL", "argv": ["EVIL"]}}},
    "a language of its own": {"metadata": {"language_info": {"name": "EVIL", "codemirror_mode": "EVIL"}}},
    "a signature": {"metadata": {"signature": "EVIL", "trusted": True}},
    "a trusted cell": cell(metadata={"trusted": True, "EVIL": 1}),
    "a cell of a kind of its own": {"cells": [{"cell_type": "EVIL", "source": "EVIL", "metadata": {}}]},
    "a raw cell as HTML": {
        "cells": [{"cell_type": "raw", "source": "x", "metadata": {"raw_mimetype": "EVIL"}}]
    },
    "worksheets of format 3": {"nbformat": 3, "worksheets": [{"cells": [{"input": "EVIL"}]}]},
    "an execution count": cell(execution_count="EVIL"),
    "an id": cell(id=f"EVIL{SCRIPT}"),
    "a list of nothing": {"cells": [None, 1, "EVIL", [], {}]},
    "keys of its own": {"EVIL": WIDGET, "nbformat_minor": "EVIL"},
    "80,000 cells": {"cells": [CODE] * 80_000},
}


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_of_a_notebook_the_cells_alone_are_kept_and_opened(name, place):
    folder = place / "in" / "eve"
    folder.mkdir(parents=True)
    whole = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [CODE], **NOTEBOOKS[name]}
    (folder / "x.ipynb").write_text(json.dumps(whole), "utf-8")
    assert attempt(place, "classroom", "collect", "in", "--to", "out").status == 0
    attempt(place, "classroom", "open", "in/eve/x.ipynb", "--to", "copies", "--no-browser")
    kept = [path.read_text("utf-8") for top in ("out", "copies") for path in (place / top).rglob("*.ipynb")]
    assert len(kept) == 2
    assert not [text for text in kept if "EVIL" in text]


# --- archives --------------------------------------------------------------------------------
LINE = (
    b"[2026-01-05 09:00:00,000] INFO [GroupCoordinator id=0] x (kafka.coordinator.group.GroupCoordinator)\n"
)


def zipped(*members):
    """A zip of names, contents and Unix modes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data, mode in members:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            archive.writestr(info, data)
    return packed.getvalue()


def tarred(name="a.log", kind=tarfile.REGTYPE, link="", data=LINE, **headers):
    """A tar of one member."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo(name)
        info.type, info.linkname, info.pax_headers = kind, link, headers
        info.size = len(data) if kind == tarfile.REGTYPE else 0
        archive.addfile(info, io.BytesIO(data))
        more = tarfile.TarInfo("b.log")
        more.size = len(LINE)
        archive.addfile(more, io.BytesIO(LINE))
    return packed.getvalue()


def sized(size):
    """A zip whose entry claims another size."""
    data = bytearray(zipped(("a.log", LINE, 0o644)))
    at = data.index(b"PK\x01\x02")
    struct.pack_into("<I", data, at + 24, size)
    return bytes(data)


KEY = "../outside/home/.ssh/id_test"
ARCHIVES = {
    "a path that climbs": ("a.zip", zipped(("../outside/new.log", LINE, 0o644))),
    "a path of another system that climbs": ("a.zip", zipped(("..\\outside\\new.log", LINE, 0o644))),
    "an absolute path": ("a.zip", zipped((f"/../{ROOTED}", LINE, 0o644))),
    "a drive": ("a.zip", zipped(("C:\\new.log", LINE, 0o644))),
    "a link to a key": ("a.zip", zipped(("a.log", KEY, stat.S_IFLNK | 0o777))),
    "a name of escapes": ("a.zip", zipped((f"{ESCAPE}.log", LINE, 0o644))),
    "a name of a script": ("a.zip", zipped((f"{SCRIPT}.log", LINE, 0o644))),
    "a name of 5,000 letters": ("a.zip", zipped(("x" * 5_000 + ".log", LINE, 0o644))),
    "a file and a folder of one name": (
        "a.zip", zipped(("a.log", LINE, 0o644), ("a.log/b.log", LINE, 0o644)),
    ),
    "one name twice": ("a.zip", zipped(("a.log", LINE, 0o644), ("./a.log", LINE, 0o644))),
    "an entry that claims four gigabytes": ("a.zip", sized(2**32 - 2)),
    "an entry that claims nothing": ("a.zip", sized(0)),
    "set-uid": ("a.zip", zipped(("a.log", LINE, stat.S_IFREG | 0o4777))),
    "a gzip in a zip of zeros": ("a.zip", zipped(("a.log.gz", gzip.compress(bytes(100_000_000), 1), 0o644))),
    "a zip that holds itself as its name": ("a.zip", zipped(("a.zip", zipped(("a.zip", b"PK", 0o644)), 0o644))),
    "a tar whose path climbs": ("a.tar", tarred("../outside/new.log")),
    "a tar with an absolute path": ("a.tar", tarred(ROOTED)),
    "a tar with a link to a key": ("a.tar", tarred(kind=tarfile.SYMTYPE, link=KEY)),
    "a tar with a hard link to a key": ("a.tar", tarred(kind=tarfile.LNKTYPE, link=KEY)),
    "a tar with a link to a folder, and a file in it": (
        "a.tar", tarred("a", tarfile.SYMTYPE, "../outside") + tarred("a/new.log"),
    ),
    "a tar with a device": ("a.tar", tarred(kind=tarfile.CHRTYPE)),
    "a tar with a pipe": ("a.tar", tarred(kind=tarfile.FIFOTYPE)),
    "a tar whose header renames": ("a.tar", tarred(path="../outside/new.log")),
    "a tar whose header claims a size": ("a.tar", tarred(size=str(2**62))),
    "a gzip that names a path": (
        "a.log.gz",
        b"\x1f\x8b\x08\x08\0\0\0\0\0\3../outside/new.log\0" + zlib.compress(LINE)[2:-4]
        + struct.pack("<II", zlib.crc32(LINE), len(LINE)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_writes_and_reads_nothing_elsewhere(name, place):
    file, data = ARCHIVES[name]
    (place / "in").mkdir()
    (place / "in" / file).write_bytes(data)
    attempt(place, "logs", f"in/{file}", "--markdown", "o.md")
    if file.endswith(".zip"):
        attempt(place, "classroom", "collect", "in", "--to", "out")
    assert not os.path.lexists(ROOTED)


# --- links -----------------------------------------------------------------------------------
SMALL = "scenario: s\ntopics: {t: 2}\nmembers: [{name: c1, topics: [t]}]\nend: 5s\n"


def token(content, raw=None):
    """A link as the lab would make it, of any content."""
    data = raw if raw is not None else zlib.compress(json.dumps(content).encode())
    packed = urlsafe_b64encode(data).rstrip(b"=").decode()
    return f"rk1.{hashlib.blake2b(packed.encode(), digest_size=5).hexdigest()}.{packed}"


def link(scenario=SMALL, **more):
    return token({"scenario": scenario, "at": 0, **more})


def deed(**more):
    return link(deeds=[{"at": 1000, "do": "crash", "member": "c1", **more}])


LINKS = {
    "a gigabyte of zeros": token(None, zlib.compress(bytes(10_000_000))),
    "what follows the data": token(None, zlib.compress(json.dumps({"scenario": SMALL}).encode()) + b"EVIL"),
    "brackets": token(None, zlib.compress(b"[" * 200_000)),
    "YAML that constructs": link('scenario: !!python/object/apply:os.system ["touch ../outside/new"]\n'),
    "YAML aliases": link("a: &a [x, x]\nb: [*a, *a]\n" + SMALL),
    "a scenario that is named as a path": link(SMALL.replace("scenario: s", "scenario: ../../outside/new")),
    "a member of escapes": link(SMALL.replace("c1", json.dumps(ESCAPE))),
    "a member that is a script": link(SMALL.replace("c1", json.dumps(SCRIPT))),
    "a title that is a script": link(SMALL + f"title: {json.dumps(SCRIPT + ESCAPE)}\n"),
    "a million members": link(SMALL.replace("name: c1", "prefix: c, count: 1000000")),
    "a million partitions": link(SMALL.replace("t: 2", "t: 1000000")),
    "a thousand years": link(SMALL.replace("5s", "8760000h")),
    "a moment of 5,000 digits": token(
        None, zlib.compress(b'{"scenario": "s", "at": 1' + b"0" * 5_000 + b"}")
    ),
    "a moment that is none": token(None, zlib.compress(json.dumps({"scenario": SMALL}).encode()[:-1] + b', "at": NaN}')),
    "an assignor that is a path": link(assignor="../../outside/new"),
    "an assignor that is a module": link(assignor="os:system"),
    "a protocol that is no text": link(protocol={"__class__": "x"}),
    "a seed of 400 digits": link(seed=10**400),
    "a deed that calls": deed(do="__import__"),
    "a deed of private names": deed(do="__init__", __class__="x"),
    "a deed of a member that is a path": deed(member="../../outside"),
    "a deed that lasts for ever": deed(do="freeze", **{"for": "999999999999999h"}),
    "a deed that starts a million": deed(do="start", count=1_000_000),
    "halves of letters": token(None, zlib.compress(b'{"scenario": "\\ud800"}')),
}  # fmt: skip


@pytest.mark.parametrize("name", LINKS)
def test_a_link_is_data(name, place):
    attempt(place, "lab", LINKS[name], "--text")
    attempt(place, "lab", LINKS[name], "--html", "o.html")


# --- votes -----------------------------------------------------------------------------------
ITEM, ROOM = "eager-crash-which-unread", "k2m4p"


def vote(voter="00000001", answer="a", number=1, room=ROOM, poll=ITEM):
    return write_code(Ballot(poll, number, voter, answer), room)


VOTES = {
    "a code of another room": vote(room="zzzzz"),
    "a voter that is a path": vote("../../outside"),
    "a voter of other digits": vote("\u0661\u0661\u0661\u0661"),
    "a voter that is a script": vote(SCRIPT),
    "an answer that is a list": vote(answer="a,b"),
    "an answer of no letter": vote(answer=""),
    "a poll that is a path": vote(poll="../../outside"),
    "a round that is none": vote(number=9),
    "the second round before it is open": vote(number=2),
    "five parts": vote("00000001/1"),
    "a code of 3,000 letters": vote("1" * 3_000),
    "a code cut off": vote()[:-3],
    "a code with a letter changed": vote()[:-1] + "A",
    "100,000 damaged codes": "rkv2.0000000000.AAAA " * 40_000,
}


@pytest.fixture
def poll(place):
    (place / "in").mkdir()
    return PollCount(ITEM, folder=place / "in", store=Store(place / "answers.sqlite"), room=ROOM)


@pytest.mark.parametrize("name", VOTES)
def test_a_vote_that_is_none_counts_for_nobody(name, poll):
    assert poll.take(VOTES[name]) == 0
    (poll.folder / "a.vote").write_text(VOTES[name], "utf-8")
    assert poll.collect() == 0
    assert poll.page()["votes"] == 0
    assert SCRIPT not in json.dumps(poll.page()["refused"])


def test_files_that_are_no_votes_are_neither_waited_for_nor_read(poll, place):
    os.mkfifo(poll.folder / "a.vote")
    (poll.folder / "b.vote").symlink_to("/dev/zero")
    (poll.folder / "c.vote").symlink_to(place / KEY)
    (poll.folder / "d.vote").mkdir()
    (poll.folder / "e.vote").write_bytes(b"\xff" * 5_000_000)
    (poll.folder / "f.vote").write_text(vote(), "utf-8")
    assert poll.collect() == 1
    assert SECRET not in json.dumps(poll.page())


def test_another_way_changes_no_vote_and_a_flood_ends(poll):
    poll.enter(Ballot(ITEM, 1, "00000001", "b"), "phone")
    assert poll.take(vote()) == 0
    assert poll.counts(1)["b"] == 1
    flood = " ".join(vote(f"{number:08x}") for number in range(2, MOST_VOTERS + 200))
    assert poll.take(flood) == MOST_VOTERS - 1
    assert poll.page()["votes"] == MOST_VOTERS


@pytest.mark.parametrize("words", [("../../outside/x", ROOM), (ITEM, "../../outside"), (ESCAPE, ROOM)])
def test_a_vote_is_written_to_its_folder_alone(words, place):
    assert attempt(place, "vote", *words, "--folder", ".").status == 2


# --- logs, and what is set beside them -------------------------------------------------------
@pytest.fixture(scope="module")
def crash(tmp_path_factory):
    """The files of a small scenario."""
    folder = tmp_path_factory.mktemp("crash") / "logs"
    assert ended("make-logs", "crash", "--out", folder, "--seed", "1", "--noise", "0").status == 0
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def other(old, new):
    return lambda text: text.replace(old, new)


def setting(value):
    return lambda text: re.sub(rb"session\.timeout\.ms = \d+", b"session.timeout.ms = " + value, text)


HOSTILE = (SCRIPT + ESCAPE + "|`x`").encode()
LOGS = {
    "a group of escapes and a script": other(b"orders-app", HOSTILE),
    "a group of 100,000 letters": other(b"orders-app", b"g" * 100_000),
    "a group that ends a line of YAML": other(b"orders-app", "g\u2028topics: {evil: 1}\u0085x: y".encode()),
    "a group that ends a comment and a fence": other(b"orders-app", b"--> ``` # g"),
    "a client of escapes and a script": other(b"consumer-1", HOSTILE),
    "a client that is a path": other(b"consumer-1", b"../../outside/new"),
    "a topic of escapes": other(b"orders-", b"o\x1b[31m-"),
    "bytes that are no text": other(b"orders-app", b"\xff\xfe\xc0\xaf"),
    "a partition of 5,000 digits": other(b"orders-1", b"orders-" + b"9" * 5_000),
    "a partition of other digits": other(b"orders-1", "orders-\u00b2".encode()),
    "a session of 5,000 digits": setting(b"9" * 5_000),
    "a session of escapes": setting(b"1\x1b[31m"),
    "a session below nothing": setting(b"-5"),
    "a value of blanks": setting(b" " * 100_000 + b"x"),
    "a generation of 5,000 digits": other(b"generation ", b"generation " + b"9" * 5_000),
    "the year 9999": other(b"[2026-", b"[9999-"),
    "no line ends": other(b"\n", b" "),
    "brackets": other(b"[GroupCoordinator", b"[" * 5_000 + b"[GroupCoordinator"),
    "members that name no cluster": other(b"] ", b"groupId=" * 200 + b"] "),
}


@pytest.mark.parametrize("name", LOGS)
def test_a_log_is_told_and_runs_nothing(name, crash, place):
    (place / "logs").mkdir()
    for file, text in crash.items():
        (place / "logs" / file).write_bytes(LOGS[name](text))
    attempt(place, "logs", "logs", "--all")
    attempt(place, "logs", "logs", "--markdown", "o.md")
    attempt(
        place,
        "what-if",
        "logs",
        "--draws",
        "2",
        "--seconds",
        "1",
        "--scenario",
        "o.yaml",
        "--markdown",
        "w.md",
    )


EVENT = {"time": "2026-01-05T09:00:10Z"}
BESIDE = {
    "events of escapes": ("e.csv", f"2026-01-05T09:00:10Z,{SCRIPT}{ESCAPE}\n"),
    "events of halves of letters": ("e.json", json.dumps({**EVENT, "text": "\ud800" + SCRIPT})),
    "events of 5,000 digits": ("e.json", '{"time": 1' + "0" * 5_000 + "}"),
    "events of brackets": ("e.json", "[" * 100_000),
    "names of brackets": ("a.properties", "a" + "[" * 100_000 + "=1\n"),
    "100,000 lines": ("a.properties", "a=1\n" * 100_000),
    "40,000 documents": ("a.yaml", "---\na: 1\n" * 40_000),
    "files in files": ("a.yaml", "".join(" " * at + "yaml: |\n" for at in range(300))),
    "a value of escapes": ("a.properties", f"group.instance.id={ESCAPE}\nsession.timeout.ms=45000\n"),
    "a key of escapes": ("a.yaml", f"{json.dumps(ESCAPE + SCRIPT)}:\n  session.timeout.ms: 10000\n"),
    "a value of 5,000 digits": ("a.properties", f"session.timeout.ms={'9' * 5_000}\n"),
    "a tag": ("a.yaml", '!!python/object/apply:os.system ["touch ../outside/new"]\n'),
    "an alias of aliases": (
        "a.yaml",
        "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{f'*a{n - 1}, ' * 9}]\n" for n in range(1, 12)),
    ),
    "an alias inside itself": ("a.yaml", "spec: &a {template: *a, list: [*a, *a]}\n"),
    "an anchor of nobody": ("a.yaml", "spec: *none\n"),
    "maps that merge themselves": ("a.yaml", "a: &a {<<: *a, replicas: 2}\nb: {<<: [*a, *a]}\n"),
    "an alias in the environment": (
        "a.yaml",
        "kind: Deployment\nx: &x [a, b]\nspec: {replicas: *x, template: {spec: {containers: *x}}}\n",
    ),
    "replicas of 5,000 digits": ("a.yaml", "kind: Deployment\nspec: {replicas: " + "9" * 5_000 + "}\n"),
    "replicas below nothing": ("a.yaml", "kind: Deployment\nspec: {replicas: -5}\n"),
    "a workload of escapes": (
        "a.yaml",
        json.dumps({"kind": "Deployment", "metadata": {"name": ESCAPE + SCRIPT}, "spec": {"replicas": 2}}),
    ),
    "placeholders in placeholders": ("a.properties", f"session.timeout.ms={'${a:' * 100_000}\n"),
}


@pytest.mark.parametrize("name", BESIDE)
def test_events_and_configuration_are_data(name, crash, place):
    file, text = BESIDE[name]
    (place / file).write_text(text, "utf-8")
    if name.startswith("events"):
        (place / "logs").mkdir()
        (place / "logs" / "broker.log").write_bytes(crash["broker.log"])
        attempt(place, "logs", "logs", "--events", file, "--all", given=(file,))
        attempt(place, "logs", "logs", "--events", file, "--markdown", "o.md", given=(file,))
    else:
        attempt(place, "check-config", file, given=(file,))
        attempt(
            place, "plan-deploy", file, "--draws", "2", "--seconds", "1", "--markdown", "o.md", given=(file,)
        )


@pytest.mark.parametrize(
    "words", [("logs", "logs", "--events"), ("check-config",), ("what-if",), ("plan-deploy",)]
)
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_is_no_file_is_not_waited_for(words, kind, crash, place):
    (place / "logs").mkdir()
    (place / "logs" / "broker.log").write_bytes(crash["broker.log"])
    os.mkfifo(place / "a.yaml") if kind == "pipe" else (place / "a.yaml").symlink_to("/dev/zero")
    assert attempt(place, *words, "a.yaml").status == 2


@pytest.mark.parametrize(
    "address", ["127.0.0.1:" + "9" * 5_000, "65536", "host.invalid:x", f"{ESCAPE}:1", ":"]
)
def test_a_watch_refuses_an_address_that_is_none(address, place):
    pytest.importorskip("prometheus_client", reason="prometheus_client is not installed")
    (place / "a.log").write_bytes(LINE)
    assert attempt(place, "watch", "a.log", "--idle", "0.1", "--metrics", address).status == 2


# --- what is read is not written over --------------------------------------------------------
PLAN = "kind: Deployment\nspec: {replicas: 2}\n"
OVER = {
    "a log as the postmortem": ("logs", "a.log", "--markdown", "a.log"),
    "a log by another path": ("logs", "a.log", "--markdown", "../here/./a.log"),
    "a log by a link": ("logs", "a.log", "--markdown", "link.md"),
    "a log by a hard link": ("logs", "a.log", "--markdown", "hard.md"),
    "a log of the folder": ("logs", "folder", "--markdown", "folder/b.log"),
    "events as the postmortem": ("logs", "a.log", "--events", "e.csv", "--markdown", "e.csv"),
    "a log as the section": ("what-if", "a.log", "--draws", "2", "--markdown", "a.log"),
    "a log as the scenario": ("what-if", "a.log", "--draws", "2", "--scenario", "a.log"),
    "a log as the page": ("what-if", "a.log", "--draws", "2", "--page", "a.log"),
    "a scenario as the next one": ("what-if", "s.yaml", "--draws", "2", "--scenario", "s.yaml"),
    "a manifest as the plan": ("plan-deploy", "d.yaml", "--draws", "2", "--markdown", "d.yaml"),
    "a scenario as an animation": ("lab", "s.yaml", "--html", "s.yaml"),
    "a scenario as a notebook": ("lab", "s.yaml", "--notebook", "s.yaml"),
    "a scenario as the shortest": ("search", "s.yaml", "--count", "1", "--out", "s.yaml"),
    "a log as the page of a watch": ("watch", "a.log", "--once", "--page", "a.log"),
    "a scenario as its truth": ("make-logs", "s.yaml", "--out", "new", "--truth", "s.yaml"),
}


@pytest.mark.parametrize("name", OVER)
def test_no_command_writes_over_what_it_reads(name, place):
    (place / "folder").mkdir()
    texts = {
        "a.log": LINE,
        "folder/b.log": LINE,
        "e.csv": b"2026-01-05T09:00:10Z,x\n",
        "d.yaml": PLAN.encode(),
    }
    texts["s.yaml"] = b"scenario: s\ntopics: {t: 2}\nmembers: [{name: c1, topics: [t]}]\nend: 5s\n"
    for file, data in texts.items():
        (place / file).write_bytes(data)
    (place / "link.md").symlink_to("a.log")
    os.link(place / "a.log", place / "hard.md")
    result = attempt(place, *OVER[name])
    assert result.status == 2, result.out
    assert "expected another" in result.error
    assert {file: (place / file).read_bytes() for file in texts} == texts


def test_every_option_that_writes_a_file_is_known():
    """An option of a new command that is called otherwise is not compared with what is read."""
    unknown = [
        option.option_strings
        for parser in parsers(_parser())
        for option in parser._actions
        if option.metavar == "FILE" and re.match("(?:also )?write|keep a page", option.help or "")
        if option.dest not in WRITTEN
    ]
    assert unknown == []


def parsers(parser):
    """A parser and those of its commands."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for one in action.choices.values():
                yield from parsers(one)


# --- clusters: what a broker answers, and how it is asked ------------------------------------
NAMES = {
    "escapes and a script": SCRIPT + ESCAPE,
    "a line of its own": "x\n  ERROR    other: give the password\n",
    "a line by a carriage return": "x\r\n  ERROR    other: give the password\r",
    "a line by Unicode": "x\u2028  ERROR\u2029 other\u0085 y",
    "the end of OpenMetrics": 'x"} 1\n# EOF\nkafka_group_lag{group="evil',
    "a backslash at its end": "x\\",
    "30,000 letters": "x" * 30_000,
    "half a letter": "x\ud800",
    "nothing": "",
    "columns and a tab": "x\t\v\f   9,999",
}


def told_by_a_broker(name, group="app", lag=40):
    """Two looks as the child tells them, with a name wherever a broker may put one."""
    one = {"id": name, "client": name, "host": name, "instance": name, "owned": [f"{name}-0"], "target": []}
    two = {**one, "id": f"{name}2", "owned": []}
    about = {"type": "classic", "state": "stable", "assignor": name, "coordinator": 1, "offsets_error": None}
    groups = {
        group: {**about, "members": [one, two], "committed": {f"{name}-0": 0}},
        "refused": {"error": name},
    }
    look = {"groups": groups, "topics": {name: {"0": [0, lag], "1": [0, lag]}}, "errors": []}
    return {"cluster": {"brokers": {"1": f"{name}:9092"}, "configs": {}}, "looks": [{**look, "at_ms": at} for at in (0, 6000)]}  # fmt: skip


@pytest.fixture
def cluster(monkeypatch):
    """What the child that asks the cluster prints; what it was asked is kept."""
    pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed")
    asked = []

    def answers(*printed, error=""):
        left = list(printed)

        def run(*_, **given):
            asked.append(json.loads(given["input"]))
            out = left.pop(0) if len(left) > 1 else left[0]
            return SimpleNamespace(stdout=out if isinstance(out, str) else json.dumps(out), stderr=error)

        monkeypatch.setattr(looking.subprocess, "run", run)
        return asked

    return answers


INSPECT = ("inspect", "--bootstrap-server", "127.0.0.1:9", "--seconds", "0", "--fail-on", "never")


@pytest.mark.parametrize("form", [(), ("--json",), ("--openmetrics",), ("--watch", "1")])
@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_a_cluster_stays_in_its_line(name, form, cluster, place):
    lines = []
    for said in ("plain", NAMES[name]):
        cluster(*(told_by_a_broker(said + more, said or "app") for more in ("", "!")))
        result = attempt(place, *INSPECT, *form)
        lines.append(result.out.splitlines())
        assert all(map(json.loads, result.out.splitlines() if form == ("--json",) else ()))
    assert len(lines[0]) == len(lines[1])
    if form == ("--openmetrics",):
        assert [line for line in lines[1] if line.startswith("# EOF")] == ["# EOF"]


SETTINGS = {
    "no equals sign": f"sasl.password {SECRET}",
    "a login module without a password": f'sasl.jaas.config=x required username="{SECRET}";',
    "a continued line": f"sasl.jaas.config=x required \\\n password={SECRET};",
    "Java's stores": f"ssl.truststore.location=/x\nssl.truststore.password={SECRET}",
    "a library to load": f"plugin.library.paths=evil\nsasl.password={SECRET}",
    "a program to start": f"sasl.kerberos.kinit.cmd=touch ../outside/new\nsasl.password={SECRET}",
    "an engine to load": "ssl.engine.location=./evil.so",
    "two million bytes": "a=b\n" * 500_000,
    "bytes that are no text": b"a=\xff\xfe\n",
}


@pytest.mark.parametrize("name", SETTINGS)
def test_client_configs_that_are_none_are_refused_unshown(name, cluster, place):
    asked = cluster("never asked")
    text = SETTINGS[name]
    (place / "c").write_bytes(text if isinstance(text, bytes) else text.encode())
    (place / "c").chmod(0o600)
    assert attempt(place, *INSPECT, "--command-config", "c", given=("c",)).status == 2
    assert asked == []


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "nothing"])
def test_client_configs_that_are_no_file_are_not_waited_for(kind, cluster, place):
    asked = cluster("never asked")
    if kind == "pipe":
        os.mkfifo(place / "c")
    elif kind == "device":
        (place / "c").symlink_to("/dev/zero")
    elif kind == "folder":
        (place / "c").mkdir()
    assert attempt(place, *INSPECT, "--command-config", "c").status == 2
    assert asked == []


def test_client_configs_say_how_to_connect_and_not_to_whom(cluster, place):
    asked = cluster(told_by_a_broker("x"))
    (place / "c").write_text("bootstrap.servers=evil:1\nclient.id=\nerror_cb=x\n", "utf-8")
    attempt(place, *INSPECT, "--command-config", "c", given=("c",))
    assert asked[0]["bootstrap"] == "127.0.0.1:9"


BROKEN = [told_by_a_broker(f"no password {SECRET} here"), told_by_a_broker("x")]
BROKEN[1]["looks"][1]["groups"]["app"]["offsets_error"] = f"of {SECRET}"
REPEATED = {
    "in the error": ({"error": f"no such user {SECRET}", "code": "_AUTHENTICATION"}, ""),
    "in the error of a group": (BROKEN[0], ""),
    "in the error of its offsets": (BROKEN[1], ""),
    "in the last words of the client": ("", f"\n{SECRET}\nlast {SECRET}"),
}


@pytest.mark.parametrize("key", ["sasl.password", "ssl.key.password", "sasl.oauthbearer.client.secret"])
@pytest.mark.parametrize("form", [(), ("--json",)])
@pytest.mark.parametrize("name", REPEATED)
def test_a_password_that_a_broker_repeats_is_not_told(name, form, key, cluster, place):
    answer, error = REPEATED[name]
    if name == "in the error of a group":
        answer = deepcopy(answer)
        answer["looks"] = [
            {**one, "groups": {"refused": one["groups"]["refused"]}, "topics": {}} for one in answer["looks"]
        ]
        answer["cluster"]["brokers"] = {}
    cluster(deepcopy(answer), error=error)
    (place / "c").write_text(f"{key}={SECRET}\n", "utf-8")
    (place / "c").chmod(0o600)
    attempt(place, *INSPECT, *form, "--command-config", "c", given=("c",))


def endless(link):
    while True:
        link.sendall(bytes(65_536))


def drip(link):
    while True:
        link.sendall(b"\0")
        time.sleep(0.5)


BROKERS = {
    "never answers": lambda link: link.recv(1) and time.sleep(100),
    "closes at once": lambda link: None,
    "answers rubbish": lambda link: link.sendall(os.urandom(100_000)),
    "answers as a web server": lambda link: link.sendall(
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
    ),
    "announces 2 GB": lambda link: link.sendall(b"\x7f\xff\xff\xff" + bytes(1_000_000)) or time.sleep(100),
    "announces less than nothing": lambda link: link.sendall(b"\xff\xff\xff\xff") or time.sleep(100),
    "never ends": endless,
    "answers a byte at a time": drip,
    "answers escapes": lambda link: link.sendall(b"\0\0\0\x20\0\0\0\1" + ESCAPE.encode() * 3),
}


@pytest.mark.long
@pytest.mark.timeout(150)
def test_a_broker_that_is_none_ends_a_look_in_time_and_in_a_line(place):
    pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed")
    started = {}
    for name, act in BROKERS.items():
        server = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=serve, args=(server, act), daemon=True).start()
        words = ("inspect", "--bootstrap-server", f"127.0.0.1:{server.getsockname()[1]}", "--seconds", "0")
        started[name] = subprocess.Popen(
            [sys.executable, "-m", "rebalance_kit", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )  # fmt: skip
    for name, process in started.items():
        out, error = process.communicate(timeout=120)
        assert (process.returncode, out) == (2, ""), (name, error)
        assert len(error.splitlines()) == 1, name
        assert CONTROL.search(error) is None, name


def serve(server, act):
    while True:
        link, _ = server.accept()
        threading.Thread(target=answered, args=(link, act), daemon=True).start()


def answered(link, act):
    with contextlib.suppress(OSError), link:
        act(link)


# --- a broker of one's own -------------------------------------------------------------------
KEEPER = """
import fcntl, sys, time
held = open(sys.argv[1], "r+")
fcntl.flock(held, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(100)
"""


@pytest.mark.parametrize("whose", ["another's", "rubbish", "a list", "no number"])
def test_a_note_of_another_about_a_broker_ends_no_process(whose, place, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(place / "cache"))
    note = place / "cache" / "rebalance-kit" / "live" / "broker.json"
    note.parent.mkdir(parents=True)
    innocent = subprocess.Popen(["sleep", "100"])
    told = {
        "bootstrap": "h:1",
        "kafka": "4.3.1",
        "pid": innocent.pid,
        "folder": str(place / "none"),
        "log": ESCAPE,
    }
    note.write_text({"rubbish": "{", "a list": "[1]", "no number": json.dumps({**told, "pid": "x"})}.get(whose, json.dumps(told)))  # fmt: skip
    keeper = subprocess.Popen([sys.executable, "-c", KEEPER, note], stdout=subprocess.PIPE)
    try:
        assert keeper.stdout.readline() == b"held\n"
        if whose == "another's":
            if os.getuid() != 0:
                pytest.skip("only root gives a file away")
            os.chown(note, 12_345, 12_345)
        for words in (("status",), ("status", "--json"), ("stop",)):
            attempt(place, "broker", *words)
        assert innocent.poll() is None
    finally:
        for process in (keeper, innocent):
            process.kill()
            process.communicate()


@pytest.mark.parametrize(
    "words", ["a=b\nlisteners=PLAINTEXT://0.0.0.0:9", "a\rb=c", "a=b\\", "=x", "x", f"{ESCAPE}=1\n"]
)
def test_a_config_of_a_broker_is_one_line(words, place, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(place / "cache"))
    monkeypatch.setattr("rebalance_kit.live.background.class_path", lambda *_: "")
    assert attempt(place, "broker", "start", "--config", words).status == 2


@pytest.mark.parametrize(
    "out", ["a file", "a link to another's work", "a link to nowhere", "a folder that is not empty"]
)
def test_a_record_takes_no_place_that_is_taken(out, place, monkeypatch):
    monkeypatch.setattr(
        "rebalance_kit.live.recorder.Broker", lambda *_, **__: pytest.fail("a broker was started")
    )
    target = place / "out"
    if out == "a file":
        target.write_text("x", "utf-8")
    elif out == "a folder that is not empty":
        (target / "x").mkdir(parents=True)
    else:
        target.symlink_to("../outside/course" if "another" in out else "../outside/none/none")
    assert attempt(place, "record", "leave", "--out", "out").status == 2


# --- a watch that tells others ---------------------------------------------------------------
COMMANDS = {
    "sleeps": ("sleep 100", "took longer"),
    "writes without end": ("yes", "took longer"),
    "fails": ("false", "status 1"),
    "kills itself": ("sh -c 'kill -9 $$'", "status -9"),
    "reads nothing": ("sh -c 'exec <&-'", ""),
    "reads one byte": ("head -c 1", ""),
    "is not there": ("./none", "cannot be started"),
    "is a folder": (".", "cannot be started"),
    "may not be run": ("./a.log", "cannot be started"),
    "is for a shell": ("true; touch ../outside/new", "cannot be started"),
    "substitutes": ("echo $(touch ../outside/new) `touch ../outside/new`", ""),
    "writes to its error's end": ("sh -c 'head -c 3000000 /dev/zero >/dev/null; exit 3'", "status 3"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_whatever_a_told_command_does_the_watch_goes_on(name, crash, place, monkeypatch):
    monkeypatch.setattr(tellers.Notify.__init__, "__defaults__", (0.3,))
    (place / "logs").mkdir()
    for file, text in crash.items():
        (place / "logs" / file).write_bytes(text.replace(b"orders-app", HOSTILE.replace(b"\n", b"")))
    (place / "a.log").write_bytes(b"x")
    command, why = COMMANDS[name]
    result = attempt(place, "watch", "logs", "--idle", "0.2", "--notify", command)
    assert result.status in {0, 1}
    assert why in result.error and ("goes on" in result.error) is bool(why)


@pytest.mark.parametrize("command", ["", "  ", "'", '"x'])
def test_a_command_that_is_none_is_refused_before_the_watch_begins(command, place):
    (place / "a.log").write_bytes(LINE)
    assert attempt(place, "watch", "a.log", "--idle", "0.1", "--notify", command).status == 2


@pytest.fixture
def metrics(monkeypatch):
    """Metrics as a watch serves them, with hostile names, and patience for a moment."""
    pytest.importorskip("prometheus_client", reason="prometheus_client is not installed")
    monkeypatch.setattr(tellers, "NOTIFY_S", 0.3)
    made = tellers.Metrics("0")
    for name in NAMES.values():
        row = {
            "group": name.encode("utf-8", "replace").decode(),
            "trigger": name.encode("utf-8", "replace").decode(),
            "start_ms": 1,
        }
        made.tell(SimpleNamespace(rebalances=[row], findings=[]))
    yield made
    made.end(None)


REQUESTS = {
    "silence": b"",
    "half a line": b"GET /metr",
    "rubbish": b"\0\xff" * 500 + b"\r\n\r\n",
    "a path that climbs": b"GET /../../../../etc/passwd HTTP/1.0\r\n\r\n",
    "a header of 100,000 letters": b"GET / HTTP/1.0\r\nX: " + b"x" * 100_000 + b"\r\n\r\n",
    "a header line that never ends": b"GET / HTTP/1.0\r\nX: x",
    "a post": b"POST /metrics HTTP/1.0\r\nContent-Length: 100000000\r\n\r\nx",
    "names without end": b"GET /metrics?" + b"name[]=x&" * 5_000 + b" HTTP/1.0\r\n\r\n",
}


@pytest.mark.parametrize("name", REQUESTS)
def test_whatever_asks_for_metrics_is_answered_or_ended_and_others_are_served(name, metrics):
    with socket.create_connection(("127.0.0.1", metrics.port), timeout=20) as link:
        link.sendall(REQUESTS[name])
        got = b""
        with contextlib.suppress(ConnectionResetError):
            while piece := link.recv(65_536):
                got += piece
    assert b"root:" not in got
    with urlopen(f"http://127.0.0.1:{metrics.port}/metrics", timeout=20) as answer:
        text = answer.read().decode()
    lines = [line for line in text.split("\n") if line.startswith("rebalance_kit_rebalances_total{")]
    assert len(lines) == len(NAMES)
