"""Seconds that each beat of a workshop needs, beside the minutes that its plan gives: speaking, voting, playing, replying.

Playing is the engine's own: Chromium loads the run into the lab and the lab's clock is asked how long it takes, at its
automatic speed, from the beat's moment to the end; a beat that plays the run under another protocol too plays twice.
Words are spoken at 130 a minute. A vote takes the six minutes that the plan says (alone, in pairs, again) and one for the answer,
a table two; where learners have the lab in their hands, the plan's minutes for it stand in place of playing; of the beliefs that may be voiced every reply is given. A learner waits until the lab of a beat is drawn (*opens*), and until it shows
another protocol (*answers*). What is left is the room's: questions, and waiting for laptops.

    python benchmarks/workshops.py
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright
from shared.tables import publish

from rebalance_kit.classroom.plan import Beat, Scene, plan_names, read_plan
from rebalance_kit.doctor import find_chromium
from rebalance_kit.view.lab.widget import Lab
from tests.support.browser.lab_bridge import Bridge

WORDS_A_SECOND = 130 / 60
VOTE_S, TABLE_S = 420, 120
PLAYED = """start => {
  const player = lab.player;
  let passed = 0;
  for (let at = start; at < player.end; passed += 16) at += 16 * player.pace(at);
  return passed / 1000;
}"""
AGAIN = ("again", "the same under")


def played(page: Page, scene: Scene, folder: Path) -> tuple[float, float, float]:
    """Seconds that the lab plays a scene, by its own clock; and that a learner waits until it is drawn, and until it answers a change."""
    began = time.monotonic()
    lab = Lab(scene.scenario, scene.protocol, seed=scene.seed, at_ms=scene.at_ms)
    bridge = Bridge(page, lab, folder / "lab.html")
    drawn = time.monotonic()
    plays = float(page.evaluate(PLAYED, scene.at_ms))
    asked = time.monotonic()
    bridge.root.locator("[data-protocol][aria-pressed=false]").first.click()
    bridge.settle()
    return plays, drawn - began, time.monotonic() - asked


def needs(beat: Beat, played_s: float) -> dict[str, float]:
    """Seconds of a beat by what they go to."""
    times = 2 if any(word in beat.watch.lower() for word in AGAIN) else 1
    spoken = [*beat.say, beat.watch]
    return {
        "say": len(" ".join(spoken).split()) / WORDS_A_SECOND,
        "vote": VOTE_S if beat.poll else 0,
        "play": 0 if beat.hands_on else times * played_s,
        "hands": 60 * beat.hands_on.minutes if beat.hands_on else 0,
        "tables": TABLE_S * len(beat.compare),
        "reply": sum(len(expectation.reply.split()) for expectation in beat.expect) / WORDS_A_SECOND,
    }


def main() -> None:
    """Measure and print, a table per plan."""
    known: dict[str, tuple[float, float, float]] = {}
    with sync_playwright() as driver, tempfile.TemporaryDirectory() as folder:
        browser = driver.chromium.launch(executable_path=str(find_chromium()), args=["--no-sandbox"])
        for name in plan_names():
            rows, waits = [], []
            for beat in read_plan(name).beats:
                key = json.dumps([str(beat.lab)])
                if beat.lab and key not in known:
                    page = browser.new_page(viewport={"width": 1366, "height": 768})
                    known[key] = played(page, beat.lab, Path(folder))
                    page.close()
                plays, opens, answers = known.get(key, (0.0, 0.0, 0.0))
                took = needs(beat, plays)
                if beat.lab:
                    waits.append([beat.title, f"{opens:.1f}", f"{answers:.1f}"])
                whole = sum(took.values())
                left = beat.minutes - whole / 60
                cells = [f"{seconds:.0f}" for seconds in took.values()]
                rows.append([beat.title, beat.minutes, *cells, f"{whole / 60:.1f}", f"{left:.1f}"])
            columns = ["beat", "minutes", *(f"{what} s" for what in took), "needs min", "left min"]
            publish(f"Workshop {name}", columns, rows)
            load = f"Load {os.getloadavg()[0]:.0f}."
            publish(f"Workshop {name}, a learner's waits", ["beat", "opens s", "answers s"], waits, load)
        browser.close()


if __name__ == "__main__":
    main()
