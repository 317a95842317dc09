"""The lab behind a worker says to its page what the widget says to its own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile

import pytest

from rebalance_kit.model.errors import ScenarioError
from rebalance_kit.view.lab.widget import Lab
from rebalance_kit.view.lab.worker import WorkerLab
from scripts.bundle import SOURCES
from scripts.site import lab as site

REQUESTS = (
    {"type": "act", "do": "crash", "member": "consumer-2", "at_ms": 20_000},
    {"type": "guide"},
    {"type": "set", "name": "protocol", "value": "cooperative"},
    {"type": "tab", "tab": "metrics", "at_ms": 60_000},
    {"type": "compare", "column": 1},
    {"type": "undo"},
    {"type": "act", "do": "crash", "member": "nobody"},
    {"type": "nonsense"},
    {"type": "preset", "name": "join"},
    {"type": "export", "what": "trace"},
)


@pytest.fixture
def told():
    return []


@pytest.fixture
def lab(told):
    return WorkerLab(
        lambda text, buffers: told.append((json.loads(text), buffers)), "two-consumers-crash", "eager"
    )


def test_every_answer_is_the_widgets(lab, told, monkeypatch):
    widget, sent = Lab("two-consumers-crash", "eager"), []
    monkeypatch.setattr(
        widget, "send", lambda content, buffers=None: sent.append((content, list(buffers or [])))
    )
    for number, message in enumerate(REQUESTS):
        widget.handle({**message, "id": number})
        lab.hear(json.dumps({"message": {**message, "id": number}}))
        answers = [(each["message"], buffers) for each, buffers in told if "message" in each]
        content, buffers = sent[-1]
        assert answers[-1] == (json.loads(json.dumps(content)), buffers)
        assert (lab.film, lab.controls, lab.cursor_ms) == (widget.film, widget.controls, widget.cursor_ms)


def test_the_page_never_sees_a_film_with_another_films_controls(lab, told):
    del told[:]
    lab.hear(json.dumps({"message": REQUESTS[0]}))
    states = [each["state"] for each, _buffers in told if "state" in each]
    assert [sorted(state) for state in states] == [["cursor_ms"], ["controls", "film"]]
    assert states[1]["controls"]["serial"] == lab.serial


def test_what_the_page_has_set_is_taken(lab):
    lab.hear(json.dumps({"save": {"cursor_ms": 12_345, "theme": "dark"}}))
    assert (lab.cursor_ms, lab.theme) == (12_345, "dark")


@pytest.mark.parametrize("text", ["[]", "3", '"crash"', "null"])
def test_what_is_no_object_comes_from_no_page_of_the_kit(lab, text):
    with pytest.raises(ScenarioError, match="expected an object"):
        lab.hear(text)


def test_the_pages_python_has_all_that_its_worker_imports(tmp_path):
    """What `page/site/worker.js` imports, from the page's own archives, by a Python that has no installed package."""
    wanted = re.findall(
        r'pyimport\("(rebalance_kit[\w.]+)"\)', (SOURCES / "site" / "worker.js").read_text("utf-8")
    )
    for make, name in ((site._kit, "kit.zip"), (site._questions, "quiz.zip")):
        make(tmp_path / name)
        with zipfile.ZipFile(tmp_path / name) as archive:
            archive.extractall(tmp_path / "kit")
    program = f"import sys; sys.path.insert(0, {str(tmp_path / 'kit')!r})\nimport fsrs\n" + "".join(
        f"import {name}\n" for name in wanted
    )
    assert len(wanted) > 2
    subprocess.run([sys.executable, "-I", "-S", "-c", program], check=True)
