"""Other lines in logs: those of other loggers, taken from recorded brokers and clients, with the run's own names.

``noise.json.gz`` was packed by ``scripts/noise.py`` from the recorded runs of three Kafka versions. No line of it tells
anything of a group, but for the ``ConsumerConfig values`` of a client, which are those of the member itself.
"""

from __future__ import annotations

import base64
import gzip
import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import merge
from importlib.resources import files
from operator import itemgetter
from typing import Any, NamedTuple

from rebalance_kit.logs.java_classic import PORT
from rebalance_kit.logs.lines import LogLine, at_least
from rebalance_kit.model.client_keys import CLASSES
from rebalance_kit.model.config import ClientConfig
from rebalance_kit.model.trace import Trace, TraceRow

RATIO = 0.88
"""Lines of other loggers a line about a group in the recorded runs, between a process's start and its end."""
CLUSTER = "MkU3OEVBNTcwNTJENDM2Qg"
STRANGERS = ("audit", "inventory", "shipments", "sessions", "prices", "emails", "metrics-raw", "sensors")
"""Topics of other applications, which no member of a made group reads."""


class Kind(NamedTuple):
    """A line that may come at any time, and how often it did."""

    weight: int
    level: str
    logger: str
    text: str


@dataclass(frozen=True, slots=True)
class Noise:
    """What a Kafka version's processes write besides: ``boot`` with its time before the broker is up, the rest without."""

    boot: tuple[LogLine, ...]
    broker: tuple[Kind, ...]
    client: tuple[Kind, ...]
    config_logger: str
    config: Mapping[str, str]
    collector: tuple[str, str, str]
    commit: tuple[str, str, str]
    closing: tuple[tuple[str, str, str], ...]


@lru_cache(maxsize=1)
def _packed() -> Mapping[str, Any]:
    held: Mapping[str, Any] = json.loads(
        gzip.decompress(files(__package__).joinpath("noise.json.gz").read_bytes())
    )
    return held


@lru_cache(maxsize=8)
def noise_of(version: str) -> Noise:
    """The noise of the newest recorded version that is not newer than ``version``, else of the oldest."""
    packed = _packed()
    known = sorted(packed, key=lambda one: [int(part) for part in one.split(".")])
    found = [one for one in known if at_least(version, one)]
    held = packed[found[-1] if found else known[0]]
    # The older runs had no cut networks: what a client says of its connections is the newest one's, without what came later.
    restless = [Kind(*kind) for kind in packed[known[-1]]["client"]]
    if not at_least(version, "4.0"):
        restless = [kind._replace(text=kind.text.replace(" isFenced: false", "")) for kind in restless]
    return Noise(
        tuple(
            LogLine(at_ms, level, logger, _plain(text))
            for at_ms, level, logger, text in sorted(held["boot"], key=itemgetter(0))
        ),
        tuple(Kind(*kind) for kind in held["broker"]),
        tuple(restless),
        held["config"]["logger"],
        held["config"]["values"],
        tuple(held["collector"]),
        tuple(held["commit"]),
        tuple(tuple(one) for one in held["closing"]),
    )


def _plain(text: str) -> str:
    return text.format_map({"topic": STRANGERS[0], "id": CLUSTER, "who": ""})


def broker_noise(
    lines: Sequence[LogLine],
    version: str,
    end_ms: int,
    dice: random.Random,
    ratio: float = RATIO,
    *,
    boot: bool = True,
) -> Iterator[LogLine]:
    """A broker's lines with ``ratio`` lines of other loggers for each of them, its start first if ``boot``."""
    noise = noise_of(version)
    if boot:
        yield from noise.boot
    others = _drawn(noise.broker, round(ratio * len(lines)), [(0, end_ms)], dice, "")
    yield from merge(lines, others, key=lambda line: line.at_ms)


def member_noise(
    lines: Iterable[LogLine],
    trace: Trace,
    name: str,
    version: str,
    dice: random.Random,
    ratio: float = RATIO,
    epoch_ms: Callable[[int], str] = str,
) -> Iterator[LogLine]:
    """A Java member's lines with its configuration, its start and end, and ``ratio`` lines of other loggers for each.

    ``epoch_ms`` words a time of the run as milliseconds since 1970.
    """
    held = list(lines)
    started = [row for row in trace.of("process_started") if row.actor == name]
    who = _who(started[-1], name) if started else ""
    others = _drawn(
        noise_of(version).client,
        round(ratio * sum(not line.level.isdigit() for line in held)),
        _running(trace, name),
        dice,
        who,
    )
    yield from merge(_dressed(held, started, name, version, epoch_ms), others, key=lambda line: line.at_ms)


def _who(row: TraceRow, name: str) -> str:
    instance = row.detail["configs"].get("group.instance.id")
    return f"[Consumer {f'instanceId={instance}, ' if instance else ''}clientId={row.detail['configs'].get('client.id') or name}, groupId={row.detail['group']}] "


def _dressed(
    lines: Sequence[LogLine],
    started: Sequence[TraceRow],
    name: str,
    version: str,
    epoch_ms: Callable[[int], str],
) -> Iterator[LogLine]:
    """Each life of a Java process with its beginning and its end."""
    noise, lives = noise_of(version), iter([row for row in started if row.detail["client"] == "java"])
    begun = found = False
    row: TraceRow | None = None
    for line in lines:
        if not begun and ("KIP-848" in line.message or line.message.startswith("Kafka version: ")):
            row, begun, found = next(lives, row), True, False
            if row is not None:
                yield LogLine(
                    line.at_ms, "INFO", noise.config_logger, config_block(row, name, version, noise)
                )
                yield LogLine(line.at_ms, *noise.collector)
        if not found and row is not None and "iscovered group coordinator" in line.message:
            found = True
            yield LogLine(
                line.at_ms,
                "INFO",
                "org.apache.kafka.clients.Metadata",
                f"{_who(row, name)}Cluster ID: {CLUSTER}",
            )
        if line.message.startswith("App info kafka.consumer"):
            begun = False
            yield from (LogLine(line.at_ms, *one) for one in noise.closing)
        yield line
        if line.message.startswith("Kafka version: "):
            begun = False
            yield LogLine(line.at_ms, *noise.commit)
            yield LogLine(line.at_ms, line.level, line.logger, f"Kafka startTimeMs: {epoch_ms(line.at_ms)}")


def config_block(row: TraceRow, name: str, version: str, noise: Noise) -> str:
    """``ConsumerConfig values`` of the process that begins with that row."""
    held = row.detail
    given = {"client.id": name, "group.id": held["group"], **held["configs"]}
    config = ClientConfig.of(given, version, name, str(held["client"]))
    values = dict(noise.config)
    for key in values:
        if key in config.values and key not in {
            "bootstrap.servers",
            "key.deserializer",
            "value.deserializer",
            "interceptor.classes",
        }:
            values[key] = _shown(config.values[key])
    values["bootstrap.servers"] = f"[{PORT}]"
    classes = [CLASSES.get(one, one) for one in config.assignors]
    default = "partition.assignment.strategy" not in held["configs"]
    values["partition.assignment.strategy"] = (
        "[" + ", ".join(f"class {one}" if default else one for one in classes) + "]"
    )
    return "ConsumerConfig values: \n" + "".join(
        f"\t{key} = {value}\n" for key, value in sorted(values.items())
    )


def _shown(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    return f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else str(value)


def _running(trace: Trace, name: str) -> list[tuple[int, int]]:
    """Stretches in which a process runs."""
    stretches: list[tuple[int, int]] = []
    since: int | None = None
    for row in trace.of("process_started", "process_thawed", "process_frozen", "process_ended"):
        if row.actor != name:
            continue
        if since is not None and row.at_ms > since:
            stretches.append((since, row.at_ms))
        since = row.at_ms if row.kind in {"process_started", "process_thawed"} else None
    return [*stretches, (since, trace.end_ms)] if since is not None and since < trace.end_ms else stretches


def _drawn(
    kinds: Sequence[Kind], count: int, stretches: Sequence[tuple[int, int]], dice: random.Random, who: str
) -> list[LogLine]:
    """``count`` lines of those kinds, as frequent among each other as recorded, in order of time."""
    if not (kinds and stretches):
        return []
    lengths = [end - begin for begin, end in stretches]
    chosen = dice.choices(kinds, [kind.weight for kind in kinds], k=count)
    places = dice.choices(stretches, lengths, k=count)
    times = sorted(dice.randrange(begin, end) for begin, end in places)
    return [
        LogLine(
            at_ms,
            kind.level,
            kind.logger,
            kind.text.format_map({"topic": f"{dice.choice(STRANGERS)}", "id": _id(dice), "who": who}),
        )
        for at_ms, kind in zip(times, chosen, strict=True)
    ]


def _id(dice: random.Random) -> str:
    return base64.urlsafe_b64encode(dice.randbytes(16)).decode().rstrip("=")
