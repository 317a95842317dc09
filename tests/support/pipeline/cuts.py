"""Windows cut out of recorded runs as people paste them, and what the tool said of them that they do not prove.

A cut is a few lines of one or two files of a run whose truth is known.  ``violations`` asks of everything that was said
whether a line of the cut holds it; what a cut cannot hold is asked of the whole run.
"""

from __future__ import annotations

import io
import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from rebalance_kit.forensics.answer.answer import Answer
from rebalance_kit.forensics.answer.selected import Selected
from rebalance_kit.forensics.look import Look, look

VARIANTS = (
    "plain",
    "plain",
    "plain",
    "missing",
    "no times",
    "docker",
    "compose",
    "systemd",
    "spring",
    "two files",
)

_TIME = re.compile(r"\[?(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d[,.]\d{3})(Z?)\]? *")
_RD_TIME = re.compile(r"(%\d\|)(\d{10}\.\d{3})\|")
_LOGGER = re.compile(r"^(\w+) +(.*) \(([\w.$]+)\)$", re.DOTALL)
#: Lines that name the group as the subject of the line.
_NAMES_GROUP = re.compile(
    r"groupId=orders-app\b|\b[Gg]roup \"?orders-app\b|\bGroupId orders-app\b|\[group ?orders-app\]"
)


#: Whose lines are about groups: other classes of a client name the group, and tell of the network or of fetches.
_ABOUT_GROUPS = re.compile(
    r"(?:Consumer|Abstract|Worker)Coordinator\)?|ConsumerRebalanceListenerInvoker|ConsumerMembershipManager|GroupMetadataManager|GroupCoordinator|Group \"orders-app\""
)


@dataclass
class Cut:
    """Some lines of a run: per file its lines as pasted, and where they stood."""

    name: str
    run: Path
    variant: str
    files: dict[str, list[str]]
    raw: dict[str, list[str]]

    @cached_property
    def text(self) -> str:
        return "\n".join(line for lines in self.files.values() for line in lines)

    @cached_property
    def raw_text(self) -> str:
        return "\n".join(line for lines in self.raw.values() for line in lines)

    @cached_property
    def span(self) -> tuple[int, int] | None:
        moments = [at for lines in self.raw.values() for line in lines if (at := moment(line)) is not None]
        return (min(moments), max(moments)) if moments else None

    def write(self, folder: Path) -> list[Path]:
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for name, lines in self.files.items():
            path = folder / name
            path.write_text("\n".join(lines) + "\n", "utf-8")
            paths.append(path)
        return paths


def moment(line: str) -> int | None:
    """When a raw line was written, in ms."""
    if found := _TIME.match(line):
        at = datetime.fromisoformat(f"{found[1]}T{found[2].replace(',', '.')}").replace(tzinfo=UTC)
        return round(at.timestamp() * 1000)
    if found := _RD_TIME.match(line):
        return round(float(found[2]) * 1000)
    return None


def lines_of(path: Path) -> list[str]:
    import gzip

    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return data.decode("utf-8", "replace").splitlines()


_CACHE: dict[Path, list[str]] = {}


def cached(path: Path) -> list[str]:
    if path not in _CACHE:
        _CACHE[path] = lines_of(path)
    return _CACHE[path]


def logs_of(run: Path) -> list[Path]:
    return sorted(path for path in run.iterdir() if ".log" in path.name and path.stat().st_size > 60)


def cuts(runs: list[Path], seed: int, number: int) -> Iterator[Cut]:
    """So many cuts by this seed."""
    draw = random.Random(seed)
    runs = sorted(runs)
    made = 0
    while made < number:
        run = draw.choice(runs)
        variant = draw.choice(VARIANTS)
        logs = logs_of(run)
        path = (
            next((one for one in logs if one.name.startswith("broker")), None)
            if draw.random() < 0.4
            else None
        )
        path = path or draw.choice(logs)
        lines = cached(path)
        length = draw.randint(2, 40)
        about = [place for place, line in enumerate(lines) if _NAMES_GROUP.search(line)]
        anchor = draw.choice(about) if about and draw.random() < 0.9 else draw.randrange(len(lines))
        begin = max(0, anchor - draw.randrange(length))
        window = lines[begin : begin + length]
        raw = {path.name.removesuffix(".gz"): window}
        if variant == "two files":
            other = draw.choice([one for one in logs if one != path] or logs)
            span = [at for line in window if (at := moment(line)) is not None]
            if span and other != path:
                beside = [
                    line
                    for line in cached(other)
                    if (at := moment(line)) is not None and min(span) <= at <= max(span)
                ]
                if beside:
                    raw[other.name.removesuffix(".gz")] = beside[:60]
        if variant == "missing":
            raw = {name: [line for line in window if draw.random() > 0.15] for name, window in raw.items()}
        made += 1
        pasted = {name: [_pasted(line, variant, name) for line in window] for name, window in raw.items()}
        yield Cut(f"{seed}-{made:03}-{run.name}-{variant.replace(' ', '')}", run, variant, pasted, raw)


def _pasted(line: str, variant: str, name: str) -> str:
    at = moment(line)
    when = None if at is None else datetime.fromtimestamp(at / 1000, UTC)
    behind = _TIME.sub("", line, count=1)
    who = name.removesuffix(".log")
    if variant == "no times":
        return _RD_TIME.sub(r"\1", behind)
    if variant == "compose":
        return f"{who}-1  | {line}"
    if when is None:
        return line
    if variant == "docker":
        return f"{when + timedelta(milliseconds=1):%Y-%m-%dT%H:%M:%S.%f}123Z {line}"
    if variant == "systemd":
        return f"{when:%b %d %H:%M:%S} node-1 {who}[4711]: {line}"
    if variant == "spring" and (found := _LOGGER.match(behind)):
        return f"{when:%Y-%m-%dT%H:%M:%S}.{when.microsecond // 1000:03}Z  {found[1]:>4} 1 --- [           main] {found[3][-40:]:40} : {found[2]}"
    return line


@dataclass
class Told:
    """What the tool said of a cut."""

    result: Look
    chosen: Selected
    screen: str
    json: list[dict[str, Any]]

    def rows(self, name: str) -> list[dict[str, Any]]:
        return self.chosen.rows(name)


def tell(paths: list[Path]) -> Told:
    result = look(paths)
    screen, lines = io.StringIO(), io.StringIO()
    Answer().tell(result, screen)
    Answer("json").tell(result, lines)
    from rebalance_kit.forensics.answer.wishes import Wishes

    return Told(
        result,
        Selected(result, Wishes()),
        screen.getvalue(),
        [json.loads(one) for one in lines.getvalue().splitlines()],
    )


_FULL: dict[Path, Look] = {}


def whole(run: Path) -> Look:
    """The tables of the whole run, which the recorded-runs test holds against the run's truth."""
    if run not in _FULL:
        _FULL[run] = look([run])
    return _FULL[run]


def truth(run: Path) -> list[dict[str, Any]]:
    path = next(one for one in (run / "truth.jsonl", run / "truth.jsonl.gz") if one.exists())
    return [json.loads(line) for line in cached(path)]


Check = Callable[[Cut, Told], Iterator[str]]
CHECKS: dict[str, Check] = {}


def check(rule: Check) -> Check:
    CHECKS[rule.__name__] = rule
    return rule


def violations(cut: Cut, told: Told) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for name, rule in CHECKS.items():
        for what in rule(cut, told):
            found[name].append(what)
    return found


def _numbers(text: str) -> set[int]:
    return {int(one) for one in re.findall(r"\d+", text) if len(one) < 16}


@check
def generations_stand_in_lines(cut: Cut, told: Told) -> Iterator[str]:
    known = _numbers(cut.text)
    for row in told.rows("groups"):
        for name in ("generations", "epochs"):
            for one in row[name] or ():
                if one not in known:
                    yield f"{name} {one}"
    for row in told.rows("rebalances"):
        for name in ("before", "after"):
            one = row[name]
            if one is not None and one not in known and not {one - 1, one + 1} & known:
                yield f"{name} {one} of rebalance {row['number']}"


@check
def names_stand_in_lines(cut: Cut, told: Told) -> Iterator[str]:
    text = cut.text + " " + " ".join(name.removesuffix(".log") for name in cut.files)
    for row in told.rows("rebalances"):
        for who in (
            row["culprit"],
            *(row["joined"] or ()),
            *(row["left"] or ()),
            *(row["expired"] or ()),
            row["waited_for"],
        ):
            if who and who not in text:
                yield f"{who} in rebalance {row['number']}"
    for row in told.rows("members"):
        for who in (row["member"], row["client"], row["instance"]):
            if who and who not in text:
                yield f"{who} among members"
    for row in told.rows("gaps"):
        for who in (row["owner_before"], row["owner_after"], row["partition"]):
            if who and who not in text and who != row["partition"]:
                yield f"{who} of a gap"


@check
def times_lie_within_the_lines(cut: Cut, told: Told) -> Iterator[str]:
    span = cut.span
    if cut.variant == "no times":
        span = None
    for name, columns in (
        ("rebalances", ("start_ms", "end_ms")),
        ("members", ("joined_ms", "ended_ms")),
        ("findings", ("at_ms", "last_ms")),
        ("gaps", ("from_ms", "to_ms")),
    ):
        for row in told.rows(name):
            for column in columns:
                at = row[column]
                if at is None:
                    continue
                if span is None:
                    if cut.variant == "no times" and 0 <= at < 10_000:
                        continue
                    yield f"{name}.{column} {at} of a cut without times"
                elif not span[0] - 1000 <= at <= span[1] + 1000:
                    yield f"{name}.{column} is {at - span[0]} ms from the first line ({span[1] - span[0]})"


@check
def rebalances_are_counted(cut: Cut, told: Told) -> Iterator[str]:
    if cut.variant == "no times":
        return  # the screen shows ?
    begun: set[str] = set()
    least: set[str] = set()
    for line in cut.raw_text.splitlines():
        if found := re.search(
            r"Preparing to rebalance group orders-app in state (\w+) with old generation (\d+)", line
        ):
            begun.add(f"after {found[2]}")
            least.add(f"after {found[2]}")
        if found := re.search(r"Stabilized group orders-app generation (\d+)", line):
            begun.add(f"after {int(found[1]) - 1}")
            least.add(f"after {int(found[1]) - 1}")
    rows = [row for row in told.rows("rebalances") if row["protocol"] == "classic"]
    if len(rows) < len(least):
        yield f"{len(rows)} classic rebalances told, {len(least)} in lines ({sorted(least)})"
    generations = {int(one) for one in re.findall(r"generationId=(\d+)", cut.raw_text)}
    generations |= {int(one) for one in re.findall(r"(?<![-\w])[Gg]eneration (\d+)", cut.raw_text)}
    ends = {row["after"] for row in rows if row["after"] is not None}
    if len(ends) < len([row for row in rows if row["after"] is not None]):
        yield f"a generation told of twice: {sorted(row['after'] for row in rows if row['after'] is not None)}"
    open_ones = sum(row["after"] is None for row in rows)
    if open_ones > 1 + len(re.findall(r"Preparing to rebalance|[Jj]oining group|rejoin|revok", cut.raw_text)):
        yield f"{open_ones} open rebalances"
    joined = {
        int(one)
        for one in re.findall(
            r"Successfully joined group with generation Generation\{generationId=(\d+)", cut.raw_text
        )
    }
    if len(rows) < len(joined) and "Replacing previously mapped member" not in cut.raw_text:
        yield f"{len(rows)} classic rebalances told, generations {sorted(joined)} joined in lines"
    bumped = {int(one) for one in re.findall(r"Bumped group epoch to (\d+)", cut.raw_text)}
    modern = [row for row in told.rows("rebalances") if row["protocol"] != "classic"]
    if len({row["after"] for row in modern}) < len(modern) - sum(row["after"] is None for row in modern) + (
        1 if any(row["after"] is None for row in modern) else 0
    ):
        yield f"an epoch told of twice: {[row['after'] for row in modern]}"
    if modern and len(modern) < len(bumped):
        yield f"{len(modern)} rebalances told, epochs {sorted(bumped)} bumped"


def _clients(run: Path) -> dict[str, str]:
    """Whose a member id, an instance id or a client id is, by the whole run."""
    of: dict[str, str] = {}
    for row in whole(run).rows("members"):
        for name in ("member", "instance", "client"):
            if row[name]:
                of[row[name]] = row["client"] or row[name]
    return of


def _full(cut: Cut) -> dict[tuple[str, int], dict[str, Any]]:
    return {
        (row["protocol"], row["after"]): row
        for row in whole(cut.run).rows("rebalances")
        if row["after"] is not None
    }


#: What a cut may say in fewer words than the whole run: true of both.
_WEAKER = {
    ("rejoin", "follow_up"),
    ("rejoin", "metadata_changed"),
    ("rejoin", "subscription_changed"),
    ("leave", "poll_timeout"),
    ("leave", "admin_removal"),
    # A line says that the subscription has changed; that a pattern took in a topic stands in another one.
    ("subscription_changed", "metadata_changed"),
    ("subscription_changed", "regex_changed"),
    # Who has given up partitions comes again, also where another one came just before.
    ("follow_up", "join"),
}
_GOING = {"leave", "poll_timeout", "session_expired", "rebalance_timeout", "sync_timeout", "admin_removal"}


def _pairs(cut: Cut, told: Told) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each rebalance of which the generation before and after is told, with the same one of the whole run."""
    full = _full(cut)
    for row in told.rows("rebalances"):
        one = full.get((row["protocol"], row["after"]))
        if one is not None and row["before"] is not None:
            yield row, one


def _people(cut: Cut, row: dict[str, Any], *names: str) -> set[str]:
    of = _clients(cut.run)
    return {of.get(who, who) for name in names for who in row[name] or ()}


@check
def triggers_agree_with_the_run(cut: Cut, told: Told) -> Iterator[str]:
    of = _clients(cut.run)
    for row, one in _pairs(cut, told):
        mine, theirs = row["trigger"], one["trigger"]
        came = mine == "join" and of.get(row["culprit"], row["culprit"]) in _people(cut, one, "joined")
        if mine not in {theirs, "unseen"} and (mine, theirs) not in _WEAKER and not came:
            yield f"after {row['after']}: {mine} ({row['cause']}); the run: {theirs} ({one['cause']})"


@check
def names_agree_with_the_run(cut: Cut, told: Told) -> Iterator[str]:
    of = _clients(cut.run)
    for row, one in _pairs(cut, told):
        who, other = (of.get(it["culprit"], it["culprit"]) for it in (row, one))
        everybody = _people(cut, one, "joined", "left", "expired") | {other}
        if who and other and who not in everybody and row["trigger"] == one["trigger"]:
            yield f"after {row['after']}: by {who}; the run: {other}"
        # Where the line of an epoch is missing, who came for it stands with the next.
        whole_story = cut.variant != "missing"
        for name in ("joined", "left", "expired") if whole_story else ():
            if _people(cut, row, name) - everybody:
                yield f"after {row['after']}: {name} {row[name]}; the run: {one[name]}"
        if None not in {row["members"], one["members"]} and row["members"] != one["members"]:
            yield f"after {row['after']}: {row['members']} members; the run: {one['members']}"


@check
def shares_agree_with_the_run(cut: Cut, told: Told) -> Iterator[str]:
    """Who must have come or gone by the partitions of those whose log is there."""
    for row, one in _pairs(cut, told):
        if row["trigger"] != "unseen" or "by the shares" not in row["cause"]:
            continue
        came = one["trigger"] in {"join", "rejoin"} or one["joined"]
        went = one["trigger"] in _GOING or one["left"] or one["expired"]
        changed = one["trigger"] == "metadata_changed"
        came, went = (
            came or (changed and "a topic was removed" in row["cause"]),
            went or (changed and "partitions were added" in row["cause"]),
        )
        if not (came if "another member may have joined" in row["cause"] else went):
            yield f"after {row['after']}: {row['cause']}; the run: {one['cause']}"


@check
def no_rebalance_takes_longer_than_it_did(cut: Cut, told: Told) -> Iterator[str]:
    for row, one in _pairs(cut, told):
        if (
            None not in {row["duration_ms"], one["duration_ms"]}
            and row["duration_ms"] > one["duration_ms"] + 1100
        ):
            yield f"{row['protocol']} after {row['after']}: took {row['duration_ms']}; the run: {one['duration_ms']}"


@check
def a_named_reason_is_told(cut: Cut, told: Told) -> Iterator[str]:
    """A classic member's own reason of a second step is told as one."""
    for row in told.rows("rebalances"):
        name = row["culprit"]
        if row["trigger"] == "rejoin" and name and row["after"] is not None:
            said = re.search(
                rf"clientId={re.escape(name)},[^\n]*Request joining group due to: need to revoke partitions[^\n]*\n"
                rf"(?:(?!Successfully joined)[^\n]*\n)*[^\n]*clientId={re.escape(name)},[^\n]*generationId={row['after']}\b",
                cut.raw_text,
            )
            if said:
                yield f"after {row['after']}: {row['cause']}"


@check
def durations_understated(cut: Cut, told: Told) -> Iterator[str]:
    """What is not said to be the least that a rebalance took is what it took in the whole run."""
    for row, one in _pairs(cut, told):
        if None in {row["duration_ms"], one["duration_ms"]} or row["at_least"]:
            continue
        if row["duration_ms"] < one["duration_ms"] - 1100:
            yield f"{row['protocol']} after {row['after']}: took {row['duration_ms']}; the run: {one['duration_ms']}"


@check
def an_empty_group_is_told_as_one(cut: Cut, told: Told) -> Iterator[str]:
    lines = [
        line for line in cut.raw_text.splitlines() if "Bumped group epoch" in line or "joins the" in line
    ]
    if (
        lines
        and lines[-1].split(" (")[0].endswith("metadata hash 0.")
        and "no end in these logs" in told.screen
    ):
        yield "rebalancing: no end in these logs"


@check
def gaps_are_no_longer_than_they_were(cut: Cut, told: Told) -> Iterator[str]:
    beats: dict[str, list[int]] = defaultdict(list)
    if not told.rows("gaps"):
        return
    for row in truth(cut.run):
        if row["kind"] == "records":
            for name in row["records"]:
                beats[name].append(row["t"])
    for row in told.rows("gaps"):
        seen = beats.get(row["partition"], [])
        inside = [at for at in seen if row["from_ms"] + 1000 < at < row["to_ms"] - 1000]
        if inside and not row["at_least"]:
            yield f"{row['partition']} said unread {row['duration_ms']} ms ({row['owner_before']} to {row['owner_after']}, {row['known_by']}), read {len(inside)} times within"


@check
def members_end_as_in_the_run(cut: Cut, told: Told) -> Iterator[str]:
    ends: dict[tuple[Any, Any], set[Any]] = defaultdict(set)
    for row in whole(cut.run).rows("members"):
        ends[row["client"], row["member"]].add(row["end"])
        ends[row["client"], None].add(row["end"])
    for row in told.rows("members"):
        known = ends.get((row["client"], row["member"])) or ends.get((row["client"], None))
        if row["end"] is not None and known is not None and row["end"] not in known:
            yield f"{row['client']} {row['member']}: {row['end']}; the run: {known}"


@check
def lines_are_where_they_are_said_to_be(cut: Cut, told: Told) -> Iterator[str]:
    """A finding's line holds its evidence; a finding about a rebalance quotes its cause."""
    causes = {row["cause"] for row in told.rows("rebalances")}
    for name in ("findings", "rebalances"):
        for row in told.rows(name):
            lines = cut.files.get((row["file"] or "").rsplit("/", 1)[-1], [])
            if not 0 < (row["line"] or 0) <= len(lines):
                yield f"{name}: {row['file']}:{row['line']}"
            elif name == "findings" and row["evidence"] not in causes:
                said = re.sub(r"\W+", "", row["evidence"])[:80]
                if said not in re.sub(r"\W+", "", lines[row["line"] - 1]):
                    yield f"{row['finding']}: {row['file']}:{row['line']} {row['evidence'][:90]}"


@check
def lines_of_the_group_are_counted(cut: Cut, told: Told) -> Iterator[str]:
    summary = told.json[-1]
    named = sum(
        bool(_NAMES_GROUP.search(line) and _ABOUT_GROUPS.search(line))
        for lines in cut.raw.values()
        for line in lines
    )
    if summary["about"] < named:
        yield f"{summary['about']} read as a group's; {named} name it"


@check
def nothing_is_denied_that_stands_there(cut: Cut, told: Told) -> Iterator[str]:
    said = " ".join(told.screen.split())
    reason = re.search(
        r"\(reason: |due to(?: cause)?[: ]++(?!'|group is already|need to re-join with|consumer pro-actively|rebalance failed|encountered|the consumer is being closed)|poll timeout has",
        cut.raw_text,
    )
    causes = {((row["file"] or "").rsplit("/", 1)[-1], row["line"]) for row in told.rows("rebalances")}
    told_of = {
        line for name, lines in cut.raw.items() for at, line in enumerate(lines, 1) if (name, at) in causes
    }
    # What is denied is then said of another rebalance.
    if reason and any(reason[0] in line for line in told_of):
        reason = None
    if reason and re.search(
        r"[Tt]he reason is not in the lines|[Ww]hy is not in the lines|do not say why", said
    ):
        yield f"denies a reason; {reason[0]} ... {cut.raw_text[reason.end() : reason.end() + 100]!r}"
    begun = re.search(
        r"Preparing to rebalance|Stabilized group|\(Re-\)joining group|Successfully joined|Bumped group epoch|Adding newly assigned|Revoke previously|Lost previously",
        cut.raw_text,
    )
    if begun and re.search(r"No line tells of a rebalance|No line was read as one of a consumer group", said):
        yield f"denies a rebalance; {begun[0]}"


def _in_order(cut: Cut) -> Iterator[str]:
    """The lines of all files by time; of one without a time, that before it."""
    told: list[tuple[int, str]] = []
    for lines in cut.raw.values():
        at = 0
        for line in lines:
            at = moment(line) or at
            told.append((at, line))
    yield from (line for _, line in sorted(told, key=lambda one: one[0]))


@check
def settled_is_proved(cut: Cut, told: Told) -> Iterator[str]:
    if not re.search(r"\bsettled\b", told.screen):
        return
    last = None
    for line in _in_order(cut):
        if re.search(
            r"Preparing to rebalance|Stabilized group|joined group with generation Generation|\(Re-\)joining group|Request joining|rejoin|Revok|revok|Bumped group epoch|Lost prev|left group|leav|expired|has failed|JOINING|RECONCILING",
            line,
        ) and not line.startswith("\t"):
            last = "moves: " + line[:200]
        if re.search(
            r"Successfully (?:joined group with generation \d|synced)|Assignment received|Notifying assignor|Adding newly assigned|to STABLE|\[thrd.*assign",
            line,
        ):
            last = None
    if last:
        yield last


#: One and the same fault, by how much of it was seen.
_SHARED_IDS = {"instance_id_shared", "duplicate_instance_id", "instances_take_turns"}
_REPLACED = {"replaced_without_leave", "died_without_goodbye"}

#: Findings that say what a line says, and what was not read.
_LITERAL = {"lines_without_time", "member_left", "coordinator_lost", "heartbeats_unanswered", "static_return"}


@check
def findings_are_of_the_run(cut: Cut, told: Told) -> Iterator[str]:
    known = {row["finding"] for row in whole(cut.run).rows("findings")}
    for same in (_SHARED_IDS, _REPLACED):
        known |= same if known & same else set()
    for row in told.rows("findings"):
        if row["finding"] not in known | _LITERAL:
            yield f"{row['finding']}: {row['sentence'][:220]}"


@check
def numbers_of_the_headline_stand_in_lines(cut: Cut, told: Told) -> Iterator[str]:
    """Generations, epochs and counts of members named in sentences."""
    known = _numbers(cut.text)
    said = told.json[-1]["verdict"]
    for found in re.finditer(r"(?:generation|epoch) (\d[\d,]*)", said):
        one = int(found[1].replace(",", ""))
        if one not in known and not {one - 1, one + 1} & known:
            yield f"{found[0]} in: {said[:200]}"
