"""Pods: what a Kubernetes manifest, Helm values or a Spring file say of them, and in which order a controller replaces them.

A Deployment keeps ``replicas - maxUnavailable`` pods available and has at most ``replicas + maxSurge`` (a pod that terminates is not
counted); a StatefulSet replaces one pod after the other, the highest ordinal first, and waits for each to be gone and ready again.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import ceil, floor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rebalance_kit.model.errors import DataError
from rebalance_kit.model.yaml_text import compose, construct, read_text
from rebalance_kit.whatif.config_files import RULES, config_text, lines_of

if TYPE_CHECKING:
    from yaml.nodes import Node

KINDS = ("Deployment", "StatefulSet")
MOST_REPLICAS = 500
AT_MS = 30_000
"""When the first pod is told to go, so that the group has come together before."""
_OTHER_KINDS = {
    "KafkaConnect": "a group of Connect workers",
    "KafkaMirrorMaker2": "a group of Connect workers",
    "DaemonSet": "a DaemonSet",
}
_HELM_REPLICAS = ("replicaCount", "replicas")
_CONCURRENCY = "spring.kafka.listener.concurrency"
_DURATION = re.compile(r"\bsleep\s+(\d{1,6})\b")


class Step(NamedTuple):
    """What happens to a pod: ``start`` or ``stop``, ms after the event begins."""

    at_ms: int
    do: str
    pod: str


@dataclass(frozen=True, slots=True)
class Workload:
    """The pods of one group; ``said`` are the places and words of what was found, ``assumed`` of what was not.

    ``surge`` and ``unavailable`` are numbers or percentages as Kubernetes spells them.
    """

    kind: str = "Deployment"
    name: str = "consumer"
    replicas: int = 3
    consumers: int = 1
    surge: str = "25%"
    unavailable: str = "25%"
    recreate: bool = False
    min_ready_ms: int = 0
    pre_stop_ms: int = 0
    """How long a preStop hook sleeps before the process is told to go: it reads on."""
    grace_ms: int = 30_000
    """terminationGracePeriodSeconds, the hook included; then the process is killed."""
    at_once: int | None = None
    """How many pods a PodDisruptionBudget lets a drain stop before their replacements are ready; None without one."""
    ready_ms: int = 0
    """readinessProbe.initialDelaySeconds: no pod is ready before."""
    start_ms: int = 10_000
    stop_ms: int = 1_000
    said: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def stable_names(self) -> bool:
        """Whether the pod that takes another's place has its name."""
        return self.kind == "StatefulSet"

    @property
    def gone_ms(self) -> int:
        """From the deletion of a pod until its process is gone."""
        return min(self.pre_stop_ms + self.stop_ms, self.grace_ms)

    @property
    def killed(self) -> bool:
        """Whether the grace period is over before the process has been told to go."""
        return self.pre_stop_ms >= self.grace_ms

    @property
    def bounds(self) -> tuple[int, int]:
        """MaxSurge and maxUnavailable in pods: a percentage of surge is rounded up, one of unavailable down."""
        surge = _pods(self.surge, self.replicas, up=True)
        unavailable = _pods(self.unavailable, self.replicas, up=False)
        return (surge, unavailable) if surge or unavailable else (0, 1)

    @property
    def words(self) -> str:
        """How it replaces its pods."""
        if self.stable_names:
            return "one pod after the other, the highest ordinal first"
        if self.recreate:
            return "Recreate: all pods go, then all come"
        return "maxSurge {}, maxUnavailable {}".format(*self.bounds)


def _pods(text: str, replicas: int, *, up: bool) -> int:
    if text.endswith("%"):
        share = replicas * int(text[:-1]) / 100
        return ceil(share) if up else floor(share)
    return int(text)


def read_workload(paths: list[Path], name: str | None = None) -> Workload | None:
    """What the files say of the pods, of the workload ``name`` where there are several; None where none of them says anything.

    Raises ``DataError`` with file and what was expected for a number that is none, and where it is not clear which workload is meant.
    """
    found: list[Workload] = []
    concurrency: list[tuple[str, int]] = []
    other: list[str] = []
    budgets: list[tuple[Path, Mapping[str, Any]]] = []
    for path in paths:
        for tree in _trees(path):
            kind = str(tree.get("kind", ""))
            if kind in KINDS:
                found.append(_of_manifest(path, kind, tree))
            elif kind == "PodDisruptionBudget":
                budgets.append((path, tree))
            elif kind in _OTHER_KINDS:
                other.append(f"{path}: {kind}: {_OTHER_KINDS[kind]}, which is not simulated")
            elif not kind:
                found += _of_values(path, tree)
            if count := _concurrency(path, tree):
                concurrency.append((str(path), count))
    names = ", ".join(one.name for one in found) or "none"
    if name is not None:
        found = [one for one in found if one.name == name]
        if not found:
            raise DataError(f"no workload in these files is named {name!r}; expected one of {names}")
    if len(found) > 1:
        raise DataError(
            f"the files describe {len(found)} workloads; expected one, chosen by --workload: {names}"
        )
    if not found and not concurrency and not other:
        return None
    one = found[0] if found else Workload()
    if len(budgets) == 1:
        one = _with_budget(one, *budgets[0])
    if concurrency:
        place, count = concurrency[0]
        one = replace(
            one,
            consumers=count,
            said=(*one.said, f"{place}: {_CONCURRENCY} {count}: so many consumers in each pod"),
        )
    return replace(one, left_out=tuple(other))


def _trees(path: Path) -> Iterator[dict[str, Any]]:
    """Each document as a mapping; properties become one whose keys are whole."""
    if path.suffix.lower() not in {".yaml", ".yml", ".json"}:
        yield {name: value for _, name, value in lines_of(read_text(path, RULES))}
        return
    text = config_text(path)
    for document in re.split(
        r"(?m)^---(?=\s|$)", text.replace("\t", " ") if text.lstrip()[:1] in "{[" else text
    ):
        node: Node | None = compose(document, str(path), RULES) if document.strip() else None
        tree = construct(node, str(path), RULES)
        if isinstance(tree, dict):
            yield tree


def _at(tree: Any, *keys: str) -> Any:
    for key in keys:
        if not isinstance(tree, Mapping):
            return None
        tree = tree.get(key)
    return tree


def _concurrency(path: Path, tree: Mapping[str, Any]) -> int:
    nested = _at(tree, *_CONCURRENCY.split("."))
    value = tree.get(_CONCURRENCY) if nested is None else nested
    if value is None or "${" in str(value):
        return 0
    return _whole(path, _CONCURRENCY, value, least=1)


def _whole(path: Path, key: str, value: Any, least: int = 0) -> int:
    if not re.fullmatch(r"\d{1,6}", str(value)) or not least <= int(value) <= 100_000:
        raise DataError(f"{path}: {key} is {str(value)[:40]!r}; expected a whole number from {least}")
    return int(value)


def _replicas(path: Path, key: str, value: Any) -> int:
    count = _whole(path, key, value, least=1)
    if count > MOST_REPLICAS:
        raise DataError(f"{path}: {key} is {count}; expected at most {MOST_REPLICAS} pods")
    return count


def _share(path: Path, key: str, value: Any) -> str:
    text = str(value)
    if not re.fullmatch(r"\d{1,3}%|\d{1,6}", text):
        raise DataError(
            f"{path}: {key} is {text[:40]!r}; expected a number of pods or a percentage, as in 1 or 25%"
        )
    return text


@dataclass(slots=True)
class _Said:
    """What a file says, with its place."""

    path: Path
    words: list[str] = field(default_factory=list)
    given: dict[str, Any] = field(default_factory=dict)

    def put(self, name: str, key: str, value: Any) -> None:
        self.given[name] = value
        self.words.append(f"{self.path}: {key} {value}")


def _of_manifest(path: Path, kind: str, tree: Mapping[str, Any]) -> Workload:
    said = _Said(path)
    spec = _at(tree, "spec") or {}
    name = str(_at(tree, "metadata", "name") or "consumer")
    if (value := _at(spec, "replicas")) is not None:
        said.put("replicas", "spec.replicas", _replicas(path, "spec.replicas", value))
    else:
        said.given["replicas"] = 1  # Kubernetes' default
    if (value := _at(spec, "minReadySeconds")) is not None:
        said.put("min_ready_ms", "spec.minReadySeconds", _whole(path, "spec.minReadySeconds", value) * 1_000)
    if kind == "Deployment":
        if _at(spec, "strategy", "type") == "Recreate":
            said.put("recreate", "spec.strategy.type Recreate", True)
        for key, field_name in (("maxSurge", "surge"), ("maxUnavailable", "unavailable")):
            if (value := _at(spec, "strategy", "rollingUpdate", key)) is not None:
                said.put(field_name, f"spec.strategy.rollingUpdate.{key}", _share(path, key, value))
    _pod(said, _at(spec, "template", "spec") or {})
    said.words[:] = [words.replace(" Recreate True", " Recreate") for words in said.words]
    return Workload(kind=kind, name=name, said=tuple(said.words), **said.given)


def _pod(said: _Said, spec: Mapping[str, Any]) -> None:
    """The hook, the grace period and the readiness of the pod's first container."""
    key = "terminationGracePeriodSeconds"
    if (value := _at(spec, key)) is not None:
        said.put("grace_ms", key, _whole(said.path, key, value) * 1_000)
    first: Mapping[str, Any] = next(iter(_at(spec, "containers") or ()), {})
    hook = _at(first, "lifecycle", "preStop") or {}
    seconds = _at(hook, "sleep", "seconds")
    if seconds is None and (
        slept := _DURATION.search(" ".join(map(str, _at(hook, "exec", "command") or ())))
    ):
        seconds = slept[1]
    if seconds is not None:
        said.put(
            "pre_stop_ms", "lifecycle.preStop: sleeps, ms", _whole(said.path, "preStop", seconds) * 1_000
        )
    if (value := _at(first, "readinessProbe", "initialDelaySeconds")) is not None:
        said.put(
            "ready_ms",
            "readinessProbe.initialDelaySeconds, ms",
            _whole(said.path, "initialDelaySeconds", value) * 1_000,
        )


def _with_budget(one: Workload, path: Path, tree: Mapping[str, Any]) -> Workload:
    least, most = _at(tree, "spec", "minAvailable"), _at(tree, "spec", "maxUnavailable")
    if least is None and most is None:
        return one
    if most is None:
        at_once = one.replicas - _pods(_share(path, "minAvailable", least), one.replicas, up=True)
    else:
        at_once = _pods(_share(path, "maxUnavailable", most), one.replicas, up=True)
    words = f"{path}: PodDisruptionBudget: a drain stops {max(0, at_once)} pods at once"
    if at_once < 1:
        words += "; it would wait for ever, so one is taken"
    return replace(one, at_once=max(1, at_once), said=(*one.said, words))


def _of_values(path: Path, tree: Mapping[str, Any]) -> Iterator[Workload]:
    """Helm values: the number of replicas at the top, or in the one part that has it."""
    parts = [("", tree), *((f"{key}.", part) for key, part in tree.items() if isinstance(part, Mapping))]
    for before, part in parts:
        for key in _HELM_REPLICAS:
            if part.get(key) is not None:
                count = _replicas(path, before + key, part[key])
                yield Workload(
                    name=before.rstrip(".") or path.stem,
                    replicas=count,
                    said=(f"{path}: {before}{key} {count}",),
                )
                return


# --- the order of things -----------------------------------------------------------------------------


def rollout(work: Workload) -> list[Step]:
    """A deploy: which pod stops and starts when; raises ``DataError`` where neither surge nor unavailable lets it begin."""
    old = [f"pod-{number}" for number in range(1, work.replicas + 1)]
    if work.stable_names:
        return list(_one_by_one(work, old))
    if work.recreate:
        fresh = [Step(work.gone_ms + work.start_ms, "start", f"{pod}-new") for pod in old]
        return [*(Step(0, "stop", pod) for pod in old), *fresh]
    return _rolling(work, old)


def _one_by_one(work: Workload, pods: list[str]) -> Iterator[Step]:
    at_ms = 0
    for pod in reversed(pods):
        yield Step(at_ms, "stop", pod)
        at_ms += work.gone_ms + work.start_ms
        yield Step(at_ms, "start", pod)
        at_ms += max(0, work.ready_ms - work.start_ms) + work.min_ready_ms + 1


def _rolling(work: Workload, old: list[str]) -> list[Step]:
    surge, unavailable = work.bounds
    most, least = work.replicas + surge, work.replicas - unavailable
    steps: list[Step] = []
    coming: list[int] = []
    left, made, ready, now_ms = list(old), 0, 0, 0
    while left or made < work.replicas:
        while made < work.replicas and len(left) + made < most:
            made += 1
            steps.append(Step(now_ms + work.start_ms, "start", f"pod-{made}-new"))
            heapq.heappush(coming, now_ms + max(work.start_ms, work.ready_ms) + work.min_ready_ms)
        if left and len(left) + ready > least:
            steps.append(Step(now_ms, "stop", left.pop()))
            continue
        if not coming:
            break
        now_ms = heapq.heappop(coming)
        ready += 1
    return sorted(steps)


def drain(work: Workload, pods: int) -> list[Step]:
    """A node goes: its pods stop, as many at once as the budget allows, and others start elsewhere (those of a StatefulSet under their names)."""
    gone = [f"pod-{number}" for number in range(work.replicas, work.replicas - min(pods, work.replicas), -1)]
    wait_ms = work.start_ms + (work.gone_ms if work.stable_names else 0)
    each_ms = wait_ms + max(0, work.ready_ms - work.start_ms)
    steps = []
    for number, pod in enumerate(gone):
        at_ms = number // (work.at_once or len(gone)) * (each_ms + 1)
        back = pod if work.stable_names else f"{pod}-new"
        steps += [Step(at_ms, "stop", pod), Step(at_ms + wait_ms, "start", back)]
    return sorted(steps)


def scale_out(work: Workload, pods: int) -> list[Step]:
    """So many pods more: together, or one after the other in a StatefulSet."""
    apart_ms = work.start_ms + work.min_ready_ms if work.stable_names else 0
    return [
        Step(work.start_ms + number * apart_ms, "start", f"pod-{work.replicas + 1 + number}")
        for number in range(pods)
    ]
