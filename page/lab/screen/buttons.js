// Buttons and choices, as all bars have them.

import { make } from "../../shared/dom.js";

/**
 * @param {string | Node} words
 * @param {string} label
 * @param {(event: MouseEvent) => void} run
 * @param {Record<string, unknown>} [extra]
 */
export function button(words, label, run, extra = {}) {
  const node = make("button", { type: "button", "aria-label": label, ...extra }, words);
  node.addEventListener("click", run);
  return node;
}

/**
 * A button that opens something: `run` gets the button, so that the focus can come back to it.
 * @param {string | Node} words
 * @param {string} label
 * @param {(opener: HTMLElement) => void} run
 * @param {Record<string, unknown>} [extra]
 */
export function opener(words, label, run, extra = {}) {
  /** @type {HTMLButtonElement} */
  const node = button(words, label, () => run(node), { "aria-haspopup": "dialog", ...extra });
  return node;
}
