// The strip: all of time as one picture, under one slider. Bars are drawn once per film and theme.

import { MARKS } from "../../generated/kinds.js";
import { make, say, set } from "../../shared/dom.js";
import { seconds } from "../film/times.js";
import { clusters, labelled } from "./marks.js";
import { drawsCounts, Painter, sharpPen } from "./painter.js";
import { labelShift, reachOf, Scale } from "./scale.js";

const STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600];
/** Below this width the cover of the future has no room for its words. */
const FOG_WORDS = 130;
const MOST_TICKS = 10;
const HEIGHT = 36;
const MARGIN = 26;
/** The usual size of letters; for a projector they are larger. */
const LETTERS_PX = 11.5;

/** How wide half a number of the axis is at most, in letters of the clock, for each of its digits. */
const DIGIT_SHARE = 1.2;

/** How strongly a future is drawn that is only foreseen. */
const PALE = 0.5;

/** The strip below the board. */
export class Strip {
  /** @param {(at: number, dragging: boolean) => void} onSeek */
  constructor(onSeek) {
    this.scale = new Scale(0, 1, 1);
    this.film = /** @type {import("../film/format.js").Film} */ (/** @type {unknown} */ (null)); // until the first is shown
    this.width = 0;
    this.reach = 0;
    this.lesson = "";
    this.at = 0;
    this.words = "";
    this.letters = 0;
    this.reaches = 0;
    this.rows = make("div", { class: "rk-striprows", "aria-hidden": "true" });
    this.rows.append(make("span", {}, "rebalance"), make("span", {}, "unread"));
    this.would = make("span", { class: "rk-would", "aria-hidden": "true" });
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
      this.rows,
      this.would,
      this.axis,
      this.cursor,
      this.slider,
    );
    this.marks.addEventListener("click", ({ target }) => {
      const mark = /** @type {Element} */ (target).closest(".rk-mark");
      if (mark instanceof HTMLElement) onSeek(Number(mark.dataset.at), false);
    });
    this.slider.addEventListener("input", () => onSeek(Number(this.slider.value), true));
    this.slider.addEventListener("change", () => onSeek(Number(this.slider.value), false));
  }

  /**
   * @param {import("../film/format.js").Film} film
   * @param {number} width
   * @param {string} lesson as long as it stays the same, the axis never shrinks
   */
  show(film, width, lesson) {
    this.film = film;
    this.width = width;
    if (lesson !== this.lesson) this.reach = 0;
    this.lesson = lesson;
    this.draw(null, film.end);
  }

  /**
   * Show pale, right of a moment, what a deed would make of the run; the axis is long enough for both.
   * @param {import("../film/format.js").Film} then
   * @param {number} from
   * @param {string} words
   */
  ghost(then, from, words) {
    this.draw(then, from);
    say(this.would, words);
    this.would.style.left = `${Math.min(this.scale.x(from) + 32, this.scale.width - 200)}px`;
    this.follow();
  }

  /** Show the run alone again. */
  unghost() {
    if (!this.would.textContent) return;
    this.draw(null, this.film.end);
    this.follow();
  }

  /**
   * @param {import("../film/format.js").Film | null} then
   * @param {number} from where `then` takes over
   */
  draw(then, from) {
    const { film } = this;
    this.letters = 0; // as large as the theme has them now
    say(this.would, "");
    this.root.classList.toggle("rk-ghosted", then !== null);
    const reach = reachOf(this.reach, Math.max(film.end, then?.end ?? 0));
    if (!then) this.reach = reach; // a look leaves nothing behind
    this.scale = new Scale(0, reach, this.width - 40);
    set(this.slider, "max", reach);
    this.root.style.setProperty("--rk-end", `${this.scale.x(Math.max(film.end, then?.end ?? 0))}px`);
    const past = film.marks.filter((mark) => !then || mark.at < from);
    this.drawMarks([...past, ...then?.marks.filter((mark) => mark.at >= from) ?? []], from);
    const { ticks } = this.scale.ticks(STEPS_S, MOST_TICKS);
    this.axis.replaceChildren(
      ...ticks.map((at) => make("span", { style: `left:${this.scale.x(at * 1000)}px` }, String(at))),
    );
    const pen = sharpPen(this.canvas, this.scale.width, HEIGHT);
    const painter = new Painter(this.root);
    painter.drawRun(pen, film, this.scale, HEIGHT);
    this.rows.hidden = !drawsCounts(film);
    if (then) this.drawGhost(pen, painter, then, from);
  }

  /**
   * @param {CanvasRenderingContext2D} pen
   * @param {Painter} painter
   * @param {import("../film/format.js").Film} then
   * @param {number} from
   */
  drawGhost(pen, painter, then, from) {
    const x = this.scale.x(from);
    pen.clearRect(x, 0, this.scale.width - x, HEIGHT);
    pen.save();
    pen.beginPath();
    pen.rect(x, 0, this.scale.width - x, HEIGHT);
    pen.clip();
    pen.globalAlpha = PALE;
    painter.drawRun(pen, then, this.scale, HEIGHT);
    pen.restore();
  }

  /**
   * @param {import("../film/format.js").Mark[]} marks
   * @param {number} from marks from here on are only foreseen, while a deed is
   */
  drawMarks(marks, from) {
    const large = this.root.closest(".rk-projector") ? lettersOf(this.marks) : 1;
    const shown = clusters(marks, this.scale, large);
    const labels = labelled(shown, this.scale, large);
    this.marks.replaceChildren(...shown.map((cluster) => {
      const { colour, strong } = MARKS[cluster.kind];
      const flip = labels.get(cluster) ? " rk-flip" : "";
      const pale = cluster.marks.some((mark) => mark.at >= from) ? " rk-foreseen" : "";
      const title = cluster.marks.map((mark) => `${seconds(mark.at)} ${mark.words}`).join("\n");
      const looks = {
        class: `rk-mark rk-${cluster.kind}${strong ? " rk-strong" : ""}${flip}${pale}`,
        style: `left:${cluster.x}px;--rk-mark:var(--rk-${colour})`,
        title,
        "data-at": (cluster.marks.find((mark) => mark.words === cluster.words) ?? cluster.marks[0]).at,
      };
      const signs = cluster.signs.map((mark) => make("i", {}, MARKS[mark.kind].sign));
      return make("span", looks, ...signs, labels.has(cluster) ? cluster.words : "");
    }));
  }

  /**
   * Move the cursor to a moment.
   * @param {number} at
   * @param {string} words what a screen reader says of it
   */
  paint(at, words) {
    this.at = at;
    this.words = words;
    this.follow();
  }

  /** Put the cursor where its moment stands. */
  follow() {
    const { at, words } = this;
    const x = this.scale.x(at);
    this.cursor.style.transform = `translateX(${x}px)`;
    this.root.style.setProperty("--rk-fog", `${x}px`);
    this.root.classList.toggle("rk-thinfog", this.scale.width - x < FOG_WORDS);
    say(this.clock, seconds(at));
    this.clock.style.marginLeft = `${labelShift(x, this.scale.width, MARGIN)}px`;
    this.slider.value = String(at);
    set(this.slider, "aria-valuetext", words);
    this.clear(x + labelShift(x, this.scale.width, MARGIN));
  }

  /**
   * Hide the numbers of the axis that the clock would cover in part.
   * @param {number} x the middle of the clock
   */
  clear(x) {
    if (this.letters !== this.clock.textContent.length) {
      this.letters = this.clock.textContent.length;
      this.reaches = this.clock.offsetWidth / 2;
    }
    for (const tick of /** @type {Iterable<HTMLElement>} */ (this.axis.children)) {
      const half = tick.textContent.length * DIGIT_SHARE * this.reaches / this.letters;
      tick.style.visibility = Math.abs(Number.parseFloat(tick.style.left) - x) < this.reaches + half
        ? "hidden"
        : "";
    }
  }
}

/**
 * How much larger letters are than usual.
 * @param {Element} node
 */
function lettersOf(node) {
  return (Number.parseFloat(getComputedStyle(node).fontSize) || LETTERS_PX) / LETTERS_PX;
}
