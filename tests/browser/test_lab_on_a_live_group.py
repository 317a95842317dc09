"""The lab on a real group in JupyterLab: Crash kills a process, and the board follows the broker's log."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

CELL = """
from pathlib import Path
from rebalance_kit import live
from rebalance_kit.view import LiveLab
quick = {{"session.timeout.ms": 6000, "min.session.timeout.ms": 6000, "heartbeat.interval.ms": 2000, "min.heartbeat.interval.ms": 500}}
broker = live.Broker(configs={{f"group.consumer.{{key}}": value for key, value in quick.items()}}, log=Path("{name}.log")).start()
group = live.Group(broker, {{"orders": 6}}, protocol="{protocol}", configs={configs})
for member in ("c1", "c2", "c3"):
    group.start(member)
described = group.together(3)
print(group.lives["c2"].process.pid)
lab = LiveLab(group)
lab
"""
WATCH = """() => {
  const looks = window.rkLooks = [];
  let last = "";
  const look = () => {
    const bar = document.querySelector(".rk-lab .rk-coordinator");
    const lane = document.querySelector(".rk-lab [data-member='c2']");
    if (bar && lane) {
      const seen = [bar.dataset.state, bar.getAttribute("aria-label"), lane.getAttribute("aria-label")];
      if (String(seen) !== last) looks.push([Date.now(), ...seen]);
      last = String(seen);
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""
MOST_MS = 300
LINES = {
    "eager": (
        (r"Member c2-\S+ in group \S+ has failed", lambda bar, lane: "gone" in lane),
        (r"Stabilized group \S+ generation (\d+)", lambda bar, lane, n: f"generation {n}" in bar),
    ),
    "consumer": (
        (r"fenced from the group because the member session expired", lambda bar, lane: "gone" in lane),
        (r"Bumped group epoch to (\d+)", lambda bar, lane, n: f"epoch {n}" in bar),
    ),
}


def _delays(log: str, looks, since_ms: int, protocol: str) -> list[tuple[str, float]]:
    """How long after each line of the broker's log the board showed what it says."""
    delays = []
    for line in log.splitlines():
        stamp = re.match(r"\[(\S+ \S+),(\d{3})\]", line)
        if stamp is None:
            continue
        at = int(
            datetime.strptime(stamp[1], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC).timestamp()
        ) * 1000 + int(stamp[2])
        for pattern, shows in LINES[protocol]:
            found = re.search(pattern, line) if at > since_ms else None
            if found:
                shown = [t for t, _, bar, lane in looks if t >= at and shows(bar, lane, *found.groups())]
                delays.append((found[0], (shown[0] - at) if shown else float("inf")))
    return delays


@pytest.mark.parametrize("protocol", ["eager", "consumer"])
def test_crash_kills_a_process_and_the_board_follows_the_log(
    page, jupyter, notebooks, write_notebook, shot, protocol
):
    configs = {"session.timeout.ms": 6000, "heartbeat.interval.ms": 2000} if protocol == "eager" else {}
    name = write_notebook(
        f"live-{protocol}.ipynb", CELL.format(name=protocol, protocol=protocol, configs=configs)
    )
    page.goto(f"{jupyter}/lab/tree/{name}?reset", wait_until="domcontentloaded", timeout=60_000)
    page.wait_for_function(
        "() => window.jupyterapp && jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel?.connectionStatus === 'connected'",
        timeout=60_000,
    )
    page.evaluate("() => { jupyterapp.commands.execute('notebook:run-all-cells'); }")
    lab = page.locator(".rk-lab").first
    lab.locator("[data-member='c2']").wait_for(timeout=180_000)
    page.evaluate(WATCH)
    pid = int(page.locator(".jp-OutputArea-output pre").first.inner_text().split()[0])
    lab.locator("[data-member='c2']").click()
    lab.get_by_role("button", name="Crash c2", exact=True).click()
    clicked = page.evaluate("Date.now()")
    lab.locator("[data-member='c2'][data-look='crashed']").wait_for(timeout=5_000)
    crashed = page.evaluate("Date.now()") - clicked
    assert not Path(f"/proc/{pid}").exists()
    page.wait_for_function(
        "() => [...document.querySelectorAll('.rk-lab .rk-token')].every((one) => ['c1', 'c3'].includes(one.dataset.owner))",
        timeout=60_000,
    )
    page.wait_for_timeout(1000)
    shot(lab, f"lab-live-{protocol}")
    delays = _delays((notebooks / f"{protocol}.log").read_text(), page.evaluate("rkLooks"), clicked, protocol)
    print("crash shown after", crashed, "ms;", delays)
    assert len(delays) >= 2 and max(delay for _, delay in delays) <= MOST_MS
