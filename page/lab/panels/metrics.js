// Metrics: a value at the cursor and its course over the run.

import { make, say, set } from "../../shared/dom.js";
import { placeOf } from "../film/times.js";
import { tableOf } from "./table.js";

const WIDTH = 120;
const HEIGHT = 24;
const HEADS = ["of", "metric", "now", "over the run", "what it counts"];
/** @param {string | null} member the selected one */
const captionOf = (member) =>
  `Of the group${
    member ? `, and of ${member}, which is selected` : ""
  }. For another member press its number, or click it on the board.`;

/** The metrics tab. */
export class MetricsView {
  /** @param {import("../store.js").Store} store */
  constructor(store) {
    this.store = store;
    this.content = /** @type {import("./content.js").MetricsContent} */ (/** @type {unknown} */ (null));
    /** @type {unknown} */
    this.drawn = null;
    /** @type {Row[]} */
    this.rows = [];
    this.root = make("div", { class: "rk-view rk-metrics", tabindex: "0" });
  }

  /** @param {number} at */
  paint(at) {
    const { end } = this.store.film;
    if (this.drawn !== this.content) {
      this.drawn = this.content;
      this.rows = this.content.rows.map((row) => new Row(row, end));
      const body = make("tbody", {}, ...this.rows.map((row) => row.node));
      this.root.replaceChildren(tableOf(HEADS, body, captionOf(this.content.member)));
    }
    this.rows.forEach((row) => row.paint(at, end));
  }
}

/** One metric: its value now, and its course. */
class Row {
  /**
   * @param {import("./content.js").MetricRow} row
   * @param {number} end
   */
  constructor([member, room, name, says, steps], end) {
    this.none = member ? "not running" : "–";
    this.times = /** @type {number[]} */ (steps.filter((_, place) => place % 2 === 0));
    this.values = steps.filter((_, place) => place % 2 === 1);
    this.now = make("td", { class: "rk-number2" });
    this.cursor = make("svg:line", { y1: 0, y2: HEIGHT, class: "rk-now" });
    this.node = make(
      "tr",
      {},
      make("td", {}, member || "group"),
      make("th", { scope: "row" }, name, make("small", {}, room)),
      this.now,
      make("td", {}, this.drawCourse(end)),
      make("td", { class: "rk-dim" }, says),
    );
  }

  /** @param {number} end */
  drawCourse(end) {
    const { times, values } = this;
    const known = values.filter((value) => value !== null);
    const most = Math.max(0, ...known);
    const path = values.map((value, place) => {
      const x = ((WIDTH * times[place]) / end).toFixed(1);
      if (value === null) return place ? `H${x}` : "";
      const y = (HEIGHT - 2 - ((HEIGHT - 4) * value) / Math.max(1, most)).toFixed(1);
      return place && values[place - 1] !== null ? `H${x}V${y}` : `M${x} ${y}`;
    }).join("");
    const label = `from ${known[0] ?? "–"} to ${known[known.length - 1] ?? "–"}, at most ${most}`;
    const size = { width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}` };
    const line = make("svg:path", {
      d: values[values.length - 1] === null ? path : `${path}H${WIDTH}`,
      class: "rk-spark",
    });
    return make("svg:svg", { ...size, role: "img", "aria-label": label }, line, this.cursor);
  }

  /**
   * @param {number} at
   * @param {number} end
   */
  paint(at, end) {
    const place = Math.max(0, placeOf(this.times, at));
    say(this.now, this.values[place]?.toLocaleString("en") ?? this.none);
    set(this.cursor, "x1", (WIDTH * at) / end);
    set(this.cursor, "x2", (WIDTH * at) / end);
  }
}
