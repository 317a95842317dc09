"""Record a scenario on a real broker with real members: the folder of a recorded run, which ``replay`` and ``logs`` read as it is."""

from __future__ import annotations

import gzip
import json
import shutil
import signal
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from rebalance_kit import scenarios
from rebalance_kit.live.broker import Broker
from rebalance_kit.live.deeds import Deed, Plan, plan
from rebalance_kit.live.group import QUIET_S, SIGNALS
from rebalance_kit.live.jars import LiveError, Say
from rebalance_kit.live.members import TRUTH, Life, Watch, classes
from rebalance_kit.model.files import write_atomically
from rebalance_kit.recordings.replay import BEGINNING_MS, is_whole
from rebalance_kit.simulation.scenario.scenario import PROTOCOLS, Scenario, with_protocol

READY_MS = 6_000
"""A process is made ready so long before its start, since a JVM takes its time."""
CLOSE_S = 15.0
SETTLE_S = 90.0
TIME_TO_GATHER_MS = 6_000
"""A new classic group waits 3 s for members, one under KIP-848 a heartbeat."""
TOGETHER_S = 60.0


def record(
    scenario: Scenario | str | Path,
    out: str | Path,
    protocol: str | None = None,
    seed: int | None = None,
    client: str | None = None,
    say: Say | None = None,
) -> Path:
    """Run a scenario for real, in real time, and write what happened to ``out``; returns that folder.

    ``protocol`` is a key of ``PROTOCOLS`` for every member; None keeps what the scenario says. ``client`` is ``java``,
    ``librdkafka`` or ``mixed`` (in turn); None keeps the scenario's. ``seed`` draws moments; None takes the scenario's.
    Each row and step is written when it happens, so a record that was interrupted, by SIGKILL too, is complete up to there. Raises ``LiveError`` for what
    cannot be done for real, and where ``out`` exists already.
    """
    wanted = _wanted(
        scenarios.scenario(scenario) if not isinstance(scenario, Scenario) else scenario, protocol, client
    )
    made = plan(wanted, seed)
    folder = Path(out).absolute()
    if folder.exists() and any(folder.iterdir()):
        raise LiveError(f"{folder} is there already and not empty; expected a new folder for the record")
    folder.mkdir(parents=True, exist_ok=True)
    tell = say or (lambda _: None)
    tell(f"{wanted.name}: {wanted.end_ms / 1000:g} s of real time, and about 20 more to start and stop")
    try:
        cut = any(deed.do == "cut" for deed in made.deeds)
        log = folder / "broker.log"
        with Broker(wanted.kafka_version, made.broker, say=say, log=log, proxied=cut) as broker:
            tell(f"Kafka {broker.version} is up at {broker.bootstrap}")
            classes(broker.version)
            run = _Run(made, broker, folder, protocol or wanted.protocol or "as its members say", tell)
            try:
                run.play()
            finally:
                run.write()
    finally:
        if not (folder / "run.json").exists():  # nothing was done yet
            shutil.rmtree(folder, ignore_errors=True)
    return folder


def _wanted(scenario: Scenario, protocol: str | None, client: str | None) -> Scenario:
    if protocol is not None:
        if protocol not in PROTOCOLS:
            raise LiveError(f"protocol {protocol!r}; expected one of {', '.join(PROTOCOLS)}")
        scenario = with_protocol(scenario, protocol)
    if client is None:
        return scenario
    kinds = {"java": ("java",), "librdkafka": ("librdkafka",), "mixed": ("java", "librdkafka")}.get(client)
    if kinds is None:
        raise LiveError(f"client {client!r}; expected java, librdkafka or mixed")
    members = tuple(
        replace(spec, client=kinds[place % len(kinds)]) for place, spec in enumerate(scenario.members)
    )
    return replace(scenario, members=members)


class _Run:
    """One run under way: its steps are kept as they are taken."""

    def __init__(self, made: Plan, broker: Broker, folder: Path, protocol: str, say: Say) -> None:
        self._plan, self._broker, self._folder, self._protocol, self._say = (
            made,
            broker,
            folder,
            protocol,
            say,
        )
        self._scenario = made.scenario
        self._work = broker.processes.folder / "members"
        self._work.mkdir()
        (folder / TRUTH).touch()  # a record that is killed before its first row has one, too
        self._steps: list[dict[str, Any]] = []
        self._waiting: list[tuple[int, Life]] = []
        self._to_ready = list(made.starts)
        self._lives: dict[str, Life] = {}
        self._numbers: Counter[str] = Counter()
        self._watch = Watch(broker, self._work, made.scenario.group, folder)

    def play(self) -> None:
        """Everything from the topics to the end, in real time."""
        for topic in self._scenario.topics:
            self._admin(f"topic {topic.name} {topic.partitions}")
        self._until(lambda: all(self._watch.outcome(str(step["line"])) for step in self._steps), "the topics")
        for step in self._steps:
            outcome = self._watch.outcome(str(step["line"]))
            if outcome != "ok":
                raise LiveError(f"{step['line']}: {outcome}; expected topics that this Kafka can make")
        self._ready(READY_MS)
        self._until(lambda: all(life.ready for _, life in self._waiting), "the first members")
        begin = time.monotonic()
        self._until_ms(begin, 0)
        first = _first_on_a_whole_group(self._plan)
        for deed in self._plan.deeds:
            self._until_ms(begin, deed.at_ms)
            if deed is first:
                begin += self._together()
            self._do(deed)
            self._say(
                f"{deed.at_ms / 1000:7.1f} s  {' '.join(filter(None, (deed.do, deed.member, deed.line)))}"
            )
        self._until_ms(begin, self._scenario.end_ms)
        self._close()

    def _together(self) -> float:
        """Wait until the members are a stable group that owns every partition, and has been for ``QUIET_S``; how long that took."""
        since = time.monotonic()
        while (waited := time.monotonic() - since) < TOGETHER_S:
            row = self._watch.described()
            living = {name for name, life in self._lives.items() if life.lives}
            if is_whole(row, living) and time.time() * 1000 - int(row["t"]) >= QUIET_S * 1000:
                if waited > 1:
                    self._say(f"the group is together; what follows is {waited:.1f} s later than planned")
                return waited
            time.sleep(0.05)
        self._say(f"the group is not together after {TOGETHER_S:g} s, and is done to as it is")
        return waited

    def _until_ms(self, begin: float, at_ms: int) -> None:
        """Wait for a moment of the run, making ready what starts soon after."""
        while True:
            now_ms = (time.monotonic() - begin) * 1000
            self._ready(now_ms + READY_MS)
            left_ms = at_ms - now_ms
            if left_ms <= 0:
                return
            time.sleep(min(left_ms, 200) / 1000)

    def _ready(self, until_ms: float) -> None:
        while self._to_ready and self._to_ready[0][0] <= until_ms:
            at_ms, start = self._to_ready.pop(0)
            self._numbers[start.member] += 1
            self._waiting.append(
                (at_ms, Life(self._broker, self._work, start, self._numbers[start.member], self._folder))
            )

    def _do(self, deed: Deed) -> None:
        if deed.do == "start":
            place = next(i for i, (_, life) in enumerate(self._waiting) if life.start.member == deed.member)
            _, life = self._waiting.pop(place)
            self._lives[life.start.member] = life
            self._took({"t": _now(), "do": "start", **life.start.told()})
            life.go()
            return
        if deed.do == "admin":
            self._admin(deed.line)
            return
        step = {"t": _now(), "do": deed.do}
        if deed.member is not None:
            step["member"] = deed.member
        if deed.line:
            step["line"] = deed.line
        self._took(step)
        if deed.do == "broker-stop":
            self._broker.stop(wait=False)
        elif deed.do == "broker-start":
            self._broker.restart()
        elif deed.do == "tell":
            self._lives[str(deed.member)].tell(deed.line)
        elif deed.do == "cut":
            self._broker.faults.cut(str(deed.member), coordinator_only=True)
        elif deed.do == "heal":
            self._broker.faults.heal(str(deed.member))
        else:
            self._lives[str(deed.member)].signal(signal.Signals[SIGNALS[deed.do]])

    def _admin(self, line: str) -> None:
        self._took({"t": _now(), "do": "admin", "line": line})
        self._watch.tell(line)

    def _close(self) -> None:
        """The recording's own shutdown, which begins with the step ``admin stop``: whoever lives is told to close."""
        self._took({"t": _now(), "do": "admin", "line": "stop"})
        living = [life for life in self._lives.values() if life.lives]
        for life in living:
            self._took({"t": _now(), "do": "tell", "member": life.start.member, "line": "close"})
            life.tell("close")
        until = time.monotonic() + CLOSE_S
        while any(life.lives for life in living) and time.monotonic() < until:
            time.sleep(0.05)

    def _until(self, done: Any, what: str) -> None:
        until = time.monotonic() + SETTLE_S
        while not done():
            if time.monotonic() > until:
                raise LiveError(
                    f"{what} did not come within {SETTLE_S:g} s; expected a machine with a core to spare"
                )
            time.sleep(0.05)

    def _took(self, step: dict[str, Any]) -> None:
        """Keep a step, and write those so far."""
        self._steps.append(step)
        self._write_head({})

    def _write_head(self, summary: Mapping[str, Any]) -> None:
        head: dict[str, Any] = {
            "scenario": self._scenario.name,
            "protocol": self._protocol,
            "kafka": self._broker.version,
            "broker": {key: str(value) for key, value in self._plan.broker.items()},
            "steps": self._steps,
            "summary": summary,
        }
        write_atomically(self._folder / "run.json", json.dumps(head, indent=1) + "\n")

    def write(self) -> None:
        """The end: the truth in order of time, counts of it, and everything packed, each file beside its place and then renamed."""
        truth = self._folder / TRUTH
        rows = sorted(_rows(truth), key=lambda row: int(row["t"]))
        write_atomically(truth, "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))
        for file in [truth, *self._folder.glob("*.log")]:
            draft = file.with_name(f".{file.name}.gz")
            with file.open("rb") as read, gzip.open(draft, "wb") as packed:
                shutil.copyfileobj(read, packed)
            draft.rename(file.with_name(f"{file.name}.gz"))
            file.unlink()
        self._write_head(_summary(rows))


def _first_on_a_whole_group(made: Plan) -> Deed | None:
    """The first deed after the starts of the beginning, where the scenario leaves the group ``TIME_TO_GATHER_MS`` for coming together."""
    starts = [at_ms for at_ms, _ in made.starts]
    beginning = [at_ms for at_ms in starts if at_ms <= min(starts) + BEGINNING_MS]
    gathered = max(beginning, default=0) + TIME_TO_GATHER_MS
    for deed in made.deeds:
        if deed.do == "start" and deed.at_ms in beginning:
            continue
        if deed.do == "tell" and deed.line.startswith("slow "):  # nothing happens to the group yet
            continue
        return deed if deed.at_ms >= gathered else None
    return None


def _now() -> int:
    return int(time.time() * 1000)


def _rows(file: Path) -> list[dict[str, Any]]:
    """Rows of all processes; one of a process that was killed may be half."""
    rows = []
    for line in file.read_text("utf-8", errors="replace").splitlines() if file.exists() else []:
        try:
            rows.append(json.loads(line))
        except ValueError:
            continue
    return rows


def _summary(rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Counts of callbacks and records, as the truth has them."""
    calls: dict[str, Counter[str]] = {}
    seen: Counter[tuple[str, int]] = Counter()
    for row in rows:
        if row["kind"] in {"assigned", "revoked", "lost"}:
            calls.setdefault(str(row["by"]), Counter(assigned=0, revoked=0, lost=0))[str(row["kind"])] += 1
        elif row["kind"] == "records":
            for name, (first, last) in row["records"].items():
                seen.update((str(name), offset) for offset in range(first, last + 1))
    again = sum(times - 1 for times in seen.values())
    return {"callbacks": calls, "records_delivered": seen.total(), "records_delivered_again": again}
