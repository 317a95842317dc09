// The timeline of a group: one clock for findings, rebalances, unread partitions and members, to be zoomed and moved.

import { make, say } from "../shared/dom.js";
import { Scale, zoomed } from "../lab/time/scale.js";
import { around, clock, lasting } from "./clock.js";
import { axis, findings, lives, rebalances, storms, unread } from "./lanes.js";

/** @typedef {import("./lanes.js").Look} Look */

const TOP = 22;
const LEAST_MS = 20;
const NARROW = 620;

export class Timeline {
  /**
   * @param {HTMLElement} place
   * @param {Look} look
   * @param {(card: string) => void} choose is told which finding was clicked
   */
  constructor(place, look, choose) {
    this.look = look;
    this.choose = choose;
    this.scale = new Scale(0, look.end, 1);
    /** @type {string | null} */
    this.chosen = null;
    this.most = look.unread.reduce((most, [, count]) => Math.max(most, count), 0);
    this.chart = make("svg:svg", { role: "img", "aria-label": place.dataset.words });
    this.range = make("span", { class: "range" });
    this.holder = make("div", {
      class: "chart",
      tabindex: 0,
      role: "group",
      "aria-label":
        "Timeline. Arrows move, plus and minus zoom, 0 shows all, n and p go from finding to finding.",
    }, this.chart);
    place.append(this.buttons(), this.holder);
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.holder);
  }

  buttons() {
    const button = (
      /** @type {string} */ sign,
      /** @type {string} */ name,
      /** @type {() => void} */ act,
    ) => {
      const node = make("button", { type: "button", "aria-label": name, title: name }, sign);
      node.addEventListener("click", act);
      return node;
    };
    return make(
      "div",
      { class: "tools" },
      button("−", "zoom out (-)", () => this.zoom(2)),
      button("+", "zoom in (+)", () => this.zoom(0.5)),
      button("All", "show all (0)", () => this.zoom(0)),
      button("‹", "previous finding (p)", () => this.step(-1)),
      button("›", "next finding (n)", () => this.step(1)),
      this.range,
    );
  }

  listen() {
    this.holder.addEventListener("keydown", (event) => {
      const act = this.keys()[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act();
    });
    this.holder.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.scale.at(this.inside(event)));
    }, { passive: false });
    this.chart.addEventListener("click", (event) => {
      const mark = event.target instanceof Element ? event.target.closest("[data-card]") : null;
      if (mark) this.choose(mark.getAttribute("data-card") ?? "");
    });
    this.drag();
  }

  /** @returns {Record<string, () => void>} */
  keys() {
    const span = this.scale.to - this.scale.from;
    return {
      ArrowLeft: () => this.move(-span / 5),
      ArrowRight: () => this.move(span / 5),
      Home: () => this.move(-this.look.end),
      End: () => this.move(this.look.end),
      "+": () => this.zoom(0.5),
      "=": () => this.zoom(0.5),
      "-": () => this.zoom(2),
      "0": () => this.zoom(0),
      n: () => this.step(1),
      p: () => this.step(-1),
    };
  }

  /** Moving by dragging; a click stays a click. */
  drag() {
    /** @type {number | null} */
    let last = null;
    this.holder.addEventListener("pointerdown", (event) => {
      last = event.clientX;
    });
    this.holder.addEventListener("pointermove", (event) => {
      if (last === null || !event.buttons) return;
      this.move(((last - event.clientX) / this.scale.width) * (this.scale.to - this.scale.from));
      last = event.clientX;
    });
    for (const name of ["pointerup", "pointerleave"]) this.holder.addEventListener(name, () => last = null);
  }

  /** @param {MouseEvent} event */
  inside(event) {
    return event.clientX - this.chart.getBoundingClientRect().left - this.gutter();
  }

  gutter() {
    const longest = Math.max(10, ...this.look.members.map((member) => member.name.length));
    return this.holder.clientWidth < NARROW ? 0 : Math.min(200, 14 + longest * 7.2);
  }

  /**
   * Zoom by a factor about a moment; by 0 to all.
   * @param {number} by
   * @param {number} [at]
   */
  zoom(by, at = (this.scale.from + this.scale.to) / 2) {
    this.scale = zoomed(this.scale, by, at, this.look.end, LEAST_MS);
    this.draw();
  }

  /** @param {number} by milliseconds */
  move(by) {
    const span = this.scale.to - this.scale.from;
    const from = Math.max(0, Math.min(this.look.end - span, this.scale.from + by));
    this.scale = new Scale(from, from + span, this.scale.width);
    this.draw();
  }

  /** @param {number} by */
  step(by) {
    const marks = [...this.look.findings].sort((a, b) => a.at - b.at);
    if (!marks.length) return;
    const now = marks.findIndex((mark) => mark.card === this.chosen);
    const next = now < 0 && by < 0 ? marks.length - 1 : (now + by + marks.length) % marks.length;
    this.choose(marks[next].card);
  }

  /**
   * Show a finding and what belongs to it; false where it has no moment.
   * @param {string} card
   */
  show(card) {
    this.chosen = card;
    const mark = this.look.findings.find((each) => each.card === card);
    if (mark) {
      const [from, to] = around(mark.from, mark.to, this.look.end);
      this.scale = new Scale(from, to, this.scale.width);
    }
    this.draw();
    return mark !== undefined;
  }

  draw() {
    const whole = this.holder.clientWidth;
    if (!whole) return;
    const gutter = this.gutter();
    this.scale = new Scale(this.scale.from, this.scale.to, Math.max(50, whole - gutter - 2));
    const lanes = this.lanes(gutter === 0);
    const height = lanes.reduce((sum, lane) => sum + lane.height, TOP);
    const content = make(
      "svg:g",
      { transform: `translate(${gutter} 0)` },
      storms(this.look, this.scale, height),
      axis(this.look, this.scale, height),
    );
    let y = TOP;
    for (const lane of lanes) {
      const above = gutter ? 0 : 15;
      content.append(
        make("svg:text", {
          class: "lane",
          x: gutter ? -gutter + 2 : 2,
          y: gutter ? y + lane.middle + 4 : y + 11,
        }, lane.name),
        make("svg:g", { transform: `translate(0 ${y + above})` }, lane.node),
      );
      y += lane.height;
    }
    this.chart.setAttribute("viewBox", `0 0 ${whole} ${height}`);
    this.chart.setAttribute("width", String(whole));
    this.chart.setAttribute("height", String(height));
    this.chart.replaceChildren(content);
    const { from, to } = this.scale;
    say(this.range, `${clock(this.look.begin + from).slice(0, 8)} + ${lasting(to - from)}`);
  }

  /**
   * Each lane: its name, its height, what stands in it.
   * @param {boolean} narrow names stand above the lanes
   */
  lanes(narrow) {
    const above = narrow ? 15 : 0;
    const { look, scale } = this;
    const roomy = !narrow && look.members.length <= 16;
    const small = look.members.length > 40 ? 14 : roomy ? 34 : 24;
    const tall = roomy ? 80 : 52;
    const marks = findings(look, scale, this.chosen);
    const lanes = [
      { name: "findings", height: marks.height + 6 + above, middle: marks.height / 2, node: marks.node },
      { name: "rebalances", height: 24 + 6 + above, middle: 12, node: rebalances(look, scale, 24) },
    ];
    if (this.most) {
      const name = narrow ? `unread partitions (at most ${this.most})` : `unread ≤ ${this.most}`;
      lanes.push({
        name,
        height: tall + 6 + above,
        middle: tall / 2,
        node: unread(look, scale, tall, this.most),
      });
    }
    for (const member of look.members) {
      lanes.push({
        name: clipped(member.name),
        height: small + above,
        middle: small / 2,
        node: lives(look, member, scale, small),
      });
    }
    return lanes;
  }
}

/**
 * A name that fits beside its lane.
 * @param {string} name
 */
function clipped(name) {
  return name.length > 26 ? `${name.slice(0, 12)}…${name.slice(-12)}` : name;
}
