// Where a partition stands between two looks at it.

import { placeOf } from "./times.js";

/** @typedef {[at: number, position: number, end: number, committed: number]} Look committed is -1 for none */
/** @typedef {{ position: number, end: number, committed: number }} Position */

/**
 * Looks from their differences.
 * @param {number[]} flat
 * @returns {Look[]}
 */
export function decodePositions(flat) {
  /** @type {Look[]} */
  const looks = [];
  /** @type {Look} */
  let last = [0, 0, 0, 0];
  for (let i = 0; i < flat.length; i += 4) {
    last = /** @type {Look} */ (last.map((value, k) => value + flat[i + k]));
    looks.push(last);
  }
  return looks;
}

/**
 * The log grows evenly between two looks, and an owner that kept up keeps up.
 * @param {Look[] | undefined} looks
 * @param {number} at
 * @param {boolean} flows
 * @returns {Position | null}
 */
export function positionBetween(looks, at, flows) {
  if (!looks || !looks.length) return null;
  const place = placeOf(looks.map((look) => look[0]), at);
  if (place < 0) return null;
  const [since, position, end, committed] = looks[place];
  const next = looks[place + 1];
  const [until, thenPosition, thenEnd] = next ||
    [at, 0, end + Math.round(growth(looks, place) * (at - since))];
  const share = until > since ? (at - since) / (until - since) : 1;
  const logEnd = Math.max(end, Math.round(end + (thenEnd - end) * share));
  if (!flows) return { position, end: logEnd, committed };
  if (next && thenEnd - thenPosition > Math.max(2, end - position)) {
    return { position: Math.round(position + (thenPosition - position) * share), end: logEnd, committed };
  }
  const behind = next ? Math.max(0, thenEnd - thenPosition) : 0;
  return { position: Math.max(position, logEnd - behind), end: Math.max(logEnd, position), committed };
}

/**
 * Records per millisecond from the first look to this one.
 * @param {Look[]} looks
 * @param {number} place
 */
function growth(looks, place) {
  const [first, here] = [looks[0], looks[place]];
  return here[0] > first[0] ? (here[2] - first[2]) / (here[0] - first[0]) : 0;
}

/**
 * Where a partition of a film stands; null where the film does not know it.
 * @param {import("./format.js").Film} film
 * @param {number} partition
 * @param {number} at
 * @param {boolean} flows
 */
export function positionAt(film, partition, at, flows) {
  return positionBetween(film.positions?.[partition], at, flows);
}
