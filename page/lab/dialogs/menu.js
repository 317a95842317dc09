// Files to take away, and how the lab looks.

import { make } from "../../shared/dom.js";
import { save } from "./files.js";
import { showHistory } from "./history.js";
import { menuItem, selectOf } from "./items.js";

const FILES = Object.freeze([
  ["trace", "Trace (JSONL)"],
  ["scenario", "Scenario (YAML)"],
  ["report", "Report (HTML)"],
  ["animation", "Animation (HTML, plays alone)"],
  ["png", "Picture of this view (PNG)"],
  ["svg", "Picture of the board (SVG)"],
]);
const PILLS = Object.freeze(
  /** @type {[string, string][]} */ ([
    ["all", "all"],
    ["news", "without quiet heartbeats and commits"],
    ["none", "none"],
  ]),
);
const THEMES = Object.freeze(["auto", "light", "dark", "projector"]);

/**
 * @param {import("../lab.js").Lab} lab
 * @param {HTMLElement} opener
 */
export function showMenu(lab, opener) {
  const { model, options } = lab;
  const themes = THEMES.map((name) => /** @type {[string, string]} */ ([name, name]));
  const theme = selectOf("Theme", themes, model.get("theme"), (value) => {
    model.set("theme", value);
    model.save_changes();
    lab.theme.apply();
  });
  const pills = selectOf("Messages on the board", PILLS, options.pills, (value) => (options.pills = value));
  const { settingsButton, predictButton, shareButton, presentButton, helpButton } = lab.ui;
  const folded = [settingsButton, predictButton, shareButton, presentButton, helpButton]
    .filter((node) => !node.hidden && !node.checkVisibility());
  const files = FILES.filter(([what]) => !lab.alone || what === "png");
  lab.popup.show(
    opener,
    ...(lab.newcomer.level < 2 ? [menuItem(lab, ["Show all controls"], () => lab.newcomer.forked())] : []),
    ...folded.map((node) => menuItem(lab, [node.getAttribute("aria-label") ?? ""], () => node.click())),
    make("h2", {}, "Export"),
    ...files.map(([what, words]) => menuItem(lab, [words], () => save(lab, what))),
    make("h2", {}, "View"),
    make("label", { class: "rk-check" }, "Theme", theme),
    make("label", { class: "rk-check" }, "Messages on the board", pills),
    checkbox("single letters are keys", options.letters, (on) => (options.letters = on)),
    checkbox("less motion", options.still, (on) => (options.calm = on)),
    menuItem(lab, ["History and branches (H)"], () => showHistory(lab, opener)),
    menuItem(lab, ["Keys (?)"], () => lab.legend.toggle()),
  );
}

/**
 * @param {string} words
 * @param {boolean} on
 * @param {(on: boolean) => void} run
 */
function checkbox(words, on, run) {
  const box = make("input", { type: "checkbox" });
  box.checked = on;
  box.addEventListener("input", () => run(box.checked));
  return make("label", { class: "rk-check" }, box, words);
}
