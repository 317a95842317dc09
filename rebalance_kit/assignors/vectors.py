"""Cases run: what our assignors answer, and whether Kafka's classes answered the same.

``run_assign`` is the command ``rebalance-kit assign``; ``vector_cases`` says what a file looks like.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from rebalance_kit.assignors.contract import Assignment, KafkaFailure, Step
from rebalance_kit.assignors.registry import assign
from rebalance_kit.assignors.vector_cases import VectorCase, read_cases
from rebalance_kit.model.errors import AssignorError, DataError


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
    steps: list[Step] | None = [] if explain else None
    result: dict[str, Any] = {"index": case.index}
    try:
        assignment = assign(case.assignor, case.cluster, case.members, steps, case.max_generation)
    except KafkaFailure as failure:
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


def _is_equal(case: VectorCase, assignment: Assignment) -> bool:
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
