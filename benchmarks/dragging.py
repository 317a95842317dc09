"""What it costs to drag a number and to look at an action: in the kernel, and from the key to the painted answer.

    python benchmarks/dragging.py            # both sizes
    python benchmarks/dragging.py --quick    # fewer steps
    python benchmarks/dragging.py --no-browser    # the kernel's part alone

Needs Chromium, but for the kernel's part. Steps are arrow keys on the number in the sentence; the page, the request, the kernel, the film,
inflating and drawing are all in the time. The kernel runs in this process behind a binding of the browser driver.
"""

from __future__ import annotations

import argparse
import base64
import json
import statistics
import time
from typing import Any

from shared.browser import opened
from shared.tables import publish
from view import ARGUMENTS, crash

from rebalance_kit.model.collector import uncollected
from rebalance_kit.view.lab.page import script, style
from rebalance_kit.view.lab.playing.prefetch import LARGE
from rebalance_kit.view.lab.requests import answer
from rebalance_kit.view.lab.widget import Lab

PAGE = """<!doctype html><meta charset="utf-8"><style>{style}</style><div id="el" style="width:1040px"></div><script type="module">
const kit = await import(URL.createObjectURL(new Blob([{script}], {{ type: "text/javascript" }})));
const send = async (message) => {{
  const [state, content, buffers] = await window.kernel(message);
  if (state) take(state);
  model.hear(content, buffers.map(kit.bytesOf));
}};
const model = new kit.PageModel({{}}, {{ send }});
const take = (state) => model.receive({{ ...state, film: kit.bytesOf(state.film) }});
const soon = () => new Promise((done) => setTimeout(done, 0));
const painted = () => new Promise((done) => requestAnimationFrame(() => {{ const later = new MessageChannel(); later.port1.onmessage = done; later.port2.postMessage(0); }}));
window.open_ = async (state) => {{
  take(state);
  kit.default.render({{ model, el: document.getElementById("el") }});
  window.lab = document.getElementById("el").rebalanceLab;
  while (!lab.screen.stage || lab.serial !== state.controls.serial) await soon();
  lab.seek(state.cursor_ms, true);
  await painted();
}};
window.step_ = async (key) => {{
  const node = document.querySelector(".rk-say [role=spinbutton]"), serial = lab.serial, begun = performance.now();
  node.focus();
  node.dispatchEvent(new KeyboardEvent("keydown", {{ key, bubbles: true }}));
  while (lab.serial === serial || lab.talk.changing) await soon();
  await painted();
  return performance.now() - begun;
}};
window.look_ = async () => {{
  const words = document.querySelector(".rk-cost"), begun = performance.now();
  lab.costs.at = document.querySelector(".rk-actions button");
  lab.costs.ask({{ what: "crash", args: () => ({{}}) }});
  while (!words.textContent || words.textContent === "computing…" || (lab.film.partitions.length < 64 && !document.querySelector(".rk-would").textContent)) await soon();
  await painted();
  const spent = performance.now() - begun;
  lab.costs.leave(lab.costs.at);
  return spent;
}};
</script>"""


class Kernel:
    """The kernel's side of the page, with the processor time of each request."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.spent: list[float] = []

    def state(self) -> dict[str, Any]:
        """What the model holds."""
        film = base64.b64encode(self.lab.film).decode("ascii")
        controls = json.loads(json.dumps(self.lab.controls))
        return {"film": film, "controls": controls, "cursor_ms": self.lab.cursor_ms, "theme": "light"}

    def __call__(self, message: dict[str, Any]) -> list[Any]:
        """Answer a request, as the widget does."""
        serial, begun = self.lab.controls["serial"], time.process_time()
        told, buffers = answer(self.lab, message)
        if not told.get("stepping"):
            self.lab.finish()
        self.spent.append((time.process_time() - begun) * 1000)
        now = self.lab.controls["serial"]
        content = {"type": "done", "id": message["id"], "serial": now, **told}
        packed = [base64.b64encode(one).decode("ascii") for one in buffers]
        return [self.state() if now != serial else None, content, packed]


def measured(members: int, partitions: int, protocol: str, after_ms: int, steps: int) -> dict[str, Any]:
    """Steps of the session timeout some time after the crash, and looks at the next one."""
    lab = Lab(crash(members, partitions), protocol=protocol)
    lab.at(12_000 + after_ms)
    if partitions > LARGE:
        lab.get_ready()  # as where the cursor has rested
    kernel = Kernel(lab)
    text = PAGE.format(style=style(), script=json.dumps(script()).replace("</", "<\\/"))
    with opened(text, ARGUMENTS, kernel=kernel) as page:
        page.wait_for_function("!!window.look_")
        page.evaluate("state => open_(state)", kernel.state())
        processor = page.context.new_cdp_session(page)
        processor.send("Performance.enable", {"timeDomain": "threadTicks"})
        keys = ["ArrowUp", "ArrowDown"] * steps
        begun = _busy_ms(processor)
        stepped = []
        for key in keys[: steps + 2]:
            with uncollected():  # as the widget does: cycles are collected when the page has its answer
                stepped.append(page.evaluate("key => step_(key)", key))
        in_page = (_busy_ms(processor) - begun) / len(stepped)
        in_kernel = kernel.spent[:]
        page.evaluate("() => { document.activeElement.blur(); }")
        page.wait_for_timeout(100)
        kernel.spent.clear()
        looked = [page.evaluate("look_()") for _ in range(steps + 2)]
    return {
        "size": f"{members} x {partitions}",
        "protocol": protocol,
        "cursor, s": lab.cursor_ms / 1000,
        "step: kernel, ms": _median(in_kernel),
        "step: page, ms": round(in_page, 1),
        "step: to paint, ms": _median(stepped),
        "95th, ms": _high(stepped),
        "look: kernel, ms": _median(kernel.spent),
        "look: to paint, ms": _median(looked),
    }


def by_setting(members: int, partitions: int, protocol: str, after_ms: int, steps: int) -> dict[str, Any]:
    """The kernel's part of a step: a session that ends later, one of 10 s (the broker's is at least 45 s), and another setting."""
    server = "group.consumer." if protocol == "consumer" else ""
    session, beat = f"{server}session.timeout.ms", f"{server}heartbeat.interval.ms"
    wanted = {
        "session of 46 s, ms": (session, 46_000),
        "session of 10 s, ms": (session, 10_000),
        "heartbeat interval, ms": (beat, 5_000),
    }
    row: dict[str, Any] = {
        "size": f"{members} x {partitions}",
        "protocol": protocol,
        "cursor, s": 12 + after_ms / 1000,
    }
    for column, (name, value) in wanted.items():
        if server and value == 10_000:
            row[column] = "–"
            continue
        lab = Lab(crash(members, partitions), protocol=protocol)
        lab.at(12_000 + after_ms)
        if partitions > LARGE:
            lab.get_ready()
        kernel = Kernel(lab)
        for turn in range(steps + 2):
            text = str(value + 100 * (turn % 2))
            with uncollected():
                kernel({"id": turn, "type": "drag", "number": 1, "how": "step", "name": name, "value": text})
        row[column] = _median(kernel.spent)
    return row


def _busy_ms(processor: Any) -> float:
    """Processor time of the page's main thread so far, without what the browser's driver makes it do."""
    metrics = {one["name"]: one["value"] for one in processor.send("Performance.getMetrics")["metrics"]}
    return 1000 * float(metrics["TaskDuration"] - metrics["DevToolsCommandDuration"])


def _median(times: list[float]) -> float:
    """The median without the first two, which warm up."""
    return round(statistics.median(times[2:]), 1)


def _high(times: list[float]) -> float:
    rest = sorted(times[2:])
    return round(rest[int(0.95 * len(rest))], 1)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="fewer steps")
    parser.add_argument("--no-browser", action="store_true", help="leave Chromium out")
    chosen = parser.parse_args()
    steps = 8 if chosen.quick else 20
    cases = [
        (members, partitions, protocol, after_ms)
        for members, partitions in ((2, 4), (50, 500))
        for protocol in ("eager", "consumer")
        for after_ms in (1_000, 30_000)
    ]
    if not chosen.no_browser:
        note = (
            "Wanted for a step: at most 33 ms with 2 x 4, at most 150 ms with 50 x 500, of which the first second is exact. A look at "
            "Crash: what would be, pale on the strip; of a large group one sentence. Kernel and page: processor time."
        )
        _print(
            "View: a number that is dragged, an action that is looked at",
            [measured(*case, steps) for case in cases],
            note,
        )
    note = "Processor time of the kernel for a step. With 2 x 4 the whole run is there after it, with 50 x 500 the first second."
    _print("View: a number that is dragged, by setting", [by_setting(*case, steps) for case in cases], note)


def _print(title: str, rows: list[dict[str, Any]], note: str) -> None:
    columns = list(rows[0])
    publish(title, columns, [[str(row[column]) for column in columns] for row in rows], note)


if __name__ == "__main__":
    main()
