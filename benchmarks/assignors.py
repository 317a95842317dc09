"""Our assignors beside kafka-python, aiokafka and Kafka's own Java classes, in one run.

    python benchmarks/assignors.py [--json FILE] [--quick]

Every contestant gets each group in a process of its own; inputs are made before the clock starts. A time is
the median of the runs; extra memory is what the peak of the process rose by during them. ``--quick`` leaves
out the pairs that take more than a few seconds. Prints a Markdown table and writes the figures as JSON.

Java takes part if a JDK and the kafka-clients jar (with slf4j-api) are there: named in ``KAFKA_CLIENTS_JAR``
(joined by the path separator), found in the local Maven or Ivy repository, or fetched by Maven or by Spark's
``spark.jars.packages``. The server assignors are not in that jar.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from shared.assignor_groups import CASES, CONTESTANTS, Group, as_lines, for_us, from_lines

from rebalance_kit.model.files import write_atomically

KAFKA = "4.3.1"
SLOW = {("kafka-python", case) for case in CASES if case.endswith("000")}
LEFT_OUT = {
    ("aiokafka", "cooperative-1000"),
    ("aiokafka", "sticky-1000"),  # the same algorithm as kafka-python, as slow
    *((peer, case) for peer in ("kafka-python", "aiokafka") for case in ("cooperative-2000", "sticky-2000")),
    ("kafka-python", "cooperative-1000"),  # its cooperative class runs the sticky one inside
}


def main() -> None:
    """Run everything, or one measurement when called by itself."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path("build/bench-assignors.json"))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--measure", nargs=2, metavar=("CONTESTANT", "GROUP"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(*arguments.measure)))
        return
    figures, note = run_all(quick=arguments.quick)
    print(table(figures))
    print(f"\n{note}")
    print(f"Python {platform.python_version()}, {os.cpu_count()} CPUs, {platform.machine()}.")
    for line in verdicts(figures):
        print(f"- {line}")
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(arguments.json, json.dumps({"figures": figures, "java": note}, indent=2) + "\n")


def run_all(*, quick: bool) -> tuple[dict[str, dict], str]:
    """Measure every pair; returns figures by case and contestant, and a sentence about Java."""
    jars, note = find_jars()
    figures: dict[str, dict] = {}
    for case, make in CASES.items():
        group = make()
        row = figures[case] = {"title": group.title}
        for contestant in CONTESTANTS:
            is_server = group.assignor.startswith("server.")
            if contestant != "rebalance-kit" and (is_server or (contestant, case) in LEFT_OUT):
                continue
            if quick and (contestant, case) in SLOW:
                continue
            row[contestant] = measure_apart(contestant, group)
        if jars and not group.assignor.startswith("server."):
            row["Java"] = measure_java(group, jars)
    return figures, note


def measure_apart(contestant: str, group: Group) -> dict[str, float]:
    """Measure in a process that has done nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        lines = Path(folder) / "group.tsv"
        lines.write_text(as_lines(group), "utf-8")
        command = [sys.executable, __file__, "--measure", contestant, str(lines)]
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(answer.stdout.splitlines()[-1])


def measure(contestant: str, path: str) -> dict[str, float]:
    """Time one contestant on the group in a file: as many runs as fit into two seconds, 3 to 51, or the one slow run."""
    call = CONTESTANTS[contestant](from_lines(Path(path).read_text("utf-8")))
    before = peak_mb()
    started = time.perf_counter()
    call()
    elapsed = [time.perf_counter() - started]
    runs = 0 if elapsed[0] > 5 else max(3, min(51, int(2 / elapsed[0])))
    if runs:
        elapsed = []
    for _ in range(runs):
        started = time.perf_counter()
        call()
        elapsed.append(time.perf_counter() - started)
    return {
        "median_ms": statistics.median(elapsed) * 1e3,
        "best_ms": min(elapsed) * 1e3,
        "runs": len(elapsed),
        "extra_mb": peak_mb() - before,
    }


def peak_mb() -> float:
    """Peak memory of this process in megabytes; not ``ru_maxrss`` on Linux, which a child inherits."""
    status = Path("/proc/self/status")
    if status.exists():
        words = status.read_text("utf-8").partition("VmHWM:")[2].split()
        return int(words[0]) / 1e3
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)


# --- Kafka's own class -----------------------------------------------------------------------


def find_jars() -> tuple[str | None, str]:
    """Return a class path with kafka-clients and slf4j-api, and a sentence about it."""
    if shutil.which("javac") is None or shutil.which("java") is None:
        return None, "Kafka's Java classes: not measured, there is no JDK on the PATH."
    named = os.environ.get("KAFKA_CLIENTS_JAR")
    if named:
        return named, f"Kafka's Java classes: {Path(named.split(os.pathsep)[0]).name}."
    for fetch in (lambda: None, fetch_by_maven, fetch_by_spark):
        fetch()
        jars = [newest(f"kafka-clients-{KAFKA}.jar"), newest("slf4j-api-*.jar")]
        if all(jars):
            return os.pathsep.join(map(str, jars)), f"Kafka's Java classes: {jars[0].name}."
    return None, "Kafka's Java classes: not measured, no kafka-clients jar could be had."


def newest(pattern: str) -> Path | None:
    """Return the newest such jar in the local repositories of Maven and Ivy, or beside pyspark."""
    places = [Path.home() / ".m2" / "repository", *sorted(Path.home().glob(".ivy2*"))]
    places += [Path(entry) / "pyspark" / "jars" for entry in sys.path]
    found = [
        jar for place in places if place.is_dir() for pre in ("", "*_") for jar in place.rglob(pre + pattern)
    ]
    return max(found, key=lambda jar: (jar.stat().st_mtime, str(jar)), default=None)


def fetch_by_maven() -> None:
    """Ask Maven, if there is one, to put the jar into its repository."""
    if shutil.which("mvn"):
        artifact = f"-Dartifact=org.apache.kafka:kafka-clients:{KAFKA}"
        subprocess.run(
            ["mvn", "-q", "-B", "dependency:get", artifact], capture_output=True, check=False, timeout=300
        )


def fetch_by_spark() -> None:
    """Ask Spark, if there is one, to put the jar into its Ivy repository."""
    program = (
        "from pyspark.sql import SparkSession as S;"
        f"S.builder.master('local[1]').config('spark.jars.packages','org.apache.kafka:kafka-clients:{KAFKA}').getOrCreate().stop()"
    )
    subprocess.run([sys.executable, "-c", program], capture_output=True, check=False, timeout=300)


def measure_java(group: Group, jars: str) -> dict[str, float | bool]:
    """Time Kafka's class, warmed up, on the group; says whether its answer is ours, list for list."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(__file__).with_name("AssignorBench.java")
        subprocess.run(["javac", "-cp", jars, "-d", folder, str(source)], capture_output=True, check=True)
        lines = Path(folder) / "group.tsv"
        lines.write_text(as_lines(group), "utf-8")
        path = os.pathsep.join([folder, jars])
        command = ["java", "-cp", path, "AssignorBench", group.assignor, str(lines), "150", "51"]
        answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    shares = dict(line.split("\t") for line in answer[1:])
    ours = {
        m: ",".join(f"{topic}:{number}" for topic, number in share) for m, share in for_us(group)().items()
    }
    return {"median_ms": float(answer[0]), "runs": 51, "same_answer": shares == ours}


# --- words -----------------------------------------------------------------------------------


def table(figures: dict[str, dict]) -> str:
    """Return the figures as a Markdown table."""
    names = [*CONTESTANTS, "Java"]
    lines = ["| group | " + " | ".join(names) + " |", "|---|" + "--:|" * len(names)]
    for row in figures.values():
        cells = [cell(row[name]) if name in row else "–" for name in names]
        lines.append(f"| {row['title']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def cell(figure: dict) -> str:
    """Return one figure: median milliseconds, extra megabytes, and whether Java's answer is ours."""
    text = f"{figure['median_ms']:,.1f} ms"
    if "extra_mb" in figure:
        text += f", +{figure['extra_mb']:,.1f} MB"
    if "same_answer" in figure:
        text += ", same answer" if figure["same_answer"] else ", OTHER ANSWER"
    return text


def verdicts(figures: dict[str, dict]) -> list[str]:
    """Compare with the targets; says nothing where a contestant did not take part."""

    def ms(case: str, who: str = "rebalance-kit") -> float | None:
        return figures[case].get(who, {}).get("median_ms")

    lines = []
    for case in ("cooperative-1000", "sticky-1000"):
        if ms(case, "Java") is not None:
            lines.append(f"{case}: {ms(case) / ms(case, 'Java'):.2f} x Java (target: at most 1.5 x)")
        extra = figures[case]["rebalance-kit"]["extra_mb"]
        lines.append(f"{case}: {extra:.1f} MB extra (target: at most 20 MB)")
    if ms("sticky-1000", "kafka-python") is not None:
        theirs = ms("sticky-1000", "kafka-python")
        lines += [
            f"{case}: {theirs / ms(case):,.0f} x faster than kafka-python (target: 1,000 x)"
            for case in ("cooperative-1000", "sticky-1000")
        ]
    for name in ("cooperative", "sticky"):
        growth = ms(f"{name}-2000") / ms(f"{name}-1000")
        lines.append(f"{name}: twice the group costs {growth:.2f} x as much (target: at most 2.6 x)")
    lines += [
        f"{case}: {ms(case, 'aiokafka') / ms(case):.0f} x faster than aiokafka (target: 20 x)"
        for case in ("unlike-fresh", "unlike-leave")
        if ms(case, "aiokafka") is not None
    ]
    lines.append(f"uniform-500: {ms('uniform-500'):.1f} ms (target: at most 20 ms)")
    return lines


if __name__ == "__main__":
    main()
