"""The course in JupyterLite: what is recorded and what runs; and, in the long suite, notebooks run to their ends in Chromium."""

from __future__ import annotations

import json
import os
import re

import pytest

from rebalance_kit.notebook import recorded_run
from scripts.site import course, lab
from tests.support.browser.servers import static_files
from tests.support.paths import ROOT

LONG = os.environ.get("REBALANCE_KIT_LONG") == "1"
SECONDS = 120_000
IDLE = "() => globalThis.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"
RUN_ALL = """async () => {
  const { commands, shell } = globalThis.jupyterapp;
  await commands.execute("notebook:run-all-cells");
  const cells = [...shell.currentWidget.content.model.cells].filter((cell) => cell.type === "code");
  const outputs = cells.map((cell) => Array.from({ length: cell.outputs.length }, (_, at) => cell.outputs.get(at).toJSON()));
  return { ran: cells.every((cell) => cell.executionCount), outputs: outputs.flat() };
}"""


def cell(source, *tags):
    return {"cell_type": "code", "source": source, "metadata": {"tags": list(tags)}, "outputs": []}


@pytest.mark.parametrize(
    ("sources", "recorded"),
    [
        (["import subprocess", "x = 1", "subprocess.run([])"], [2]),
        (
            ["import subprocess\ndef shell(line):\n    subprocess.run(line)", "shell('ls')", "print('here')"],
            [1],
        ),
        (["from pyspark.sql import Window", "a = Window", "a = 1\nprint(a)", "b = a"], [0, 1]),
        (["from rebalance_kit.pipeline import forensics", "found = forensics(1)", "found.show()"], [0, 1, 2]),
        (["from rebalance_kit import run_clients", "real = run_clients()", "print(real)"], [1, 2]),
        (["from rebalance_kit import metrics", "metrics(1)"], []),
    ],
)
def test_a_cell_is_recorded_that_uses_what_only_processes_give(sources, recorded):
    cells = [cell(source) for source in sources]
    assert [cells.index(one) for one in course.needs_processes(cells)] == recorded


def test_the_check_of_an_exercise_is_recorded():
    cells = [cell("1"), cell("exercise.check(answer)", "exercise")]
    assert course.needs_processes(cells) == cells[1:]


class Shell:
    """What the magic asks of IPython."""

    def __init__(self):
        self.display_pub, self.shown = self, []

    def register_magic_function(self, magic, kind, name):
        assert (kind, name) == ("cell", "recorded")
        self.magic = magic

    def publish(self, data):
        self.shown.append(data)


@pytest.mark.parametrize(
    "name", ["07-callbacks.ipynb", "13-the-real-thing.ipynb", "14-operations-and-triage.ipynb"]
)
def test_a_recorded_cell_shows_what_it_showed_and_the_first_cell_says_so(name):
    notebook = json.loads((ROOT / "notebooks" / name).read_text("utf-8"))
    before = {"".join(each["source"]): each.get("outputs", []) for each in notebook["cells"]}
    made = course.for_a_browser(notebook, name)["cells"]
    shell, shown = Shell(), 0
    assert made[1]["source"] == course.FIRST.format(name=name)
    assert "a browser does not have" in str(recorded_run(name, shell)).replace("\n", " ")
    for each in made:
        magic, _, source = each["source"].partition("\n")
        if magic == "%%recorded":
            shell.shown.clear()
            shell.magic("", source + "\n")
            assert len(shell.shown) == len(before[source])
            shown += len(shell.shown)
    assert shown > 3


def test_a_recorded_cell_that_was_changed_says_what_to_type_at_home(capsys):
    shell = Shell()
    recorded_run("07-callbacks.ipynb", shell)
    shell.magic("", "run_clients('mine')")
    assert "pip install" in capsys.readouterr().out
    assert shell.shown == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("site")
    lab._pyodide(made / "pyodide")
    course.build(made / "course", made / "pyodide")
    return made


@pytest.fixture(scope="module")
def address(folder):
    with static_files(folder) as served:
        yield served


@pytest.mark.browser
@pytest.mark.timeout(600)
@pytest.mark.skipif(not LONG, reason="30 s per notebook: make test-long")
@pytest.mark.may_skip("30 s per notebook: make test-long")
@pytest.mark.parametrize("source", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_runs_to_its_end_and_asks_no_other_host(page, address, source):
    foreign = []
    ours = (address, "data:", "blob:")
    page.on("request", lambda one: None if one.url.startswith(ours) else foreign.append(one.url))
    page.context.route(lambda url: not url.startswith(ours), lambda route: route.abort())
    page.goto(f"{address}course/lab/index.html?path={source.name}")
    page.wait_for_function(IDLE, timeout=SECONDS)
    done = page.evaluate(RUN_ALL)
    assert [one for one in done["outputs"] if one["output_type"] == "error"] == []
    assert done["ran"]
    assert foreign == []


KEPT = """async (count) => {
  const [name] = (await caches.keys()).filter((each) => each.startsWith("rebalance-course-"));
  return name && (await (await caches.open(name)).keys()).length === count;
}"""
OPENED = """async (path) => {
  const kernelPreference = { shouldStart: false, canStart: false };
  const { context } = await globalThis.jupyterapp.commands.execute("docmanager:open", { path, kernelPreference });
  await context.ready;
  return context.model.cells.length;
}"""


def _cells(path):
    return json.loads(path.read_text("utf-8"))["cells"]


@pytest.mark.browser
@pytest.mark.timeout(1_200)
@pytest.mark.skipif(not LONG, reason="minutes: make test-long")
@pytest.mark.may_skip("minutes: make test-long")
def test_after_a_visit_of_one_notebook_it_runs_and_each_opens_without_a_network(page, folder):
    names = [source.name for source in sorted((ROOT / "notebooks").glob("*.ipynb"))]
    worker = (folder / "course" / "service-worker.js").read_text("utf-8")
    files = json.loads(re.search(r"const FILES = (\[.*\]);", worker)[1])
    with static_files(folder) as address:
        page.goto(f"{address}course/lab/index.html?path={names[0]}")
        page.wait_for_function(IDLE, timeout=SECONDS)
        page.wait_for_function(KEPT, arg=len(files), timeout=SECONDS)
    page.goto(f"{address}course/lab/index.html?path={names[0]}")
    page.wait_for_function(IDLE, timeout=SECONDS)
    done = page.evaluate(RUN_ALL)
    assert [one for one in done["outputs"] if one["output_type"] == "error"] == []
    assert done["ran"]
    opened = [page.evaluate(OPENED, name) for name in names[1:]]
    assert opened == [len(_cells(folder / "course" / "files" / name)) for name in names[1:]]
