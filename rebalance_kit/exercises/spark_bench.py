"""Where answers on Spark are tried: a folder of logs, and a Spark behind a wall that is kept for the next check.

Everything that touches Spark's own names goes through ``rebalance_kit.pipeline``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from rebalance_kit.exercises.case_runs import CaseRun, Given, Made
from rebalance_kit.exercises.child.inputs import Inputs
from rebalance_kit.exercises.wall import paths
from rebalance_kit.exercises.wall.begin import (
    GRACE_S,
    NO_START,
    NOTHING,
    START_S,
    Reply,
    begun,
    ended,
    replied,
)
from rebalance_kit.exercises.wall.kinds import Need
from rebalance_kit.exercises.wall.process import Silent, Unreadable, Walled
from rebalance_kit.model.errors import EnvironmentProblem
from rebalance_kit.model.files import remove_scratch, scratch_folder

_CORES, _MEMORY = "2", "1g"
_SCRATCH = 1 << 30
_READS = """
import sys
from rebalance_kit.exercises.child.inputs import Inputs
from rebalance_kit.pipeline import quiet_session
_, cores, memory, *folders = sys.argv
spark = quiet_session(f"local[{cores}]", memory)
inputs = Inputs(spark)
inputs.read(folders)
inputs.events(folders).groupBy("event").count().orderBy("event").collect()
"""
"""What most answers have Spark do."""
_PROCESSES = 600
"""Java's threads count as processes; Spark has about two hundred."""


class SparkBench:
    """A folder of inputs and, once an answer is tried, Spark behind a wall; ``close`` ends it and removes the folder.

    ``fresh``: no answer meets what another one left, so each has a Spark of its own. Whoever marks asks for it.
    """

    def __init__(self, spark: Any = None, *, fresh: bool = False) -> None:
        self.folder = scratch_folder("exercises")
        self.folder.chmod(0o711)
        shown = self.folder / "given"
        shown.mkdir(mode=0o755)
        self.given = Given(shown)
        self._fresh = fresh
        self._spark, self._inputs = spark, None if spark is None else Inputs(spark)
        self._walled: Walled | None = None
        self._closed = False

    @property
    def spark(self) -> Any:
        """The session of this process, for whoever looks at inputs; answers run on another one.

        Raises ``EnvironmentProblem`` where there is no Java or no PySpark.
        """
        from rebalance_kit.pipeline import quiet_session
        from rebalance_kit.pipeline.spark.shared_java import forget, is_alive

        if self._spark is not None and not is_alive(self._spark):
            forget(self._spark)
            self._spark = None
        if self._spark is None:
            self._spark = quiet_session()
            self._inputs = Inputs(self._spark)
        return self._spark

    def shown(self, inputs: Sequence[Made]) -> tuple[Any, ...]:
        """Inputs as DataFrames of this process."""
        held = (
            self._inputs
            if self._inputs is not None and self._inputs.spark is self.spark
            else Inputs(self.spark)
        )
        self._inputs = held
        return tuple(held.made(described) for described in inputs)

    def close(self) -> None:
        """End the Spark behind the wall and remove the folder; the session of this process goes on."""
        self._closed = True
        self.renew()
        remove_scratch(self.folder)

    def keep_classes(self, runs: Iterable[CaseRun]) -> None:
        """Have Java's archive of classes written, unless there is one: each Spark that begins later takes about half as long. These runs are read for it."""
        from rebalance_kit.pipeline.spark.session import keep_classes_of

        keep_classes_of(_READS, _CORES, _MEMORY, *self.given.events(tuple(runs))["folders"])

    def renew(self) -> None:
        """End the Spark behind the wall; the next answer begins another one."""
        if self._walled is not None:
            self._walled.close()
            self._walled = None

    def next_answer(self) -> None:
        """Another answer begins: on a bench that is ``fresh`` it meets nothing of the one before."""
        if self._fresh:
            self.renew()

    def read(self, runs: Iterable[CaseRun]) -> None:
        """Read the logs of all these runs in one go, so that answers on them wait for nothing."""
        folders = self.given.events(tuple(runs))["folders"]
        self._host().send({"read": folders})
        self._host().receive(600)

    def attempt(self, order: Mapping[str, Any], limit_s: float) -> Reply:
        """Have an answer run, as the order says; the Spark that it broke is not used again.

        An answer that lost its connection to Spark runs once more, on another Spark: the machine may have been to blame.
        """
        done = self._attempted(order, limit_s)
        if not _lost(done.problem):
            return done
        self.renew()
        done = self._attempted(order, limit_s)
        return Reply(NOTHING, LOST, done.printed) if _lost(done.problem) else done

    def _attempted(self, order: Mapping[str, Any], limit_s: float) -> Reply:
        host = self._host()
        host.send({**order, "start_s": START_S})
        try:
            begun = host.receive(START_S)
        except (Silent, Unreadable):
            begun = None
        if begun is None or "begun" not in begun:
            self.renew()
            return Reply(NOTHING, NO_START, "" if begun is None else host.printed())
        done, last = replied(host, limit_s), NOTHING
        if "ended" in done.answered:  # the process ended without a word of its own
            status, last = done.answered["ended"], done.answered
            problem = ended(status if isinstance(status, int) else None, limit_s)
            done = Reply(NOTHING, problem, done.printed)
        elif done.answered:
            with suppress(Silent, Unreadable):
                last = host.receive(GRACE_S) or NOTHING
        if last.get("alive") is True:
            return done
        self.renew()
        if last.get("alive") is False or _spoke_of_stop(done.problem):
            return Reply(NOTHING, STOPPED, done.printed)
        return done

    def _host(self) -> Walled:
        if self._closed:
            raise EnvironmentProblem("this bench is closed; nothing more runs on it")
        if self._walled is not None and self._walled.wait(0) is not None:
            self.renew()  # it ended by itself, for instance with the thread that began it
        if self._walled is None:
            self._walled = _spark_behind_a_wall(self.given.folder)
        return self._walled


@lru_cache(maxsize=1)
def shared_bench() -> SparkBench:
    """The one bench of this process, for whoever checks own code again and again."""
    return SparkBench()


STOPPED = (
    "your code stopped Spark. Leave out `stop()` and `exit`: the session is the check's, and others need it."
)


LOST = "your code lost its connection to Spark, twice. Leave the session's own connection to Java alone; if you did, check again."


def _lost(problem: str | None) -> bool:
    """Whether an answer ended with an error of the connection (Py4J's client names none of them ``Py4JJavaError``)."""
    return problem is not None and (
        "Py4JNetworkError:" in problem or "Py4JError: py4j does not exist in the JVM" in problem
    )


def _spoke_of_stop(problem: str | None) -> bool:
    return problem is not None and "stopped SparkContext" in problem


def _spark_behind_a_wall(given: Path) -> Walled:
    from rebalance_kit.pipeline.spark.java import find_java, ready_archive
    from rebalance_kit.pipeline.spark.session import require_spark

    require_spark()
    java = find_java()
    archive = ready_archive(java)
    need = Need(
        "rebalance_kit.exercises.child.spark_host",
        paths.SPARK,
        (_CORES, _MEMORY),
        (str(given), str(java.home), *(() if archive is None else (str(archive),))),
        {
            "JAVA_HOME": str(java.home),
            "JDK_JAVA_OPTIONS": "-XX:-UsePerfData",
            "SPARK_LOCAL_HOSTNAME": "localhost",
            **({} if archive is None else {"XDG_CACHE_HOME": str(archive.parents[1])}),
        },
        _SCRATCH,
        {"RLIMIT_NPROC": _PROCESSES, "RLIMIT_CORE": 0},
        starts_processes=True,
    )
    walled = begun(need)
    try:
        ready = walled.receive(120)
    except (Silent, Unreadable):
        ready = None
    if ready is None:
        said = walled.printed()
        walled.close()
        raise EnvironmentProblem(
            f"Spark did not start behind the wall ({said[-300:]}); `rebalance-kit doctor` says what is missing"
        )
    return walled
