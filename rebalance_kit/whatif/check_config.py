"""``rebalance-kit check-config``: what a consumer's settings mean today, and what a migration to KIP-848 makes of them.

Refusals are those of the kit's own check of a configuration (Kafka's and librdkafka's words); every statement names its source.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TextIO

from rebalance_kit.model.broker_keys import BROKER_KEYS
from rebalance_kit.model.client_keys import CLASSES, CLIENT_KEYS, REFUSED_BY_CONSUMER
from rebalance_kit.model.config import CLIENTS, BrokerConfig, ClientConfig
from rebalance_kit.model.errors import MESSAGES, ConfigError, DataError
from rebalance_kit.model.key_types import NUMBER, RefusedConfig
from rebalance_kit.model.versions import CHANGES, PREFERRED, bound, has, parse_version
from rebalance_kit.whatif.config_files import ConfigFile, Setting, read_config

LIBRDKAFKA_SINCE = "2.12"
"""The first librdkafka whose KIP-848 is generally available (docs/your-client.md)."""
SERVER_ASSIGNORS: Mapping[str, str] = MappingProxyType(
    {"range": "range", "roundrobin": "uniform", "sticky": "uniform", "cooperative-sticky": "uniform"}
)
"""Client assignor -> ``group.remote.assignor`` (Kafka's documentation, Consumer Rebalance Protocol)."""
_MOST_DIGITS = 12
_STRATEGY, _SESSION, _HEARTBEAT = (
    "partition.assignment.strategy",
    "session.timeout.ms",
    "heartbeat.interval.ms",
)
_AT_THE_BROKER = {
    _SESSION: ("group.consumer.session.timeout.ms", "consumer.session.timeout.ms", "min.session.timeout.ms"),
    _HEARTBEAT: (
        "group.consumer.heartbeat.interval.ms",
        "consumer.heartbeat.interval.ms",
        "min.heartbeat.interval.ms",
    ),
}


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing said of a file: a finding asks for a deed, a note does not; ``source`` is a KIP or class."""

    file: str
    line: int
    whose: str
    key: str
    finding: bool
    words: str
    source: str


@dataclass(frozen=True, slots=True)
class Versions:
    """What is known beside the files: the client's kind and version, the brokers' version."""

    client: str | None = None
    client_version: str | None = None
    broker_version: str = PREFERRED


def run_check_config(paths: Sequence[str], known: Versions, out: TextIO, *, as_json: bool = False) -> int:
    """Say what is to say of the files; 0 nothing to do, 1 a finding, 3 no finding but a file or a value that is not understood.

    Raises ``DataError`` and ``ConfigError`` for files and versions that cannot be read.
    """
    _check_versions(known)
    files = [read_config(Path(path)) for path in paths]
    for file in files:
        _check_numbers(file)
    broker = {one.key: one.text for file in files for one in file.settings if one.broker and one.known}
    said = [*_of_versions(known, files)]
    unread = []
    for file in files:
        unread += [
            f"{file.path}: settings of {other}, which has its own rules"
            for other in dict.fromkeys(file.others)
        ]
        if not file.settings and not file.others:
            unread.append(f"{file.path}: no setting of a consumer group; expected keys such as {_SESSION}")
        unread += [
            f"{file.path}:{one.line}: {one.key} is {repr(one.text) if one.text else 'empty'}; expected a value that is written out, to judge it"
            for one in file.settings
            if not one.known
        ]
        said += _of_broker(file, broker, known)
        for part, whose in dict.fromkeys((one.part, one.whose) for one in file.settings if not one.broker):
            mine = {
                one.key: one
                for one in file.settings
                if (one.part, one.whose) == (part, whose) and not one.broker
            }
            said += _of_consumer(file, whose, mine, broker, known)
        said += _of_placeholders(file)
        said += _of_shared(file)
    steps = _steps(known) if any(not one.broker for file in files for one in file.settings) else []
    if as_json:
        whole = {
            "statements": [asdict(one) for one in said],
            "steps": [{"words": words, "source": source} for words, source in steps],
            "not_understood": unread,
        }
        print(json.dumps(whole, ensure_ascii=False), file=out)
    else:
        _print(said, steps, unread, out)
    return 1 if any(one.finding for one in said) else 3 if unread else 0


def _check_versions(known: Versions) -> None:
    parse_version(known.broker_version)
    if known.client_version is None:
        return
    if known.client is None:
        raise ConfigError(
            f"--client-version is {known.client_version!r} without --client; expected {' or '.join(CLIENTS)}"
        )
    if known.client == "java":
        parse_version(known.client_version)
        return
    try:
        bound(known.client_version)
    except ValueError as error:
        raise ConfigError(
            f"--client-version is {known.client_version!r}; expected MAJOR.MINOR of librdkafka, as in {LIBRDKAFKA_SINCE}"
        ) from error


def _check_numbers(file: ConfigFile) -> None:
    for one in file.settings:
        if not one.known or not one.key.endswith(".ms") or _whole(one.text):
            continue
        if one.broker or len(one.text) > _MOST_DIGITS:  # a client's own words tell of a shorter one
            raise DataError(
                f"{file.path}:{one.line}: {one.key} is {one.text[:40]!r}; expected a whole number of milliseconds"
            )


def _of_versions(known: Versions, files: Sequence[ConfigFile]) -> Iterator[Statement]:
    change = CHANGES["consumer-protocol"]
    if not has("new-coordinator", known.broker_version):
        words = f"Brokers are {known.broker_version}; the migration needs 4.0 or newer. {change.text}"
        yield Statement(files[0].path, 0, "", "group.protocol", True, words, change.source)
    version = known.client_version
    if version is None:
        return
    least = "4.0" if known.client == "java" else LIBRDKAFKA_SINCE
    if bound(version) < bound(least):
        name = "kafka-clients" if known.client == "java" else "librdkafka"
        words = (
            f"{name} {version} cannot use group.protocol=consumer in production; expected {least} or newer."
        )
        source = change.source if known.client == "java" else "docs/your-client.md"
        yield Statement(files[0].path, 0, "", "group.protocol", True, words, source)


def _of_broker(file: ConfigFile, broker: Mapping[str, str], known: Versions) -> Iterator[Statement]:
    mine = {one.key: one for one in file.settings if one.broker}
    if not mine:
        return
    try:
        BrokerConfig.of(broker, known.broker_version)
    except ConfigError as error:
        at = next((mine[key] for key in getattr(error, "keys", ()) if key in mine), None)
        if at is not None:
            yield _at(
                file, at, True, f"The broker refuses to start: {_kafkas(error)}", "GroupCoordinatorConfig"
            )


def _of_consumer(
    file: ConfigFile, whose: str, mine: Mapping[str, Setting], broker: Mapping[str, str], known: Versions
) -> Iterator[Statement]:
    client = known.client or _client_of(whose, mine)
    yield from _as_it_stands(file, mine, client, known)
    yield from _clocks(file, mine, broker, client, known)
    for key in (_STRATEGY, _HEARTBEAT, _SESSION):
        if key in mine and key in REFUSED_BY_CONSUMER:
            yield _refused(file, mine[key], client, known)
    for key, (at_broker, of_group, least) in _AT_THE_BROKER.items():
        if key in mine and mine[key].known and _whole(mine[key].text):
            yield _moved(file, mine[key], broker, (at_broker, of_group, f"group.consumer.{least}"), known)
    if _STRATEGY in mine and mine[_STRATEGY].known:
        yield from _assignors(file, mine[_STRATEGY])
    if "max.poll.interval.ms" in mine:
        words = "Stays with the client; under KIP-848 it travels in each first heartbeat as the member's rebalance timeout."
        yield _at(file, mine["max.poll.interval.ms"], False, words, "KIP-848, ConsumerGroupHeartbeatRequest")


def _client_of(whose: str, mine: Mapping[str, Setting]) -> str | None:
    """The client, where the settings leave no doubt: Spring is Java, and so is a class of Kafka's."""
    classes = mine[_STRATEGY].text if _STRATEGY in mine else ""
    return "java" if "spring.kafka" in whose or "org.apache.kafka." in classes else None


def _as_it_stands(
    file: ConfigFile, mine: Mapping[str, Setting], client: str | None, known: Versions
) -> Iterator[Statement]:
    """What the client refuses of the settings as they are written."""
    now = {key: one.text for key, one in mine.items() if one.known}
    own = {
        name.strip(): ("EAGER",)
        for name in now.get(_STRATEGY, "").split(",")
        if "." in name and name.strip() not in CLASSES.values()
    }
    if now.get("group.protocol", "").lower() == "consumer":
        now = {key: text for key, text in now.items() if key not in REFUSED_BY_CONSUMER}
    for each in CLIENTS if client is None else (client,):
        try:
            ClientConfig.of({"group.id": "group", **now}, _java_version(each, known), client=each, own=own)
        except ConfigError as error:
            keys = [key for key in getattr(error, "keys", ()) if key in mine]
            if keys and (client is not None or _STRATEGY not in keys):
                name = "kafka-clients" if each == "java" else each
                yield _at(
                    file, mine[keys[0]], True, f"{name} refuses it today: {_kafkas(error)}", _class(each)
                )


def _clocks(
    file: ConfigFile,
    mine: Mapping[str, Setting],
    broker: Mapping[str, str],
    client: str | None,
    known: Versions,
) -> Iterator[Statement]:
    """Heartbeat and session of the classic protocol."""
    if mine.get("group.protocol") is not None and mine["group.protocol"].text.lower() == "consumer":
        return
    version = _java_version(client, known)
    session, heartbeat = _ms(mine, _SESSION, version), _ms(mine, _HEARTBEAT, version)
    at = mine.get(_HEARTBEAT) or mine.get(_SESSION)
    if session is None or heartbeat is None or at is None:
        return
    if heartbeat * 3 > session:
        words = (
            f"heartbeat.interval.ms={heartbeat}{_default(mine, _HEARTBEAT)} is more than a third of "
            f"session.timeout.ms={session}{_default(mine, _SESSION)}; Kafka's documentation asks for at most a third."
        )
        yield _at(file, at, True, words, "ConsumerConfig, heartbeat.interval.ms")
    low = _broker_ms(broker, "group.min.session.timeout.ms", known)
    high = _broker_ms(broker, "group.max.session.timeout.ms", known)
    if _SESSION in mine and not low <= session <= high:
        words = f"session.timeout.ms={session} lies outside the broker's {low} to {high}: {MESSAGES['INVALID_SESSION_TIMEOUT']}"
        yield _at(
            file,
            mine[_SESSION],
            True,
            f"{words} The default bounds hold unless a broker's file says otherwise.",
            "InvalidSessionTimeoutException",
        )


def _refused(file: ConfigFile, at: Setting, client: str | None, known: Versions) -> Statement:
    """What the client says of a key once group.protocol=consumer stands beside it."""
    version = _java_version(client, known)
    if client != "librdkafka" and not has("consumer-refuses-classic-configs", version):
        change = CHANGES["consumer-refuses-classic-configs"]
        return _at(
            file, at, True, f"Remove it before group.protocol=consumer: {change.text}", f"{change.source}"
        )
    legal = "range" if at.key == _STRATEGY else "6000" if at.key == _SESSION else "1000"
    given = {"group.id": "group", "group.protocol": "consumer", at.key: legal}
    try:
        ClientConfig.of(given, version, client=client or "java")
    except RefusedConfig as error:
        words = f"Remove it before group.protocol=consumer, which refuses it: {error.kafka_message}"
        return _at(file, at, True, words, _class(client))
    raise AssertionError(at.key)  # a key of REFUSED_BY_CONSUMER is refused


def _moved(
    file: ConfigFile, at: Setting, broker: Mapping[str, str], keys: tuple[str, str, str], known: Versions
) -> Statement:
    """Where the value of a key lives after the migration, and what becomes of it."""
    at_broker, of_group, least_key = keys
    now, then = int(at.text), _broker_ms(broker, at_broker, known)
    least = _broker_ms(broker, least_key, known)
    most = _broker_ms(broker, least_key.replace(".min.", ".max."), known)
    ground = "as the given files say" if at_broker in broker else "the default"
    what = "A dead member is noticed after" if at.key == _SESSION else "Members send a heartbeat every"
    words = f"{what} {now / 1000:g} s today, under KIP-848 {then / 1000:g} s: the broker's {at_broker} ({ground}) holds."
    if now != then and least <= now <= most:
        words += f" To keep it, set {of_group}={now} on the group (kafka-configs.sh --entity-type groups)."
    elif now != then:
        words += f" To keep it, set {least_key if now < least else least_key.replace('.min.', '.max.')}={now} on the brokers, and {of_group}={now} on the group; the range is {least} to {most}."
    return _at(file, at, now != then, words, "KIP-848, GroupCoordinatorConfig, GroupConfig")


def _assignors(file: ConfigFile, at: Setting) -> Iterator[Statement]:
    for item in filter(None, (name.strip() for name in at.text.split(","))):
        short = next(
            (
                name
                for name, full in CLASSES.items()
                if item.lower().replace("_", "-") == name or item in {full, full.rpartition(".")[2]}
            ),
            None,
        )
        if short is not None:
            words = f"{item}: its place is taken by group.remote.assignor={SERVER_ASSIGNORS[short]}; unset, the broker's first of group.consumer.assignors (uniform)."
            yield _at(file, at, False, words, "KIP-848; Kafka's documentation, Consumer Rebalance Protocol")
        elif "." in item:
            words = f"{item} is no assignor of Kafka's; KIP-848 computes targets on the broker, where a ConsumerGroupPartitionAssignor named in group.consumer.assignors has to take its place."
            yield _at(file, at, True, words, "KIP-848, KAFKA-18327")


def _of_placeholders(file: ConfigFile) -> Iterator[Statement]:
    for one in file.settings:
        if one.placeholder:
            words = f"{one.placeholder} is taken as {one.text}, its default; what the environment gives instead is not in the file."
            yield _at(file, one, False, words, "the file itself")


def _of_shared(file: ConfigFile) -> Iterator[Statement]:
    for line, kind, replicas, text in file.shared:
        words = f"group.instance.id is {text!r} in all {replicas} replicas of the {kind}; expected one of its own per pod: the classic protocol fences the older holder, KIP-848 refuses the newer."
        yield Statement(
            file.path,
            line,
            kind,
            "group.instance.id",
            True,
            words,
            "KIP-345 (FENCED_INSTANCE_ID), KIP-848 (UNRELEASED_INSTANCE_ID)",
        )


def _steps(known: Versions) -> list[tuple[str, str]]:
    policy = BROKER_KEYS["group.consumer.migration.policy"].default("4.0")
    return [
        (
            f"Brokers on 4.0 or newer, with group.consumer.migration.policy={policy} (the default since 4.0)",
            "KIP-848, GroupCoordinatorConfig",
        ),
        (
            f"Clients that can: kafka-clients 4.0 or newer, librdkafka {LIBRDKAFKA_SINCE} or newer",
            "KIP-848, docs/your-client.md",
        ),
        (
            "Set what moves on the brokers and on the group, before any member changes its protocol",
            "KIP-848, GroupConfig",
        ),
        (
            "Remove the refused keys, set group.protocol=consumer, and bounce member by member: the first one converts the group",
            "KIP-848",
        ),
        (
            "The way back is the same bounce with group.protocol=classic; the last consumer member to leave converts the group back",
            "KIP-848",
        ),
    ]


def _print(
    said: Sequence[Statement], steps: Sequence[tuple[str, str]], unread: Sequence[str], out: TextIO
) -> None:
    for one in said:
        place = f"{one.file}:{one.line}" if one.line else one.file
        mark = "finding" if one.finding else "note"
        print(f"{place}: {mark}: {one.key}: {one.words} [{one.source}]", file=out)
    if steps:
        print("\nSteps to KIP-848:", file=out)
    for number, (words, source) in enumerate(steps, 1):
        print(f"{number}. {words} [{source}]", file=out)
    for words in unread:
        print(f"not understood: {words}", file=out)


def _at(file: ConfigFile, at: Setting, finding: bool, words: str, source: str) -> Statement:
    return Statement(file.path, at.line, at.whose, at.key, finding, words, source)


def _kafkas(error: ConfigError) -> str:
    return error.kafka_message if isinstance(error, RefusedConfig) else str(error)


def _class(client: str | None) -> str:
    return "librdkafka, rdkafka_conf.c" if client == "librdkafka" else "ConsumerConfig"


def _java_version(client: str | None, known: Versions) -> str:
    return known.client_version if client == "java" and known.client_version is not None else PREFERRED


def _ms(mine: Mapping[str, Setting], key: str, version: str) -> int | None:
    if key not in mine:
        return int(CLIENT_KEYS[key].default(version))
    at = mine[key]
    return int(at.text) if at.known and _whole(at.text) else None


def _default(mine: Mapping[str, Setting], key: str) -> str:
    return "" if key in mine else " (the default, unless it is set elsewhere)"


def _broker_ms(broker: Mapping[str, str], key: str, known: Versions) -> int:
    return int(broker.get(key, BROKER_KEYS[key].default(known.broker_version)))


def _whole(text: str) -> bool:
    return len(text) <= _MOST_DIGITS and NUMBER.fullmatch(text) is not None
