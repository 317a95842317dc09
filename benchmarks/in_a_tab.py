"""The site of `make site` in Chromium: first picture, Python, deeds, the second visit, logs; plain and as on a slow phone.

A server on loopback packs what it sends with gzip, as hosts do. For the slow visit it sends 10 Mbit/s in all, because Chromium's
own throttling leaves workers out, and Chromium slows the page's thread four times; no throttling reaches the thread of its worker.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median

from playwright.sync_api import sync_playwright
from shared.tables import publish

from rebalance_kit.doctor import find_chromium

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from scripts.site import lab  # noqa: E402

WANTED = {
    "first playable lesson, s": "1.5",
    "Python ready, s": "8",
    "a deed on 2 x 4, ms": "80",
    "a deed on 50 x 500, ms": "800",
    "transfer, MB": "9",
    "second visit offline, Python ready, s": "2",
    "10 MB of logs read, s": "5",
}
SLOW_BYTES_S = 10e6 / 8
MARKS = """
globalThis.marks = {};
const look = () => {
  if (!marks.lane && document.querySelector("#rebalance-lab .rk-lane")) marks.lane = performance.now();
  if (!marks.python && document.documentElement?.dataset.python) marks.python = performance.now();
};
new MutationObserver(look).observe(document, { subtree: true, childList: true, attributes: true });
"""
DEED = """async () => {
  const lab = document.querySelector("#rebalance-lab").rebalanceLab;
  const taken = [];
  for (let at = 0; at < 7; at += 1) {
    const begun = performance.now();
    const came = new Promise((done) => { lab.model.on("change:film", () => done()); });
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: at % 2 ? "u" : "c", bubbles: true }));
    await Promise.race([came, new Promise((done) => setTimeout(done, 5000))]);
    await new Promise(requestAnimationFrame);
    if (at && at % 2 === 0) taken.push(performance.now() - begun);
    await new Promise((done) => setTimeout(done, 1000));
  }
  return taken;
}"""


def processor_s() -> float:
    """Processor seconds of this process's descendants so far: the browser's, whatever else the machine does."""
    fields = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            name, _, rest = path.read_text().rpartition(") ")
            fields[int(name.split()[0])] = rest.split()
    ours, found = {os.getpid()}, 0.0
    for pid in sorted(fields):  # a child's number is above its parent's, unless the numbers have wrapped
        if int(fields[pid][1]) in ours:
            ours.add(pid)
            found += (int(fields[pid][11]) + int(fields[pid][12])) / os.sysconf("SC_CLK_TCK")
    return found


@cache
def packed(path: Path) -> bytes:
    return gzip.compress(path.read_bytes(), 6)


class Host(SimpleHTTPRequestHandler):
    """A static host that packs, counts, and sends no faster than it is told."""

    sent, bytes_s, lock = 0, 0.0, threading.Lock()

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Send one file, packed."""
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        if not path.is_file():
            self.send_error(404)
            return
        changed = self.date_time_string(int(path.stat().st_mtime))
        if self.headers.get("If-Modified-Since") == changed:
            self.send_response(304)
            self.end_headers()
            return
        data = packed(path)
        self.send_response(200)
        self.send_header("Last-Modified", changed)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        for begin in range(0, len(data), 16_384):
            piece = data[begin : begin + 16_384]
            with Host.lock:  # one line for all connections
                Host.sent += len(piece)
                if Host.bytes_s:
                    time.sleep(len(piece) / Host.bytes_s)
            self.wfile.write(piece)


@contextmanager
def host(folder: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Host, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def visit(context, address: str, slow: bool) -> tuple[dict[str, float], object]:
    page = context.new_page()
    page.add_init_script(MARKS)
    if slow:
        context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 4})
    page.goto(address)
    page.locator("html[data-python=ready]").wait_for(state="attached", timeout=180_000)
    return page.evaluate("marks"), page


def deed(page) -> float:
    page.locator("#rebalance-lab .rk-lane").first.click()
    return median(page.evaluate(DEED))


def measured(browser, folder: Path, logs: Path, slow: bool) -> dict[str, float]:
    Host.bytes_s, Host.sent = SLOW_BYTES_S if slow else 0.0, 0
    context = browser.new_context()
    with host(folder) as address:
        used = processor_s()
        marks, page = visit(context, address, slow)
        found = {"first playable lesson, s": marks["lane"] / 1e3, "Python ready, s": marks["python"] / 1e3}
        found["processor: Python ready, s"] = processor_s() - used
        found["transfer, MB"] = Host.sent / 1e6
        found["a deed on 2 x 4, ms"] = deed(page)
        page.evaluate("navigator.serviceWorker.ready.then(() => 0)")
        _, large = visit(context, f"{address}?lesson=fifty-by-five-hundred&protocol=cooperative", slow)
        found["a deed on 50 x 500, ms"] = deed(large)
        large.close()
        page.goto(f"{address}logs.html")
        page.locator("#logs-text").fill("[2026-11-21 02:17:56,679] INFO nothing of a group")
        page.locator("#logs-read").click()
        page.locator("#logs-says", has_text="read, here").wait_for(timeout=180_000)
        begun, used = time.perf_counter(), processor_s()
        page.locator("#logs-says").evaluate("(each) => { each.textContent = ''; }")
        page.set_input_files("#logs-files", [logs])
        page.locator("#logs-says", has_text="read, here").wait_for(timeout=180_000)
        found["10 MB of logs read, s"] = time.perf_counter() - begun
        found["processor: 10 MB of logs read, s"] = processor_s() - used
        page.close()
    context.set_offline(True)
    used = processor_s()
    marks, _ = visit(context, address, slow)
    found["processor: second visit offline, Python ready, s"] = processor_s() - used
    found["second visit offline, Python ready, s"] = marks["python"] / 1e3
    context.close()
    print(found, file=sys.stderr, flush=True)
    return found


def _processor(found: dict[str, float], name: str) -> str:
    used = found.get(f"processor: {name}")
    return "" if used is None else f"{used:.1f}"


def main() -> None:
    with tempfile.TemporaryDirectory() as home, sync_playwright() as driver:
        folder, logs = Path(home) / "site", Path(home) / "logs"
        lab.build(folder)
        command = [
            sys.executable,
            "-m",
            "rebalance_kit",
            "make-logs",
            "storm",
            "--size",
            "60000",
            "--out",
            str(logs),
        ]
        subprocess.run(command, check=True, capture_output=True)
        whole = b"".join(path.read_bytes() for path in sorted(logs.rglob("*.log")))[:10_000_000]
        ten = Path(home) / "ten.log"
        ten.write_bytes(whole[: whole.rfind(b"\n") + 1])
        browser = driver.chromium.launch(executable_path=str(find_chromium()), args=["--no-sandbox"])
        plain = measured(browser, folder, ten, slow=False)
        slow = measured(browser, folder, ten, slow=True)
        browser.close()
        size = ten.stat().st_size / 1e6
    rows = [
        (name, wanted, f"{plain[name]:.2f}", f"{slow[name]:.2f}", _processor(plain, name))
        for name, wanted in WANTED.items()
    ]
    note = (
        f"One visit each in Chromium; {os.getloadavg()[1]:.0f} processes wanted to run all the while (the load of five minutes). The logs have {size:.1f} MB; Python is there when they are dropped. "
        "Processor: seconds of all the browser's processes in the plain visit, which other work on the machine does not lengthen much. "
        "Slow: 10 Mbit/s from the server, the page's thread four times slower; its worker, where Python runs, is not slowed."
    )
    publish(
        "In a browser tab",
        ("what", "wanted (slow; logs: plain)", "plain", "slow", "processor, s"),
        rows,
        note,
    )


if __name__ == "__main__":
    main()
