// Log lines around the cursor, from any source.

import { make, say } from "../../shared/dom.js";
import { placeOf } from "../film/times.js";
import { copyText } from "./copy.js";

export class LogsView {
  constructor(lab) {
    this.lab = lab;
    this.source = make("select", { "aria-label": "Source" });
    this.level = make(
      "select",
      { "aria-label": "Level" },
      ...["all levels", "WARN and ERROR"].map((words) => make("option", {}, words)),
    );
    this.filter = make("input", { type: "search", placeholder: "filter", "aria-label": "Filter lines" });
    const copy = make("button", { type: "button" }, "Copy");
    this.count = make("span", { class: "rk-dim" });
    this.lines = make("div", {
      class: "rk-lines",
      role: "log",
      "aria-label": "Log lines",
      "aria-live": "off",
      tabindex: "0",
    });
    this.root = make(
      "div",
      { class: "rk-view rk-logs" },
      make("div", { class: "rk-bar" }, this.source, this.level, this.filter, copy, this.count),
      this.lines,
    );
    for (const node of [this.source, this.level, this.filter]) {
      node.addEventListener("input", () => {
        this.drawn = null;
        this.paint(lab.player.at);
      });
    }
    copy.addEventListener(
      "click",
      () => copyText(this.chosen().map((one) => one[3]).join("\n"), lab, "Lines copied."),
    );
  }

  chosen() {
    const source = this.source.selectedIndex - 1,
      text = this.filter.value.toLowerCase(),
      bad = this.level.selectedIndex === 1;
    return this.content.lines.filter(([, from, level, line]) =>
      (source < 0 || from === source) && (!bad || level === "WARN" || level === "ERROR") &&
      (!text || line.toLowerCase().includes(text))
    );
  }

  paint(at) {
    if (this.source.options.length !== this.content.sources.length + 1) {
      this.source.replaceChildren(
        make("option", {}, "all sources"),
        ...this.content.sources.map((name) => make("option", {}, name)),
      );
    }
    if (!this.drawn) {
      this.shown = this.chosen();
      this.times = this.shown.map((one) => one[0]);
    }
    const place = placeOf(this.times, at), first = Math.max(0, place - 200), key = `${place}`;
    if (this.drawn === key) return;
    this.drawn = key;
    const { film } = this.lab;
    this.lines.replaceChildren(
      ...this.shown.slice(first, place + 60).map(([, from, level, line], index) => {
        const here = first + index;
        const hue = from > 0 ? film.members[from - 1].hue : 0;
        return make("div", {
          class: `rk-line${here > place ? " rk-later" : ""}${
            here === place ? " rk-here" : ""
          } rk-${level.toLowerCase()}`,
          style: hue ? `--hue:var(--rk-m${hue})` : null,
          "aria-current": here === place ? "true" : null,
        }, line);
      }),
    );
    say(
      this.count,
      `${place + 1} of ${this.shown.length} lines so far${
        this.content.cut ? `, ${this.content.cut} more are not shown` : ""
      }`,
    );
    const here = this.lines.querySelector(".rk-here");
    if (here) this.lines.scrollTop = here.offsetTop - this.lines.clientHeight * 0.6;
  }
}
