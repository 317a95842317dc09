// What the timeline of a group is drawn of, lane by lane. Text is set as text only.

import { make } from "../shared/dom.js";
import { Scale } from "../lab/time/scale.js";
import { clock, lasting, STEPS, tick } from "./clock.js";
import { rows } from "./marks.js";

/**
 * @typedef {{ name: string, hue: number, lives: [number, number | null, string][], gaps: [number, number][] }} Member
 * @typedef {{ card: string, label: string, at: number, from: number, to: number }} Mark
 * @typedef {{
 *   begin: number, end: number, members: Member[], more: number, unread: [number, number][], storms: [number, number][],
 *   rebalances: { number: number, from: number, to: number | null, hue: number, why: string }[], findings: Mark[],
 * }} Look
 */

const MARK = 24;
const MARK_ROWS = 3;
const [TICK_PX, LONG_TICK_PX] = [80, 106];

/**
 * The axis: a line and a time per step.
 * @param {Look} look
 * @param {Scale} scale
 * @param {number} height
 */
export function axis(look, scale, height) {
  const [from, to] = [scale.from + look.begin, scale.to + look.begin];
  const day = new Date(from).setUTCHours(0, 0, 0, 0);
  const whole = new Scale(from - day, to - day, scale.width);
  const most = (/** @type {number} */ px) => Math.max(2, Math.floor(scale.width / px));
  const short = whole.ticks(STEPS, most(TICK_PX));
  const { step, ticks } = short.step < 1 ? whole.ticks(STEPS, most(LONG_TICK_PX)) : short;
  return make(
    "svg:g",
    { class: "axis" },
    ...ticks.flatMap((/** @type {number} */ second) => {
      const x = scale.x(day + second * 1000 - look.begin);
      const edge = x < 34 ? "start" : x > scale.width - 34 ? "end" : "middle";
      return [
        make("svg:line", { x1: x, x2: x, y1: 18, y2: height }),
        make("svg:text", { x, y: 12, "text-anchor": edge }, tick(day + second * 1000, step)),
      ];
    }),
  );
}

/**
 * Storms as a shade behind all lanes.
 * @param {Look} look
 * @param {Scale} scale
 * @param {number} height
 */
export function storms(look, scale, height) {
  return make(
    "svg:g",
    { class: "storm" },
    ...look.storms.map(([from, to]) => {
      const span = scale.clip(from, to);
      return span && make("svg:rect", { x: span.left, y: 18, width: span.width, height: height - 18 });
    }),
  );
}

/**
 * Findings as numbered marks at their moments.
 * @param {Look} look
 * @param {Scale} scale
 * @param {string | null} chosen
 * @returns {{ node: Element, height: number }}
 */
export function findings(look, scale, chosen) {
  const seen = look.findings.filter((mark) => mark.at >= scale.from && mark.at <= scale.to);
  const left = seen.map((mark) => Math.max(0, Math.min(scale.width - MARK, scale.x(mark.at) - MARK / 2)));
  const places = rows(left, MARK, MARK_ROWS);
  const nodes = seen.map((mark, index) => {
    const row = places[index];
    if (row === null) return null;
    const [x, y] = [left[index] + MARK / 2, row * MARK + MARK / 2];
    const state = mark.card === chosen ? "mark chosen" : "mark";
    return make(
      "svg:g",
      { class: state, "data-card": mark.card, transform: `translate(${x} ${y})` },
      make("svg:circle", { r: MARK / 2 - 2 }),
      make("svg:text", { y: 4.5, "text-anchor": "middle" }, mark.label),
    );
  });
  const hidden = places.filter((row) => row === null).length;
  const more = hidden
    ? [make("svg:text", { class: "more", x: 0, y: MARK_ROWS * MARK + 12 }, `+${hidden} more: zoom in`)]
    : [];
  const height = MARK * Math.max(1, ...places.map((row) => (row ?? 0) + 1)) + (hidden ? 16 : 0);
  return { node: make("svg:g", {}, ...nodes, ...more), height };
}

/**
 * Rebalances as bars in the colour of the culprit.
 * @param {Look} look
 * @param {Scale} scale
 * @param {number} height
 */
export function rebalances(look, scale, height) {
  const bars = look.rebalances.map((row) => {
    const span = scale.clip(row.from, row.to ?? look.end);
    if (!span) return null;
    const width = Math.max(3, span.width);
    const text = width > 18
      ? make("svg:text", { x: span.left + 4, y: height / 2 + 4 }, String(row.number))
      : null;
    const lasted = row.to === null ? "no end here" : lasting(row.to - row.from);
    const title = make(
      "svg:title",
      {},
      `${row.number}. ${clock(look.begin + row.from)}, ${lasted}: ${row.why}`,
    );
    const bar = make("svg:rect", {
      class: `bar h${row.hue}`,
      x: span.left,
      y: 2,
      width,
      height: height - 4,
      rx: 2,
    }, title);
    return make("svg:g", { class: `on h${row.hue}` }, bar, text);
  });
  return make("svg:g", {}, ...bars);
}

/**
 * How many partitions nobody reads.
 * @param {Look} look
 * @param {Scale} scale
 * @param {number} height
 * @param {number} most the highest count of the whole look
 */
export function unread(look, scale, height, most) {
  const x = (/** @type {number} */ at) => Math.max(-2, Math.min(scale.width + 2, scale.x(at)));
  let path = `M-2 ${height}`;
  for (const [at, count] of look.unread) {
    path += `H${x(at).toFixed(1)}V${(height - (count / most) * (height - 4)).toFixed(1)}`;
  }
  return make("svg:g", { class: "unread" }, make("svg:path", { d: `${path}H${scale.width + 2}V${height}Z` }));
}

/**
 * A member's lives, the times when partitions of it were unread, and how each life ended.
 * @param {Look} look
 * @param {Member} member
 * @param {Scale} scale
 * @param {number} height
 */
export function lives(look, member, scale, height) {
  const middle = height / 2;
  const nodes = member.lives.flatMap(([from, to, end]) => {
    const span = scale.clip(from, to ?? look.end);
    if (!span) return [];
    const until = to === null ? "still a member when the logs end" : `${end} ${clock(look.begin + to)}`;
    const title = make("svg:title", {}, `${member.name}: ${clock(look.begin + from)}, ${until}`);
    const bar = make("svg:rect", {
      class: `life h${member.hue}`,
      x: span.left,
      y: middle - 4,
      width: span.width,
      height: 8,
    }, title);
    return [bar];
  });
  const gaps = member.gaps.map(([from, to]) => {
    const span = scale.clip(from, to);
    const title = make(
      "svg:title",
      {},
      `partitions of ${member.name} unread: ${clock(look.begin + from)}, ${lasting(to - from)}`,
    );
    return span &&
      make("svg:rect", { class: "gap", x: span.left, y: middle - 2, width: span.width, height: 4 }, title);
  });
  const ends = member.lives.flatMap(([, to, end]) =>
    to === null || to < scale.from || to > scale.to ? [] : [ending(end, scale.x(to), middle)]
  );
  return make("svg:g", {}, ...nodes, ...gaps, ...ends);
}

/**
 * @param {string} end
 * @param {number} x
 * @param {number} y
 */
function ending(end, x, y) {
  const bad = end === "expired" || end === "fenced";
  const path = bad ? `M${x - 6} ${y - 6}l12 12m0 -12l-12 12` : `M${x} ${y - 7}v14`;
  const mark = make("svg:path", { class: bad ? "end bad" : "end", d: path });
  return bad ? make("svg:g", {}, make("svg:path", { class: "under", d: path }), mark) : mark;
}
