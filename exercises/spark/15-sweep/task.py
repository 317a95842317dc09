"""A sweep on Spark: session timeouts times seeds, simulated in tasks; the truth is simulated here."""

from functools import lru_cache
from statistics import mean, median

from rebalance_kit.analysis.metrics import metrics
from rebalance_kit.exercises.task import Case, Check, Task, need
from rebalance_kit.notebook import with_configs
from rebalance_kit.scenarios import load
from rebalance_kit.simulation.simulate import simulate


@lru_cache(maxsize=256)
def pause_s(timeout_ms, seed):
    """The longest pause of one run."""
    return metrics(
        simulate(with_configs(load("crash"), {"session.timeout.ms": timeout_ms}), seed, "eager")
    ).longest_gap_s


def grid(case):
    """Every parameter with every seed."""
    return [(timeout, seed) for timeout in case.facts["timeouts_ms"] for seed in case.facts["seeds"]]


def pauses(case, timeout):
    """All results of one timeout."""
    return [pause_s(timeout, seed) for seed in case.facts["seeds"]]


def truth(case):
    """Medians and maxima, simulated in the driver."""
    return [
        {"session_timeout_ms": timeout, "runs": len(found), "median_s": median(found), "worst_s": max(found)}
        for timeout in case.facts["timeouts_ms"]
        for found in [pauses(case, timeout)]
    ]


def every_run(seen):
    """Every seed is a run."""
    few = [row for row in seen.rows if row["runs"] != len(seen.case.facts["seeds"])]
    need(
        not few,
        f"{few[0]['runs'] if few else 0} runs at {few[0]['session_timeout_ms'] if few else 0} ms, {len(seen.case.facts['seeds'])} were asked for: every row of `parameters` is one run, none drops out and none is made twice.",
    )


def seeds_matter(seen):
    """The seed of each row is used."""
    same = [row for row in seen.rows if row["median_s"] == row["worst_s"]]
    need(
        len(same) < len(seen.rows) or not seen.rows,
        "median and worst are the same everywhere: every run was made with the same seed. Pass the seed of the *row*.",
    )


def median_not_mean(seen):
    """It is the median."""
    for row in seen.rows:
        found = (
            pauses(seen.case, row["session_timeout_ms"])
            if row["session_timeout_ms"] in seen.case.facts["timeouts_ms"]
            else []
        )
        need(
            not found or row["median_s"] is None or abs(row["median_s"] - mean(found)) > 1e-9,
            "median_s is the mean: one run with an unlucky heartbeat pulls it. `F.median`.",
        )


def timeouts_matter(seen):
    """The setting reaches the run."""
    worst = {row["worst_s"] for row in seen.rows}
    need(
        len(worst) > 1 or len(seen.rows) < 2,
        "every session timeout has the same pauses: the setting of the *row* does not reach the run.",
    )


TASK = Task(
    title="A sweep: what does a shorter session buy?",
    minutes=40,
    level="hard",
    function="sweep",
    columns={"session_timeout_ms": "int", "runs": "bigint", "median_s": "double", "worst_s": "double"},
    key=("session_timeout_ms",),
    public=Case((), {"timeouts_ms": (10_000, 20_000, 45_000), "seeds": (1, 2, 3, 4, 5)}),
    inputs=lambda bench, case: (bench.table(grid(case), "session_timeout_ms int, seed int"),),
    truth=truth,
    checks=(
        Check("every row of parameters is one run", every_run),
        Check("the setting reaches the run", timeouts_matter),
        Check("the seed reaches the run", seeds_matter),
        Check("the median is no mean", median_not_mean),
    ),
    next_step="Call `longest_pause_s` with the values of that row by hand, and compare.",
)
