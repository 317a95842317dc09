"""State that librdkafka's lines need beyond their own row: its states, what it owns, responses in flight."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from rebalance_kit.logs.templates.librdkafka import LIBRDKAFKA
from rebalance_kit.logs.templates.template import Said
from rebalance_kit.model.config import ClientConfig
from rebalance_kit.model.topology import parse_partition
from rebalance_kit.model.trace import TraceRow


class Marks(NamedTuple):
    """Callbacks told apart by what follows them (their ``seq``)."""

    wrong: frozenset[int]
    """Ends after which librdkafka said that the wrong call was made: nothing was done, the join state goes on waiting."""
    closing: frozenset[int]
    """Beginnings of close()'s own revocation."""


class NativeState:
    """Follows one life of a librdkafka consumer; renderers read it and print through ``say``."""

    def __init__(self, name: str, row: TraceRow, meta: Mapping[str, Any], marks: Marks) -> None:
        self.marks = marks
        held = row.detail
        self.group = str(held["group"])
        version = str(meta.get("kafka_version", "4.3.1"))
        configs = {"client.id": name, "group.id": self.group, **held["configs"]}
        self.config = ClientConfig.of(configs, version, name, str(held["client"]))
        self.client = str(self.config.get("client.id") or name)
        self.topics: tuple[str, ...] = tuple(held["topics"])
        self.way = "COOPERATIVE" if row.protocol == "consumer" else self.config.mode
        self.topic_ids: Mapping[str, Any] = dict(meta.get("topic_ids", {}))
        self.join_state, self.state = "init", "init"
        self.member = ""
        self.owned: tuple[str, ...] = ()
        self.has_joined = row.protocol == "consumer"
        self.spoke = self.after_revoke = self.closing = self.acknowledges = False
        self.sent: dict[int, TraceRow] = {}
        self.gives_up: TraceRow | None = None
        """The commit of partitions that are about to be given up."""
        self.commit_error = "Success"
        self.rejoin: tuple[Said, ...] = ()
        self.reason = "rebalance in progress"

    @property
    def mode(self) -> str:
        """The rebalance protocol as it prints: NONE before the first assignment."""
        return self.way if self.has_joined else "NONE"

    def say(self, name: str, **values: object) -> tuple[Said, ...]:
        """A line of this client."""
        form = LIBRDKAFKA[name]
        given = {
            "group": self.group,
            "client": self.client,
            "state": self.state,
            "join_state": self.join_state,
            **values,
        }
        text = form.text.format_map(given)
        return (
            Said(form.level, f"{form.facility}|{self.client}#consumer-1", f"[thrd:{form.thread}]: {text}"),
        )

    def go(self, to: str) -> tuple[Said, ...]:
        """The join state changes."""
        before, self.join_state = self.join_state, to
        return self.say("join_state", before=before, after=to) if before != to else ()

    def turn(self, *states: str) -> tuple[Said, ...]:
        """The group handle's own state changes, step by step."""
        said: tuple[Said, ...] = ()
        for to in states:
            said = (*said, *self.say("state", before=self.state, after=to))
            self.state = to
        return said

    def named(self, member_id: str) -> tuple[Said, ...]:
        """The member id changes."""
        before, self.member = self.member, member_id
        return self.say("member_id", old=before, new=member_id) if before != member_id else ()

    def printed(self, partitions: Iterable[object], *, named: bool = True) -> str:
        """Partitions of a KIP-848 member as librdkafka prints them: topic (``(null)`` before it is looked up), its id, number."""
        found = [parse_partition(str(partition)) for partition in partitions]
        return ", ".join(
            f"{tp.topic if named else '(null)'}({self._topic_id(tp.topic)})[{tp.partition}]" for tp in found
        )

    def _topic_id(self, topic: str) -> str:
        halves = self.topic_ids.get(topic)
        if halves is None:
            return "(null)"
        raw = b"".join(int(half).to_bytes(8, "big", signed=True) for half in halves)
        return base64.b64encode(raw).decode().rstrip("=")
