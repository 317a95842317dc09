"""Incidents drawn by a seed: who was it, and what."""

from rebalance_kit.exercises.drawn import incident_of, incidents
from rebalance_kit.exercises.task import Case, Check, Task, need

KINDS = {"killed_process": "killed", "frozen_process": "frozen", "long_batch": "long_batch"}


def case(seed):
    """One incident of each kind, in an order that the seed decides."""
    return Case(incidents(seed, tuple(KINDS), each=1))


def truth(case):
    """What was drawn."""
    return [
        {"run": run.name, "culprit": incident_of(run).culprit, "kind": KINDS[incident_of(run).family]}
        for run in case.runs
    ]


def known_words(seen):
    """The kinds are those named in the README."""
    odd = [row["kind"] for row in seen.rows if row["kind"] not in KINDS.values()]
    need(not odd, f"kind {odd[:1]} is none of {', '.join(KINDS.values())}.")


def one_culprit(seen):
    """One row a run, with a client's name."""
    runs = seen.values("run")
    need(
        len(runs) == len(set(runs)),
        "a run has two culprits: the fault comes once or several times, but it is one member's. Keep the *earliest* evidence of each run.",
    )
    missing = [run.name for run in seen.case.runs if run.name not in runs]
    need(
        not missing,
        f"{missing[:1]} has no culprit: a group of the consumer protocol writes `session_expired`, not `member_failed`; its member ids hold no name, the client's own lines do.",
    )
    ids = [row["culprit"] for row in seen.rows if row["culprit"] is None or len(row["culprit"]) > 20]
    need(not ids, f"culprit {ids[:1]} is a member id or nobody; the client's name is asked for.")


def dead_or_frozen(seen):
    """Killed and frozen are told apart."""
    true = {row["run"]: row["kind"] for row in seen.truth}
    wrong = [row for row in seen.rows if {row["kind"], true.get(row["run"])} == {"killed", "frozen"}]
    need(
        not wrong,
        f"{wrong[0]['run'] if wrong else ''} is not {wrong[0]['kind'] if wrong else ''}: the coordinator writes the same line for a dead process and for one that stands still. The member's *own* next line decides: `process_started`, or the old life going on.",
    )


def long_batches(seen):
    """A member that left by itself was not removed."""
    true = {row["run"]: row["kind"] for row in seen.truth}
    wrong = [
        row
        for row in seen.rows
        if "long_batch" in {row["kind"], true.get(row["run"])} and row["kind"] != true.get(row["run"])
    ]
    need(
        not wrong,
        f"{wrong[0]['run'] if wrong else ''}: did that member leave by itself (it writes `poll_timeout`), or was it removed?",
    )


TASK = Task(
    title="Incident: who was it, and what?",
    minutes=45,
    level="hard",
    function="culprits",
    columns={"run": "string", "culprit": "string", "kind": "string"},
    key=("run",),
    public=case(7),
    truth=truth,
    checks=(
        Check("kinds are the three words", known_words),
        Check("one culprit a run, by name", one_culprit),
        Check("dead and frozen are told apart", dead_or_frozen),
        Check("who left by itself was not removed", long_batches),
    ),
    per_learner=True,
)
