// Offsets of records that came twice or were skipped.

/** Most ranges of offsets that are named. */
const SPANS = 3;

/** @typedef {import("../film/format.js").Delivery} Delivery */
/** @typedef {{ first: number, count: number }} Records */

/**
 * What came twice or was skipped in a partition so far.
 * @param {import("../film/format.js").Film} film
 * @param {number} partition
 * @param {number} at
 */
export function deliveriesOf(film, partition, at) {
  return film.deliveries.filter((each) => each.partition === partition && each.at <= at);
}

/**
 * How many records came twice, or were skipped.
 * @param {Delivery[]} events
 * @param {string} kind
 */
export function countOf(events, kind) {
  return events.reduce((sum, each) => sum + (each.kind === kind ? each.count : 0), 0);
}

/**
 * How many records came twice, or were skipped, and which.
 * @param {Delivery[]} events of one partition
 * @param {string} kind
 */
export function kindWords(events, kind) {
  const words = kind === "twice" ? "came twice" : "skipped";
  return `${countOf(events, kind)} ${words}: ${offsetsOf(events.filter((each) => each.kind === kind))}`;
}

/**
 * What came twice and what was skipped in a partition so far, in words each.
 * @param {import("../film/format.js").Film} film
 * @param {number} partition
 * @param {number} at
 */
export function recordsWords(film, partition, at) {
  const events = deliveriesOf(film, partition, at);
  return ["twice", "skipped"].filter((kind) => countOf(events, kind)).map((kind) => kindWords(events, kind));
}

/**
 * First and last offsets in words; what touches or overlaps is one span, and above a handful the rest is counted.
 * @param {Records[]} events of one partition
 */
export function offsetsOf(events) {
  const spans = merged(events);
  const all = spans.map(([first, last]) => first === last ? `${first}` : `${first} to ${last}`);
  const told = all.length > SPANS
    ? [...all.slice(0, SPANS - 1), `${all.length - SPANS + 1} more ranges`]
    : all;
  const one = spans.length === 1 && spans[0][0] === spans[0][1];
  const words = told.length > 1
    ? `${told.slice(0, -1).join(", ")} and ${told[told.length - 1]}`
    : told.join("");
  return `offset${one ? "" : "s"} ${words}`;
}

/**
 * @param {Records[]} events
 * @returns {[number, number][]}
 */
function merged(events) {
  const spans = events.map(({ first, count }) => /** @type {[number, number]} */ ([first, first + count - 1]))
    .sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  /** @type {[number, number][]} */
  const found = [];
  for (const [first, last] of spans) {
    const before = found[found.length - 1];
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else found.push([first, last]);
  }
  return found;
}
