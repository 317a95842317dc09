"""The first lesson on a real screen: JupyterLab, a notebook, and the Crash button."""

from __future__ import annotations

import re

RUN_ALL_TRIES = 6


def _open(page, jupyter: str, notebook: str):
    """Open a notebook and run it; Run All is swallowed while the session connects, so it is asked again."""
    page.goto(f"{jupyter}/lab/tree/{notebook}?reset", wait_until="domcontentloaded")
    page.locator(".jp-Notebook").wait_for(timeout=60_000)
    page.locator(".jp-Notebook-ExecutionIndicator[data-status='idle']").wait_for(
        state="attached", timeout=60_000
    )
    lab = page.locator(".rk-lab").first
    for _ in range(RUN_ALL_TRIES):
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_text("Run All Cells", exact=True).click()
        try:
            lab.wait_for(timeout=12_000)
        except Exception:  # noqa: BLE001 - playwright's own timeout; the click was swallowed
            waiting = page.get_by_role("dialog")
            if waiting.count():
                waiting.get_by_role("button").last.click()
            continue
        lab.locator(".rk-stage").wait_for()
        return lab
    raise AssertionError("the notebook never showed the lab")


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
