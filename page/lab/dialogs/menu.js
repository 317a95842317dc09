// Files to take away, and how the lab looks.

import { make } from "../../shared/dom.js";
import { save } from "./files.js";
import { showHistory } from "./history.js";

const FILES = [
  ["trace", "Trace (JSONL)"],
  ["scenario", "Scenario (YAML)"],
  ["report", "Report (HTML)"],
  ["animation", "Animation (HTML, plays alone)"],
  ["png", "Picture of this view (PNG)"],
];

export function showMenu(lab, opener) {
  const item = (words, run) => {
    const node = make("button", { type: "button", class: "rk-item" }, words);
    node.addEventListener("click", () => {
      lab.popup.close(true);
      run();
    });
    return node;
  };
  const theme = make(
    "select",
    { "aria-label": "Theme" },
    ...["auto", "light", "dark", "projector"].map((name) => make("option", { value: name }, name)),
  );
  theme.value = lab.model.get("theme");
  theme.addEventListener("input", () => {
    lab.model.set("theme", theme.value);
    lab.model.save_changes();
    lab.theme.apply();
  });
  const letters = make("input", { type: "checkbox" });
  letters.checked = lab.options.letters;
  letters.addEventListener("input", () => {
    lab.options.letters = letters.checked;
  });
  const still = make("input", { type: "checkbox" });
  still.checked = lab.options.still;
  still.addEventListener("input", () => {
    lab.options.calm = still.checked;
  });
  const pills = make(
    "select",
    { "aria-label": "Messages on the board" },
    ...[["all", "all"], ["news", "without quiet heartbeats and commits"], ["none", "none"]].map((
      [name, words],
    ) => make("option", { value: name }, words)),
  );
  pills.value = lab.options.pills;
  pills.addEventListener("input", () => {
    lab.options.pills = pills.value;
  });
  lab.popup.show(
    opener,
    make("h2", {}, "Export"),
    ...FILES.filter(([what]) => !lab.alone || what === "png").map(([what, words]) =>
      item(words, () => save(lab, what))
    ),
    make("h2", {}, "View"),
    make("label", { class: "rk-check" }, "Theme", theme),
    make("label", { class: "rk-check" }, "Messages on the board", pills),
    make("label", { class: "rk-check" }, letters, "single letters are keys"),
    make("label", { class: "rk-check" }, still, "less motion"),
    item("History and branches (H)", () => showHistory(lab, opener)),
    item("Keys (?)", () => lab.toggleHelp()),
  );
}
