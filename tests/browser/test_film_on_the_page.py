"""The page's own reading of a film, without a kernel: it must say and draw what Python says."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import replace

import pytest

from rebalance_kit.scenarios import load
from rebalance_kit.simulation.scenario.scenario import MemberSpec, Scenario, TopicSpec
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.lab.playing.playback import VERSION, film_bytes
from rebalance_kit.view.style.theme import THEMES
from rebalance_kit.view.words.descriptions import describe_board

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.view.lab.widget import Lab
from tests.support.browser.lab_page import open_lab_page
from tests.support.thinning import thinned

TWINS = """async ([text, times]) => {
  const film = await kit.readFilm(kit.bytesOf(text));
  return times.map((at) => kit.twinText(film, kit.boardAt(film, at)));
}"""
SHOW = """([film, controls, cursor_ms, theme]) =>
  show(new kit.PageModel(readState({ film, controls, cursor_ms, theme })))"""


@pytest.fixture
def film_page(page, tmp_path):
    """A page that knows the lab's script and nothing of a kernel."""

    def load_page(width: int = 1040):
        open_lab_page(page, tmp_path / "film.html", width)
        return page

    return load_page


def text_of(boards: Boards) -> str:
    return base64.b64encode(film_bytes(boards)).decode("ascii")


def moments(boards: Boards) -> list[int]:
    """Changes, and odd moments between them."""
    times = boards.change_times
    return sorted(
        {*times[:: max(1, len(times) // 40)], *range(0, boards.end_ms, max(997, boards.end_ms // 23))}
    )


@pytest.mark.parametrize(
    "name",
    [
        "two-consumers-crash",
        "freeze",
        "duplicate-instance",
        "storm",
        "recovered-member",
        "coordinator-failover",
        "static-restart-too-late",
    ],
)
def test_the_page_says_word_for_word_what_python_says(film_page, name):
    page = film_page()
    for protocol in (None, "consumer"):
        boards = Boards(simulate(load(name), protocol=protocol))
        at = moments(boards)
        said = page.evaluate(TWINS, [text_of(boards), at])
        for at_ms, twin in zip(at, said, strict=True):
            assert [line.rstrip() for line in twin.splitlines()] == describe_board(
                boards.at(at_ms)
            ).splitlines(), (protocol, at_ms)


@pytest.mark.parametrize(
    ("moment", "theme"),
    thinned(
        [
            ("freeze", 90_000, 1040),
            ("duplicate-instance", 60_000, 1040),
            ("two-consumers-crash", 84_000, 900),
            ("fifty-by-five-hundred", 51_500, 1040),
        ],
        THEMES,
    ),
)
def test_pictures_of_the_lab_in_every_theme(film_page, shot, moment, theme):
    name, at_ms, width = moment
    page = film_page(width)
    lab = Lab(name, protocol=None, theme=theme)
    page.evaluate(
        SHOW, [base64.b64encode(lab.film).decode("ascii"), json.loads(json.dumps(lab.controls)), at_ms, theme]
    )
    page.locator(".rk-stage").wait_for()
    board = lab.boards.at(min(at_ms, lab.trace.end_ms))
    lanes = page.locator(".rk-lane").evaluate_all(
        "lanes => lanes.map((one) => one.getAttribute('aria-label'))"
    )
    assert len(lanes) == len(board.members)
    tokens = dict(
        page.locator(".rk-token").evaluate_all(
            "all => all.map((one) => [one.dataset.partition, one.dataset.owner])"
        )
    )
    if tokens:
        assert tokens == {one.name: one.state.owner or "" for one in board.partitions}
    shot(page.locator(".rk-lab"), f"film-{name}-{theme}")


def test_no_token_lies_on_another_and_none_leaves_its_lane(film_page):
    page = film_page()
    for members, partitions in ((1, 1), (2, 7), (3, 6), (5, 10), (6, 24), (10, 20)):
        named = tuple(MemberSpec(f"consumer-{number}", ("orders",)) for number in range(1, members + 1))
        lab = Lab(
            Scenario("sizes", (TopicSpec("orders", partitions),), named, end_ms=30_000),
            protocol="cooperative",
        )
        page.evaluate(
            SHOW,
            [
                base64.b64encode(lab.film).decode("ascii"),
                json.loads(json.dumps(lab.controls)),
                20_000,
                "light",
            ],
        )
        page.locator(".rk-stage").wait_for()
        boxes = page.locator(".rk-token").evaluate_all(
            "all => all.map((one) => { const b = one.getBoundingClientRect(); return [one.dataset.owner, b.left, b.top, b.right, b.bottom]; })"
        )
        lanes = {
            name: rest
            for name, *rest in page.locator(".rk-lane").evaluate_all(
                "all => all.map((one) => { const b = one.getBoundingClientRect(); return [one.dataset.member, b.left, b.top, b.right, b.bottom]; })"
            )
        }
        for place, (owner, left, top, right, bottom) in enumerate(boxes):
            lane = lanes[owner]
            assert (
                lane[0] <= left and lane[1] <= top and right <= lane[2] + 0.5 and bottom <= lane[3] + 0.5
            ), (members, partitions)
            for other in boxes[:place]:
                assert right <= other[1] or other[3] <= left or bottom <= other[2] or other[4] <= top, (
                    members,
                    partitions,
                    owner,
                )


def test_a_film_of_another_version_is_refused_in_words(film_page):
    page = film_page()
    lab = Lab("crash")
    other = {**json.loads(zlib.decompress(lab.film)), "version": VERSION - 1}
    film = base64.b64encode(zlib.compress(json.dumps(other).encode())).decode("ascii")
    page.evaluate(SHOW, [film, json.loads(json.dumps(lab.controls)), 0, "light"])
    refusal = page.locator(".rk-lab .rk-stagehome [role=alert]")
    refusal.wait_for()
    assert refusal.inner_text() == (
        f"This page reads films of version {VERSION}; the kernel sent one of version {VERSION - 1}. "
        "Restart the kernel, reload the page, and run the cell again."
    )
    assert page.locator(".rk-stage").count() == 0


LIVE = """async ([[first, second], controls]) => {
  window.sent = [];
  const made = (film, serial) => ({ film: kit.bytesOf(film), controls: { ...controls, serial }, cursor_ms: 0, theme: "light", still: "" });
  window.model = new kit.PageModel(made(first, 1), { send: (message) => sent.push(message) });
  show(model);
  window.more = () => model.receive({ film: kit.bytesOf(second), controls: { ...controls, serial: 2 } });
}"""


def test_a_live_run_is_followed_at_its_end_and_acted_upon_but_has_no_past_to_change(film_page):
    page = film_page()
    members = (MemberSpec("consumer-1", ("orders",)), MemberSpec("consumer-2", ("orders",)))
    scenario = Scenario("calm", (TopicSpec("orders", 4),), members, end_ms=15_000)
    ends = [film_bytes(Boards(simulate(replace(scenario, end_ms=end)))) for end in (12_000, 15_000)]
    controls = {"title": "live", "preset": "live", "alone": True, "live": True, "acts": True, "protocols": []}
    page.evaluate(LIVE, [[base64.b64encode(film).decode("ascii") for film in ends], controls])
    page.wait_for_function(
        "lab.player.at === 12000 && document.querySelector('.rk-pace').textContent === 'live'"
    )
    page.evaluate("more()")
    page.wait_for_function("lab.player.at === 15000")
    assert page.get_by_role("button", name="Settings", exact=True).is_hidden()
    assert page.get_by_role("button", name="Undo", exact=True).is_hidden()
    page.get_by_role("button", name="Crash consumer-1", exact=True).click()
    assert page.evaluate("sent.map((one) => [one.type, one.do, one.member])") == [
        ["act", "crash", "consumer-1"]
    ]
    page.evaluate(
        "lab.seek(5000, false); model.receive({ controls: { ...model.get('controls'), serial: 3 } })"
    )
    assert page.evaluate("lab.player.at") == 5000
    assert page.evaluate("document.querySelector('.rk-pace').textContent") == ""
