"""A sweep on Spark: session timeouts times seeds, simulated in tasks; the truth is simulated here."""

from functools import lru_cache
from math import isclose
from statistics import mean, median

from rebalance_kit.analysis.metrics import metrics
from rebalance_kit.exercises.task import Case, Task, check, need, need_none
from rebalance_kit.notebook import with_configs
from rebalance_kit.scenarios import load
from rebalance_kit.simulation.simulate import simulate


@lru_cache(maxsize=256)
def gap_s(timeout_ms, seed):
    """The longest gap of one run."""
    return metrics(
        simulate(with_configs(load("crash"), {"session.timeout.ms": timeout_ms}), seed, "eager")
    ).longest_gap_s


def grid(case):
    """Every parameter with every seed."""
    return [(timeout, seed) for timeout in case.facts["timeouts_ms"] for seed in case.facts["seeds"]]


def crash_gaps(case, timeout):
    """All results of one timeout."""
    return [gap_s(timeout, seed) for seed in case.facts["seeds"]]


def truth(case):
    """Medians and maxima, simulated in the driver."""
    return [
        {"session_timeout_ms": timeout, "runs": len(found), "median_s": median(found), "worst_s": max(found)}
        for timeout in case.facts["timeouts_ms"]
        for found in [crash_gaps(case, timeout)]
    ]


@check("every row of parameters is one run")
def every_run(seen):
    seeds = len(seen.case.facts["seeds"])
    need_none(
        [row for row in seen.rows if row["runs"] != seeds],
        "{runs} runs at {session_timeout_ms} ms, {seeds} were asked for: every row of `parameters` is one run, none drops out and none is made twice.",
        seeds=seeds,
    )


@check("the setting reaches the run")
def timeouts_matter(seen):
    need(
        len(seen.rows) < 2 or len({row["worst_s"] for row in seen.rows}) > 1,
        "every session timeout has the same gaps: the setting of the *row* does not reach the run.",
    )


@check("the seed reaches the run")
def seeds_matter(seen):
    need(
        not seen.rows or any(row["median_s"] != row["worst_s"] for row in seen.rows),
        "median and worst are the same everywhere: every run was made with the same seed. Pass the seed of the *row*.",
    )


@check("the median is not the mean")
def median_not_mean(seen):
    means = {timeout: mean(crash_gaps(seen.case, timeout)) for timeout in seen.case.facts["timeouts_ms"]}
    need_none(
        seen.pairs(
            lambda got, true: (
                got["median_s"] != true["median_s"]
                and isclose(got["median_s"] or 0, means[got["session_timeout_ms"]])
            )
        ),
        "{session_timeout_ms} ms: median_s is the mean: one run with an unlucky heartbeat pulls it. `F.median`.",
    )


TASK = Task(
    title="A sweep: what does a shorter session buy?",
    minutes=40,
    level="hard",
    function="sweep",
    columns={"session_timeout_ms": "int", "runs": "bigint", "median_s": "double", "worst_s": "double"},
    key=("session_timeout_ms",),
    public=Case((), {"timeouts_ms": (10_000, 20_000, 45_000), "seeds": (1, 2, 3, 4, 5)}),
    inputs=lambda given, case: (given.table(grid(case), "session_timeout_ms int, seed int"),),
    truth=truth,
    checks=(every_run, timeouts_matter, seeds_matter, median_not_mean),
    next_step="Call `longest_gap_s` with the values of that row by hand, and compare.",
)
