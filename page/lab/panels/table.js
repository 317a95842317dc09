// A table with its heads.

import { make } from "../../shared/dom.js";

/**
 * @param {string[]} heads
 * @param {Node} body
 * @param {string | null} [caption]
 */
export function tableOf(heads, body, caption = null) {
  const row = make("tr", {}, ...heads.map((words) => make("th", { scope: "col" }, words)));
  return make(
    "table",
    { class: "rk-table" },
    caption === null ? null : make("caption", {}, caption),
    make("thead", {}, row),
    body,
  );
}

/**
 * A row: its head, then its cells.
 * @param {string} head
 * @param {(string | Node)[]} cells
 */
export function rowOf(head, cells) {
  return make("tr", {}, make("th", { scope: "row" }, head), ...cells.map((cell) => make("td", {}, cell)));
}
