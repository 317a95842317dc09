"""The bundles are made of ``page/`` alone, the same each time, and its JavaScript keeps its own tests."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys

import pytest

from scripts.site import lab as site
from tests.support.paths import ROOT

SPEC = importlib.util.spec_from_file_location("bundle_tool", ROOT / "scripts" / "bundle.py")
assert SPEC and SPEC.loader
tool = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(tool)


@pytest.mark.parametrize("entry", tool.BUNDLES)
def test_a_bundle_is_what_is_made_of_its_sources(entry):
    assert (tool.PACKAGE / tool.BUNDLES[entry]).read_text("utf-8") == tool.bundle(entry)


def test_the_words_that_the_page_shares_are_those_of_python():
    assert (tool.SOURCES / "generated" / "kinds.js").read_text("utf-8") == tool.kinds()


def pages(tmp_path, monkeypatch, **texts):
    """A page/ of these modules, whose entry is main.js."""
    (tmp_path / "page").mkdir()
    for name, text in texts.items():
        (tmp_path / "page" / f"{name}.js").write_text(text, "utf-8")
    monkeypatch.setattr(tool, "SOURCES", tmp_path / "page")
    monkeypatch.setattr(tool, "write_kinds", lambda: None)
    monkeypatch.setattr(tool, "PACKAGE", tmp_path / "package")
    monkeypatch.setattr(tool, "BUNDLES", {"main.js": "main.js"})
    return tmp_path / "package" / "main.js"


OTHER = "/** Said. */\nexport const said = 1;\nexport async function tell() {}\nconst own = `// kept`;\n"
MAIN = 'import {\n  said,\n  tell as told,\n} from "./other.js";\n// a word\nexport default { said, told };\n'


def test_a_module_becomes_a_function_that_returns_its_exports(tmp_path, monkeypatch):
    made = pages(tmp_path, monkeypatch, main=MAIN, other=OTHER)
    tool.freshen()
    assert made.read_text("utf-8").partition("\n")[2] == (
        "const $other = (() => {\n// page/other.js\nconst said = 1;\nasync function tell() {}\nconst own = `// kept`;\n"
        "return { said, tell };\n})();\n"
        "// page/main.js\nconst { said, tell: told } = $other;\nexport default { said, told };\n"
    )


def test_what_is_stale_is_made_anew_and_what_is_fresh_is_left(tmp_path, monkeypatch):
    made = pages(tmp_path, monkeypatch, main=MAIN, other=OTHER)
    tool.freshen()
    first = made.stat().st_mtime_ns, made.read_text("utf-8")
    tool.freshen()
    assert (made.stat().st_mtime_ns, made.read_text("utf-8")) == first
    (tmp_path / "page" / "other.js").write_text(OTHER.replace("= 1", "= 2"), "utf-8")
    tool.freshen()
    assert "const said = 2;" in made.read_text("utf-8")
    assert [path.name for path in made.parent.iterdir()] == ["main.js"]


@pytest.mark.parametrize(
    ("main", "other", "said"),
    [
        (MAIN, OTHER + 'import { told } from "./main.js";\n', "main.js → other.js → main.js"),
        (MAIN, OTHER + "export default 1;\n", r"page/other.js: 'export default 1;'"),
        (MAIN, OTHER + 'import x from "./x.js";\n', r"page/other.js: 'import x from \"./x.js\";'"),
    ],
)
def test_what_no_function_can_be_made_of_is_refused(tmp_path, monkeypatch, main, other, said):
    pages(tmp_path, monkeypatch, main=main, other=other)
    with pytest.raises(tool.BadModule, match=said):
        tool.freshen()


def test_the_arithmetic_of_the_page_is_right():
    command = [sys.executable, ROOT / "scripts" / "page.py", "test"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=120, env={**os.environ}
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_module_of_the_page_is_part_of_a_bundle_or_names_its_types():
    used = {module for entry in (*tool.BUNDLES, *site.ENTRIES) for module in tool.modules(entry)}
    used |= {tool.SOURCES / "site" / name for name in (*site.ALONE, site.OFFLINE, site.LOST, "course.js")}
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
