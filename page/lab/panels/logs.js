// Log lines around the cursor, from any source.

import { make, say } from "../../shared/dom.js";
import { placeOf } from "../film/times.js";
import { copyText } from "./copy.js";

const BEFORE = 200;
const AFTER = 60;

/** The logs tab. */
export class LogsView {
  /**
   * @param {import("../store.js").Store} store
   * @param {(words: string) => void} tell
   */
  constructor(store, tell) {
    this.store = store;
    this.content = /** @type {import("./content.js").LogsContent} */ (/** @type {unknown} */ (null));
    /** @type {string | null} */
    this.drawn = null;
    /** @type {import("./content.js").LogLine[]} */
    this.shown = [];
    /** @type {number[]} */
    this.times = [];
    /** @type {Set<string>} */
    this.unfolded = new Set();
    this.source = make("select", { "aria-label": "Source" });
    const levels = ["all levels", "WARN and ERROR"].map((words) => make("option", {}, words));
    this.level = make("select", { "aria-label": "Level" }, ...levels);
    this.filter = make("input", { type: "search", placeholder: "filter", "aria-label": "Filter lines" });
    const copy = make("button", { type: "button" }, "Copy");
    this.count = make("span", { class: "rk-dim" });
    const looks = { role: "log", "aria-label": "Log lines", "aria-live": "off", tabindex: "0" };
    this.lines = make("div", { class: "rk-lines", ...looks });
    const bar = make("div", { class: "rk-bar" }, this.source, this.level, this.filter, copy, this.count);
    this.root = make("div", { class: "rk-view rk-logs" }, bar, this.lines);
    for (const node of [this.source, this.level, this.filter]) {
      node.addEventListener("input", () => this.redraw());
    }
    copy.addEventListener("click", () => {
      copyText(
        this.chosen().map(([, , , line]) => line).join("\n"),
        tell,
        "Lines copied.",
      );
    });
  }

  redraw() {
    this.drawn = null;
    this.paint(this.store.at);
  }

  /**
   * Show all of a line, or one line of it again; a text that is being selected stays as it is.
   * @param {HTMLElement} node
   * @param {string} text
   */
  unfold(node, text) {
    if (!document.getSelection()?.isCollapsed) return;
    const whole = node.classList.toggle("rk-unfolded");
    if (whole) this.unfolded.add(text);
    else this.unfolded.delete(text);
  }

  /** Lines of the chosen source and level that have the words of the filter. */
  chosen() {
    const chosen = this.source.selectedIndex - 1;
    const words = this.filter.value.toLowerCase().split(/\s+/);
    const bad = this.level.selectedIndex === 1;
    return this.content.lines.filter(([, source, level, line]) =>
      (chosen < 0 || source === chosen) && (!bad || level === "WARN" || level === "ERROR") &&
      words.every((word) => line.toLowerCase().includes(word))
    );
  }

  /** @param {number} at */
  paint(at) {
    if (!this.content) return; // its lines are still on their way
    const { sources, cut } = this.content;
    if (this.source.options.length !== sources.length + 1) {
      const names = ["all sources", ...sources].map((name) => make("option", {}, name));
      this.source.replaceChildren(...names);
    }
    if (this.drawn === null) {
      this.shown = this.chosen();
      this.times = this.shown.map(([time]) => time);
    }
    const place = placeOf(this.times, at);
    if (this.drawn === String(place)) return;
    this.drawn = String(place);
    const first = Math.max(0, place - BEFORE);
    const picked = this.filter.value !== "" || this.level.selectedIndex === 1; // few lines: each is whole
    this.lines.classList.toggle("rk-picked", picked);
    const nodes = this.shown.slice(first, place + AFTER).map((line, index) =>
      this.drawLine(line, first + index - place)
    );
    this.lines.replaceChildren(...nodes);
    const rest = cut ? `, ${cut} more are not shown` : "";
    const lines = `${this.shown.length} line${this.shown.length === 1 ? "" : "s"}`;
    const hint = picked ? "" : " Click a line to see all of it.";
    say(this.count, `${lines}, ${place + 1} up to the cursor${rest}.${hint}`);
    const here = nodes[place - first];
    if (here) this.lines.scrollTop = here.offsetTop - this.lines.clientHeight * 0.6;
  }

  /**
   * @param {import("./content.js").LogLine} line
   * @param {number} after how many lines after the cursor
   */
  drawLine([, source, level, text], after) {
    const looks = ["rk-line", `rk-${level.toLowerCase()}`];
    if (after > 0) looks.push("rk-later");
    if (after === 0) looks.push("rk-here");
    const member = this.store.film.members[source - 1]; // source 0 is the broker
    const style = member ? `--hue:var(--rk-m${member.hue})` : null;
    if (this.unfolded.has(text)) looks.push("rk-unfolded");
    const node = make(
      "div",
      { class: looks.join(" "), style, "aria-current": after === 0 ? "true" : null },
      text,
    );
    if (!this.lines.classList.contains("rk-picked")) node.title = "Click to see all of the line";
    node.addEventListener("click", () => this.unfold(node, text));
    return node;
  }
}
