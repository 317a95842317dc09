"""Kafka's jars: what is said without Java, without a network, for a checksum that differs, on a full disk."""

from __future__ import annotations

import shutil
from typing import NamedTuple

import pytest

from rebalance_kit.live import broker, jars
from rebalance_kit.live.jars import LiveError, class_path, verify
from rebalance_kit.model.errors import EnvironmentProblem

NOWHERE = """<ivysettings><settings defaultResolver="one"/><resolvers>
<ibiblio name="one" m2compatible="true" root="http://127.0.0.1:1/"/></resolvers></ivysettings>"""


class Usage(NamedTuple):
    total: int
    used: int
    free: int


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.parametrize("version", ["4", "latest", "../4.3.1", "4.3.1/../x"])
def test_a_version_that_is_none_is_named(version):
    with pytest.raises(LiveError, match="Kafka version"):
        class_path(version)


def test_without_a_network_it_says_so_and_leaves_nothing(monkeypatch, tmp_path):
    settings = tmp_path / "ivy-settings.xml"
    settings.write_text(NOWHERE, "utf-8")
    monkeypatch.setenv(jars.SETTINGS, str(settings))
    said = []
    with pytest.raises(LiveError, match="cannot be reached; fetching Kafka needs a network once"):
        class_path("4.3.1", said.append)
    assert said[0].startswith("fetching Kafka 4.3.1")
    assert [path.name for path in (jars.cache() / "jars").iterdir()] == ["4.3.1.lock"]


def test_settings_that_are_not_there_are_named(monkeypatch):
    monkeypatch.setenv(jars.SETTINGS, "/no/such/file.xml")
    with pytest.raises(LiveError, match=r"/no/such/file\.xml"):
        class_path("4.3.1")


def test_without_java_it_says_what_to_install(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr("rebalance_kit.pipeline.spark.java._packaged_home", lambda: None)
    with pytest.raises(EnvironmentProblem, match="expected Java 17"):
        class_path("4.3.1")


def test_a_full_disk_is_said_before_anything_is_fetched(monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(1, 1, 5 * 2**20))
    with pytest.raises(LiveError, match="has 5 MB left; expected 300 MB"):
        class_path("4.3.1")


def test_a_jar_that_differs_or_is_missing_or_too_many_is_named(tmp_path):
    for name in jars.VERSIONS["4.3.1"]:
        (tmp_path / name).touch()
    with pytest.raises(LiveError, match=r"has the SHA-256 e3b0c44298fc1c149afbf4c8996fb924"):
        verify("4.3.1", tmp_path)
    shutil.rmtree(tmp_path)
    tmp_path.mkdir()
    with pytest.raises(LiveError, match="is missing"):
        verify("4.3.1", tmp_path)


def test_the_known_versions_bring_brokers_clients_tools_and_a_log_binding():
    for version, held in jars.VERSIONS.items():
        for name in ("kafka_2.13", "kafka-clients", "kafka-tools"):
            assert f"{name}-{version}.jar" in held
        assert any(name.startswith(("log4j-slf4j-impl", "slf4j-reload4j")) for name in held)
        assert all(len(digest) == 64 for digest in held.values())


def test_a_port_that_is_taken_is_named():
    taken = broker._free(1)[0]
    with broker.socket.socket() as holder:
        holder.bind(("127.0.0.1", taken))
        with pytest.raises(LiveError, match=f"port {taken} is taken"):
            broker._asked(taken)
    with pytest.raises(LiveError, match="port 80"):
        broker._asked(80)


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("java.io.IOException: No space left on device", "the disk is full"),
        ("x\nSocket server failed to bind to 127.0.0.1:1: Address already in use.", "expected a free port"),
        ("[2026] ERROR Exiting Kafka due to fatal exception (kafka.Kafka$)", "ERROR Exiting Kafka"),
        ("", "no reason given"),
    ],
)
def test_why_a_broker_ended_is_said_in_its_own_words(log, words):
    assert words in broker._reason(log)
