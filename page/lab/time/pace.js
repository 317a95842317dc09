// How fast time passes, and where a step leads: pure arithmetic, tested without a browser.

import { placeOf } from "../film/times.js";

const NEAR_MS = 1000;
const FAST = 8;
const SLOW = 0.5;
const SEEN_MS = 450;
const SLOWEST = 0.02;
const PIECE_MS = 16;

/**
 * The speed between events: quiet time passes quickly, time near events slowly, and events that follow each other
 * within moments take as long as it takes to see them.
 * @param {number[]} busy moments of events, rising
 * @param {number} at
 */
export function autoPace(busy, at) {
  const place = placeOf(busy, at);
  const before = place >= 0 ? busy[place] : -Infinity;
  const after = busy[place + 1] ?? Infinity;
  const gap = after - before;
  if (gap < SEEN_MS * SLOW) return Math.max(SLOWEST, Math.round((100 * gap) / SEEN_MS) / 100);
  return at - before < NEAR_MS || after - at < NEAR_MS ? SLOW : FAST;
}

/**
 * The moment after so many milliseconds of the reader's time, at a pace that changes on the way.
 * @param {number} at
 * @param {number} passed
 * @param {(at: number) => number} pace
 */
export function advance(at, passed, pace) {
  let now = at;
  for (let left = passed; left > 0; left -= PIECE_MS) now += Math.min(left, PIECE_MS) * pace(now);
  return Math.round(now * 10) / 10;
}

/**
 * The next or the previous of these moments; the end or the start where there is none.
 * @param {number} at
 * @param {1 | -1} direction
 * @param {number[]} times rising
 * @param {number} end
 */
export function stepFrom(at, direction, times, end) {
  let place = placeOf(times, at);
  if (direction > 0) return times[place + 1] ?? end;
  if (place >= 0 && times[place] === Math.round(at)) place -= 1;
  return place < 0 ? 0 : times[place];
}

/**
 * The moments that automatic speed slows down for.
 * @param {import("../film/format.js").Film} film
 */
export function busyTimes(film) {
  const tokens = film.slots.length <= 64 ? film.slots.flatMap((track) => track.times.slice(1)) : [];
  const times = [...film.marks.map((mark) => mark.at), ...film.groupTrack.times, ...tokens];
  return [...new Set(times)].sort((a, b) => a - b);
}
