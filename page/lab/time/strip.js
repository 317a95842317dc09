// The strip: all of time as one picture, under one slider. Bars are drawn once per film and theme.

import { make, say, set } from "../../shared/dom.js";
import { seconds } from "../film/times.js";
import { clusters, labelled } from "./marks.js";
import { Painter, sharpPen } from "./painter.js";
import { labelShift, Scale } from "./scale.js";

const STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600];
const MOST_TICKS = 10;
const HEIGHT = 36;
const MARGIN = 26;
const SIGNS = /** @type {Record<string, string>} */ ({
  fault: "×",
  rebalance: "◆",
  timer: "◷",
  action: "+",
  twice: "◎",
  skipped: "⊠",
});

/** The strip below the board. */
export class Strip {
  /** @param {(at: number, dragging: boolean) => void} onSeek */
  constructor(onSeek) {
    this.scale = new Scale(0, 1, 1);
    this.marks = make("div", { class: "rk-marks", "aria-hidden": "true" });
    this.canvas = make("canvas", { "aria-hidden": "true" });
    this.clock = make("b");
    this.cursor = make("i", { class: "rk-cursor", "aria-hidden": "true" }, this.clock);
    this.axis = make("div", { class: "rk-axis", "aria-hidden": "true" });
    const slides = { type: "range", class: "rk-slider", min: 0, step: 100, "aria-label": "Time" };
    this.slider = make("input", slides);
    this.root = make(
      "div",
      { class: "rk-strip" },
      this.marks,
      this.canvas,
      this.axis,
      this.cursor,
      this.slider,
    );
    this.slider.addEventListener("input", () => onSeek(Number(this.slider.value), true));
    this.slider.addEventListener("change", () => onSeek(Number(this.slider.value), false));
  }

  /**
   * @param {import("../film/format.js").Film} film
   * @param {number} width
   */
  show(film, width) {
    this.scale = new Scale(0, film.end, width - 40);
    set(this.slider, "max", film.end);
    this.drawMarks(film.marks);
    const { ticks } = this.scale.ticks(STEPS_S, MOST_TICKS);
    this.axis.replaceChildren(
      ...ticks.map((at) => make("span", { style: `left:${this.scale.x(at * 1000)}px` }, String(at))),
    );
    const pen = sharpPen(this.canvas, this.scale.width, HEIGHT);
    new Painter(this.root).drawRun(pen, film, this.scale, HEIGHT);
  }

  /** @param {import("../film/format.js").Mark[]} marks */
  drawMarks(marks) {
    const shown = clusters(marks, this.scale);
    const labels = labelled(shown, this.scale);
    this.marks.replaceChildren(...shown.map((cluster) => {
      const flip = labels.get(cluster) ? " rk-flip" : "";
      const title = cluster.marks.map((mark) => `${seconds(mark.at)} ${mark.words}`).join("\n");
      const looks = { class: `rk-mark rk-${cluster.kind}${flip}`, style: `left:${cluster.x}px`, title };
      const signs = cluster.signs.map((mark) => make("i", {}, SIGNS[mark.kind]));
      return make("span", looks, ...signs, labels.has(cluster) ? cluster.words : "");
    }));
  }

  /**
   * Move the cursor to a moment.
   * @param {number} at
   * @param {string} words what a screen reader says of it
   */
  paint(at, words) {
    const x = this.scale.x(at);
    this.cursor.style.transform = `translateX(${x}px)`;
    this.root.style.setProperty("--rk-fog", `${x}px`);
    say(this.clock, seconds(at));
    this.clock.style.marginLeft = `${labelShift(x, this.scale.width, MARGIN)}px`;
    this.slider.value = String(at);
    set(this.slider, "aria-valuetext", words);
  }
}
