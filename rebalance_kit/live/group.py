"""A group on a real cluster that one may do things to: members in processes, deeds by name, and what they came to in rows.

``serve`` is the same for other languages: orders in lines, answers in JSON.
"""

from __future__ import annotations

import json
import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

from rebalance_kit.live.broker import Broker
from rebalance_kit.live.deeds import CLASSIC, EITHER, Start, native_configs
from rebalance_kit.live.jars import LiveError
from rebalance_kit.live.members import TRUTH, Life, Watch, classes
from rebalance_kit.model.errors import RebalanceKitError, nearest
from rebalance_kit.model.files import write_atomically
from rebalance_kit.simulation.scenario.scenario import PROTOCOLS

SIGNALS = {"kill": "SIGKILL", "freeze": "SIGSTOP", "thaw": "SIGCONT"}
"""By their names, because Windows has none of the three."""
ORDERS = ("close", "stall", "slow", "subscribe", "enforce")
CLIENTS = ("java", "librdkafka", "aiokafka", "kafka-python")
SETTLE_S = 90.0
QUIET_S = 1.5
"""A group is together when nothing has changed for so long."""
Row = Mapping[str, Any]


class Group:
    """Members of one group on a running broker, which read what is written into ``topics`` every 100 ms.

    ``protocol`` is a key of ``PROTOCOLS``, ``configs`` are every member's beside Kafka's defaults, in Kafka's keys. As a context
    manager it ends its members; the broker is whoever started it's to end. What happens is a recorded run in ``folder`` (``out`` where given), as far as it has
    come. Raises ``LiveError`` for a deed that cannot be
    done, and where the members do not come together in time.
    """

    def __init__(
        self,
        broker: Broker,
        topics: Mapping[str, int] | None = None,
        *,
        name: str = "orders-app",
        protocol: str = "consumer",
        configs: Mapping[str, Any] | None = None,
        out: Path | None = None,
    ) -> None:
        if protocol not in PROTOCOLS:
            raise LiveError(f"protocol {protocol!r}; expected one of {', '.join(PROTOCOLS)}")
        self.broker, self.name, self.protocol = broker, name, protocol
        self.topics = dict({"orders": 4} if topics is None else topics)
        self._configs = dict(configs or {})
        classes(broker.version)
        self.folder = Path(tempfile.mkdtemp(dir=broker.processes.folder)) if out is None else out
        self._work = Path(tempfile.mkdtemp(dir=broker.processes.folder))
        self._numbers: Counter[str] = Counter()
        self.lives: dict[str, Life] = {}
        self.folder.mkdir(parents=True, exist_ok=True)
        self._steps: list[dict[str, Any]] = []
        self._watch = Watch(broker, self._work, name, self.folder)
        for topic, partitions in self.topics.items():
            self.admin(f"topic {topic} {partitions}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    # --- deeds -------------------------------------------------------------------------------
    def start(
        self,
        member: str,
        client: str = "java",
        configs: Mapping[str, Any] | None = None,
        topics: str | None = None,
    ) -> Life:
        """Start a member's process, and return when it has made its consumer; ``topics`` is a list with commas, or ``~`` and a pattern."""
        if client not in CLIENTS:
            raise LiveError(
                f"client {client!r}{nearest(client, CLIENTS)}; expected one of {', '.join(CLIENTS)}"
            )
        self._numbers[member] += 1
        life = Life(
            self.broker,
            self._work,
            Start(
                member,
                topics or ",".join(self.topics),
                self.configs_of(member, client, configs or {}),
                client,
                "right" if client == "librdkafka" else "default",
            ),
            self._numbers[member],
            self.folder,
        )
        self.until(lambda: life.ready, f"member {member}")
        before = self._count("start", member)
        self._took("start", **life.start.told())
        life.go()
        self.lives[member] = life
        self.until(lambda: not life.lives or self._count("start", member) > before, f"member {member}")
        return life

    def configs_of(self, member: str, client: str, configs: Mapping[str, Any]) -> dict[str, Any]:
        """The configs of a member in its client's spelling."""
        made = {"group.id": self.name, "client.id": member, **EITHER, **PROTOCOLS[self.protocol]}
        made |= {**self._configs, **configs}
        if str(made.get("group.protocol", "classic")).lower() == "classic":
            made = {**CLASSIC, **made}
        return native_configs(made) if client == "librdkafka" else made

    def do(self, deed: str, *words: str) -> None:
        """Do one deed by its name, as ``serve`` takes it; raises ``LiveError`` naming those there are."""
        known: dict[str, Callable[..., object]] = {
            **{name: lambda member, name=name: self.signal(member, name) for name in SIGNALS},
            **{name: lambda member, *rest, name=name: self.tell(member, " ".join((name, *rest))) for name in ORDERS},
            "start": lambda member, client="java", *configs: self.start(member, client, _pairs(configs)),
            "topic": lambda topic, partitions: self.admin(f"topic {topic} {int(partitions)}"),
            "partitions": lambda topic, partitions: self.admin(f"partitions {topic} {int(partitions)}"),
            "delete-topic": lambda topic: self.admin(f"delete-topic {topic}"),
            "remove": lambda instance: self.admin(f"remove-instance {self.name} {instance}"),
            "broker-stop": lambda node=None: self._broker("broker-stop", self.broker.stop, node),
            "broker-kill": lambda node=None: self._broker("broker-kill", self.broker.kill, node),
            "broker-start": lambda node=None: self._broker("broker-start", self.broker.start, node),
            "cut": lambda client="*": self._fault("cut", client),
            "heal": lambda client="*": self._fault("heal", client),
            "delay": lambda ms, client="*": self.broker.faults.delay(float(ms), client),
            "together": lambda members, seconds="90": self.together(int(members), float(seconds)),
        }  # fmt: skip
        if deed not in known:
            raise LiveError(f"deed {deed!r}{nearest(deed, tuple(known))}; expected one of {', '.join(known)}")
        try:
            known[deed](*words)
        except (TypeError, ValueError) as error:
            raise LiveError(
                f"deed {deed} {' '.join(words)}: {error}; see docs/live.md for its arguments"
            ) from error

    def _broker(self, name: str, deed: Callable[[int | None], object], node: str | None) -> None:
        number = None if node is None else int(node)
        self._took(name, **({} if number is None else {"node": number}))
        deed(number)

    def _fault(self, name: str, client: str) -> None:
        faults = self.broker.faults
        self._took(name, member=client)
        (faults.cut if name == "cut" else faults.heal)(client)

    def signal(self, member: str, name: str) -> None:
        """kill, freeze or thaw: SIGKILL, SIGSTOP, SIGCONT."""
        life = self._life(member)
        self._took(name, member=member)
        life.signal(signal.Signals[SIGNALS[name]])
        if name == "kill":
            self._life(member).process.wait(10)

    def tell(self, member: str, order: str) -> None:
        """Give a member an order that it takes after its next poll(): close, stall MS, slow MS, subscribe A,B, enforce."""
        life = self._life(member)
        self._took("tell", member=member, line=order)
        life.tell(order)

    def admin(self, line: str) -> None:
        """Have the administrator do something, and wait for the answer; raises ``LiveError`` with Kafka's words where it is refused."""
        before = self._answers(line)
        self._took("admin", line=line)
        self._watch.tell(line)
        self.until(lambda: self._answers(line) > before, line)
        outcome = self._watch.outcome(line)
        if outcome != "ok":
            raise LiveError(f"{line}: {outcome}; expected what this Kafka can do")

    def end(self) -> None:
        """Kill the members and the administrator; what was written stays until the broker closes, in ``out`` for good."""
        self._took("admin", line="stop")
        for life in self.lives.values():
            life.signal(signal.SIGKILL)
        self._watch.process.kill()
        log = self.folder / "broker.log"
        if not log.exists() and self.broker.log.exists():
            shutil.copy(self.broker.log, log)

    def _took(self, do: str, **more: Any) -> None:
        """Keep a step, and write those so far as the head of a recorded run."""
        self._steps.append({"t": int(time.time() * 1000), "do": do, **more})
        head = {
            "scenario": self.name,
            "protocol": self.protocol,
            "kafka": self.broker.version,
            "broker": self.broker.configs,
            "steps": self._steps,
            "summary": {},
        }
        write_atomically(self.folder / "run.json", json.dumps(head, indent=1) + "\n")

    # --- what came of them ---------------------------------------------------------------------
    def rows(self, *kinds: str) -> list[Row]:
        """What happened so far, in order of time: the rows of the truth of a recorded run, of these kinds or of all."""
        file = self.folder / TRUTH
        found: list[Row] = []
        for line in file.read_text("utf-8", errors="replace").splitlines() if file.exists() else ():
            try:
                found.append(json.loads(line))
            except ValueError:
                continue  # half a row, of a process that was killed
        return sorted(
            (row for row in found if not kinds or row["kind"] in kinds), key=lambda row: int(row["t"])
        )

    def described(self) -> Row:
        """The last description of the group, empty before the first."""
        return next(reversed(self.rows("describe")), {})

    def owners(self) -> dict[str, str]:
        """Who owns each partition, by client.id, as the coordinator says."""
        members = self.described().get("members", {})
        return {tp: name.partition("/")[0] for name, held in members.items() for tp in held["owned"]}

    def together(self, members: int, seconds: float = SETTLE_S) -> Row:
        """Wait until so many members are a stable group that owns every partition, and nothing changes any more; its description."""

        def settled() -> bool:
            row = self.described()
            if str(row.get("state", "")).lower() != "stable" or len(row["members"]) != members:
                return False
            quiet = time.time() * 1000 - int(row["t"]) >= QUIET_S * 1000
            return quiet and len(self.owners()) >= sum(self.topics.values())

        self.until(settled, f"a stable group of {members}", seconds)
        return self.described()

    def until(self, done: Callable[[], bool], what: str, seconds: float = SETTLE_S) -> None:
        """Wait for something; raises ``LiveError`` naming it when it does not come."""
        end = time.monotonic() + seconds
        while not done():
            if time.monotonic() > end:
                row = self.described()
                seen = (
                    f"{row.get('state')} with {', '.join(row.get('members', {})) or 'nobody'}"
                    if row
                    else "no group"
                )
                raise LiveError(f"{what} did not come within {seconds:g} s; the group is: {seen}")
            time.sleep(0.05)

    def _life(self, member: str) -> Life:
        if member not in self.lives:
            raise LiveError(
                f"member {member!r} was never started{nearest(member, tuple(self.lives))}; expected one of {', '.join(self.lives) or 'none yet'}"
            )
        return self.lives[member]

    def _count(self, kind: str, member: str) -> int:
        return sum(row["by"] == member for row in self.rows(kind))

    def _answers(self, line: str) -> int:
        return sum(row.get("line") == line for row in self.rows("admin"))


def _pairs(words: Iterable[str]) -> dict[str, str]:
    return dict(word.partition("=")[::2] for word in words)


def serve(group: Group, orders: TextIO, answers: TextIO) -> None:
    """Take an order per line until ``end`` or the end of the input; answer each with one line of JSON.

    An order is a deed's name and its words; ``rows KIND…`` and ``owners`` ask. The first line says where the cluster is.
    """

    def answer(**what: object) -> None:
        answers.write(json.dumps(what) + "\n")
        answers.flush()

    answer(
        bootstrap=group.broker.bootstrap, members=group.broker.members, group=group.name, topics=group.topics
    )
    for line in orders:
        words = line.split()
        if not words:
            continue
        if words[0] == "end":
            break
        try:
            if words[0] == "rows":
                answer(rows=group.rows(*words[1:]))
            elif words[0] == "owners":
                answer(owners=group.owners())
            else:
                group.do(*words)
                answer(done=line.strip())
        except RebalanceKitError as error:
            answer(error=str(error))
