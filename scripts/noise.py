"""Pack lines of other loggers from the recorded runs, so that made logs can be as full as real ones.

    python scripts/noise.py            # writes rebalance_kit/logs/noise.json.gz

Of each recorded Kafka version: how a broker starts, what it and its clients write besides the lines about groups, and
how a client begins and ends. Names, ids and ports are masked; no line that the pipeline's grammar knows is taken.
"""

from __future__ import annotations

import gzip
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from rebalance_kit.forensics.grammar.table import parse_message
from rebalance_kit.model.files import write_atomically
from rebalance_kit.recordings.folder import run_names, unpack

TARGET = Path(__file__).resolve().parents[1] / "rebalance_kit" / "logs" / "noise.json.gz"
LINE = re.compile(r"(?s)^\[([^\]]{23})\] (\w+) (.*) \(([\w.$]+)\)$")
PREFIX = re.compile(r"(?s)^\[(?:Consumer|Worker) (?:instanceId=.*?, )?clientId=.*?, groupId=.*?\] ?(.*)$")
BROKER_PREFIX = re.compile(r"^\[Group(?:Coordinator|MetadataManager) [^\]]*\]:? ")
PORTS = re.compile(r"127\.0\.0\.1:2\d{4}")
DATA = re.compile(r"/var/lib/kafka/data-\d+/")
TOPICS = re.compile(r"\b(?:orders-eu|orders|payments|clicks|invoices|bills)\b")
IDS = re.compile(r"(?<![\w/.-])(?=[\w-]*\d)(?=[\w-]*[A-Z])(?=[\w-]*[a-z])[\w-]{22}(?![\w/.-])")
STEADY = (
    "org.apache.kafka.storage.internals.log.UnifiedLog",
    "kafka.log.LogManager",
    "kafka.cluster.Partition",
    "state.change.logger",
    "kafka.server.ReplicaFetcherManager",
    "org.apache.kafka.controller.ProducerIdControlManager",
    "org.apache.kafka.controller.EventPerformanceMonitor",
    "org.apache.kafka.controller.ConfigurationControlManager",
    "kafka.server.metadata.DynamicConfigPublisher",
    "kafka.log.UnifiedLog$",
    "org.apache.kafka.storage.internals.log.ProducerStateManager",
    "org.apache.kafka.controller.ReplicationControlManager",
)
RESTLESS = ("Node -1 disconnected", "sent an invalid full fetch response")
"""What a client in good health says now and then; the rest of its lines belongs to the trouble it had."""


class Event(NamedTuple):
    """One event of a recorded log, its further lines included."""

    at_ms: int
    level: str
    logger: str
    message: str


def events(path: Path) -> Iterator[Event]:
    """Events of a log in Kafka's default layout."""
    held: list[str] = []
    for line in [*gzip.decompress(path.read_bytes()).decode().splitlines(), "["]:
        if line.startswith("[") and held:
            found = LINE.match("\n".join(held))
            if found:
                at = datetime.strptime(found[1] + "000", "%Y-%m-%d %H:%M:%S,%f").replace(tzinfo=UTC)
                yield Event(int(at.timestamp() * 1000), found[2], found[4], found[3])
            held = []
        held.append(line)


def known(message: str) -> bool:
    """Whether the pipeline takes anything from this event."""
    client = PREFIX.match(message)
    bare = client[1] if client else BROKER_PREFIX.sub("", message)
    return parse_message(bare) is not None or "roup" in bare.splitlines()[0]


def masked(message: str) -> str:
    """The message without what belongs to its run: ports, folders, ids; topics, client and group as {braces}."""
    text = message.replace("{", "\x00").replace("}", "\x01")
    text = DATA.sub("/var/lib/kafka/", PORTS.sub("127.0.0.1:9092", text))
    text = re.sub(r"\[Consumer (?:instanceId=\S+, )?clientId=\S+, groupId=\S+\] ?", "{who}", text)
    text = re.sub(r"(?<=topic with name ')\w+", "{topic}", TOPICS.sub("{topic}", IDS.sub("{id}", text)))
    return text.replace("\x00", "{{").replace("\x01", "}}")


def of_client(path: Path, into: dict, steady: Counter) -> None:
    """Take a client's start, end and in-between lines."""
    found = list(events(path))
    for event in found:
        if event.message.startswith("ConsumerConfig values:"):
            pairs = [line.strip().split(" =", 1) for line in event.message.splitlines()[1:] if " =" in line]
            values = {key: PORTS.sub("127.0.0.1:9092", value.strip()) for key, value in pairs}
            into.setdefault("config", {"logger": event.logger, "values": values})
        elif event.logger.endswith(("KafkaMetricsCollector",)):
            into.setdefault("collector", event[1:])
        elif event.message.startswith("Kafka commitId"):
            into.setdefault("commit", event[1:])
        elif event.message.endswith("unregistered") and "closing" not in into:
            into["closing"] = [
                one[1:]
                for one in found
                if one.logger.endswith("common.metrics.Metrics") and event.at_ms - one.at_ms < 500
            ]
        elif any(word in event.message for word in RESTLESS):
            steady[(event.level, event.logger, masked(event.message))] += 1


def of_broker(path: Path, into: dict, steady: Counter) -> None:
    """Take a broker's start, and what it writes at work."""
    up, boot = False, []
    for event in events(path):
        if event.message.startswith("Terminating process"):
            return
        if not up and not known(event.message):
            boot.append((event.at_ms, event.level, event.logger, masked(event.message)))
        elif (
            up
            and event.logger in STEADY
            and "consumer_offsets" not in event.message
            and not known(event.message)
        ):
            steady[(event.level, event.logger, masked(event.message))] += 1
        if "Kafka Server started" in event.message or re.search(
            r"\[KafkaServer id=\d+\] started", event.message
        ):
            up = True
            into.setdefault(
                "boot", [[at - event.at_ms, level, logger, text] for at, level, logger, text in boot]
            )


def main() -> None:
    """Read every recorded run and write the pack."""
    packed: dict[str, dict] = {}
    with tempfile.TemporaryDirectory() as scratch:
        unpack(Path(scratch))
        counters: dict[str, tuple[Counter, Counter]] = {}
        for run in run_names():
            version = run.split(".", 2)[2]
            into = packed.setdefault(version, {})
            brokers, clients = counters.setdefault(version, (Counter(), Counter()))
            for path in sorted((Path(scratch) / run).glob("*.log.gz")):
                if path.name.startswith("broker"):
                    of_broker(path, into, brokers)
                elif ".rd" not in path.name:
                    of_client(path, into, clients)
    for version, (brokers, clients) in counters.items():
        for name, counter in (("broker", brokers), ("client", clients)):
            common = sorted(counter.items(), key=lambda one: (-one[1], one[0]))[:150]
            packed[version][name] = [[count, *event] for event, count in common]
    text = json.dumps(packed, sort_keys=True, separators=(",", ":")).encode()
    write_atomically(TARGET, gzip.compress(text, 9, mtime=0))
    print(
        f"{TARGET.name}: {TARGET.stat().st_size:,} bytes; "
        + ", ".join(f"{v}: { ({k: len(x) for k, x in one.items()}) }" for v, one in packed.items())
    )


if __name__ == "__main__":
    main()
