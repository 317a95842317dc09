// How time moves: the speed of playing and what a step goes to, in one control.

import { make, say, set } from "../../shared/dom.js";
import { STEPS } from "../acting/steps.js";
import { SPEEDS } from "../time/player.js";
import { opener } from "../screen/buttons.js";

/**
 * The button in the playback bar; it says what is chosen.
 * @param {import("../lab.js").Lab} lab
 */
export function paceButton(lab) {
  const node = opener("", "Speed and step", (button) => showPace(lab, button), { class: "rk-pacebutton" });
  lab.steps.onChange = () => paintPace(node, lab.steps);
  lab.steps.onChange();
  return node;
}

/**
 * @param {HTMLElement} node
 * @param {{ speed: string | number, kind: string }} steps
 */
function paintPace(node, { speed, kind }) {
  const words = `${speedWords(speed)} · by ${STEPS.find(([name]) => name === kind)?.[1]} ▾`;
  say(node, words);
  set(node, "aria-label", `Speed and step: ${words.replace(" ▾", "")}`);
}

/** @param {string | number} speed */
function speedWords(speed) {
  return speed === "Auto" ? "Auto" : `${speed} ×`;
}

/**
 * @param {import("../lab.js").Lab} lab
 * @param {HTMLElement} button
 */
function showPace(lab, button) {
  const { steps } = lab;
  const speeds = SPEEDS.map((speed) => /** @type {[string, string]} */ ([String(speed), speedWords(speed)]));
  lab.popup.show(
    button,
    make("h2", {}, "Speed and step"),
    group("Speed", speeds, String(steps.speed), (value) => steps.setSpeed(value)),
    make(
      "p",
      { class: "rk-dim" },
      "Auto hurries through quiet time and slows down at each event. Keys: [ and ].",
    ),
    group("Step to the next", STEPS, steps.kind, (value) => steps.setKind(value)),
    make(
      "p",
      { class: "rk-dim" },
      "The keys . and , step by event, > and < by message, N jumps to the next mark.",
    ),
  );
}

/**
 * Choices of which one holds: arrow keys move among them.
 * @param {string} label
 * @param {readonly (readonly [string, string])[]} options
 * @param {string} value
 * @param {(value: string) => void} run
 */
function group(label, options, value, run) {
  const name = `rk-${label}-${Math.random().toString(36).slice(2)}`;
  const choices = options.map(([each, words]) => {
    const box = make("input", { type: "radio", name, value: each });
    box.checked = each === value;
    box.addEventListener("input", () => run(each));
    return make("label", { class: "rk-choicebox" }, box, words);
  });
  return make("fieldset", { class: "rk-choices" }, make("legend", {}, label), ...choices);
}
