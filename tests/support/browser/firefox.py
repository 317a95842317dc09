"""Opens written pages in Debian's Firefox over WebDriver BiDi: nothing may run, be asked for, or be said in the console.

python -m pytest tests/browser/test_hostile_names.py --basetemp=build/pages
python -m tests.support.browser.firefox build/pages/*/*.html
"""

from __future__ import annotations

import contextlib
import itertools
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import websocket

from tests.support.browser.servers import free_port

EVENTS = ("log.entryAdded", "network.beforeRequestSent", "browsingContext.userPromptOpened")
OF_A_NAME = """[typeof hurt, document.querySelectorAll("img[src=x], svg[onload]").length,
  [...document.querySelectorAll("a")].filter((one) => /hurt/.test(one.outerHTML.split(">")[0])).length].join()"""
INJECTED = """new Promise((done) => {
  document.body.insertAdjacentHTML("beforeend", "<img src=x onerror=hurt=1>");
  document.body.lastElementChild.addEventListener("error", () => done(typeof hurt));
  const script = document.createElement("script");
  script.textContent = "hurt=1";
  document.body.append(script);
})"""


class Firefox:
    """A session of BiDi: commands, and the events that came meanwhile."""

    def __init__(self, address: str) -> None:
        self._socket = websocket.create_connection(address, timeout=60, suppress_origin=True)
        self._numbers = itertools.count(1)
        self.events: list[dict[str, Any]] = []
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=EVENTS)
        self.tab = self.ask("browsingContext.create", type="tab")["context"]

    def ask(self, method: str, **params: Any) -> Any:
        """The result of a command."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            told = json.loads(self._socket.recv())
            if told.get("id") == number:
                assert told["type"] == "success", told
                return told["result"]
            self.events.append(told)

    def evaluate(self, expression: str) -> Any:
        """The value of an expression, once it is there."""
        told = self.ask(
            "script.evaluate", expression=expression, target={"context": self.tab}, awaitPromise=True
        )
        return told.get("result", {}).get("value", told)

    def problems(self, page: Path) -> list[str]:
        """What a page did that it must not do."""
        self.events.clear()
        self.ask("browsingContext.navigate", context=self.tab, url=page.as_uri(), wait="complete")
        self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        found = [] if (made := self.evaluate(OF_A_NAME)) == "undefined,0,0" else [f"of a name: {made}"]
        for event in self.events:
            params = event["params"]
            if event["method"] == "log.entryAdded" and params["level"] in {"error", "warn"}:
                found.append(f"said: {params['text']}")
            if event["method"] == "network.beforeRequestSent" and params["request"]["url"].startswith("http"):
                found.append(f"asked for {params['request']['url']}")
            if event["method"] == "browsingContext.userPromptOpened":
                found.append("a dialog")
        if self.evaluate(INJECTED) != "undefined":
            found.append("the policy let an injected script run")
        return found


@contextlib.contextmanager
def firefox() -> Iterator[Firefox]:
    """A headless Firefox with a profile of its own, ended by its process id."""
    port = free_port()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [
            "firefox-esr",
            "--headless",
            "--no-remote",
            "--profile",
            profile,
            f"--remote-debugging-port={port}",
        ]
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stderr is not None
            try:
                line = next(line for line in process.stderr if "WebDriver BiDi listening on" in line)
                yield Firefox(line.split()[-1] + "/session")
            finally:
                process.kill()


def main() -> int:
    """Open the pages named; print what each did that it must not do."""
    begun, wrong = time.monotonic(), 0
    with firefox() as browser:
        for name in sys.argv[1:]:
            found = browser.problems(Path(name).resolve())
            print(
                f"{Path(name).name}: {'; '.join(found) or 'nothing ran, nothing was asked for, nothing was said'}"
            )
            wrong += bool(found)
    print(f"{len(sys.argv) - 1} pages, {wrong} with problems, {time.monotonic() - begun:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
