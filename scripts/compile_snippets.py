"""Compile every Java and Go block of the notebooks and of docs/your-client.md against the real clients (javac with kafka-clients, go with franz-go).

    python scripts/compile_snippets.py --jar kafka-clients-4.3.1.jar --go-module FOLDER

A block is put into a class or a package with what its prose takes for granted (``AROUND``): the consumer, a
pool of workers, ``process``. ``--go-module`` names a Go module that requires franz-go, sarama and confluent-kafka-go. Exits 1
when a block does not compile, and names its notebook. Needs a JDK and Go, which the kit itself does not.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rebalance_kit.model.files import write_atomically

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```(java|go)\n(.*?)^```", re.MULTILINE | re.DOTALL)
JAVA_IMPORTS = "".join(
    f"import {package};\n"
    for package in (
        "java.time.Duration",
        "java.util.*",
        "java.util.concurrent.*",
        "java.util.concurrent.atomic.AtomicBoolean",
        "org.apache.kafka.clients.admin.*",
        "org.apache.kafka.clients.consumer.*",
        "org.apache.kafka.clients.consumer.internals.AbstractPartitionAssignor",
        "org.apache.kafka.clients.producer.*",
        "org.apache.kafka.common.TopicPartition",
        "org.apache.kafka.common.errors.*",
    )
)
BATCH = """Consumer<K, V> consumer; volatile boolean running; ExecutorService pool; Future<?> work; Admin admin;
    Producer<K, V> producer; Properties props; Database database;
    interface Database { long nextOffset(TopicPartition partition); }
    static void process(ConsumerRecords<?, ?> batch) {}
    static Map<TopicPartition, OffsetAndMetadata> offsetsOf(Object done) { return Map.of(); }
    ProducerRecord<K, V> transform(ConsumerRecord<K, V> record) { return null; }
"""
LOOP = """Properties props; AtomicBoolean running = new AtomicBoolean(true);
    static void process(ConsumerRecord<?, ?> record) {}
    record Listener(Consumer<?, ?> consumer) implements ConsumerRebalanceListener {
        public void onPartitionsAssigned(Collection<TopicPartition> added) {}
        public void onPartitionsRevoked(Collection<TopicPartition> leaving) {}
    }
"""
LISTENER = """static Map<TopicPartition, OffsetAndMetadata> processedOf(Collection<TopicPartition> some) { return Map.of(); }
    void open(TopicPartition partition) {}
    void close(TopicPartition partition) {}
    void discard(TopicPartition partition) {}
"""
GO_HEAD = """package {package}

import (
    "context"
    "log"

    "github.com/twmb/franz-go/pkg/kgo"
)

var _ = kgo.NewClient
var _ context.Context
var _ = log.Printf

func process(*kgo.Record) {{}}
func closeAll(map[string][]int32) {{}}
func discardAll(map[string][]int32) {{}}
"""
GO_CALLBACKS = """
func revoked(context.Context, *kgo.Client, map[string][]int32) {}
func lost(context.Context, *kgo.Client, map[string][]int32) {}
"""


def blocks() -> Iterator[tuple[str, str, str]]:
    """Notebook (or page), language and text of each block, in order."""
    for found in BLOCK.finditer((ROOT / "docs" / "your-client.md").read_text("utf-8")):
        yield "your-client", found[1], found[2]
    for path in sorted((ROOT / "notebooks" / "src").rglob("*.py")):
        prose = "".join(re.sub(r"^# ?", "", line) for line in path.read_text().splitlines(keepends=True))
        for found in BLOCK.finditer(prose):
            yield path.stem, found[1], found[2]


def java_source(name: str, block: str) -> str:
    """The block as a class: a class as it is, a method or statements inside one that has what they use."""
    if block.startswith("import "):
        return block
    if block.lstrip().startswith("public class"):
        return JAVA_IMPORTS + f"class {name} {{\nstatic {block}\n}}\n".replace(
            "static public class", "public static class"
        )
    if block.lstrip().startswith("record "):
        return JAVA_IMPORTS + f"class {name} {{\n{block.rstrip()[:-1]}\n    {LISTENER}}}\n}}\n"
    around = LOOP if "running.get()" in block else BATCH
    if "new Properties()" in block:
        around = ""
    body = block if block.lstrip().startswith("public ") else f"void run() throws Exception {{\n{block}\n}}"
    return JAVA_IMPORTS + f"class {name}<K, V> {{\n    {around}\n{body}\n}}\n"


def go_source(package: str, block: str) -> str:
    """The block as a package: functions as they are, statements inside one."""
    if block.startswith("package "):
        return re.sub(r"^package \w+", f"package {package}", block)
    code = re.sub(r"^\s*//.*\n", "", block)
    head = GO_HEAD.format(package=package)
    if code.startswith("func "):
        return head + code
    return head + GO_CALLBACKS + f"\nfunc run(ctx context.Context) {{\n{code}\n}}\n"


def main(arguments: list[str]) -> int:
    """Compile all blocks; print one line per block and what the compilers say."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--jar", action="append", required=True, help="kafka-clients and what it needs")
    parser.add_argument("--go-module", help="a folder with a go.mod that requires franz-go")
    wanted = parser.parse_args(arguments)
    wrong = 0
    with tempfile.TemporaryDirectory() as held:
        for number, (notebook, language, block) in enumerate(blocks()):
            if language == "java":
                source = Path(held) / f"Snippet{number}.java"
                source.write_text(java_source(source.stem, block))
                command = ["javac", "-Xlint:-options", "-d", held, "-cp", ":".join(wanted.jar), str(source)]
                folder = Path(held)
            elif wanted.go_module:
                folder = Path(wanted.go_module) / f"snippet{number}"
                folder.mkdir(exist_ok=True)
                write_atomically(folder / "snippet.go", go_source(folder.name, block))
                command = ["go", "vet", "."]
            else:
                print(f"{notebook} {language}: not compiled, --go-module is missing")
                continue
            done = subprocess.run(
                command, check=False, cwd=folder, capture_output=True, text=True, timeout=300
            )
            print(
                f"{notebook} {language} block {number}: {'compiles' if not done.returncode else 'DOES NOT COMPILE'}"
            )
            if done.returncode:
                print(done.stderr or done.stdout)
                wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
