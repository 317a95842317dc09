"""The bundles in the package are what ``make page`` makes of ``page/``, and its JavaScript keeps its own tests."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys

import pytest

from tests.support.paths import ROOT

SPEC = importlib.util.spec_from_file_location("page_tool", ROOT / "scripts" / "page.py")
assert SPEC and SPEC.loader
tool = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(tool)


@pytest.mark.parametrize("entry", tool.BUNDLES)
def test_a_bundle_names_the_sources_that_it_was_made_of_and_is_untouched(entry):
    first, bundle = (tool.PACKAGE / tool.BUNDLES[entry]).read_text("utf-8").split("\n", 1)
    assert first + "\n" == tool.head(entry, bundle), (
        f"page/{entry} has changed since `make page`, or its bundle was edited"
    )


@pytest.mark.may_skip(
    "esbuild comes from the npm registry at the first bundle; the digests are compared without it"
)
@pytest.mark.parametrize("entry", tool.BUNDLES)
def test_bundling_anew_gives_the_same_bytes(entry, tmp_path):
    try:
        tool.build(tmp_path, (entry,))
    except tool.NoBundler as missing:
        pytest.skip(str(missing))
    made = (tmp_path / tool.BUNDLES[entry]).read_bytes()
    assert made == (tool.PACKAGE / tool.BUNDLES[entry]).read_bytes()


def test_the_arithmetic_of_the_page_is_right():
    command = [sys.executable, ROOT / "scripts" / "page.py", "test"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=120, env={**os.environ}
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_module_of_the_page_is_part_of_a_bundle_or_names_its_types():
    used = {module for entry in tool.BUNDLES for module in tool.modules(entry)}
    types = {
        (module.parent / name).resolve()
        for module in used
        for name in re.findall(r'import\("([^"]+)"\)', module.read_text("utf-8"))
    }
    modules = {path for path in tool.SOURCES.rglob("*.js") if path.parent.name != "tests"}
    assert sorted(modules - used - types) == []


def test_no_module_of_the_page_is_a_link_in_a_chain_of_inheritance():
    parents = {
        name: re.findall(r"^export class \w+ extends (\w+)", name.read_text("utf-8"), re.MULTILINE)
        for name in tool.SOURCES.rglob("*.js")
    }
    assert {parent for found in parents.values() for parent in found} <= {"Error"}
