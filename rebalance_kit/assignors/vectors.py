"""Cases run: what our assignors answer, and whether Kafka's classes answered the same.

``run_assign`` is the command ``rebalance-kit assign``; ``read_cases`` says what a file looks like.
"""

from __future__ import annotations

import gzip
import io
import json
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn, TextIO

from rebalance_kit.assignors import contract
from rebalance_kit.assignors.registry import ASSIGNORS, assign
from rebalance_kit.model.errors import AssignorError, DataError
from rebalance_kit.model.files import refuse_no_file
from rebalance_kit.model.topology import TopicId, TopicPartition

# Assignor cases as a file holds them: read, checked key by key, turned into values.
#
# A file is JSON, plain or gzipped: a list of cases, or an object with such a list under ``vectors``. A case:
#
# - ``assignor``: ``client.range``, ``client.sticky``, ``server.uniform`` …
# - ``topics``: partition counts by name; server assignors also need ``topic_ids``: [most, least] signed 64-bit halves
# - ``members``, in the order in which they were put into Java's map: ``member_id``, ``topics``, and optionally
#   ``group_instance_id``, ``owned`` ([[topic, partition], …]), ``generation``, ``subscription_generation``, ``rack``
# - optionally ``replica_racks``: by topic, for each partition the racks of its replicas; ``max_generation``
# - optionally ``expected`` (partitions by member) or ``raises`` (the simple name of a Java exception)
#
# Other keys are passed over, unless they look like one of these misspelt.


_NAMES = {(name if name.startswith("server.") else f"client.{name}"): name for name in ASSIGNORS}
_CASE_KEYS = (
    "assignor",
    "topics",
    "topic_ids",
    "members",
    "replica_racks",
    "max_generation",
    "expected",
    "raises",
)
_MEMBER_KEYS = (
    "member_id",
    "group_instance_id",
    "topics",
    "owned",
    "generation",
    "subscription_generation",
    "rack",
)
_GZIP_MAGIC = b"\x1f\x8b"
_INT32 = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class VectorCase:
    """One case: what the assignor is given, and what Kafka answered if the file says so.

    ``assignor`` is the registry's name. ``where`` is file and case index, for messages.
    """

    index: int
    where: str
    assignor: str
    cluster: contract.Cluster
    members: tuple[contract.MemberSubscription, ...]
    max_generation: int = contract.NO_GENERATION
    expected: Mapping[str, tuple[TopicPartition, ...]] | None = None
    raises: str | None = None


def read_cases(path: str | Path) -> Iterator[VectorCase]:
    """Yield the cases of a file; raises ``DataError`` naming file, case, key, value and what was expected."""
    document = _load(Path(path))
    cases = document.get("vectors") if isinstance(document, dict) else document
    if not isinstance(cases, list):
        _refuse(str(path), document, 'a list of cases, or an object with one under "vectors"')
    for index, raw in enumerate(cases):
        yield parse_case(raw, index, str(path))


MOST_PARTITIONS = 200_000
"""Of a case, all topics together."""
MOST_BYTES = 50_000_000
"""Of a file of cases, unpacked."""


def _load(path: Path) -> Any:
    refuse_no_file(path, "a JSON file of assignor cases, plain or gzipped")
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if data.startswith(_GZIP_MAGIC):
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
                data = packed.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise DataError(
                f"{path}: more than {MOST_BYTES:,} bytes; expected a smaller file of assignor cases"
            )
        return json.loads(data.decode("utf-8"))
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise DataError(
            f"{path}: cannot be read ({reason}); expected a JSON file of assignor cases, plain or gzipped"
        ) from problem
    except EOFError as problem:
        raise DataError(f"{path}: the gzip file is cut short; expected a complete one") from problem
    except (ValueError, RecursionError) as problem:
        raise DataError(
            f"{path}: is not JSON ({problem}); expected assignor cases, plain or gzipped"
        ) from problem
    except zlib.error as problem:
        raise DataError(f"{path}: the gzip file is damaged ({problem})") from problem


def parse_case(raw: Any, index: int, source: str) -> VectorCase:
    """Turn one decoded case into values; raises ``DataError``."""
    where = f"{source}: case {index}"
    _object(where, raw)
    _known_keys(where, raw, _CASE_KEYS)
    name = _assignor(where, raw)
    partitions = {
        topic: _integer(f"{where}, topics.{topic}", count, 0)
        for topic, count in _object(f"{where}, topics", _required(where, raw, "topics")).items()
    }
    if sum(partitions.values()) > MOST_PARTITIONS:
        _refuse(
            f"{where}, topics", sum(partitions.values()), f"at most {MOST_PARTITIONS} partitions in a case"
        )
    ids = _object(f"{where}, topic_ids", raw.get("topic_ids") or {})
    topic_ids = {topic: _topic_id(f"{where}, topic_ids.{topic}", halves) for topic, halves in ids.items()}
    if name.startswith("server."):
        for topic in partitions.keys() - topic_ids.keys():
            _refuse(
                f"{where}, topic_ids.{topic}",
                None,
                "the topic's id as [most, least]: a server assignor needs it",
            )
    members = _list_of(f"{where}, members", _required(where, raw, "members"), _member)
    _distinct(where, members)
    return VectorCase(
        index,
        where,
        name,
        contract.Cluster(partitions, topic_ids, _racks(where, raw.get("replica_racks") or {}, partitions)),
        members,
        _optional(f"{where}, max_generation", raw.get("max_generation"), _generation, contract.NO_GENERATION),
        _expected(where, raw.get("expected"), members),
        _optional(f"{where}, raises", raw.get("raises"), _text, None),
    )


def _assignor(where: str, raw: Mapping[str, Any]) -> str:
    value = _text(f"{where}, assignor", _required(where, raw, "assignor"))
    name = _NAMES.get(value, value)
    if name not in ASSIGNORS:
        close = get_close_matches(value, _NAMES, n=1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        _refuse(f"{where}, assignor", value, f"one of {', '.join(_NAMES)}{hint}")
    return name


def _member(where: str, raw: Any) -> contract.MemberSubscription:
    _object(where, raw)
    _known_keys(where, raw, _MEMBER_KEYS)
    member_id = _text(f"{where}.member_id", _required(where, raw, "member_id"))

    def optional(key: str, check: Callable[[str, Any], Any]) -> Any:
        return _optional(f"{where}.{key}", raw.get(key), check, None)

    return contract.MemberSubscription(
        member_id,
        _list_of(f"{where}.topics", _required(where, raw, "topics"), _text),
        optional("group_instance_id", _text),
        _list_of(f"{where}.owned", raw.get("owned") or [], _partition),
        optional("generation", _generation),
        optional("rack", _rack),
        optional("subscription_generation", _generation),
    )


def _distinct(where: str, members: tuple[contract.MemberSubscription, ...]) -> None:
    seen: dict[str, int] = {}
    for place, member in enumerate(members):
        if member.member_id in seen:
            expected = f"an id of its own; members[{seen[member.member_id]}] has this one already"
            _refuse(f"{where}, members[{place}].member_id", member.member_id, expected)
        seen[member.member_id] = place


def _racks(
    where: str, raw: Any, partitions: Mapping[str, int]
) -> dict[str, tuple[tuple[str | None, ...], ...]]:
    racks = {}
    for topic, listed in _object(f"{where}, replica_racks", raw).items():
        at = f"{where}, replica_racks.{topic}"
        racks[topic] = _list_of(at, listed, lambda here, each: _list_of(here, each, _rack_or_null))
        if topic in partitions and len(racks[topic]) != partitions[topic]:
            _refuse(at, f"racks of {len(racks[topic])} partitions", f"{partitions[topic]}, as topics says")
    return racks


def _expected(
    where: str, raw: Any, members: tuple[contract.MemberSubscription, ...]
) -> dict[str, tuple[TopicPartition, ...]] | None:
    if raw is None:
        return None
    at = f"{where}, expected"
    expected = {m: _list_of(f"{at}.{m}", share, _partition) for m, share in _object(at, raw).items()}
    missing = [member.member_id for member in members if member.member_id not in expected]
    if missing:
        _refuse(at, sorted(expected), f"every member, possibly with []; {missing[0]!r} is missing")
    return expected


# --- single values ---------------------------------------------------------------------------


def _refuse(where: str, value: Any, expected: str) -> NoReturn:
    shown = json.dumps(value, ensure_ascii=False, default=str)
    if len(shown) > 120:
        shown = shown[:117] + "..."
    raise DataError(f"{where}: got {shown}, expected {expected}")


def _required(where: str, raw: Mapping[str, Any], key: str) -> Any:
    if key not in raw:
        _refuse(where, sorted(raw), f"the key {key!r}")
    return raw[key]


def _known_keys(where: str, raw: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key in raw:
        if key not in known:
            close = get_close_matches(key, [name for name in known if name not in raw], n=1, cutoff=0.8)
            if close:
                _refuse(where, key, f"the key {close[0]!r}: this one looks like it, misspelt")


def _object(where: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        _refuse(where, value, "an object")
    return value


def _list_of(where: str, value: Any, check: Callable[[str, Any], Any]) -> tuple[Any, ...]:
    if not isinstance(value, list):
        _refuse(where, value, "a list")
    return tuple(check(f"{where}[{place}]", each) for place, each in enumerate(value))


def _optional(where: str, value: Any, check: Callable[[str, Any], Any], absent: Any) -> Any:
    return absent if value is None else check(where, value)


def _text(where: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        _refuse(where, value, "a string that is not empty")
    return value


def _rack(where: str, value: Any) -> str:
    if not isinstance(value, str):
        _refuse(where, value, "a rack as a string, or null")
    return value


def _rack_or_null(where: str, value: Any) -> str | None:
    return None if value is None else _rack(where, value)


def _integer(where: str, value: Any, least: int, most: int = _INT32) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        _refuse(where, value, f"a whole number from {least} to {most}")
    return value


def _generation(where: str, value: Any) -> int:
    return _integer(where, value, contract.NO_GENERATION)


def _topic_id(where: str, value: Any) -> TopicId:
    halves = _list_of(where, value, lambda here, half: _integer(here, half, -(1 << 63), (1 << 63) - 1))
    if len(halves) != 2:
        _refuse(where, value, "[most, least], two signed 64-bit halves")
    return TopicId(*halves)


def _partition(where: str, value: Any) -> TopicPartition:
    if not isinstance(value, list) or len(value) != 2:
        _refuse(where, value, "[topic, partition]")
    return TopicPartition(_text(f"{where}[0]", value[0]), _integer(f"{where}[1]", value[1], 0))


def run_cases(path: str | Path, *, explain: bool = False) -> Iterator[dict[str, Any]]:
    """Yield for each case of the file what ``run_case`` returns.

    The whole file is checked first: ``DataError`` for a bad case comes before any result.
    """
    for case in tuple(read_cases(path)):
        yield run_case(case, explain=explain)


def run_case(case: VectorCase, *, explain: bool = False) -> dict[str, Any]:
    """Run one case.

    Returns ``index``; ``assignment`` (client assignors: lists in Kafka's own order; server: sorted) or
    ``raises`` (the Java exception); ``equal`` where the case says what Kafka answered; ``steps`` if asked.
    """
    steps: list[contract.Step] | None = [] if explain else None
    result: dict[str, Any] = {"index": case.index}
    try:
        assignment = assign(case.assignor, case.cluster, case.members, steps, case.max_generation)
    except contract.KafkaFailure as failure:
        result["raises"] = failure.java_exception
        if case.expected is not None or case.raises is not None:
            result["equal"] = case.raises == failure.java_exception
        if explain:
            result["reason"] = str(failure)
    except AssignorError as problem:
        raise DataError(f"{case.where}: {problem}") from problem
    else:
        result["assignment"] = {
            member_id: [list(p) for p in share] for member_id, share in assignment.items()
        }
        if case.expected is not None or case.raises is not None:
            result["equal"] = _is_equal(case, assignment)
    if steps is not None:
        result["steps"] = [
            {"rule": step.rule, "member": step.member, "partitions": [list(p) for p in step.partitions]}
            for step in steps
        ]
    return result


def _is_equal(case: VectorCase, assignment: contract.Assignment) -> bool:
    if case.expected is None or case.raises is not None:
        return False
    if case.assignor.startswith("server."):
        return assignment == {member_id: tuple(sorted(share)) for member_id, share in case.expected.items()}
    return assignment == case.expected


def run_assign(path: str | Path, as_json: bool, explain: bool, out: TextIO, err: TextIO | None = None) -> int:
    """Run the cases of a file, one JSON line a case to ``out``; returns 0, or 1 if any differs from Kafka.

    With ``explain``, ``as_json`` puts the steps into the line; otherwise they follow it as indented text. A
    summary goes to ``err`` (standard error) unless ``as_json``. Raises ``DataError`` for bad input.
    """
    count = different = compared = 0
    for result in run_cases(path, explain=explain):
        count += 1
        compared += "equal" in result
        different += result.get("equal") is False
        steps = () if as_json else result.pop("steps", ())
        print(json.dumps(result), file=out)
        for step in steps:
            names = tuple(f"{topic}-{number}" for topic, number in step["partitions"])
            who = f"{step['member']}: " if step["member"] is not None else ""
            print(f"    {who}{step['rule']}" + (f" [{', '.join(names)}]" if names else ""), file=out)
    if not as_json:
        summary = f"{count} cases, {compared} compared with Kafka, {compared - different} equal, {different} different"
        print(summary, file=err if err is not None else sys.stderr)
    return 1 if different else 0
