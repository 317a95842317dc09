// Entries of menus.

import { make } from "../../shared/dom.js";

/**
 * An entry that closes its menu and does something.
 * @param {import("../lab.js").Lab} lab
 * @param {(Node | string | null)[]} content
 * @param {() => void} run
 * @param {Record<string, unknown>} [looks]
 */
export function menuItem(lab, content, run, looks = {}) {
  const node = make("button", { type: "button", class: "rk-item", ...looks }, ...content);
  node.addEventListener("click", () => {
    lab.popup.close(true);
    run();
  });
  return node;
}

/**
 * A list to choose from; `run` hears each choice.
 * @param {string} label
 * @param {readonly (readonly [string, string])[]} options value and words
 * @param {string} value
 * @param {(value: string) => void} run
 */
export function selectOf(label, options, value, run) {
  const select = make("select", { "aria-label": label });
  select.append(...options.map(([name, words]) => make("option", { value: name }, words)));
  select.value = value;
  select.addEventListener("input", () => run(select.value));
  return select;
}
