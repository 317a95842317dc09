"""The first lesson on a real screen: JupyterLab, a notebook, and the Crash button."""

from __future__ import annotations

import re

import nbformat
import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.scenarios import load
from rebalance_kit.simulation.permalink import Link, write_link
from rebalance_kit.view.lab.widget import Lab

READY = """() => { const panel = window.jupyterapp && jupyterapp.shell.currentWidget;
  return !!(panel && panel.sessionContext && panel.sessionContext.isReady && panel.sessionContext.session?.kernel?.connectionStatus === "connected"); }"""


def _open(page, jupyter: str, notebook: str, search: str = "?reset"):
    """Open a notebook, run it as Run All does once its kernel is connected, and give the lab in it."""
    page.add_locator_handler(  # JupyterLab asks which kernel to take when one is gone; the lab has to do without
        page.locator("dialog.jp-Dialog"),
        lambda dialog: dialog.get_by_role("button").first.click(),
        no_wait_after=True,
    )
    page.goto(f"{jupyter}/lab/tree/{notebook}{search}", wait_until="domcontentloaded", timeout=60_000)
    page.locator(".jp-Notebook").wait_for(timeout=60_000)
    page.wait_for_function(READY, timeout=60_000)
    page.evaluate("() => { jupyterapp.commands.execute('notebook:run-all-cells'); }")
    lab = page.locator(".rk-lab").first
    lab.locator(".rk-stage").wait_for(timeout=60_000)
    return lab


def _owners(lab) -> dict[str, str]:
    return dict(
        lab.locator(".rk-token").evaluate_all(
            "tokens => tokens.map((one) => [one.dataset.partition, one.dataset.owner])"
        )
    )


def _has_owners(lab, page, **wanted: str) -> None:
    """Wait until the tokens on the screen have these owners."""
    expected = {name.replace("_", "-"): owner.replace("_", "-") for name, owner in wanted.items()}
    page.wait_for_function(
        "wanted => Object.entries(wanted).every(([name, owner]) => document.querySelector(`.rk-lab [data-partition='${name}']`).dataset.owner === owner)",
        arg=expected,
        timeout=60_000,
    )


def test_crash_consumer_1_moves_its_partitions_on_the_screen(page, jupyter, write_notebook, shot) -> None:
    lab = _open(
        page, jupyter, write_notebook("lesson.ipynb", "from rebalance_kit.view import Lab\nlab = Lab()\nlab")
    )
    before = _owners(lab)
    assert sorted(before.values()) == ["consumer-1", "consumer-1", "consumer-2", "consumer-2"]
    shot(lab, "lab-before-the-crash")

    lab.get_by_role("button", name="Crash consumer-1", exact=True).click()

    lab.locator("[data-member='consumer-1'][data-look='crashed']").wait_for(timeout=30_000)
    shot(lab, "lab-crashed")
    _has_owners(
        lab, page, orders_0="consumer-2", orders_1="consumer-2", orders_2="consumer-2", orders_3="consumer-2"
    )
    lab.get_by_role("button", name="Pause").click()
    lab.get_by_role("slider", name="Time").press("End")
    assert "consumer-2: polls" in lab.get_by_role("option", name=re.compile("consumer-2")).get_attribute(
        "aria-label"
    )
    assert "gone" in lab.get_by_role("option", name=re.compile("consumer-1")).get_attribute("aria-label")
    page.wait_for_function(
        "() => document.querySelectorAll('.rk-ghost').length === 0 && document.getAnimations().every((one) => one.playState === 'finished')"
    )
    shot(lab, "lab-after-the-crash")


def test_the_first_lesson_can_be_done_with_the_keyboard_alone(page, jupyter, write_notebook, shot) -> None:
    lab = _open(
        page,
        jupyter,
        write_notebook("keyboard.ipynb", "from rebalance_kit.view import Lab\nlab = Lab()\nlab"),
    )
    lab.get_by_role("option", name=re.compile("consumer-1")).focus()
    page.keyboard.press("c")
    lab.locator("[data-member='consumer-1'][data-look='crashed']").wait_for(timeout=30_000)
    page.keyboard.press("Space")
    page.keyboard.press("End")
    _has_owners(lab, page, orders_0="consumer-2", orders_1="consumer-2")
    page.keyboard.press("u")
    _has_owners(lab, page, orders_0="consumer-1", orders_1="consumer-1")
    lab.get_by_text("As text").click()
    assert "All 4 partitions flow." in lab.locator(".rk-twin").inner_text()
    shot(lab, "lab-undone-as-text")


def test_a_protocol_is_switched_and_a_refused_key_says_why(page, jupyter, write_notebook, shot) -> None:
    lab = _open(
        page,
        jupyter,
        write_notebook(
            "protocol.ipynb", "from rebalance_kit.view import Lab\nlab = Lab(theme='projector')\nlab"
        ),
    )
    lab.get_by_role("button", name="Cooperative", exact=True).click()
    lab.locator("button[data-protocol='cooperative'][aria-pressed='true']").wait_for(timeout=30_000)
    lab.get_by_role("button", name="Crash consumer-1", exact=True).click()
    lab.locator("[data-member='consumer-1'][data-look='crashed']").wait_for(timeout=30_000)
    lab.get_by_role("button", name="Pause").click()
    shot(lab, "lab-projector-cooperative")
    lab.get_by_role("option", name=re.compile("consumer-1")).focus()
    page.keyboard.press("c")
    assert "Restart it first." in lab.get_by_role("alert").inner_text()


def test_tabs_and_settings_are_answered_by_a_real_kernel_and_the_saved_notebook_shows_the_last_state(
    page, jupyter, notebooks, write_notebook, shot
) -> None:
    name = write_notebook("tabs.ipynb", "from rebalance_kit.view import Lab\nlab = Lab('crash')\nlab")
    lab = _open(page, jupyter, name)
    lab.get_by_role("tab", name="Logs").click()
    lab.locator(".rk-line").first.wait_for(timeout=30_000)
    shot(lab, "jupyterlab-logs")
    lab.get_by_role("tab", name="Invariants").click()
    lab.get_by_text("invariants hold").wait_for(timeout=30_000)
    lab.get_by_role("button", name="Settings").click()
    lab.locator("[data-field='heartbeat.interval.ms']").fill("60000")
    page.keyboard.press("Enter")
    lab.get_by_text("Heartbeat must be set lower than the session timeout").wait_for(timeout=30_000)
    page.keyboard.press("Escape")
    page.locator(
        ".jp-NotebookPanel-toolbar [data-jp-item-name='save'] button, .jp-NotebookPanel-toolbar jp-button[data-command='docmanager:save']"
    ).first.click()
    page.wait_for_function("!document.querySelector('.jp-mod-dirty')", timeout=30_000)
    saved = (notebooks / name).read_text(encoding="utf-8")
    assert "image/svg+xml" in saved
    assert "consumer-1: polls" in saved


def test_letters_typed_in_the_lab_never_reach_the_notebook(page, jupyter, write_notebook) -> None:
    lab = _open(
        page, jupyter, write_notebook("letters.ipynb", "from rebalance_kit.view import Lab\nlab = Lab()\nlab")
    )
    cells = page.locator(".jp-Notebook .jp-Cell")
    lab.get_by_role("tab", name="Logs").click()
    lab.locator(".rk-line").first.wait_for(timeout=30_000)
    for focused in (lab.locator("select").first, lab.get_by_role("tab", name="Logs")):
        for key in ("x", "a", "b", "z", "v"):
            focused.focus()
            page.keyboard.press(key)
    page.keyboard.press("Escape")
    assert lab.is_visible()
    assert cells.count() == 1


def _shown_still(page):
    """The picture of the board, once it is drawn."""
    picture = page.locator(".rk-still img, .jp-OutputArea img[alt]").first
    picture.wait_for(timeout=60_000)
    page.wait_for_function("document.querySelector('.jp-OutputArea img[alt]').naturalWidth > 500")
    return picture


def test_a_saved_notebook_reopened_without_its_kernel_shows_the_board_and_says_to_run_the_cell(
    page, jupyter, write_notebook, shot
) -> None:
    name = write_notebook("reopened.ipynb", "from rebalance_kit.view import Lab\nlab = Lab()\nlab")
    lab = _open(page, jupyter, name)
    page.locator(".rk-still").wait_for(state="hidden")
    lab.get_by_role("button", name="Crash consumer-1", exact=True).click()
    lab.locator("[data-member='consumer-1'][data-look='crashed']").wait_for(timeout=30_000)
    page.wait_for_function("document.querySelector('.rk-still img').alt.includes('crashed')")
    assert page.locator(".rk-still").is_hidden()
    page.evaluate("jupyterapp.commands.execute('docmanager:save')")
    page.wait_for_function("!document.querySelector('.jp-mod-dirty')", timeout=30_000)
    page.evaluate(
        "fetch('/api/kernels').then((one) => one.json()).then((all) => Promise.all(all.map((one) => fetch(`/api/kernels/${one.id}`, { method: 'DELETE' }))))"
    )
    page.goto(f"{jupyter}/lab/tree/{name}?reset", wait_until="domcontentloaded", timeout=60_000)
    assert "consumer-1: crashed" in (_shown_still(page).get_attribute("alt") or "")
    page.get_by_text("Run this cell").wait_for()
    page.wait_for_timeout(3_000)  # so long the widget manager looks for the widget before it gives up
    assert not page.get_by_text("model not found").is_visible()
    shot(page, "reopened")
    page.locator(".rk-still").get_by_role("button", name="Play").click()
    clock = page.locator(".rk-lab .rk-clock")
    clock.wait_for()
    begun = clock.inner_text()
    page.wait_for_function("begun => document.querySelector('.rk-clock').textContent !== begun", arg=begun)
    page.get_by_role("tab", name="Timeline").click()
    page.locator(".rk-panel canvas").first.wait_for()
    assert page.locator(".rk-still img").count() == 0
    shot(page, "reopened-played")


def test_an_untrusted_notebook_shows_the_board_as_a_picture(page, jupyter, notebooks, shot) -> None:
    lab = Lab("crash")
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("Lab('crash')")])
    data = {key: value for key, value in lab._repr_mimebundle_()[0].items() if "widget" not in key}
    made.cells[0].outputs = [nbformat.v4.new_output("display_data", data)]
    nbformat.write(made, notebooks / "untrusted.ipynb")
    page.goto(f"{jupyter}/lab/tree/untrusted.ipynb?reset", wait_until="domcontentloaded", timeout=60_000)
    assert "consumer-2" in (_shown_still(page).get_attribute("alt") or "")
    shot(page, "untrusted")


def test_a_link_in_the_notebooks_address_opens_that_run(page, jupyter, write_notebook) -> None:
    token = write_link(Link(load("storm"), 44_000, protocol="consumer"))
    name = write_notebook("link.ipynb", "from rebalance_kit.view import Lab\nlab = Lab()\nlab")
    lab = _open(page, jupyter, name, f"?reset&rebalance-lab={token}")
    lab.locator(".rk-title", has_text="A rebalance storm").wait_for(timeout=30_000)
    assert lab.locator(".rk-clock").inner_text() == "44.0 s"


def test_when_the_kernel_is_gone_play_goes_on_and_the_page_says_what_to_do(
    page, jupyter, write_notebook, shot
) -> None:
    name = write_notebook(
        "gone.ipynb", "from rebalance_kit.view import Lab\nlab = Lab('two-consumers-crash')\nlab"
    )
    lab = _open(page, jupyter, name)
    lab.get_by_role("button", name="Play").click()
    page.evaluate(
        "fetch('/api/kernels').then((one) => one.json()).then((all) => Promise.all(all.map((one) => fetch(`/api/kernels/${one.id}`, { method: 'DELETE' }))))"
    )
    lab.get_by_role("button", name="Add member", exact=True).click()  # can be done at any moment of the run
    lab.get_by_text("The kernel does not answer").wait_for(timeout=30_000)
    before = lab.locator(".rk-clock").inner_text()
    lab.get_by_role("button", name="Play").click()
    page.wait_for_function("before => document.querySelector('.rk-clock').textContent !== before", arg=before)
    shot(lab, "kernel-gone")


def test_the_guide_leads_through_a_lesson_in_a_notebook(page, jupyter, write_notebook, shot) -> None:
    source = "from rebalance_kit.view import Lab\nlab = Lab('two-consumers-crash')\nlab"
    lab = _open(page, jupyter, write_notebook("guided.ipynb", source))
    lab.get_by_role("button", name="Guide me").click()
    lab.locator(".rk-progress", has_text="1 of 9").wait_for(timeout=30_000)
    page.keyboard.press("n")
    page.keyboard.press("n")
    lab.locator(".rk-beat", has_text="Only now does the group know").wait_for(timeout=30_000)
    shot(page, "jupyterlab-guided")
    page.keyboard.press("Escape")
    lab.locator(".rk-beat").wait_for(state="hidden")


def test_a_kernel_that_was_restarted_is_told_of_before_anything_is_done(
    page, jupyter, write_notebook
) -> None:
    lab = _open(page, jupyter, write_notebook("restarted.ipynb", "from rebalance_kit.view import Lab\nLab()"))
    page.evaluate("jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    lab.get_by_text("The kernel does not answer").wait_for(timeout=40_000)


def test_two_views_of_one_lab_follow_each_other_and_a_cell_that_runs_again_leaves_none_behind(
    page, jupyter, write_notebook
) -> None:
    name = write_notebook("twice.ipynb", "from rebalance_kit.view import Lab\nlab = Lab()\nlab", "lab")
    _open(page, jupyter, name)
    labs = page.locator(".rk-lab")
    page.wait_for_function("document.querySelectorAll('.rk-lab .rk-stage').length === 2", timeout=30_000)
    labs.nth(0).get_by_role("button", name="Crash consumer-1", exact=True).click()
    for number in (0, 1):
        labs.nth(number).locator(".rk-transport button[aria-label='Undo']:not([disabled])").wait_for(
            timeout=30_000
        )
    labs.nth(1).get_by_role("slider", name="Time").press("End")
    labs.nth(1).locator("[data-member='consumer-1'][data-look='gone']").wait_for(timeout=30_000)

    page.evaluate("document.querySelector('.rk-lab').parentElement.rebalanceLab.player.pause()")
    labs.nth(0).get_by_role("slider", name="Time").press("Home")
    labs.nth(0).get_by_role("button", name="Play").click()
    page.evaluate(
        "() => { window.old = [...document.querySelectorAll('.rk-lab')].map((one) => one.parentElement.rebalanceLab); jupyterapp.commands.execute('notebook:run-all-cells'); }"
    )
    page.wait_for_function(
        "document.querySelectorAll('.rk-lab .rk-stage').length === 2 && old.every((one) => !one.ui.root.isConnected)",
        timeout=30_000,
    )
    assert page.evaluate("old.every((one) => !one.player.playing)"), (
        "a lab whose cell was run again goes on in the dark"
    )
    assert page.locator(".jp-OutputArea-output[data-mime-type*='stderr']").count() == 0


def test_a_damaged_link_and_one_that_cannot_be_played_say_so_in_a_cell_and_when_they_are_pasted(
    page, jupyter, write_notebook
) -> None:
    whole = write_link(Link(load("storm"), 44_000, protocol="consumer"))
    raft = write_link(Link(load("storm"), protocol="raft"))
    cell = f"from rebalance_kit import Lab\nlab = Lab.from_link({whole[:-3]!r})\nlab"
    lab = _open(page, jupyter, write_notebook("link.ipynb", cell))
    lab.locator(".rk-notice", has_text="The link is damaged: a part of it is missing").wait_for(
        timeout=30_000
    )
    before = _owners(lab)
    lab.get_by_role("button", name="Copy link", exact=True).click()
    for token, words in {
        raft: "protocol 'raft' is unknown; expected one of",
        "hello": "'hello' is no link of the lab",
    }.items():
        lab.get_by_label("Link to open").fill(token)
        lab.get_by_role("button", name="Open", exact=True).click()
        lab.locator(".rk-told", has_text=words).wait_for(timeout=30_000)
        assert _owners(lab) == before
    lab.get_by_label("Link to open").fill(f"see {whole} there")
    lab.get_by_role("button", name="Open", exact=True).click()
    lab.locator(".rk-title", has_text="A rebalance storm").wait_for(timeout=60_000)
