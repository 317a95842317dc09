"""The shortest list of events that breaks a given assignor: read as data, run by the judge."""

from pathlib import Path

import yaml

from rebalance_kit.exercises.code_running import LITERAL
from rebalance_kit.exercises.code_task import FULL, CodeCase, CodeTask, Failed, Mark
from rebalance_kit.exercises.task import module_of
from rebalance_kit.model.errors import RebalanceKitError
from rebalance_kit.simulation.permalink import Link
from rebalance_kit.simulation.scenario.yaml_file import read_scenario
from rebalance_kit.simulation.simulate import simulate

GIVEN = module_of(Path(__file__).with_name("given.py")).GIVEN
SHORTEST = {"counts": 1, "returns": 3, "blocks": 1}
MOST = 12
HEAD = {
    "scenario": "break-an-assignor",
    "topics": [{"name": "orders", "partitions": 4}, {"name": "audit", "partitions": 2}],
    "end": "180s",
}
PLAIN = {"metadata.max.age.ms": 5_000}


def scenario_of(actions, strategy):
    members = [
        {"name": name, "topics": ["orders", "audit"], "start": start, "configs": PLAIN | strategy}
        for name, start in (("a", "0s"), ("b", "1s"), ("c", "2s"), ("d", None), ("e", None))
    ]
    text = yaml.safe_dump({**HEAD, "members": members, "actions": actions}, sort_keys=False)
    return read_scenario(text, "ANSWER", GIVEN)


def case(name, seed, where="public"):
    title = f"{name}, drawn seed {seed}" if where == "hidden" else name
    return CodeCase(title, {}, {"name": name, "seed": seed})


def judge(case_, answer):
    name, seed = case_.facts["name"], case_.facts["seed"]
    actions = listed(answer, name)
    try:
        trace = simulate(
            scenario_of(actions, {"partition.assignment.strategy": name}), seed, assignors={name: GIVEN[name]}
        )
        opened = Link(scenario_of(actions, {}), 40_000, protocol="eager", seed=seed)
    except RebalanceKitError as refused:
        raise Failed(f"{name}: this is no scenario: {refused}") from refused
    faults = [row for row in trace.of("own_code_fault") if row.detail["part"] == "assignor"]
    if not faults:
        calls = len(list(trace.of("assignment")))
        words = f"{name} answered {calls} calls, all of them right. {NEXT[name]}"
        return Mark(0.0, words, link=opened)
    if len(actions) > SHORTEST[name]:
        fault = faults[0]
        return Mark(
            SHORTEST[name] / len(actions),
            f"{len(actions)} events break it at {fault.at_ms / 1000:.1f} s ({fault.detail['seen']}); a shorter list does, too. "
            "Leave one out and see whether it still breaks.",
            fault.at_ms,
            opened,
        )
    return FULL


def listed(answer, name):
    if not isinstance(answer, dict) or not set(answer) <= set(GIVEN):
        raise Failed(
            f"ANSWER is {str(answer)[:80]!r}; expected a dict with a list of events for each of {', '.join(GIVEN)}."
        )
    actions = answer.get(name)
    if not isinstance(actions, list) or not all(isinstance(action, dict) for action in actions):
        raise Failed(
            f"ANSWER[{name!r}] is {str(actions)[:80]!r}; expected a list of events such as {{'at': '40s', 'do': 'close', 'member': 'b'}}."
        )
    if len(actions) > MOST:
        raise Failed(f"ANSWER[{name!r}] has {len(actions)} events; expected at most {MOST}.")
    return actions


NEXT = {
    "counts": "Its memory knows how many members there are, not who they are: how does a group change its members and keep their number?",
    "returns": "Its memory is wrong where the same member ids come together again after something else has changed: who can come and go, and what changes meanwhile?",
    "blocks": "Groups of up to three are right. How many events does it take to have more members?",
}

TASK = CodeTask(
    title="Break an assignor",
    minutes=35,
    level="hard",
    function="ANSWER",
    kind=LITERAL,
    public=tuple(case(name, 1) for name in GIVEN),
    judge=judge,
)
