"""Incidents drawn by a seed: who was it, and what."""

import random

from rebalance_kit.exercises.case_runs import incident_of, incidents
from rebalance_kit.exercises.task import Case, Task, check, need_none

KINDS = {"killed_process": "killed", "frozen_process": "frozen", "long_batch": "long_batch"}


def drawn(seed):
    """One incident of each kind, in an order that the seed decides; of the two removals one is of a KIP-848 group, one of a classic one."""
    protocols = random.Random(f"protocols/{seed}").sample(("consumer", "eager"), 2)
    return Case(
        incidents(seed, tuple(KINDS), dict(zip(("killed_process", "frozen_process"), protocols, strict=True)))
    )


def truth(case):
    """What was drawn."""
    return [
        {"run": run.name, "culprit": incident_of(run).culprit, "kind": KINDS[incident_of(run).family]}
        for run in case.runs
    ]


@check("kinds are the three words")
def known_words(seen):
    need_none(
        [row for row in seen.rows if row["kind"] not in KINDS.values()],
        "kind {kind} in {run} is none of the words asked for: {known}.",
        known=", ".join(KINDS.values()),
    )


@check("one culprit a run, by name")
def one_culprit(seen):
    need_none(
        seen.repeated(),
        "{run} has two culprits: the fault comes once or several times, but it is one member's. Keep the *earliest* evidence of each run.",
    )
    need_none(
        seen.missing(),
        "{run} has no culprit: a group of the consumer protocol writes `session_expired`, not `member_failed`; its member ids hold no name, the client's own lines do.",
    )
    need_none(
        [row for row in seen.rows if row["culprit"] is None or len(row["culprit"]) > 20],
        "culprit {culprit} in {run} is a member id or nobody; the client's name is asked for.",
    )


@check("dead and frozen are told apart")
def dead_or_frozen(seen):
    need_none(
        seen.pairs(lambda got, true: {got["kind"], true["kind"]} == {"killed", "frozen"}),
        "{run} is not {kind}: the coordinator writes the same line for a dead process and for one that is suspended. The member's *own* next line decides: `process_started`, or the old life going on.",
    )


@check("who left by itself was not removed")
def long_batches(seen):
    need_none(
        seen.pairs(
            lambda got, true: got["kind"] != true["kind"] and "long_batch" in {got["kind"], true["kind"]}
        ),
        "{run} is not {kind}: did that member leave by itself (it writes `poll_timeout`), or was it removed?",
    )


TASK = Task(
    title="Incident: who was it, and what?",
    minutes=45,
    level="hard",
    function="culprits",
    columns={"run": "string", "culprit": "string", "kind": "string"},
    key=("run",),
    public=drawn(7),
    truth=truth,
    checks=(known_words, one_culprit, dead_or_frozen, long_batches),
    per_learner=True,
)
