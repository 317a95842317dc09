"""Which Java Spark runs on."""

from __future__ import annotations

import pytest

from rebalance_kit.model.errors import EnvironmentProblem
from rebalance_kit.pipeline.spark import java


def test_a_machine_without_java_is_told_what_to_install(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(java, "_packaged_home", lambda: None)
    with pytest.raises(
        EnvironmentProblem, match=r"no Java for Spark.*17 or newer.*rebalance-kit install java"
    ):
        java.find_java()


def test_a_java_home_without_java_is_named_and_passed_over(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr(java, "_packaged_home", lambda: None)
    with pytest.raises(EnvironmentProblem, match=r"JAVA_HOME: .* holds no working bin/java"):
        java.find_java()


def test_the_packaged_java_is_started_without_the_module_it_lacks(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    real = tmp_path / "jre"
    (real / "bin").mkdir(parents=True)
    echo = real / "bin" / "java"
    echo.write_text('#!/bin/sh\nfor a do printf "%s|" "$a"; done\n')
    echo.chmod(0o755)
    import subprocess

    home = java._launcher_home(real)
    told = subprocess.run(
        [str(home / "bin" / "java"), "-Xmx1g", "--add-modules=jdk.incubator.vector", "a b", "-version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == "-Xmx1g|a b|-version|"
