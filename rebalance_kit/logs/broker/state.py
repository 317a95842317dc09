"""State that a broker's lines need beyond their own row: clients' settings, generations, load epochs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rebalance_kit.logs.templates.template import Said, say
from rebalance_kit.model.config import ClientConfig
from rebalance_kit.model.trace import TraceRow
from rebalance_kit.model.versions import has


class BrokerState:
    """Follows the rows of a trace; renderers read it and print through ``say``."""

    def __init__(self, version: str, meta: Mapping[str, Any]) -> None:
        self.version = version
        self.scala = has("scala-log-lines", version)
        self.meta = meta
        self.load_epoch = 0
        self.configs: dict[str, ClientConfig] = {}
        self.instances: dict[str, str | None] = {}
        self.topics_of: dict[str, tuple[str, ...]] = {}
        self.protocols: dict[str, tuple[str, ...]] = {}
        self.generations: dict[str, tuple[str, int]] = {}
        self.committed: dict[str, set[str]] = {}
        self.loading_ms: int | None = None
        self.failed_over = False
        self.last_leaver = ("", "")
        self.classic_members: set[str] = set()
        self.groups: dict[str, str] = {}
        self.had = 0
        """Partitions that the topic changed last had before."""
        self.partitions: dict[str, int] = {
            str(name): int(count) for name, count in meta.get("topics", {}).items()
        }

    def see(self, row: TraceRow) -> None:
        """Take a row into account before anything is said about it."""
        detail = row.detail
        if row.kind == "process_started":
            self._started(row)
        elif row.kind == "topic_changed":
            self.had = self.partitions.get(row.topic or "", 0)
            self.partitions[row.topic or ""] = int(detail["partitions"])
        elif row.kind == "action" and detail["do"] == "subscribe":
            self.topics_of[row.actor] = tuple(detail["topics"])
        elif row.kind == "request" and detail["api"] == "JoinGroup":
            self.protocols[row.actor] = tuple(detail["protocols"])
        elif row.kind == "action" and detail["do"] in {"broker_down", "coordinator_failover"}:
            self.failed_over = detail["do"] == "coordinator_failover"
        elif row.kind == "coordinator_up":
            self.loading_ms = row.at_ms
        elif row.kind == "commit" and detail["error"] == "NONE":
            for partition in detail["offsets"]:
                self.committed.setdefault(str(partition).rpartition("-")[0], set()).add(str(partition))
        elif (
            row.kind in {"group_state", "generation", "epoch_bump", "group_converted"}
            and row.generation is not None
        ):
            self.generations[str(detail["group"])] = (row.speaks(), row.generation)
        elif row.kind in {"member_added", "member_replaced"}:
            self._joined(row)
        if row.kind == "group_converted":
            self.generations[str(detail["group"])] = (
                str(detail["to"]),
                row.generation or self.generations.get(str(detail["group"]), ("", 0))[1],
            )

    def _started(self, row: TraceRow) -> None:
        detail = row.detail
        self.configs[row.actor] = ClientConfig.of(
            {"client.id": row.actor, "group.id": detail["group"], **detail["configs"]},
            str(self.meta.get("kafka_version", self.version)),
            row.actor,
            str(detail["client"]),
        )
        self.topics_of[row.actor] = tuple(detail["topics"])
        self.groups[row.actor] = str(detail["group"])

    def _joined(self, row: TraceRow) -> None:
        detail, member_id = row.detail, row.member_id or ""
        self.instances[member_id] = detail["instance_id"]
        replaces_classic = detail.get("old_member_id") in self.classic_members
        if row.protocol == "classic" or detail.get("classic") or replaces_classic:
            self.classic_members.add(member_id)

    def topics_of_group(self, group: str) -> Mapping[str, int]:
        """Partition counts of the topics that there are and that members of the group have asked for."""
        asked = {
            topic
            for name, topics in self.topics_of.items()
            if self.groups.get(name) == group
            for topic in topics
        }
        return {topic: self.partitions[topic] for topic in sorted(asked) if self.partitions.get(topic)}

    def say(self, name: str, **values: object) -> tuple[Said, ...]:
        """A line of this broker."""
        return say(name, self.version, broker=1, **values)

    def metadata(self, member_id: str | None, name: str) -> str:
        """How the Scala coordinator prints a member (``MemberMetadata.toString``)."""
        config = self.configs.get(name)
        instance = self.instances.get(member_id or "")
        client = name if config is None or not config.get("client.id") else config.get("client.id")
        session, rebalance = (
            (45_000, 300_000) if config is None else (config.session_timeout_ms, config.max_poll_interval_ms)
        )
        return (
            f"MemberMetadata(memberId={member_id}, groupInstanceId={some(instance)}, clientId={client}, clientHost=/127.0.0.1, "
            f"sessionTimeoutMs={session}, rebalanceTimeoutMs={rebalance}, supportedProtocols=List({', '.join(self.protocols.get(name, ()))}))"
        )


def some(value: str | None) -> str:
    """A Scala Option as it prints."""
    return "None" if value is None else f"Some({value})"
