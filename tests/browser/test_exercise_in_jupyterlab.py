"""The exercise widget in a real notebook: a learner who has not begun, looks, and asks for help twice."""

from __future__ import annotations

from tests.browser.test_lab_in_jupyterlab import READY

WAIT_MS = 60_000


def test_an_exercise_is_copied_checked_and_hinted_by_its_buttons(
    page, jupyter, write_notebook, tmp_path, shot
) -> None:
    folder = tmp_path / "mine"
    name = write_notebook(
        "exercise.ipynb",
        f"from rebalance_kit.view import Exercise\nExercise('03-count-rebalances', folder={str(folder)!r})",
    )
    page.goto(f"{jupyter}/lab/tree/{name}?reset", wait_until="domcontentloaded", timeout=WAIT_MS)
    page.locator(".jp-Notebook").wait_for(timeout=WAIT_MS)
    page.wait_for_function(READY, timeout=WAIT_MS)
    page.evaluate("() => { jupyterapp.commands.execute('notebook:run-all-cells'); }")

    def press(button: str, words: str) -> None:
        page.get_by_role("button", name=button, exact=True).click(timeout=WAIT_MS)
        page.get_by_text(words).wait_for(timeout=WAIT_MS)

    press("Check my answer", "there is no answer.py")
    press("Copy it into my folder", "write your answer in")
    assert (folder / "03-count-rebalances" / "answer.py").exists()
    press("Check my answer", "the function still raises NotImplementedError")
    press("Next hint", "Hint 1 of 3")
    press("Next hint", "Hint 2 of 3")
    shot(page.locator(".jp-OutputArea-output").first, "exercise-second-hint")
    assert page.locator(".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.stderr']").count() == 0
