// Metrics: a value at the cursor and its course over the run.

import { make, say } from "../../shared/dom.js";
import { placeOf } from "../film/times.js";

// A value at the cursor and its course over the run.
export class MetricsView {
  constructor(lab) {
    this.lab = lab;
    this.root = make("div", { class: "rk-view rk-metrics", tabindex: "0" });
  }

  paint(at) {
    const { content, lab } = this;
    if (this.drawn !== content) {
      this.drawn = content;
      this.rows = content.rows.map(([member, room, name, says, steps]) =>
        this.row(member, room, name, says, steps)
      );
      this.root.replaceChildren(
        make(
          "table",
          { class: "rk-table" },
          make("caption", {}, "Coordinator, and the selected member. Select another on the board."),
          make(
            "thead",
            {},
            make(
              "tr",
              {},
              ...["of", "metric", "now", "over the run", "what it counts"].map((words) =>
                make("th", { scope: "col" }, words)
              ),
            ),
          ),
          make("tbody", {}, ...this.rows.map((row) => row.node)),
        ),
      );
    }
    this.rows.forEach((row) => {
      const place = Math.max(0, placeOf(row.times, at));
      say(row.now, row.values[place].toLocaleString("en"));
      row.cursor.setAttribute("x1", (120 * at) / lab.film.end);
      row.cursor.setAttribute("x2", (120 * at) / lab.film.end);
    });
  }

  row(member, room, name, says, steps) {
    const times = [], values = [];
    for (let i = 0; i < steps.length; i += 2) {
      times.push(steps[i]);
      values.push(steps[i + 1]);
    }
    const most = Math.max(1, ...values), end = this.lab.film.end;
    let path = "";
    values.forEach((value, i) => {
      const y = 22 - (20 * value) / most;
      path += `${i ? "H" : "M"}${((120 * times[i]) / end).toFixed(1)}${
        i ? `V${y.toFixed(1)}` : ` ${y.toFixed(1)}`
      }`;
    });
    const cursor = make("svg:line", { y1: 0, y2: 24, class: "rk-now" });
    const now = make("td", { class: "rk-number2" });
    const spark = make(
      "svg:svg",
      {
        width: 120,
        height: 24,
        viewBox: "0 0 120 24",
        role: "img",
        "aria-label": `from ${values[0]} to ${values[values.length - 1]}, at most ${Math.max(...values)}`,
      },
      make("svg:path", { d: `${path}H120`, class: "rk-spark" }),
      cursor,
    );
    const node = make(
      "tr",
      {},
      make("td", {}, member || "group"),
      make("th", { scope: "row" }, name, make("small", {}, room)),
      now,
      make("td", {}, spark),
      make("td", { class: "rk-dim" }, says),
    );
    return { node, now, cursor, times, values };
  }
}
