"""The whole site in Chromium and in Debian's Firefox, step by step, every other host refused: seconds, and what went wrong.

make site && python -m tests.support.browser.site_tour build/site [all]     all: every notebook, not the first alone

No download of a browser: Chromium by Playwright, Firefox over WebDriver BiDi.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from rebalance_kit.doctor import find_chromium
from tests.support.browser.firefox import firefox
from tests.support.browser.servers import static_files

SECONDS = 240
UNTIL = """const until = async (look, words) => {
  for (const end = Date.now() + MOST; Date.now() < end; await new Promise((done) => setTimeout(done, 50))) {
    const found = await look();
    if (found) return found;
  }
  throw new Error("waited in vain for " + words + "; " + document.querySelector("[role=status]")?.textContent);
};
const ready = () => until(() => document.documentElement.dataset.python === "ready", "Python");
const lab = () => document.querySelector("#rebalance-lab").rebalanceLab;
const said = (selector, words) => until(() => document.querySelector(selector)?.textContent.includes(words), words);
""".replace("MOST", str(SECONDS * 1000))
LINE = (
    "[2026-11-21 02:17:56,679] INFO [GroupCoordinator id=1] Preparing to rebalance group orders-app in state PreparingRebalance "
    "with old generation 1 (reason: removing member c1-6fec on heartbeat expiration.)."
)
STEPS: tuple[tuple[str, str, str], ...] = (
    (
        "a lesson that plays",
        "",
        "await until(() => document.querySelector('#rebalance-lab .rk-lane'), 'a lane')",
    ),
    ("Python ready", "", "await ready()"),
    (
        "crash",
        "",
        """document.querySelector("#rebalance-lab .rk-lane").click();
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "c", bubbles: true }));
        await said("#rebalance-lab", "crashed")""",
    ),
    (
        "switch the protocol",
        "",
        "await lab().talk.request({ type: 'set', name: 'protocol', value: 'consumer' })",
    ),
    (
        "compare",
        "",
        """document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "v", bubbles: true }));
        await until(() => document.querySelector(".rk-comparison, .rk-compare"), "three columns")""",
    ),
    (
        "predict",
        "",
        """const asked = await lab().talk.request({ type: "predict", do: "crash", member: "consumer-2", at_ms: 20000 });
        if (!JSON.stringify(asked).includes("words")) throw new Error(JSON.stringify(asked))""",
    ),
    (
        "a link opens the same moment",
        "?rebalance-lab=LINK",
        "await ready(); await until(() => lab().model.get('controls').protocol === 'consumer', 'the run of the link')",
    ),
    (
        "a log read",
        "logs.html",
        f"""document.querySelector("#logs-text").value = {LINE!r}; document.querySelector("#logs-read").click();
        await said("#logs-screen", "orders-app")""",
    ),
    (
        "a question answered",
        "quiz.html?practice=eager&count=1",
        """await until(() => document.querySelector("#quiz-sheet form"), "a question");
        const form = document.querySelector("#quiz-sheet form");
        const boxes = [...form.querySelectorAll("input[name=given]")];
        if (["radio", "checkbox"].includes(boxes[0]?.type)) {
          boxes.slice(0, Number(/Choose (\\d)/.exec(form.textContent)?.[1] ?? 1)).forEach((one) => one.click());
        } else boxes.forEach((one) => (one.value = "7"));
        form.querySelectorAll("select").forEach((one) => (one.selectedIndex = 1));
        form.querySelector("li[data-step] button:enabled")?.click();
        form.requestSubmit();
        await said("#quiz-sheet", "of 1 answered")""",
    ),
    (
        "an exam handed in",
        "quiz.html?exam=CCDAK&count=3",
        """const press = async (role) => (await until(() => document.querySelector(`[data-role=${role}]`), role)).click();
        await press("begin"); await press("review"); await press("finish");
        await said("#quiz-sheet", "0 of 3 right")""",
    ),
    (
        "a poll opened",
        "quiz.html?poll=eager-crash-which-unread",
        "await said('#quiz-sheet', 'quiz.html?vote=')",
    ),
    (
        "a vote cast",
        "quiz.html?vote=eager-crash-which-unread&room=k2m4p",
        """await until(() => document.querySelector("#quiz-sheet input[value=b]"), "options");
        document.querySelector("#quiz-sheet input[value=b]").click();
        document.querySelector("#quiz-sheet form").requestSubmit();
        await until(() => document.querySelector(".rkq-code")?.value, "a code")""",
    ),
)
NOTEBOOK = """const status = () => globalThis.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status;
await until(() => status() === "idle", "a kernel");
const { commands, shell } = globalThis.jupyterapp;
await commands.execute("notebook:run-all-cells");
const cells = [...shell.currentWidget.content.model.cells].filter((cell) => cell.type === "code");
const wrong = cells.flatMap((cell) => Array.from({ length: cell.outputs.length }, (_, at) => cell.outputs.get(at).toJSON()))
  .filter((one) => one.output_type === "error").map((one) => one.ename + ": " + one.evalue);
if (!cells.every((cell) => cell.executionCount)) wrong.push("a cell did not run");
if (wrong.length) throw new Error(wrong.join("; "))"""


class Chromium:
    """A page of Playwright's; what another host is asked for is refused and counted."""

    def __init__(self, page: Any, ours: str) -> None:
        self.page, self.foreign = page, []

        def refused(route: Any) -> None:
            self.foreign.append(route.request.url)
            route.abort()

        page.context.route(lambda url: not url.startswith((ours, "data:", "blob:")), refused)

    def go(self, address: str) -> None:
        self.page.goto(address)

    def run(self, body: str) -> str:
        return str(self.page.evaluate(_told(body)))


class Fox:
    """A tab of Firefox."""

    def __init__(self, browser: Any, ours: str) -> None:
        self.browser, self.ours = browser, ours
        browser._socket.settimeout(SECONDS + 30)

    @property
    def foreign(self) -> list[str]:
        urls = [
            event["params"]["request"]["url"]
            for event in self.browser.events
            if event["method"] == "network.beforeRequestSent"
        ]
        return [url for url in urls if not url.startswith((self.ours, "data:", "blob:", "about:"))]

    def go(self, address: str) -> None:
        self.browser.ask(
            "browsingContext.navigate", context=self.browser.tab, url=address, wait="interactive"
        )

    def run(self, body: str) -> str:
        return str(self.browser.evaluate(_told(body)))


def _told(body: str) -> str:
    """An expression that never throws: what came, or what went wrong, as text."""
    return f"(async () => {{ {UNTIL} {body}; return 'well'; }})().catch((problem) => 'wrong: ' + problem.message)"


@contextmanager
def _chromium(ours: str) -> Iterator[Chromium]:
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(find_chromium()), args=["--no-sandbox"])
        page = browser.new_context(service_workers="allow").new_page()
        page.set_default_timeout(SECONDS * 1000)
        yield Chromium(page, ours)
        browser.close()


@contextmanager
def _fox(ours: str) -> Iterator[Fox]:
    with firefox() as browser:
        yield Fox(browser, ours)


def tour(opened: Callable[[str], Any], address: str, notebooks: list[str]) -> dict[str, str]:
    """Each step with its seconds, or with what went wrong."""
    found: dict[str, str] = {}
    with opened(address) as browser:
        at = None
        steps = [
            *STEPS,
            *((f"notebook {name}", f"course/lab/index.html?path={name}", NOTEBOOK) for name in notebooks),
        ]
        link = ""
        for name, path, body in steps:
            begun = time.monotonic()
            if path != at:
                if "LINK" in path:
                    link = browser.run(
                        "return (await lab().talk.request({ type: 'link', at_ms: 20000 })).token"
                    )
                browser.go(address + path.replace("LINK", link))
                at = path
            said = browser.run(body)
            found[name] = f"{time.monotonic() - begun:.1f}" if said == "well" else said
            print(f"{type(browser).__name__:<9} {name:<45} {found[name]}", flush=True)
        print(f"{type(browser).__name__}: requests to other hosts: {sorted(set(browser.foreign)) or 'none'}")
    return found


def main() -> int:
    """Both browsers; 1 where a step went wrong."""
    folder = Path(sys.argv[1])
    names = sorted(path.name for path in (folder / "course" / "files").glob("*.ipynb"))
    chosen = names if "all" in sys.argv else [name for name in names if name.startswith("00")]
    wrong = 0
    with static_files(folder) as address:
        for opened in [
            one for one, name in ((_chromium, "chromium"), (_fox, "firefox")) if name not in sys.argv
        ]:
            wrong += sum("wrong" in each for each in tour(opened, address, chosen).values())
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
