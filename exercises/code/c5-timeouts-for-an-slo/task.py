"""Timeouts for an objective: crashes noticed in time, no rebalance that is not needed, and few heartbeats."""

import json

from rebalance_kit.analysis.metrics import metrics
from rebalance_kit.exercises.code_running import LITERAL
from rebalance_kit.exercises.code_task import FULL, CodeCase, CodeTask, Failed, Mark
from rebalance_kit.model.errors import RebalanceKitError
from rebalance_kit.simulation.permalink import Link
from rebalance_kit.simulation.scenario.yaml_file import read_scenario
from rebalance_kit.simulation.simulate import simulate

TIMES = ("session.timeout.ms", "heartbeat.interval.ms", "max.poll.interval.ms")
KEYS = (*TIMES, "static")
REFERENCE = {
    "session.timeout.ms": 15_000,
    "heartbeat.interval.ms": 5_000,
    "max.poll.interval.ms": 60_000,
    "static": True,
}
SETTLED_MS = 50_000
CRASH_S, STUCK_S = 20, 85

ACTIONS = {
    "crash": ("{at: BEGIN, do: crash, member: c}",),
    "freeze": ("{at: BEGIN, do: freeze, member: c}", "{at: END, do: thaw, member: c}"),
    "batch": ("{at: BEGIN, do: stall, member: c, for: 50s}",),
    "stuck": ("{at: BEGIN, do: stall, member: c, for: 400s}",),
    "restart": ("{at: BEGIN, do: restart, member: c, after: 8s}",),
    "quiet": (),
}


def text_of(what, answer, at_ms):
    """The scenario with these configurations."""
    configs = {key: answer[key] for key in TIMES if key in answer}
    rows = []
    for name in "abc":
        own = configs | ({"group.instance.id": f"node-{name}"} if answer.get("static") else {})
        rows.append(f"{{name: {name}, topics: [orders], processing_ms: 3, configs: {json.dumps(own)}}}")
    acts = [act.replace("BEGIN", f"{at_ms}ms").replace("END", f"{at_ms + 9000}ms") for act in ACTIONS[what]]
    lines = ["scenario: slo", "topics:", "- {name: orders, partitions: 6, rate_per_s: 10}", "members:"]
    lines += [f"- {row}" for row in rows] + (["actions:"] if acts else []) + [f"- {act}" for act in acts]
    return "\n".join([*lines, "end: 200s", ""])


def slo(title, what, seed, at_ms=60_000):
    return CodeCase(title, {}, {"what": what, "seed": seed, "at_ms": at_ms})


def judge(case, answer):
    facts = case.facts
    figures = measured(facts, checked(answer))
    opened = Link(
        read_scenario(text_of(facts["what"], answer, facts["at_ms"]), "answer"),
        facts["at_ms"],
        protocol="eager",
        seed=facts["seed"],
    )
    try:
        return verdict(facts, answer, figures)
    except Failed as failed:
        return Mark(0.0, str(failed), facts["at_ms"], opened)


def checked(answer):
    if not isinstance(answer, dict) or set(answer) - set(KEYS):
        strange = (
            sorted(map(str, set(answer) - set(KEYS))) if isinstance(answer, dict) else [repr(answer)[:60]]
        )
        raise Failed(f"ANSWER holds {', '.join(strange)}; expected a dict with {', '.join(KEYS)}.")
    if missing := [key for key in KEYS if key not in answer]:
        raise Failed(f"ANSWER has no {missing[0]}; expected {', '.join(KEYS)}.")
    for key in TIMES:
        if type(answer[key]) is not int or not 1 <= answer[key] < 2**31:
            raise Failed(f"{key} is {answer[key]!r:.60}; expected a whole number of milliseconds.")
    if type(answer["static"]) is not bool:
        raise Failed(f"static is {answer['static']!r:.60}; expected True or False.")
    return answer


def measured(facts, answer):
    try:
        scenario = read_scenario(text_of(facts["what"], answer, facts["at_ms"]), "answer")
        return metrics(simulate(scenario, facts["seed"], "eager"), SETTLED_MS)
    except RebalanceKitError as refused:
        raise Failed(f"Kafka refuses these settings: {refused}") from refused


def verdict(facts, answer, figures):
    what, gap_s = facts["what"], figures.longest_gap_s
    if what == "crash" and gap_s > CRASH_S:
        raise Failed(
            f"after the crash a partition was unread for {gap_s:.1f} s, {CRASH_S} s are allowed. "
            "session.timeout.ms passes before anybody notices; then the others have to hear of it at their next heartbeat."
        )
    if what == "stuck" and gap_s > STUCK_S:
        raise Failed(
            f"the stuck application kept its partitions for {gap_s:.1f} s, {STUCK_S} s are allowed. "
            "Its heartbeats go on: only max.poll.interval.ms ends this."
        )
    if what in {"freeze", "batch", "restart"} and figures.rebalances:
        raise Failed(f"{figures.rebalances} rebalances, none is allowed. {WHY[what]}")
    if what == "quiet":
        return cost(facts, answer, figures)
    return FULL


WHY = {
    "freeze": "A process that is suspended for 9 s sends no heartbeat: session.timeout.ms has to outlast that, and the heartbeat before it.",
    "batch": "A batch of 50 s is work, not a defect: max.poll.interval.ms has to outlast it.",
    "restart": "A dynamic member leaves and joins, which is a rebalance each. A static one that is back before its session ends is none.",
}


def cost(facts, answer, figures):
    if 3 * answer["heartbeat.interval.ms"] > answer["session.timeout.ms"]:
        raise Failed(
            "heartbeat.interval.ms is more than a third of session.timeout.ms: two lost heartbeats would end a session."
        )
    sent = figures.requests.get("Heartbeat", 0)
    enough = measured(facts, REFERENCE).requests.get("Heartbeat", 0)
    if sent <= 1.1 * enough:
        return FULL
    return Mark(
        enough / sent,
        f"{sent} heartbeats in a quiet time, {enough} are enough. The longest interval that keeps the objective costs least.",
    )


TASK = CodeTask(
    title="Timeouts for an objective",
    minutes=25,
    level="medium",
    function="ANSWER",
    kind=LITERAL,
    public=(
        slo("a crash: unread for 20 s at most", "crash", 1),
        slo("a process is suspended for 9 s: no rebalance", "freeze", 1),
        slo("a batch takes 50 s: no rebalance", "batch", 1),
        slo("the application is stuck: unread for 85 s at most", "stuck", 1),
        slo("a planned restart of 8 s: no rebalance", "restart", 1),
        slo("a quiet time: few heartbeats", "quiet", 1),
    ),
    judge=judge,
)
