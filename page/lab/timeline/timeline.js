// All of time in one chart: the group, each member, each partition. Bars of one look are one bar.

import { make, say } from "../../shared/dom.js";
import { GONE } from "../film/format.js";
import { seconds } from "../film/times.js";
import { partitionBars } from "../film/tracks.js";
import { Painter, sharpPen } from "../time/painter.js";
import { following, Scale, zoomed } from "../time/scale.js";
import { Chart, rowHeight, TOP } from "./chart.js";
import { chooseRows, ORDERS, ownerAt } from "./rows.js";

/** Pixels: of names, of what stands right of the chart, in a lab and on a phone. */
const USUAL = { label: 118, side: 116 }, PHONE = { label: 84, side: 62 };
const PHONE_WIDTH = 440;
const SHORTEST_MS = 500;
/** The air around bar, chart and text. */
const AROUND = 26;

/** The timeline tab. */
export class Timeline {
  /**
   * @param {import("../store.js").Store} store
   * @param {HTMLElement} looks the lab's root, whose classes say theme and size
   * @param {() => number} width of the lab, in its own pixels
   * @param {(at: number, dragging: boolean) => void} seek
   * @param {(member: number) => void} choose
   */
  constructor(store, looks, width, seek, choose) {
    this.store = store;
    this.looks = looks;
    this.width = width;
    this.seek = seek;
    this.choose = choose;
    /** @type {string | null} */
    this.drawn = null;
    /** @type {import("../film/format.js").Film | null} */
    this.film = null;
    this.scale = new Scale(0, 1, 1);
    /** @type {import("./rows.js").Row[]} */
    this.rows = [];
    this.height = 0;
    this.row = 0;
    this.label = USUAL.label;
    this.order = make(
      "select",
      { "aria-label": "Order of partitions" },
      ...ORDERS.map((words) => make("option", {}, words)),
    );
    this.order.addEventListener("input", () => this.redraw());
    this.range = make("span", { class: "rk-dim" });
    this.canvas = make("canvas", { "aria-hidden": "true" });
    this.names = make("div", { class: "rk-rownames", "aria-hidden": "true" });
    this.line = make("i", { class: "rk-tcursor", "aria-hidden": "true" });
    this.chart = make("div", { class: "rk-chart" }, this.names, this.canvas, this.line);
    this.table = make("tbody", {});
    const zooms = [
      this.zoomButton("−", "Zoom out", 2),
      this.zoomButton("+", "Zoom in", 0.5),
      this.zoomButton("Whole run", "Whole run", 0),
    ];
    this.bar = make("div", { class: "rk-bar" }, this.order, ...zooms, this.range);
    const heads = ["partition", "unread", "owners"].map((words) => make("th", { scope: "col" }, words));
    this.twin = make(
      "details",
      { class: "rk-timetext" },
      make("summary", {}, "Timeline as text"),
      make("table", { class: "rk-table" }, make("thead", {}, make("tr", {}, ...heads)), this.table),
    );
    this.root = make("div", { class: "rk-view rk-timeline", tabindex: "0" }, this.bar, this.chart, this.twin);
    this.canvas.addEventListener("click", (event) => this.onClick(event));
    this.canvas.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
  }

  /**
   * @param {string} words
   * @param {string} label
   * @param {number} by
   */
  zoomButton(words, label, by) {
    const node = make("button", { type: "button", "aria-label": label }, words);
    node.addEventListener("click", () => this.zoom(by));
    return node;
  }

  /**
   * Zoom about the cursor; 0 shows all.
   * @param {number} by
   */
  zoom(by) {
    const { film, at } = this.store;
    this.scale = zoomed(this.scale, by, at, film.end, SHORTEST_MS);
    this.redraw();
  }

  redraw() {
    this.drawn = null;
    this.paint(this.store.at);
  }

  /** @param {number} at */
  paint(at) {
    const { film } = this.store;
    const width = this.width() - 44, { label, side } = width < PHONE_WIDTH ? PHONE : USUAL;
    if (this.film !== film) {
      this.film = film;
      this.scale = new Scale(0, film.end, this.scale.width);
      this.drawn = null;
    }
    const shown = following(this.scale, at, film.end);
    const key = `${this.looks.className}/${width}`;
    if (this.drawn !== key || shown !== this.scale) {
      this.drawn = key;
      this.label = label;
      this.canvas.style.left = `${label}px`;
      this.scale = new Scale(shown.from, shown.to, width - label - side);
      this.draw();
    }
    this.line.style.transform = `translateX(${label + this.scale.x(at)}px)`;
    this.line.style.height = `${this.height}px`;
  }

  draw() {
    const { film, at } = this.store;
    const { rows, others } = chooseRows(film, this.order.value, at);
    this.rows = rows;
    const beside = this.bar.offsetHeight + (this.twin.open ? 0 : this.twin.offsetHeight) + AROUND;
    this.row = rowHeight(rows.length + (others ? 1 : 0), this.root.clientHeight - beside);
    this.height = TOP + rows.length * this.row;
    this.chart.style.height = `${this.height + (others ? this.row : 0)}px`;
    const pen = sharpPen(this.canvas, this.scale.width, this.height);
    new Chart(pen, new Painter(this.looks), film, this.scale, this.row).draw(rows, this.height);
    const most = Math.max(1, ...rows.map((row) => row.stopped));
    const style = `${this.placed(this.height + 2)};width:100%`;
    const rest = make(
      "div",
      { class: "rk-rowname", style },
      `${others} other partitions flowed all the time.`,
    );
    this.names.replaceChildren(
      ...rows.map((row, place) => this.rowName(row, place, most)),
      others ? rest : "",
    );
    say(this.range, `${seconds(this.scale.from)} to ${seconds(this.scale.to)}`);
    this.table.replaceChildren(
      ...rows.filter((row) => row.kind === "partition").map((row) => this.rowText(row)),
    );
  }

  /**
   * Where the name of a row stands.
   * @param {number} top
   */
  placed(top) {
    return `top:${top}px;height:${this.row}px;line-height:${this.row}px`;
  }

  /**
   * @param {import("./rows.js").Row} row
   * @param {number} place
   * @param {number} most
   */
  rowName({ name, kind, stopped }, place, most) {
    const looks = { class: `rk-rowname rk-of-${kind}`, style: this.placed(TOP + place * this.row) };
    if (kind !== "partition") return make("div", looks, make("span", {}, name));
    const share = make("i", { style: `width:${(30 * stopped) / most}px` });
    const side = { style: `left:${this.label + this.scale.width + 8}px` };
    return make(
      "div",
      looks,
      make("span", {}, name),
      make("em", side, stopped ? seconds(stopped) : "–", share),
    );
  }

  /** @param {import("./rows.js").Row} row */
  rowText({ name, index, stopped }) {
    const cells = [seconds(stopped), this.owners(index)].map((words) => make("td", {}, words));
    return make("tr", {}, make("th", { scope: "row" }, name), ...cells);
  }

  /**
   * Who had a partition, from when on.
   * @param {number} partition
   */
  owners(partition) {
    const { film } = this.store;
    const spans = partitionBars(film.partitionTracks[partition], film.partitionStates, film.end);
    return spans.map(([from, , { owner, word, flows }]) => {
      const name = owner === GONE ? "not there" : owner < 0 ? "no owner" : film.members[owner].name;
      return `${seconds(from)} ${name}${flows || owner < 0 ? "" : ` (${word})`}`;
    }).join(", ");
  }

  /** @param {WheelEvent} event */
  onWheel(event) {
    if (!event.ctrlKey) return;
    event.preventDefault();
    this.zoom(event.deltaY > 0 ? 1.3 : 1 / 1.3);
  }

  /** @param {MouseEvent} event */
  onClick(event) {
    const box = this.canvas.getBoundingClientRect();
    const { store } = this;
    const row =
      this.rows[Math.floor(((event.clientY - box.top) * (this.height / box.height) - TOP) / this.row)];
    this.seek(this.scale.at(((event.clientX - box.left) / box.width) * this.scale.width), false);
    if (!row || row.kind === "group") return;
    const member = row.kind === "member" ? row.index : ownerAt(store.film, row.index, store.at);
    if (member < 0) return;
    this.choose(member);
  }
}
