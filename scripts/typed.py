"""Every line with arguments that a text tells a person to type, typed in an environment and told how it ended.

python -m scripts.typed BIN            BIN holds the environment's rebalance-kit; ends with 1 where a line is broken
python -m scripts.typed BIN --lines explain exam   lines that begin so

Capital words stand for something of the reader's: a file, a folder, a name. They are replaced by what STAND_INS says, in a folder
made for it. A line *ended well* (status 0, or it serves until it is ended), or is *explained* (another status, and a sentence that
says what is missing, expected or found), or is *broken* (a traceback, usage, no word, or no end).
"""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.project.test_told import whole_lines

SERVES = ("lab", "watch", "classroom open")
SERVES_S, LONGEST_S = 25.0, 900.0
NOT_TYPED = {
    "broker start": "downloads Kafka",
    "broker start --kafka 3.9.1 --config group.initial.rebalance.delay.ms=0": "downloads Kafka",
    "install spark": "downloads Spark",
    "exercise start": "mentioned without its exercise",
    "--debug COMMAND": "mentioned for any command",
}
STAND_INS = {
    "FORMAT": "gift",
    "KIND": "single",
    "ID": "my-item",
    "T": "eager",
    "N": "3",
    "SEED": "3",
    "DATE": "2026-12-12",
    "HOST:PORT": "localhost:9",
    "KEY": "session.timeout.ms",
    "COURSE": "course",
    "LEARNER": "ada",
    "ROOM": "nyk3e",
    "SCENARIO": "crash",
    "RUN": "recorded",
    "LOGS": "logs",
    "PATH": "logs",
    "FOLDER": "logs",
    "DIR": "logs",
    "CASES.json.gz": "cases.json.gz",
}
FRESH = {"--out", "--to", "--plan-b", "course"}
"""What follows is written: it gets a name of its own."""
FILES = {
    "check-config": "app.properties",
    "plan-deploy": "app.properties",
    "answers": "answers.jsonl",
    "items stats": "stats.yaml",
}
PREPARED = (
    "make-logs storm --size 4000 --out logs",
    "scenarios --show crash",
    "answers export --to answers.jsonl",
    "items stats --to stats.yaml",
    "exercise start c1 --folder handed-in/ada",
    "classroom collect handed-in --to course --course spring",
)
ANSWERS = {"vote": "b\n", "answers delete": "yes\n", "exam": "\nq\n", "today": "q\n"}


def prepare(kit: Path, folder: Path, env: dict[str, str]) -> None:
    """Lay out what the lines are about, by the kit's own commands."""
    for line in PREPARED:
        done = subprocess.run(
            [kit, *shlex.split(line)], cwd=folder, env=env, capture_output=True, text=True, check=False
        )
        if line.startswith("scenarios"):
            for name in ("mine.yaml", "my-crash.yaml"):
                (folder / name).write_text(done.stdout, "utf-8")
    cases = Path(__file__).resolve().parents[1] / "tests" / "data" / "assignor_corners.json.gz"
    (folder / "cases.json.gz").write_bytes(cases.read_bytes())
    (folder / "app.properties").write_text("group.id=orders-app\nsession.timeout.ms=10000\n", "utf-8")
    (folder / "server.log").write_bytes((folder / "logs" / "broker.log").read_bytes())
    (folder / "app.log").write_bytes(next((folder / "logs").glob("consumer-*.log*")).read_bytes())
    unpack = "from pathlib import Path; from rebalance_kit.recordings import folder as f; n = f.table()[0]['run']; f.unpack(Path('pack'), {n}); Path('pack', n).rename('recorded')"
    subprocess.run([kit.with_name("python"), "-c", unpack], cwd=folder, env=env, check=True)
    (folder / "crash.cooperative").symlink_to(folder / "recorded")


def typed(line: str, number: int) -> list[str]:
    """The words as a reader would type them."""
    words, before = [], ""
    about = next((file for start, file in FILES.items() if line.startswith(start)), "")
    for word in shlex.split(line, comments=True):
        if before in FRESH and word.isupper():
            words.append(f"out-{number}")
        elif word == "FILE" and about:
            words.append(about)
        else:
            words.append(STAND_INS.get(word, word))
        before = word
    if line.startswith("items export FORMAT"):
        words[3] = f"items-{number}.gift"
    return words


def how_it_ended(
    kit: Path, line: str, number: int, folder: Path, env: dict[str, str]
) -> tuple[str, str, float]:
    """Ended well, explained or broken; the last words; seconds."""
    serves = line.startswith(SERVES)
    given = next((text for start, text in ANSWERS.items() if line.startswith(start)), "")
    began = time.monotonic()
    running = subprocess.Popen(
        [str(kit), *typed(line, number)],
        cwd=folder,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = running.communicate(given, timeout=SERVES_S if serves else LONGEST_S)
        status: int | None = running.returncode
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGTERM)
        said, _ = running.communicate()
        status = None
    spent = time.monotonic() - began
    words = next((one.strip() for one in reversed(said.splitlines()) if one.strip()), "")
    if "Traceback" in said or "usage:" in said or not words or (status is None and not serves):
        return "broken", words, spent
    return ("well" if status in {0, None} else "explained"), words, spent


def main(arguments: list[str] | None = None) -> int:
    """Type the lines and print a row for each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("bin", type=Path, help="the folder with the environment's rebalance-kit")
    parser.add_argument("--lines", nargs="*", default=(), metavar="START", help="only lines that begin so")
    asked = parser.parse_args(arguments)
    kit = asked.bin.absolute() / "rebalance-kit"
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        env = {
            **os.environ,
            "REBALANCE_KIT_ATTEMPTS": str(folder / "attempts.sqlite"),
            "BROWSER": "true",
            "JUPYTER_CONFIG_DIR": str(folder / "jupyter"),
            "COLUMNS": "120",
        }
        env.pop("PYTHONPATH", None)
        env["PATH"] = f"{asked.bin.absolute()}:{env['PATH']}"
        prepare(kit, folder, env)
        for number, line in enumerate(dict.fromkeys(whole_lines())):
            if asked.lines and not line.startswith(tuple(asked.lines)):
                continue
            if line in NOT_TYPED:
                print(f"not typed  {line}: {NOT_TYPED[line]}", flush=True)
                continue
            how, words, spent = how_it_ended(kit, line, number, folder, env)
            counts[how] += 1
            print(f"{how:<10} {line}  ({spent:.0f} s) {words[:150]}", flush=True)
    print(", ".join(f"{how} {times}" for how, times in sorted(counts.items())))
    return 1 if counts["broken"] else 0


if __name__ == "__main__":
    sys.exit(main())
