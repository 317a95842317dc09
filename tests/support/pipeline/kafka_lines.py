"""Log lines in Kafka's exact words, for tests to compose small logs of."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

GROUP = "orders-app"
_UUID = "3d088f73-0d4b-40a2-94b6-76a32dab4a9b"
_BEGIN = datetime(2026, 3, 1, 10, tzinfo=UTC)


def member(name: str) -> str:
    return f"{name}-{_UUID}"


def _line(seconds: float, level: str, text: str, logger: str) -> str:
    at = _BEGIN + timedelta(seconds=seconds)
    return f"[{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03d}] {level} {text} ({logger})\n"


def broker(seconds: float, text: str, level: str = "INFO") -> str:
    prefix = "[GroupCoordinator id=1 topic=__consumer_offsets partition=0] "
    return _line(seconds, level, prefix + text, "org.apache.kafka.coordinator.group.GroupMetadataManager")


def client(seconds: float, name: str, text: str, level: str = "INFO") -> str:
    prefix = f"[Consumer clientId={name}, groupId={GROUP}] "
    return _line(
        seconds, level, prefix + text, "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator"
    )


def worker(seconds: float, name: str, text: str, level: str = "INFO") -> str:
    prefix = f"[Worker clientId={name}, groupId={GROUP}] "
    return _line(
        seconds, level, prefix + text, "org.apache.kafka.connect.runtime.distributed.WorkerCoordinator"
    )


def plain(seconds: float, text: str) -> str:
    return _line(seconds, "INFO", text, "org.apache.kafka.clients.consumer.internals.ConsumerUtils")


def native(seconds: float, name: str, fac: str, text: str, level: int = 7) -> str:
    at = (_BEGIN - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() + seconds
    return f"%{level}|{at:.3f}|{fac}|{name}#consumer-1| [thrd:main]: {text}\n"


def preparing(seconds: float, old: int, reason: str) -> str:
    return broker(
        seconds,
        f"Preparing to rebalance group {GROUP} in state PreparingRebalance with old generation {old} (reason: {reason}).",
    )


def stabilized(seconds: float, generation: int, members: int = 2) -> str:
    return broker(seconds, f"Stabilized group {GROUP} generation {generation} with {members} members.")


def rebalance(seconds: float, old: int, reason: str) -> str:
    return (
        preparing(seconds, old, reason)
        + stabilized(seconds + 0.2, old + 1)
        + received(seconds + 0.3, old + 1)
    )


def received(seconds: float, generation: int, leader: str = "c1") -> str:
    return broker(
        seconds,
        f"Assignment received from leader {member(leader)} for group {GROUP} for generation {generation}. "
        "The group has 2 members, 0 of which are static.",
    )


def adding(name: str) -> str:
    id_ = member(name)
    return (
        f"Adding new member {id_} with group instance id null; "
        f"client reason: need to re-join with the given member-id: {id_}"
    )


def joining(seconds: float, old: int, name: str) -> str:
    given = (
        f"Dynamic member with unknown member id joins group {GROUP} in Stable state. Created a new member id "
        f"{member(name)} and requesting the member to rejoin with this id."
    )
    return broker(seconds - 0.01, given) + rebalance(seconds, old, adding(name))


def leaving(seconds: float, old: int, name: str) -> str:
    left = f"[Group {GROUP}] Member {member(name)} has left group through explicit `LeaveGroup` request; client reason: the consumer is being closed"
    return broker(seconds - 0.001, left) + rebalance(
        seconds, old, f"explicit `LeaveGroup` request for ({member(name)}) members."
    )


def failing(seconds: float, old: int, name: str) -> str:
    failed = f"Member {member(name)} in group {GROUP} has failed, removing it from the group."
    return broker(seconds - 0.001, failed) + rebalance(
        seconds, old, f"removing member {member(name)} on heartbeat expiration."
    )


def follow_up(seconds: float, old: int, name: str = "c1") -> str:
    said = "need to revoke partitions [orders-1] as indicated by the current assignment and re-join"
    return rebalance(
        seconds, old, f"Leader {member(name)} re-joining group during Stable; client reason: {said}"
    )


def finished(seconds: float, generation: int, *sets: str) -> str:
    shares = ", ".join(
        f"{member(f'c{place}')}=Assignment(partitions=[{share}])" for place, share in enumerate(sets, 1)
    )
    return client(seconds, "c1", f"Finished assignment for group at generation {generation}: {{{shares}}}")


def joined(seconds: float, name: str, generation: int) -> str:
    return client(
        seconds,
        name,
        f"Successfully joined group with generation Generation{{generationId={generation}, "
        f"memberId='{member(name)}', protocol='range'}}",
    )


def committed(seconds: float, offset: int) -> str:
    return plain(
        seconds,
        f"Setting offset for partition orders-0 to the committed offset FetchPosition{{offset={offset}, "
        "offsetEpoch=Optional[0], currentLeader=LeaderAndEpoch{leader=Optional[b:9092 (id: 1 rack: null)], epoch=0}}",
    )


def settings(seconds: float, name: str, beat: int, session: int) -> str:
    head = _line(seconds, "INFO", "ConsumerConfig values: ", "x").replace(" (x)", "")
    keys = {
        "client.id": name,
        "group.id": GROUP,
        "group.protocol": "classic",
        "heartbeat.interval.ms": beat,
        "session.timeout.ms": session,
    }
    body = "".join(f"\t{key} = {value}\n" for key, value in keys.items())
    return head + body + client(seconds + 1, name, "Subscribed to topic(s): orders")


def static_join(seconds: float, instance: str, id_: str, old: str | None = None) -> str:
    start = f"Static member with groupInstanceId={instance} and unknown member id joins group {GROUP} in Stable state. "
    if old:
        return broker(seconds, f"{start}Replacing previously mapped member {old} with this groupInstanceId.")
    return broker(seconds, f"{start}Created a new member id {id_} for this member and added to the group.")


def topic(seconds: float, verb: str, name: str, letter: str) -> str:
    """The controller's line about a topic that was made (``verb`` empty) or removed; its id is one letter."""
    word = "ID" if verb else "topic ID"
    return _line(
        seconds,
        "INFO",
        f"[QuorumController id=1] Replayed {verb}TopicRecord for topic {name} with {word} {letter * 22}.",
        "org.apache.kafka.controller.ReplicationControlManager",
    )
