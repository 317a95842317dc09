"""What the views cost: film and figure sizes, time from a click to a new film, and to paint in a browser.

    python benchmarks/view.py            # figures without a browser
    python benchmarks/view.py --browser  # also first paint, click to paint and frames a second in Chromium

Prints one JSON object. Times are medians over the repetitions named in it.
"""

from __future__ import annotations

import argparse
import base64
import json
import shutil
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from shared.browser import opened
from shared.tables import publish

from rebalance_kit.model.collector import uncollected
from rebalance_kit.simulation.scenario.scenario import Action, MemberSpec, Scenario, TopicSpec
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.figures.flow import flow_figure
from rebalance_kit.view.figures.gantt import gantt_figure
from rebalance_kit.view.lab.playing.playback import film_bytes

TITLES = {
    "kernel": "View: the kernel's side",
    "browser": "View: in Chromium",
    "click": "View: from the click to the painted answer",
    "peer": "View: the same click with FigureWidget",
}
NOTES = {
    "kernel": "Medians of 5. Targets for 50 x 500: canvas film at most 30 kB, plotly animation of 200 frames at most 350 kB.",
    "browser": "Targets: at least 50 frames a second with 50 x 500, first paint below 400 ms, a heap that does not grow.",
    "click": "Target for 50 x 500: median below 60 ms, 95th percentile below 120 ms; the engine's time is included.",
    "peer": "The peer's engine time is left out.",
}
SIZES = ((2, 4), (12, 48), (25, 250), (50, 500))
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def crash(members: int, partitions: int) -> Scenario:
    """So many members share so many partitions; one crashes at 12 s."""
    named = tuple(MemberSpec(f"consumer-{number}", ("orders",)) for number in range(1, members + 1))
    group = Scenario(f"{members}-by-{partitions}", (TopicSpec("orders", partitions),), named, end_ms=80_000)
    return group.with_action(Action(12_000, "crash", "consumer-2"))


def median_ms(run: Callable[[], Any], times: int = 5) -> float:
    """Median time of a call in milliseconds."""
    spent = []
    for _ in range(times):
        begun = time.perf_counter()
        run()
        spent.append((time.perf_counter() - begun) * 1000)
    return round(statistics.median(spent), 1)


LIMIT_S = 60
"""No answer of the page may take longer."""


def asked(page: Any, call: str, *arguments: Any, what: str) -> Any:
    """What a call in the page answers; after `LIMIT_S` seconds the error says what was waited for."""
    late = f"new Promise((_, no) => setTimeout(() => no(new Error({json.dumps(f'{LIMIT_S} s without: {what}')})), {LIMIT_S * 1000}))"
    return page.evaluate(f"(given) => Promise.race([({call})(...given), {late}])", list(arguments))


def without_browser(members: int, partitions: int, protocol: str) -> dict[str, Any]:
    """Kernel side of a click, and what travels."""
    scenario = crash(members, partitions)
    trace = simulate(scenario, protocol=protocol)
    boards = Boards(trace)
    return {
        "size": f"{members} x {partitions}",
        "protocol": protocol,
        "simulate_ms": median_ms(lambda: simulate(scenario, protocol=protocol)),
        "fold_ms": median_ms(lambda: Boards(trace)),
        "film_ms": median_ms(lambda: film_bytes(Boards(trace))),
        "board_ms": median_ms(lambda: boards.at(50_000)),
        "film_kb": round(len(film_bytes(boards)) / 1000, 1),
        "flow_200_frames_ms": median_ms(lambda: flow_figure(trace, frames=200), 3),
        "flow_200_frames_kb": round(
            len(json.dumps(flow_figure(trace, frames=200), separators=(",", ":"))) / 1000, 1
        ),
        "gantt_kb": round(len(json.dumps(gantt_figure(trace), separators=(",", ":"))) / 1000, 1),
    }


# --- in a browser -----------------------------------------------------------------------------------
PAGE = """<!doctype html><meta charset="utf-8"><style>{style}</style><div id="el" style="width:1040px"></div><script type="module">
const kit = await import(URL.createObjectURL(new Blob([{script}], {{ type: "text/javascript" }})));
const raw = {films}.map(kit.bytesOf);
const model = new kit.PageModel({{ film: raw[0], controls: {controls}, cursor_ms: 11000, theme: "light" }});
window.begun = performance.now();
kit.default.render({{ model, el: document.getElementById("el") }});
window.lab = document.getElementById("el").rebalanceLab;
const painted = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
window.shown = (async () => {{ while (!lab.screen.stage) await painted(); await painted(); return performance.now() - window.begun; }})();
window.swap = async (turn) => {{
  const begun = performance.now();
  model.set("controls", {{ ...model.get("controls"), serial: turn }});
  model.receive({{ film: raw[turn % raw.length] }});
  while (lab.serial !== turn) await painted();
  await painted();
  return performance.now() - begun;
}};
window.play = async (ms) => {{
  lab.player.speed = 10; lab.play();
  let frames = 0; const begun = performance.now();
  while (performance.now() - begun < ms) {{ await new Promise(requestAnimationFrame); frames += 1; }}
  lab.player.pause();
  return (1000 * frames) / (performance.now() - begun);
}};
</script>"""


HEAP = "() => { gc(); gc(); return performance.memory.usedJSHeapSize; }"
"""What the page holds after a collection."""
MINUTE_PIECES = 4


def in_browser(members: int, partitions: int) -> dict[str, Any]:
    """First paint, a new film to paint, and frames a second while playing; the kernel is left out."""
    from rebalance_kit.view.lab.page import script, style
    from rebalance_kit.view.lab.widget import Lab

    scenario = crash(members, partitions)
    films = [film_bytes(Boards(simulate(scenario, protocol=name))) for name in ("eager", "cooperative")]
    controls = Lab().controls
    page_text = PAGE.format(
        style=style(),
        script=json.dumps(script()).replace("</", "<\\/"),
        controls=json.dumps(controls),
        films=json.dumps([base64.b64encode(one).decode("ascii") for one in films]),
    )
    flags = [*ARGUMENTS, "--js-flags=--expose-gc", "--enable-precise-memory-info"]
    with opened(page_text, flags) as page:
        page.wait_for_function("window.play")  # the page's module is imported by then
        first = asked(page, "() => window.shown", what="the first paint")
        swaps = sorted(asked(page, "window.swap", turn, what="the new film painted") for turn in range(3, 33))
        rate = asked(page, "window.play", 4000, what="four seconds played")
        heap = [page.evaluate(HEAP)]
        for _ in range(MINUTE_PIECES):
            asked(page, "window.play", 15000, what="fifteen seconds played")
            page.evaluate("() => lab.seek(0, false)")
            heap.append(page.evaluate(HEAP))
    return {
        "size": f"{members} x {partitions}",
        "first_paint_ms": round(first, 1),
        "film_to_paint_median_ms": round(statistics.median(swaps), 1),
        "film_to_paint_p95_ms": round(swaps[int(0.95 * len(swaps))], 1),
        "frames_per_s": round(rate, 1),
        "heap_mb_each_15_s": [round(one / 1e6, 2) for one in heap],
        "lab_made_ms": median_ms(lambda: Lab(scenario)),
    }


# --- a click, with the lab's own kernel side in the loop ------------------------------------------------
CLICK = """<!doctype html><meta charset="utf-8"><style>{style}</style><div id="el" style="width:1040px"></div><script type="module">
const kit = await import(URL.createObjectURL(new Blob([{script}], {{ type: "text/javascript" }})));
const send = async (message) => {{ const [state, answer] = await window.kernel(message); take(state); model.hear(answer, []); }};
const model = new kit.PageModel({{}}, {{ send }});
const take = (state) => model.receive({{ ...state, film: kit.bytesOf(state.film) }});
const painted = () => new Promise((done) => requestAnimationFrame(() => {{ const later = new MessageChannel(); later.port1.onmessage = done; later.port2.postMessage(0); }}));
const shown = async (serial) => {{ while (!window.lab.screen.stage || window.lab.serial !== serial) await new Promise((done) => setTimeout(done, 0)); await painted(); }};
window.open_ = async (state) => {{ take(state); if (!window.lab) {{ kit.default.render({{ model, el: document.getElementById("el") }}); window.lab = document.getElementById("el").rebalanceLab; }} await shown(state.controls.serial); lab.player.pause(); lab.player.seek(state.cursor_ms); lab.paint(false); await painted(); }};
const drawn = (when) => new Promise((done) => {{ const {{ screen }} = lab, paint = screen.paint; screen.paint = function (...how) {{ paint.apply(this, how); if (!when()) return; screen.paint = paint; done(); }}; }});
window.click_ = async (member) => {{
  lab.selected = member;
  const serial = lab.serial, shows = drawn(() => lab.serial !== serial && document.querySelector(`[data-look="crashed"]`)), begun = performance.now();
  lab.act("crash");
  await shows;
  await painted();
  const spent = performance.now() - begun;
  lab.player.pause();
  return spent;
}};
</script>"""


def click_to_paint(members: int, partitions: int, protocol: str, clicks: int = 24) -> dict[str, Any]:
    """From the click to the painted answer: page, request, kernel, first film, inflating, drawing.

    The kernel side runs in this process behind a binding of the browser driver, where Jupyter would have its
    two sockets; the cursor has rested before the click, as it does in front of a person.
    """
    from rebalance_kit.view.lab.page import script, style
    from rebalance_kit.view.lab.requests import answer
    from rebalance_kit.view.lab.widget import Lab

    group = replace(crash(members, partitions), actions=())
    lab = Lab(group, protocol=protocol)
    lab.at(12_000)
    begun = lab.history

    def state() -> dict[str, Any]:
        return {
            "film": base64.b64encode(lab.film).decode("ascii"),
            "controls": json.loads(json.dumps(lab.controls)),
            "cursor_ms": lab.cursor_ms,
            "theme": "light",
        }

    def kernel(message: dict[str, Any]) -> list[Any]:
        told, _ = answer(lab, message)
        return [state(), {"type": "done", "id": message["id"], "serial": lab.controls["serial"], **told}]

    page_text = CLICK.format(style=style(), script=json.dumps(script()).replace("</", "<\\/"))
    with opened(page_text, ARGUMENTS, kernel=kernel) as page:
        page.wait_for_function("!!window.open_")
        spent = []
        for number in range(clicks):
            lab.take(begun)
            lab.at(12_000)
            if partitions > 64:
                lab.get_ready()
            asked(page, "open_", state(), what="the lab painted before the click")
            with uncollected():  # as the widget does: cycles are collected when the page has its answer
                spent.append(
                    asked(page, "click_", number % members, what="a crashed member painted after the click")
                )
            lab.finish()
    spent = sorted(spent[2:])  # the first ones warm up
    return {
        "size": f"{members} x {partitions}",
        "protocol": protocol,
        "clicks": len(spent),
        "click_to_paint_median_ms": round(statistics.median(spent), 1),
        "click_to_paint_p95_ms": round(spent[int(0.95 * len(spent))], 1),
    }


# --- the peer: plotly's FigureWidget for the same click -------------------------------------------------
PEER = """<!doctype html><meta charset="utf-8"><div id="el" style="width:1040px;height:600px"></div><script>{plotly}</script><script>
const painted = () => new Promise((done) => requestAnimationFrame(() => {{ const later = new MessageChannel(); later.port1.onmessage = done; later.port2.postMessage(0); }}));
window.open_ = async (figure) => {{ await Plotly.newPlot("el", figure.data, figure.layout); await painted(); }};
window.click_ = async (turn) => {{
  const begun = performance.now();
  for (const each of await window.kernel(turn)) await Plotly.update("el", each.style_data, each.layout_data, each.style_traces);
  await painted();
  return performance.now() - begun;
}};
</script>"""


def figure_widget(members: int, partitions: int, clicks: int = 24) -> dict[str, Any]:
    """The same click with a FigureWidget: one marker a partition in its owner's lane, moved and coloured anew.

    The run is simulated beforehand and left out of the time, which favours the peer; the widget's own
    message is what it would send to the page, and plotly.js draws it there.
    """
    import plotly
    import plotly.graph_objects as go

    runs = [Boards(simulate(crash(members, partitions), protocol=name)) for name in ("eager", "cooperative")]
    boards = [one.at(at_ms) for one in runs for at_ms in (11_900, 12_100)]
    place = {name: number for number, name in enumerate(runs[0].names)}

    def looks_of(board: Any) -> dict[str, list[Any]]:
        slots: dict[str | None, int] = {}
        found: dict[str, list[Any]] = {"x": [], "y": [], "color": []}
        for one in board.partitions:
            slots[one.state.owner] = slots.get(one.state.owner, 0) + 1
            found["x"].append(slots[one.state.owner])
            found["y"].append(place.get(one.state.owner, -1))
            found["color"].append("#646C76" if one.state.flows else "#B3152A")
        return found

    begun = looks_of(boards[0])
    figure = go.FigureWidget(
        data=[
            go.Scatter(
                x=begun["x"],
                y=begun["y"],
                mode="markers",
                marker={"color": begun["color"], "size": 9, "symbol": "square"},
            )
        ]
    )
    sent: list[Any] = []
    figure.observe(
        lambda change: sent.append(change["new"]) if change["new"] else None, names=["_py2js_update"]
    )

    def kernel(turn: int) -> list[dict[str, Any]]:
        sent.clear()
        now = looks_of(boards[turn % len(boards)])
        with figure.batch_update():
            figure.data[0].x, figure.data[0].y = now["x"], now["y"]
            figure.data[0].marker.color = now["color"]
        return [
            {
                "style_data": one["style_data"],
                "layout_data": one["layout_data"],
                "style_traces": one["style_traces"],
            }
            for one in json.loads(json.dumps(sent, default=list))
        ]

    script = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
    page_text = PEER.format(plotly=script.read_text(encoding="utf-8"))
    with opened(page_text, ARGUMENTS, kernel=kernel) as page:
        asked(page, "open_", json.loads(figure.to_json()), what="the figure painted")
        spent = [
            asked(page, "click_", turn, what="the figure painted after the click")
            for turn in range(1, clicks + 1)
        ]
    spent = sorted(spent[2:])
    return {
        "size": f"{members} x {partitions}",
        "peer": "FigureWidget, engine left out",
        "clicks": len(spent),
        "click_to_paint_median_ms": round(statistics.median(spent), 1),
        "click_to_paint_p95_ms": round(spent[int(0.95 * len(spent))], 1),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--no-browser", action="store_true", help="leave Chromium out")
    chosen = parser.parse_args()
    found: dict[str, Any] = {
        "kernel": [
            without_browser(members, partitions, name)
            for members, partitions in SIZES
            for name in ("eager", "consumer")
        ]
    }
    if not chosen.no_browser and shutil.which("chromium"):
        found["browser"] = [in_browser(members, partitions) for members, partitions in ((2, 4), (50, 500))]
        found["click"] = [
            click_to_paint(members, partitions, name)
            for members, partitions in ((2, 4), (50, 500))
            for name in ("eager", "consumer")
        ]
        found["peer"] = [figure_widget(members, partitions) for members, partitions in ((2, 4), (50, 500))]
    for name, rows in found.items():
        columns = list(dict.fromkeys(key for row in rows for key in row))
        publish(
            TITLES[name], columns, [[str(row.get(key, "")) for key in columns] for row in rows], NOTES[name]
        )


if __name__ == "__main__":
    main()
