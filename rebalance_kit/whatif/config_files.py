"""A consumer's settings out of the files people keep them in: properties, INI, Spring, Kubernetes, Helm values, JSON.

Whatever the form, a setting is a path of names that ends in a key of Kafka: ``spring.kafka.consumer.properties.session.timeout.ms``,
``KAFKA_CONSUMER_SESSION_TIMEOUT_MS``, ``sessionTimeoutMs``. Nothing is evaluated: a placeholder stays one.

The configuration blocks that Kafka prints: ``ConsumerConfig values:`` and ``KafkaConfig values:``, every key with its line; and what
a broker's lines say of a member's clocks (``MemberMetadata``) and of a group's own settings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rebalance_kit.forensics.lines.files import Text
from rebalance_kit.forensics.lines.line_reader import LONGEST_LINE
from rebalance_kit.model.config import all_keys
from rebalance_kit.model.yaml_text import YamlRules, compose, read_text

if TYPE_CHECKING:
    from yaml.nodes import Node


RULES = YamlRules(what="a configuration file", most_depth=40, aliases=True)
_TEMPLATE = re.compile(r"(?m)^\s*(?:- )?(?:[\w.-]+:\s+)?\{\{")
_YAML = (".yaml", ".yml", ".json")
_LINES = (".properties", ".ini", ".conf", ".cfg", ".env", ".config")
_BROKER_ONLY = ("group.consumer.", "group.min.session", "group.max.session", "group.coordinator.")
_CLIENT = (
    "group.protocol",
    "group.remote.assignor",
    "group.instance.id",
    "session.timeout.ms",
    "heartbeat.interval.ms",
    "partition.assignment.strategy",
    "max.poll.interval.ms",
    "max.poll.records",
    "enable.auto.commit",
    "auto.commit.interval.ms",
)
KEYS = tuple(
    sorted((*_CLIENT, *(name for name in all_keys() if name.startswith(_BROKER_ONLY))), key=len, reverse=True)
)
"""The keys that are looked for, longest first: ``session.timeout.ms`` is the end of other keys."""
_OTHERS = {"producer", "admin", "streams", "zookeeper", "zk"}
"""Names in a path that say that the setting is no consumer's."""
_STREAMS = ("num.stream.threads", "processing.guarantee", "default.production.exception.handler", "state.dir")
"""Keys of Kafka Streams: a file of lines that has one of them is no plain consumer's."""
_DEFAULT = re.compile(r"\$\{[\w.-]+:([^${}]+)\}")
"""A placeholder of Spring's or a shell's with the value that holds where nothing else is given."""
_WORKERS = {"KafkaConnect", "KafkaMirrorMaker2"}
"""Kinds whose bare keys are those of the worker's own group; a consumer's begin with consumer."""
_LONGEST_NAME = 1_000
"""Letters of a path of names: a longer one ends in no key."""
_MOST_WITHIN = 8
"""Files that are embedded in each other."""
_SPRING = re.compile(r"spring\.kafka\.(?:consumer\.)?(.+)")
_WRAPPERS = {"properties", "config", "configuration"}
_TIME = re.compile(r"(?:PT)?([0-9]{1,12})(ms|s|m)?", re.IGNORECASE)
_MS = {"": 1, "ms": 1, "s": 1_000, "m": 60_000}


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: Kafka's key, the text of its value, and whose it is (the path before the key).

    ``part`` counts the documents and the embedded files of a file: settings of two parts are never taken together. ``placeholder`` is what
    stands there where ``text`` is only its default.
    """

    key: str
    text: str
    line: int
    whose: str
    broker: bool
    part: int = 0
    placeholder: str = ""

    @property
    def known(self) -> bool:
        """Whether the value is written out, and no placeholder."""
        return "${" not in self.text and "$(" not in self.text and "{{" not in self.text and self.text != ""


@dataclass(slots=True)
class ConfigFile:
    """What one file says: settings, and each instance id that a replicated workload gives its pods (line, kind, replicas, text)."""

    path: str
    settings: list[Setting] = field(default_factory=list)
    shared: list[tuple[int, str, int, str]] = field(default_factory=list)
    parts: int = 0
    #: Lines before the document that is read, and how many files it is embedded in.
    above: int = 0
    within: int = 0
    #: What else has settings here, which are left alone.
    others: list[str] = field(default_factory=list)


def read_config(path: Path) -> ConfigFile:
    """The settings of a file, by its suffix; raises ``DataError`` with file, line and what was expected."""
    found = ConfigFile(str(path))
    if path.suffix.lower() not in (*_YAML, *_LINES):
        raise RULES.error(
            f"{path}: the name ends in {path.suffix!r}; expected one of {' '.join((*_YAML, *_LINES))}"
        )
    _read(config_text(path), path.suffix.lower() in _YAML, found)
    return found


def config_text(path: Path) -> str:
    """The text of a file; raises ``DataError`` with the line where it is a template, from which anything may come."""
    text = read_text(path, RULES)
    if path.suffix.lower() in _YAML and (found := _TEMPLATE.search(text)):
        line = text.count("\n", 0, found.end()) + 1
        raise RULES.error(
            f"{path}:{line}: a template ({{{{ }}}}); expected what `helm template` writes of its chart, with your values"
        )
    return text


def _read(text: str, as_yaml: bool, found: ConfigFile) -> None:
    above = found.above
    if not as_yaml:
        found.parts += 1
        each = list(lines_of(text))
        if any(name.endswith(_STREAMS) for _, name, _ in each):
            found.others.append("Kafka Streams")
            return
        for line, name, value in each:
            _keep(found, name.split("."), value, line + above, "")
        return
    documents = re.split(r"(?m)^---(?=\s|$)", text.replace("\t", " ") if text.lstrip()[:1] in "{[" else text)
    for document in documents:
        if document.strip():
            try:
                node = compose(document, found.path, RULES)
            except RULES.error:
                node = compose("\n" * found.above + document, found.path, RULES)  # tells the line in the file
            if node is not None:
                _document(node, found)
        found.above += document.count("\n")
    found.above = above


def lines_of(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, name and value of properties and INI; a section is a part of the name."""
    section, held, begun = "", "", 0
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not held:
            begun = number
            if not line or line[0] in "#!;":
                continue
            if line[0] == "[" and line[-1] == "]":
                section = f"{line[1:-1].strip()}."
                continue
        held += line.removesuffix("\\")
        if line.endswith("\\"):
            continue
        name, _, value = re.sub(r"^export\s+", "", held).partition(
            next((one for one in held if one in "=:"), " ")
        )
        held = ""
        yield begun, section + name.strip(), value.strip().strip("\"'")


def _document(node: Node, found: ConfigFile) -> None:
    from yaml.nodes import MappingNode, ScalarNode

    found.parts += 1
    top = {}
    if isinstance(node, MappingNode):
        top = {key.value: child for key, child in node.value if isinstance(key, ScalarNode)}
    kind_node = top.get("kind")
    kind = str(kind_node.value) if isinstance(kind_node, ScalarNode) else ""
    replicas = 1
    spec = top.get("spec")
    if isinstance(spec, MappingNode):
        for key, child in spec.value:
            if key.value == "replicas" and re.fullmatch(r"[0-9]{1,9}", str(child.value)):
                replicas = int(child.value)
    _walk(node, [], found, kind, replicas)


def _walk(node: Node, path: list[str], found: ConfigFile, kind: str, replicas: int) -> None:
    from yaml.nodes import MappingNode, ScalarNode, SequenceNode

    if isinstance(node, SequenceNode):
        if node.value and all(isinstance(child, ScalarNode) for child in node.value):
            _keep(found, path, ",".join(child.value for child in node.value), _line(node, found), kind)
            return
        for number, child in enumerate(node.value):
            _walk(child, [*path, str(number)], found, kind, replicas)
    elif isinstance(node, MappingNode):
        pairs = {str(key.value): child for key, child in node.value if isinstance(key, ScalarNode)}
        if isinstance(name := pairs.get("name"), ScalarNode) and ({"value", "valueFrom"} & set(pairs)):
            _variable(name, pairs, path, found, kind, replicas)
            return
        if any(key.endswith(_STREAMS) for key in pairs):
            found.others.append("Kafka Streams")
            return
        for key, child in node.value:
            _walk(child, [*path, *str(key.value).split(".")], found, kind, replicas)
    elif isinstance(node, ScalarNode):
        text = str(node.value)
        if "\n" in text.strip() and path and path[-1] in {"properties", "yml", "yaml", "json", "conf", "ini"}:
            _embedded(text, path[-1] in {"yml", "yaml", "json"}, found, node)
        else:
            _keep(found, path, text, _line(node, found), kind)


def _embedded(text: str, as_yaml: bool, found: ConfigFile, node: Node) -> None:
    """Read a file that is the value of a key; its lines are counted in the file around it."""
    if found.within == _MOST_WITHIN:
        raise RULES.error(
            f"{found.path}:{_line(node, found)}: a file in a file, {_MOST_WITHIN + 1} times; expected {RULES.what}"
        )
    outer, above = found.parts, found.above
    found.above, found.within = _line(node, found), found.within + 1  # it begins below its key
    _read(text, as_yaml, found)
    found.above, found.within = above, found.within - 1
    found.parts += found.parts > outer


def _variable(
    name: Node, pairs: dict[str, Node], path: list[str], found: ConfigFile, kind: str, replicas: int
) -> None:
    """One entry of a container's env."""
    value = pairs.get("value")
    text = str(value.value) if value is not None else "${valueFrom}"
    line = _line(name, found)
    _keep(found, [*path[:-1], str(name.value)], text, line, kind)
    last = found.settings[-1] if found.settings else None
    if last is None or last.line != line or last.key != "group.instance.id" or not last.known:
        return
    if kind in {"Deployment", "StatefulSet", "ReplicaSet"} and replicas > 1:
        found.shared.append((last.line, kind, replicas, text))


def _keep(found: ConfigFile, path: list[str], text: str, line: int, kind: str) -> None:
    named = _named(path)
    if named is None:
        return
    before, key, spring_time = named
    parts = {part.lower() for part in re.split(r"[._]", before)}
    broker = key.startswith(_BROKER_ONLY)
    if not broker and (parts & _OTHERS or (kind in _WORKERS and "consumer" not in parts)):
        return
    default = _DEFAULT.fullmatch(text.strip())
    placeholder = text.strip() if default else ""
    if "zookeeper" in placeholder.lower():
        return
    text = default[1].lstrip("-") if default else text
    if spring_time and (time := _TIME.fullmatch(text.strip())):
        text = str(int(time[1]) * _MS[(time[2] or "").lower()])
    found.settings.append(Setting(key, text.strip(), line, before, broker, found.parts, placeholder))


def _named(path: list[str]) -> tuple[str, str, bool] | None:
    """The path before the key, the key, and whether Spring takes a duration; None where no key ends the path."""
    joined = ".".join(path)
    if len(joined) > _LONGEST_NAME:
        return None
    dotted = re.sub(r"\.?\[([^\[\]]+)\]", r".\1", joined).strip(".")
    last = dotted.rpartition(".")[2]
    if re.fullmatch(r"[A-Z][A-Z0-9_]*", last):
        dotted = dotted[: len(dotted) - len(last)] + last.lower().replace("_", ".")
    for key in KEYS:
        if dotted == key or dotted.endswith(f".{key}"):
            return _whose(dotted[: len(dotted) - len(key)]), key, False
    spring = _SPRING.search(dotted)
    wanted = _squeezed(spring[1] if spring else last)
    for key, squeezed in _SQUEEZED:
        if wanted == squeezed:
            return (
                _whose(dotted[: spring.end() - len(spring[1])] if spring else dotted[: -len(last)]),
                key,
                False,
            )
        if spring and f"{wanted}ms" == squeezed:
            return _whose(dotted[: spring.end() - len(spring[1])]), key, True
    return None


def _whose(before: str) -> str:
    """The consumer of a path: what only wraps settings is left away, and Spring's two levels are one."""
    parts = before.strip(".").split(".")
    while parts and parts[-1] in _WRAPPERS:
        parts.pop()
    text = ".".join(parts)
    return re.sub(r"spring\.kafka(\.consumer)?$", "spring.kafka.consumer", text)


def _squeezed(name: str) -> str:
    return re.sub(r"[._-]", "", name).lower()


_SQUEEZED = tuple((key, _squeezed(key)) for key in KEYS)


def _line(node: Node, found: ConfigFile) -> int:
    return found.above + int(node.start_mark.line) + 1


_HEAD = re.compile(r"\b(ConsumerConfig|KafkaConfig|GroupConfig) values:\s*$")
_ENTRY = re.compile(r"^\s+([a-z][\w.]*) = (.*)$")
_CLUSTER = re.compile(r"groupId=([^\],]{1,500})\] Cluster ID: ([\w-]{1,99})")
_MEMBER = re.compile(
    r"MemberMetadata\(memberId=([^,]{1,500}), .{0,1000}?clientId=([^,]{1,500}), .{0,1000}?"
    r"sessionTimeoutMs=([0-9]{1,9}), rebalanceTimeoutMs=([0-9]{1,9})"
)
_GROUP_SET = re.compile(r"Updating group (\S{1,500}) with new configuration : (.{1,2000})")
_SET_TO = re.compile(r"consumer\.(session\.timeout|heartbeat\.interval)\.ms -> ([0-9]{1,9})")


@dataclass(slots=True)
class Block:
    """One printed block: its kind, where its head stands, and each key's value and line.

    Of kind ``MemberMetadata`` and ``GroupConfig`` are single lines of a broker, which say it of ``member.id`` and of ``group.id``.
    """

    kind: str
    file: str
    line: int
    values: dict[str, tuple[str, int]] = field(default_factory=dict)

    def get(self, key: str) -> str | None:
        """The printed value; None where the key is not in it, or is ``null``."""
        value = self.values.get(key, ("null", 0))[0]
        return None if value == "null" else value


def printed_in(name: str, path: Path) -> tuple[list[Block], set[tuple[str, str]]]:
    """The blocks of a file in order, and each group with a cluster ID that its members name; the file is read once, line by line."""
    clusters: set[tuple[str, str]] = set()
    told: list[Block] = []

    def lines() -> Iterator[str]:
        for number, line in enumerate(_lines_in(path), 1):
            if "Cluster ID: " in line:
                clusters.update(_CLUSTER.findall(line))
            elif "sessionTimeoutMs=" in line or "Updating group " in line:
                told.extend(_told_in(name, number, line))
            yield line

    return [*blocks_of(name, lines()), *told], clusters


def _told_in(file: str, number: int, line: str) -> Iterator[Block]:
    """What one line of a broker says of a member's clocks, or of what was set for a group."""
    for member, client, session, rebalance in _MEMBER.findall(line):
        said = {"member.id": member, "client.id": client, "session.timeout.ms": session}
        if rebalance != session:  # before Kafka 0.10.1, and in clients of that time, they are one setting
            said["max.poll.interval.ms"] = rebalance
        yield Block("MemberMetadata", file, number, {key: (value, number) for key, value in said.items()})
    for group, said_of_it in _GROUP_SET.findall(line):
        values = {f"group.consumer.{key}.ms": (value, number) for key, value in _SET_TO.findall(said_of_it)}
        if values:
            yield Block("GroupConfig", file, number, {"group.id": (group, number), **values})


def _lines_in(path: Path) -> Iterator[str]:
    """The lines of a file; one that is too long to be read is empty, so that the numbers of the others stay."""
    held, long = b"", False
    for piece in Text(path).pieces():
        *whole, held = (held + piece).split(b"\n")
        for line in whole:
            yield "" if long or len(line) > LONGEST_LINE else line.decode("utf-8", "replace").rstrip("\r")
            long = False
        if len(held) > LONGEST_LINE:
            held, long = b"", True
    if held and not long:
        yield held.decode("utf-8", "replace")


def blocks_of(name: str, lines: Iterable[str]) -> Iterator[Block]:
    r"""The blocks among lines.

    >>> [block.values for block in blocks_of("c1.log", ["INFO ConsumerConfig values: ", "\tgroup.id = g", "INFO on"])]
    [{'group.id': ('g', 2)}]
    """
    block: Block | None = None
    for number, line in enumerate(lines, 1):
        head = _HEAD.search(line)
        if head:
            if block is not None:
                yield block
            block = Block(head[1], name, number)
            continue
        if block is None:
            continue
        entry = _ENTRY.match(line)
        if entry:
            block.values[entry[1]] = entry[2].rstrip(), number
        elif line[:1] not in {" ", "\t"}:
            yield block
            block = None
    if block is not None:
        yield block
