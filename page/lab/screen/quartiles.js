// How a measure lies over many draws: from least to most as a line, the middle half as a box, this run as a dot.

import { make } from "../../shared/dom.js";

const WIDTH = 96;
const HEIGHT = 14;

/** @typedef {[least: number, lower: number, median: number, upper: number, most: number, here: number, below: number]} Spread */
/** @typedef {{ cells: (Spread | null)[], least: number | null, why: string }} DrawnRow */
/**
 * @typedef {{ count: number, done: boolean, wanted: number, rows: DrawnRow[], answer: string[], same: boolean, window_ms: number }} Drawn
 * `window_ms`: within how long what is done is moved
 */

/**
 * The ends of the line in figures.
 * @param {Spread} spread
 */
function rangeOf([least, , , , most]) {
  const [from, to] = [least, most].map((value) => (Math.round(value * 100) / 100).toLocaleString("en"));
  return make("small", { class: "rk-range" }, from === to ? `always ${from}` : `${from} to ${to}`);
}

/**
 * The strip of a cell and its ends in figures, on the scale of its row.
 * @param {Spread | null} spread
 * @param {number} most of the row
 * @param {number} count
 */
export function spreadStrip(spread, most, count) {
  if (!spread) return [];
  const [least, lower, median, upper, largest, here, below] = spread;
  const x = (/** @type {number} */ value) => 3 + ((WIDTH - 6) * value) / Math.max(most, 1e-9);
  const words =
    `${count} draws: ${least} to ${largest}, half of them from ${lower} to ${upper}, median ${median}; ` +
    `this run, ${here}, lies above ${below} % of them`;
  const strip = make(
    "svg:svg",
    { width: WIDTH, height: HEIGHT, class: "rk-spread", role: "img", "aria-label": words },
    make("svg:title", {}, words),
    make("svg:line", { x1: x(least), x2: x(largest), y1: 7, y2: 7 }),
    make("svg:rect", { x: x(lower), y: 3, width: Math.max(1.5, x(upper) - x(lower)), height: 8 }),
    make("svg:line", { x1: x(median), x2: x(median), y1: 3, y2: 11, class: "rk-median" }),
    make("svg:circle", { cx: x(here), cy: 7, r: 3 }),
  );
  return [strip, rangeOf(spread)];
}

/** @param {(Spread | null)[]} cells */
export function mostOf(cells) {
  return Math.max(0, ...cells.flatMap((cell) => cell ? [cell[4], cell[5]] : []));
}
