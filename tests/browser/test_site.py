"""The static site in a real browser, with every other network blocked: Python runs in the page."""

from __future__ import annotations

import hashlib
import importlib.resources
import json
import re
import shutil
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest

from rebalance_kit.quiz.sittings.store import Store
from rebalance_kit.recordings.folder import unpack
from rebalance_kit.simulation.permalink import read_link
from rebalance_kit.view.lab.lessons import lesson_rows
from rebalance_kit.view.lab.session import LabSession
from rebalance_kit.view.quiz.poll import Vote
from rebalance_kit.view.reports.log_report import read_dropped
from rebalance_kit.whatif.command import WANTED, Desk
from scripts.site import documents
from scripts.site import lab as site
from tests.support.browser.servers import static_files
from tests.support.paths import ROOT

pytestmark = [
    pytest.mark.browser,
    pytest.mark.may_skip("Pyodide comes from the npm registry at the first build of the site"),
]
SHOTS = ROOT / "build" / "screenshots"
READY = "html[data-python=ready]"
PYTHON_MS = 120_000
EXPORT = """async ([scenario, protocol]) => {
  const { talk } = document.querySelector("#rebalance-lab").rebalanceLab;
  await talk.request({ type: "preset", name: scenario });
  await talk.request({ type: "set", name: "protocol", value: protocol });
  const { buffers } = await talk.request({ type: "export", what: "trace" });
  const bytes = await crypto.subtle.digest("SHA-256", buffers[0]);
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}"""

ARRIVED = """async (moment) => {
  const { model } = document.querySelector("#rebalance-lab").rebalanceLab;
  for (let frame = 0; frame < 600 && model.get("cursor_ms") !== moment; frame += 1) {
    await new Promise(requestAnimationFrame);
  }
  return model.get("cursor_ms");
}"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site") / "site"
    try:
        site.build(folder)
    except site.NoPyodide as missing:
        pytest.skip(str(missing))
    return folder


@pytest.fixture(scope="module")
def address(built):
    with static_files(built) as served:
        yield served


@pytest.fixture
def opened(page, address):
    """Open pages of the site; whatever is asked of another host or said on the console fails the test."""
    foreign, said = [], []
    page.on(
        "request", lambda request: foreign.append(request.url) if _is_foreign(request.url, address) else None
    )
    page.on(
        "console", lambda message: said.append(message.text) if message.type in {"error", "warning"} else None
    )

    def open_(path=""):
        page.goto(address + path)
        page.locator("#rebalance-lab .rk-lane").first.wait_for()
        return page

    yield open_
    assert foreign == []
    assert said == []


def _is_foreign(url, address):
    return not url.startswith((address, "data:", "blob:"))


def _crash(page):
    page.locator("#rebalance-lab .rk-lane").first.click()
    page.keyboard.press("c")


def test_what_is_done_before_python_is_there_is_answered_when_it_is(opened):
    page = opened()
    _crash(page)
    page.locator(READY).wait_for(timeout=PYTHON_MS)
    page.locator("#rebalance-lab .rk-lane", has_text="crashed").first.wait_for()
    assert page.locator("#rebalance-says").text_content() == ""
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SHOTS / "site.png")


def test_a_click_that_waits_for_python_says_so_in_a_laptops_window(page, address, worker_begins):
    worker_begins("self.postMessage({ progress: ['Python loads', 0.1] }); await new Promise(() => {});")
    page.set_viewport_size({"width": 1366, "height": 768})
    page.goto(address)
    page.locator("#rebalance-lab .rk-lane").first.wait_for()
    page.locator("#rebalance-lab button", has_text="Crash").last.click()
    page.locator("#rebalance-says", has_text="is answered when Python is here").wait_for()
    says = page.locator("#rebalance-says").bounding_box()
    assert says["y"] > 0 and says["y"] + says["height"] <= 768


def test_a_link_opens_the_same_moment(opened):
    lab = LabSession("join", "consumer")
    lab.crash("consumer-1")
    page = opened(f"?rebalance-lab={lab.link}")
    page.locator(READY).wait_for(timeout=PYTHON_MS)
    page.locator("#rebalance-lab .rk-lane", has_text="crashed").first.wait_for()
    now = page.evaluate("document.querySelector('#rebalance-lab').rebalanceLab.model.get('controls')")
    assert (now["preset"], now["protocol"]) == ("join", "consumer")


def test_runs_in_the_page_are_byte_for_byte_those_of_cpython(opened):
    page = opened()
    page.locator(READY).wait_for(timeout=PYTHON_MS)
    names = ["two-consumers-crash", "join", "poll-timeout", "static-restart-too-late", "rolling-restart"]
    cases = [(name, protocol) for name in names for protocol in site.PROTOCOLS]
    differ = [case for case in cases if page.evaluate(EXPORT, list(case)) != _digest(*case)]
    assert differ == []


def _digest(name, protocol):
    lab = LabSession("two-consumers-crash", "eager")
    lab.load(name)
    lab.set_trait("protocol", protocol)
    return hashlib.sha256(("\n".join(lab.trace.jsonl()) + "\n").encode()).hexdigest()


def test_below_a_prefix_the_second_visit_needs_no_network(page, built):
    with static_files(built.parent) as served:
        page.goto(f"{served}site/")
        page.locator(READY).wait_for(timeout=PYTHON_MS)
        page.evaluate("navigator.serviceWorker.ready.then(() => null)")
    page.goto(f"{served}site/?lesson=join&protocol=consumer")
    page.locator(READY).wait_for(timeout=PYTHON_MS)
    assert "joins" in page.locator("#rebalance-lab").text_content()


def test_an_address_that_is_lost_leads_back_below_a_prefix(page, built):
    lost = (built / "404.html").read_text("utf-8")
    with static_files(built.parent) as served:
        page.route("**/gone/**", lambda route: route.fulfill(status=404, body=lost, content_type="text/html"))
        page.goto(f"{served}site/gone/deep/down.html")
        page.locator("a", has_text="Lessons").click()
        page.locator("h1", has_text="lessons").wait_for()
        assert page.url == f"{served}site/lessons.html"


def test_a_page_opened_from_a_file_says_what_it_needs(page, built):
    page.goto((built / "index.html").as_uri())
    page.locator(".site-wait", has_text="works from a host, not from a file").wait_for()


@pytest.fixture
def worker_begins(page, built):
    """Let the page's worker begin with a line that takes something of the browser away."""

    def begins(line):
        source = (built / "worker.js").read_text("utf-8")
        page.context.route(
            "**/worker.js",
            lambda route: route.fulfill(body=f"{line}\n{source}", content_type="text/javascript"),
        )

    return begins


def test_a_browser_without_webassembly_still_plays_and_says_so(page, address, worker_begins):
    worker_begins("delete self.WebAssembly;")
    page.goto(address)
    page.locator("#rebalance-says", has_text="no WebAssembly, or it is switched off").wait_for()
    assert page.locator("#rebalance-lab .rk-lane").count() > 0
    page.evaluate("navigator.serviceWorker.ready.then(() => null)")


def test_the_copy_for_later_visits_takes_the_line_from_nothing_that_this_one_loads(
    page, address, worker_begins
):
    worker_begins("await new Promise(() => {});")
    page.goto(address)
    page.locator("#rebalance-lab .rk-lane").first.wait_for()
    assert not page.evaluate("navigator.serviceWorker.getRegistration().then((kept) => !!kept)")


ASKED = """async (code) => {
  const channel = new BroadcastChannel("test");
  const told = new Promise((done) => { channel.onmessage = ({ data }) => done(data); });
  channel.postMessage(code);
  return told;
}"""


def test_a_module_that_came_with_neither_archive_comes_when_it_is_imported(page, address, worker_begins):
    worker_begins(
        "const test = new BroadcastChannel('test');"
        "test.onmessage = ({ data }) => test.postMessage(String(python.runPython(data)));"
    )
    page.goto(address)
    page.locator(READY).wait_for(timeout=PYTHON_MS)
    code = "import colorsys, encodings.cp1251, xmlrpc.client; colorsys.__file__"
    assert page.evaluate(ASKED, code).startswith("/lib/whole.zip/")


def test_blocked_storage_is_said_and_the_questions_are_asked(page, address, worker_begins):
    worker_begins("Object.defineProperty(self, 'indexedDB', { get() { throw new Error('denied'); } });")
    page.add_init_script(
        "navigator.serviceWorker.register = () => Promise.reject(new DOMException('denied', 'SecurityError'))"
    )
    page.goto(f"{address}quiz.html?practice=eager&count=1")
    page.locator(".site-newer", has_text="keeps no copy of the site").wait_for()
    page.locator("#quiz-sheet form").wait_for(timeout=PYTHON_MS)
    assert "keeps no new answers (denied)" in page.locator("#quiz-kept").text_content()


FILLED = """async () => {
  const cache = await caches.open("filler");
  const opened = indexedDB.open("filler", 1);
  opened.onupgradeneeded = () => opened.result.createObjectStore("all");
  const store = await new Promise((done) => { opened.onsuccess = () => done(opened.result); });
  const takes = (size, key) => new Promise((done) => {
    const change = store.transaction("all", "readwrite");
    change.objectStore("all").put("x".repeat(size), key);
    change.oncomplete = () => done(true);
    change.onabort = () => done(false);
  });
  for (let size = 1e6, at = 0; size >= 100; size /= 10) {
    while (await cache.put(`/filler/${at += 1}`, new Response("x".repeat(size))).then(() => true, () => false)) {}
    while (await takes(size, at += 1)) {}
  }
}"""


def test_full_storage_is_said_and_what_was_kept_stays(asked, page, address):
    full = page.context.new_cdp_session(page)
    full.send("Storage.overrideQuotaForOrigin", {"origin": address.rstrip("/"), "quotaSize": 25_000_000})
    asked("?practice=eager&count=2")
    page.locator("#quiz-sheet form").wait_for(timeout=PYTHON_MS)
    _answer(page)
    page.locator("#quiz-sheet output", has_text="of 1 answered").wait_for()
    page.evaluate("navigator.serviceWorker.ready.then(() => null)")
    page.evaluate(FILLED)
    page.get_by_role("button", name="Next question").click()
    page.locator("#quiz-sheet :is(input[name=given], select, li[data-step] button):enabled").first.wait_for()
    _answer(page)
    page.locator("#quiz-kept", has_text="keeps no new answers (its storage is full)").wait_for()
    page.locator("#quiz-sheet output", has_text="of 2 answered").wait_for()
    asked("")
    page.locator("#quiz-report").click()
    page.locator("#quiz-progress", has_text="of 1 right").wait_for()


def test_a_first_visit_without_room_is_said_and_the_lab_works(page, address):
    full = page.context.new_cdp_session(page)
    full.send("Storage.overrideQuotaForOrigin", {"origin": address.rstrip("/"), "quotaSize": 1_000})
    page.goto(address)
    page.locator(".site-newer", has_text="keeps no copy of the site").wait_for(timeout=PYTHON_MS)
    page.locator(READY).wait_for(timeout=PYTHON_MS)
    _crash(page)
    page.locator("#rebalance-lab .rk-lane", has_text="crashed").first.wait_for()


def test_a_link_of_a_newer_kit_is_said(page, address):
    token = LabSession("join", "consumer").link
    page.goto(f"{address}?rebalance-lab={token.replace('rk1', 'rk9', 1)}")
    page.locator(READY).wait_for(timeout=PYTHON_MS)
    page.locator("#rebalance-lab", has_text="version 'rk9'").wait_for()


def test_five_hundred_megabytes_are_refused_before_they_are_read(page, address):
    page.goto(f"{address}logs.html")
    page.evaluate("""() => {
      const files = new DataTransfer();
      const megabyte = new Blob([new Uint8Array(1e6)]);
      files.items.add(new File(Array(500).fill(megabyte), "server.log"));
      const input = document.querySelector("#logs-files");
      input.files = files.files;
      input.dispatchEvent(new Event("change"));
    }""")
    page.locator("#logs-says", has_text="These files have 500 MB; a page reads up to 200 MB").wait_for()


def test_an_open_page_is_offered_the_newer_version(page, built, tmp_path):
    folder = shutil.copytree(built, tmp_path / "site")
    with static_files(folder) as served:
        page.goto(f"{served}logs.html")
        page.evaluate("navigator.serviceWorker.ready.then(() => null)")
        old = (folder / "logs.html").read_text("utf-8")
        (folder / "logs.html").write_text(old.replace("<h1>Read", "<h1>Newer: read"), "utf-8")
        offline = (folder / "offline.js").read_text("utf-8")
        (folder / "offline.js").write_text(
            offline.replace('"rebalance-kit-', '"rebalance-kit-newer-'), "utf-8"
        )
        page.goto(f"{served}logs.html")
        page.locator("h1", has_text=re.compile("^Read")).wait_for()
        page.locator(".site-newer button").click(timeout=PYTHON_MS)
        page.locator("h1", has_text="Newer").wait_for()


def test_a_lesson_that_is_unknown_is_said_and_the_first_one_is_shown(page, address):
    page.goto(f"{address}?lesson=nonsense&protocol=eager")
    page.locator(READY).wait_for(timeout=PYTHON_MS)
    assert "no lesson “nonsense”" in page.locator("#rebalance-says").text_content()
    assert page.locator("#rebalance-lab .rk-lane").count() > 0


@pytest.fixture
def reading(page, address):
    """The page that reads logs; what it asks of another host fails the test."""
    foreign = []
    page.on("request", lambda one: foreign.append(one.url) if _is_foreign(one.url, address) else None)
    page.goto(f"{address}logs.html")
    yield page
    assert foreign == []


def test_a_folder_of_logs_is_read_in_the_page_as_at_a_terminal(reading, tmp_path):
    (folder,) = unpack(tmp_path / "runs", {"freeze.cooperative.4.3.1"})
    reading.set_input_files("#logs-folder", folder)
    reading.locator("#logs-answer:not([hidden])").wait_for(timeout=PYTHON_MS)
    assert reading.locator("#logs-screen").text_content() == read_dropped(folder).screen
    report = reading.frame_locator("#logs-report")
    report.locator("#g0 .chart svg .mark").first.wait_for()
    assert report.locator("#g0 .card").count() > 0
    assert "rebalance-kit lab" not in report.locator("body").text_content()
    first = report.locator("#g0 .card .lab a").first
    with reading.expect_popup() as opening:
        first.click()
    lab = opening.value
    lab.locator(READY).wait_for(state="attached", timeout=PYTHON_MS)
    link = read_link(first.get_attribute("href").partition("=")[2])
    assert link.at_ms > 0
    assert lab.evaluate(ARRIVED, link.at_ms) == link.at_ms


def test_sliders_say_what_a_dropped_night_would_have_cost(reading, tmp_path):
    (folder,) = unpack(tmp_path / "runs", {"crash.eager.4.3.1"})
    reading.set_input_files("#logs-folder", folder)
    reading.locator("#night-ask").click(timeout=PYTHON_MS)
    whole = reading.locator("#night-table th", has_text=f"({WANTED} of {WANTED} draws)")
    whole.wait_for(timeout=PYTHON_MS)
    desk = Desk(*sorted(folder.glob("*.log.gz")))
    while (plain := json.loads(desk.hear('{"set": {}}')))["draws"] < WANTED:
        pass
    row = reading.locator("#night-table tr", has_text="longest gap")
    assert row.locator("td").first.text_content() == plain["rows"][1]["base"]
    session = reading.locator("#night-controls input[data-key=session]")
    session.focus()
    reading.keyboard.press("ArrowLeft")
    reading.locator("#night-controls output", has_text=re.compile("^6 s$")).wait_for()
    row.locator("td", has_text="▼").wait_for(timeout=PYTHON_MS)
    whole.wait_for(timeout=PYTHON_MS)
    while (shorter := json.loads(desk.hear('{"set": {"session": "6000"}}')))["draws"] < WANTED:
        pass
    assert row.locator("td").nth(1).text_content() == shorter["rows"][1]["wished"]
    reading.locator("#night").screenshot(path=SHOTS / "site-what-if.png")
    with reading.expect_popup() as opening:
        reading.locator("#night-links a", has_text="as set here").click()
    opening.value.locator(READY).wait_for(state="attached", timeout=PYTHON_MS)
    opening.value.locator("#rebalance-lab .rk-lane").first.wait_for()


def test_pasted_lines_are_read_and_nothing_pasted_is_said(reading):
    reading.locator("#logs-read").click()
    assert "nothing to read" in reading.locator("#logs-says").text_content()
    reading.locator("#logs-text").fill(
        "[2026-11-21 02:17:56,679] INFO [GroupCoordinator id=1] Preparing to rebalance group orders-app in state "
        "PreparingRebalance with old generation 1 (reason: removing member c1-6fec on heartbeat expiration.)."
    )
    reading.locator("#logs-read").click()
    reading.locator("#logs-answer:not([hidden])").wait_for(timeout=PYTHON_MS)
    assert "orders-app" in reading.locator("#logs-screen").text_content()


def test_on_a_phone_the_cause_of_pasted_lines_is_in_sight(reading):
    reading.set_viewport_size({"width": 390, "height": 844})
    reading.locator("#logs-text").fill(
        "[2026-11-21 02:17:56,679] INFO [GroupCoordinator id=1] Preparing to rebalance group orders-app in state "
        "PreparingRebalance with old generation 1 (reason: removing member c1-6fec on heartbeat expiration.)."
    )
    reading.locator("#logs-read").click()
    reading.locator("#logs-report:not([hidden])").wait_for(timeout=PYTHON_MS)
    told = reading.frame_locator("#logs-report").locator("body", has_text="heard no heartbeat from c1-6fec")
    told.wait_for()
    box = reading.locator("#logs-report").bounding_box()
    assert 0 <= box["y"] < 422 and box["x"] + box["width"] <= 390


def test_what_is_no_log_is_said(reading):
    reading.set_input_files("#logs-files", [{"name": "a.png", "mimeType": "image/png", "buffer": bytes(99)}])
    reading.locator("#logs-answer:not([hidden])").wait_for(timeout=PYTHON_MS)
    assert reading.locator("#logs-report").is_hidden()
    assert "no log file under what was dropped" in reading.locator("#logs-screen").text_content()


@pytest.fixture
def asked(page, address):
    """Open the page of questions; what it asks of another host or says on the console fails the test."""
    foreign, said = [], []
    page.on("request", lambda one: foreign.append(one.url) if _is_foreign(one.url, address) else None)
    page.on("console", lambda one: said.append(one.text) if one.type in {"error", "warning"} else None)

    def open_(query):
        page.goto(f"{address}quiz.html{query}")
        page.locator(READY).wait_for(state="attached", timeout=PYTHON_MS)
        return page

    yield open_
    assert foreign == []
    assert said == []


def test_answers_stay_in_the_browser_go_home_and_come_back(asked, tmp_path):
    page = asked("?practice=eager&count=2")
    page.locator("#quiz-sheet form").wait_for(timeout=PYTHON_MS)
    _answer(page)
    page.locator("#quiz-sheet output", has_text="of 1 answered").wait_for()
    asked("")
    with page.expect_download() as coming:
        page.locator("#quiz-export").click()
    coming.value.save_as(tmp_path / "answers.jsonl")
    lines = (tmp_path / "answers.jsonl").read_text("utf-8").splitlines()
    home = Store(tmp_path / "home.sqlite")
    assert home.bring(lines) == (1, 0)
    other = json.dumps({**json.loads(lines[0]), "id": "of-another-machine"})
    (tmp_path / "more.jsonl").write_text(f"{lines[0]}\n{other}\n", "utf-8")
    page.set_input_files("#quiz-bring", tmp_path / "more.jsonl")
    page.locator("#quiz-told", has_text="1 answers taken in; 1 were here before").wait_for()
    page.locator("#quiz-progress", has_text="of 2 right").wait_for()


def test_an_answer_outlives_its_tab_and_reaches_another(asked, page):
    asked("")
    other = page.context.new_page()
    other.goto(page.url + "?practice=eager&count=2")
    other.locator("#quiz-sheet form").wait_for(timeout=PYTHON_MS)
    _answer(other)
    other.locator("#quiz-sheet output", has_text="of 1 answered").wait_for()
    other.close()
    page.locator("#quiz-report").click()
    page.locator("#quiz-progress", has_text="of 1 right").wait_for()
    asked("")
    page.locator("#quiz-report").click()
    page.locator("#quiz-progress", has_text="of 1 right").wait_for()


def _answer(page):
    """Answer the question shown, whatever it is."""
    form = page.locator("#quiz-sheet form")
    choices = form.locator("input[name=given]:not([type=text]):not([type=number])")
    wanted = re.search(r"Choose (\d)", form.text_content())
    for number in range(min(choices.count(), int(wanted[1]) if wanted else 1)):
        choices.nth(number).check()
    for written in form.locator("input[name=given][type=text], input[name=given][type=number]").all():
        written.fill("7")
    for pair in form.locator("select").all():
        pair.select_option(index=1)
    if form.locator("li[data-step] button").count():
        form.locator("li[data-step] button:enabled").first.click()
    form.locator("button[type=submit]").click()


def test_an_exam_is_sat_and_a_poll_held_in_the_page(asked, tmp_path):
    page = asked("?exam=CCDAK&count=3")
    page.locator("[data-role=begin]").click(timeout=PYTHON_MS)
    page.locator("[data-role=review]").click()
    page.locator("[data-role=finish]").click()
    page.locator("#quiz-sheet pre[aria-label=report]", has_text="0 of 3 right").wait_for()
    page.locator("button[value=poll]").click()
    call = page.locator("#quiz-sheet", has_text="quiz.html?vote=").text_content()
    item, room = re.search(r"vote=([\w-]+)&seed=1&room=([a-z0-9]+)", call).groups()
    votes = [Vote(item, room=room, store=Store(tmp_path / f"{each}.sqlite")).vote("b") for each in "abc"]
    page.locator("#quiz-sheet textarea").fill("\n".join(votes))
    page.locator("[data-role=take]").click()
    page.locator("#quiz-sheet", has_text="First vote: 3 so far").wait_for()


def test_a_file_in_place_of_the_kit_is_said(page, address):
    page.context.route("**/kit.tar.xz", lambda route: route.fulfill(body="<html>Sign in</html>"))
    page.goto(address)
    says = page.locator("#rebalance-says", has_text="another file came in its place")
    says.wait_for(timeout=PYTHON_MS)
    assert page.locator("#rebalance-lab .rk-lane").count() > 0


@pytest.mark.parametrize("row", lesson_rows(), ids=lambda row: row["name"])
def test_every_lesson_is_listed_and_has_its_film(built, row):
    links = re.findall(
        rf"lesson={re.escape(row['name'])}&amp;protocol=([a-z]+)", (built / "lessons.html").read_text("utf-8")
    )
    assert len(links) == 1
    assert (built / "films" / f"{row['name']}.{links[0]}.json").is_file()


class Links(HTMLParser):
    """Where a page leads (``a``), what it loads (the rest), and the labs that it embeds."""

    def __init__(self, page):
        super().__init__()
        self.leads, self.loads, self.labs, self.names = [], [], [], set()
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.names.add(given.get("id"))
        if tag == "rebalance-lab":
            self.labs.append(given["link"])
        for name in ("href", "src"):
            if given.get(name):
                (self.leads if tag == "a" else self.loads).append(given[name])


@pytest.fixture(scope="module")
def whole(built, tmp_path_factory):
    """The pages and the documents beside them."""
    folder = shutil.copytree(built, tmp_path_factory.mktemp("whole") / "site")
    documents.build(folder / "docs")
    return folder


FEW = {"index.html", "search.html", "benchmarks.html", "case-rolling-deploy.html"}
"""Documents that hold what documents have: lists, a form, wide tables, code, a lab."""


@pytest.mark.timeout(0)
@pytest.mark.parametrize(
    ("theme", "every"),
    [
        ("light", False),
        pytest.param("light", True, marks=pytest.mark.long),
        pytest.param("dark", True, marks=pytest.mark.long),
    ],
)
def test_an_audit_finds_nothing_on_pages_and_documents(chromium, whole, theme, every):
    axe = pytest.importorskip(
        "axe_playwright_python", reason="axe-playwright-python is not installed: no audit"
    )
    script = (importlib.resources.files(axe) / "axe.min.js").read_text("utf-8")
    context = chromium.new_context(bypass_csp=True, service_workers="block", color_scheme=theme)
    for name in ("worker.js", "embed.js"):  # the lab inside is audited by itself
        context.route(f"**/{name}", lambda route: route.fulfill(body="", content_type="text/javascript"))
    page, found = context.new_page(), []
    with static_files(whole) as served:
        for path in (*whole.glob("*.html"), *whole.glob("docs/*.html")):
            if path.parent != whole and not every and path.name not in FEW:
                continue
            page.goto(served + path.relative_to(whole).as_posix())
            page.evaluate(script)
            rows = page.evaluate("() => axe.run()")["violations"]
            found += [(path.name, row["id"], row["nodes"][0]["html"][:150]) for row in rows]
    context.close()
    assert found == []


def test_every_link_of_the_pages_and_documents_leads_somewhere(whole):
    pages = {path: Links(path) for path in whole.rglob("*.html")}
    lost = []
    for page, links in pages.items():
        assert [one for one in links.loads if one.startswith(("http", "//"))] == []
        for link in {*links.leads, *links.loads}:
            path, _, name = link.partition("#")
            path, _, query = path.partition("?")
            target = (page.parent / unquote(path)).resolve() if path else page
            if link.startswith(("http", "data:", "mailto:")):
                continue
            if target == whole / "course" / "lab" / "index.html":
                target = ROOT / "notebooks" / query.removeprefix("path=")
            if not target.exists() or (target in pages and name and name not in pages[target].names):
                lost.append(f"{page.name}: {link}")
    assert lost == []
    labs = [read_link(token) for links in pages.values() for token in links.labs]
    assert len(labs) == len(list((ROOT / "notebooks").glob("case-*.ipynb")))


@pytest.mark.long
def test_a_second_build_has_the_same_bytes(built, tmp_path):
    site.build(tmp_path / "site")
    assert _digests(tmp_path / "site") == _digests(built)


def _digests(folder):
    return {
        path.relative_to(folder): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_foreign_page_embeds_a_lab(page, address, tmp_path):
    (tmp_path / "blog.html").write_text(
        f'<!doctype html><p>A post.</p><script src="{address}embed.js"></script>'
        '<rebalance-lab lesson="join" protocol="cooperative"></rebalance-lab>',
        "utf-8",
    )
    with static_files(tmp_path) as blog:
        page.goto(f"{blog}blog.html")
        frame = page.frame_locator("rebalance-lab iframe")
        frame.locator(".rk-lane").first.wait_for()
        frame.locator(READY).wait_for(timeout=PYTHON_MS)
