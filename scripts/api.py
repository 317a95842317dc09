"""Write docs/api.md: the public names of the kit, each with its signature, its first sentence and an example that runs.

``make api`` writes the page, a test compares it with the code and runs every example, so a public name changes on purpose
or not at all.
"""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

import rebalance_kit

PAGE = Path(__file__).parent.parent / "docs" / "api.md"
MOST_NAMES = 25
ROOMS = ("view", "pipeline", "notebook", "quiz", "exercises")
HEAD = """# Public names

`import rebalance_kit as rk` gives the {count} names below; each is imported when it is first asked for. The names of a room are taken from
the room, for instance `from rebalance_kit.view import deal`. Whatever this page does not list is internal and may change
without notice. `make api` writes this page; a test compares it with the code and runs every example, one after another from the top.
"""

EXAMPLES = {
    "scenario": 'crash = rk.scenario("crash")\nassert crash.title == "A consumer crashes"',
    "simulate": 'eager = rk.simulate("crash", protocol="eager")\nassert eager == rk.simulate(crash, protocol="eager")',
    "metrics": "assert rk.metrics(eager).partitions_unread == 12",
    "compare": 'newer = rk.simulate(crash, protocol="consumer")\n'
    'both = rk.compare({"eager": eager, "consumer": newer})\n'
    'assert both.metrics["consumer"].partitions_unread == 4',
    "Trace": "assert eager.metrics == rk.metrics(eager) and eager.to_arrow().num_rows == len(eager.rows)\n"
    'assert [row.detail["reason"] for row in eager.of("run_end")] == ["end of the scenario"]',
    "read_trace": 'with open("eager.jsonl", "w") as file:\n    file.writelines(f"{line}\\n" for line in eager.jsonl())\n'
    'assert rk.read_trace("eager.jsonl") == eager',
    "Action": "from dataclasses import replace\n\n"
    'twice = replace(crash, actions=(*crash.actions, rk.Action(60_000, "crash", "consumer-2")))\n'
    "assert rk.simulate(twice).end_ms == eager.end_ms",
    "Scenario": 'assert isinstance(crash, rk.Scenario) and crash.group == "orders-app"',
    "RebalanceKitError": 'try:\n    rk.scenario("crush")\nexcept rk.RebalanceKitError as error:\n    assert "crash" in str(error)',
    "CommitFailed": "refused = []\n\n\n"
    "class Late:\n    def on_lost(self, partitions, consumer):\n        try:\n            consumer.commit()\n"
    "        except rk.CommitFailed as error:\n            refused.append(error.error)\n\n\n"
    'rk.simulate("poll-timeout", listeners={"consumer-2": Late})\n'
    'assert refused == ["UNKNOWN_MEMBER_ID"]',
    "Lab": 'lab = rk.Lab("crash", protocol="cooperative")\nlab',
    "messages": "rk.messages(eager, since_s=29, until_s=31)",
    "flow_figure": 'assert rk.flow_figure(eager)["frames"]',
    "gantt_figure": 'assert rk.gantt_figure(eager)["data"]',
    "Quiz": 'quiz = rk.Quiz("eager", count=1)\nquiz.answer("a")',
    "Review": "rk.Review(count=5)",
    "Exam": 'rk.Exam("CCDAK", questions=5)',
    "Poll": 'poll = rk.Poll("eager-crash-which-unread")\npoll.hands(a=4, b=11)',
    "Vote": 'vote = rk.Vote("eager-crash-which-unread", room="k2m4p")\nvote.vote("b")',
    "Exercise": 'rk.Exercise("c1")',
    "replay": "from rebalance_kit.notebook import recordings\n\n"
    'recorded = recordings("leave.eager.4.0.0") / "leave.eager.4.0.0"\n'
    "assert rk.replay(recorded, draws=2).error is None",
    "read_logs": 'logs = rk.read_logs(recorded, engine="local")\nassert logs.rows("rebalances")',
    "run_clients": "run = rk.run_clients(seconds=4)",
    "sweep": "from rebalance_kit.pipeline import spark_session\n\n"
    'rk.sweep(spark_session(), crash, {"session.timeout.ms": [10_000, 45_000]}, seeds=2).count()',
    "__version__": 'assert rk.__version__.count(".") >= 1',
}


def page() -> str:
    """The whole page as text."""
    names = rebalance_kit.__all__
    parts = [HEAD.format(count=len(names)), "## In `rebalance_kit`\n"]
    parts += [_entry(name) for name in EXAMPLES]
    parts.append("## In the rooms\n")
    for room in ROOMS:
        module = import_module(f"rebalance_kit.{room}")
        listed = ", ".join(f"`{name}`" for name in module.__all__)
        parts.append(f"- **`rebalance_kit.{room}`**: {listed}")
    return "\n".join(parts) + "\n"


def _entry(name: str) -> str:
    thing = getattr(rebalance_kit, name)
    example = f"```python\n{EXAMPLES[name]}\n```\n"
    if isinstance(thing, str):
        return f"### `{name}`\n\nThe version of the kit, as text.\n\n{example}"
    sentence = (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ").replace("``", "`")
    members = ", ".join(f"`.{member}`" for member in _members(thing)) if inspect.isclass(thing) else ""
    told = f"{members}\n\n" if members else ""
    return f"### `{name}`\n\n{sentence}\n\n```text\n{name}{_signature(thing)}\n```\n\n{told}{example}"


def _signature(thing: Any) -> str:
    """Names, kinds and types of the parameters; a default that is no plain value is told as three dots."""
    if inspect.isclass(thing) and issubclass(thing, Exception) and "__init__" not in vars(thing):
        return "(message)"
    parts, named = [], False
    for one in inspect.signature(thing).parameters.values():
        if one.kind is one.KEYWORD_ONLY and not named:
            parts.append("*")
        named = named or one.kind in {one.KEYWORD_ONLY, one.VAR_POSITIONAL}
        plain = isinstance(one.default, str | int | float | tuple | None)
        default = "" if one.default is one.empty else f" = {one.default!r}" if plain else " = ..."
        parts.append(f"{'*' * (one.kind is one.VAR_POSITIONAL)}{one.name}: {one.annotation}{default}")
    gives = inspect.signature(thing).return_annotation
    return f"({', '.join(parts)})" + ("" if inspect.isclass(thing) else f" -> {gives}")


def _members(of: type) -> list[str]:
    """Public methods and properties that the kit itself defines, sorted; what a widget offers its page is the widget's own."""
    if of.__module__.startswith("rebalance_kit.view"):
        return []
    found = []
    for name in dir(of):
        owner = next((base for base in of.__mro__ if name in vars(base)), object)
        value = inspect.getattr_static(of, name)
        ours = owner.__module__.startswith("rebalance_kit") and not name.startswith("_")
        if ours and isinstance(value, property | FunctionType | classmethod | staticmethod):
            found.append(name)
    return found


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
    sys.stdout.write(f"{PAGE.name}: {len(rebalance_kit.__all__)} names\n")
