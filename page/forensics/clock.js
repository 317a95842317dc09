// Times of day in UTC, and the steps of an axis: arithmetic without a browser.

/** Steps of the axis in seconds: from a millisecond to thirty days. */
export const STEPS = [
  0.001,
  0.002,
  0.005,
  0.01,
  0.02,
  0.05,
  0.1,
  0.2,
  0.5,
  1,
  2,
  5,
  10,
  15,
  20,
  30,
  60,
  120,
  300,
  600,
  1_800,
  3_600,
  7_200,
  21_600,
  43_200,
  86_400,
  172_800,
  604_800,
  2_592_000,
];

/**
 * A moment as the axis writes it: the date where a step is a day or more, milliseconds where it is less than a second.
 * @param {number} at milliseconds since 1970
 * @param {number} step seconds
 */
export function tick(at, step) {
  const iso = new Date(at).toISOString();
  if (step >= 86_400) return iso.slice(0, 10);
  if (step >= 60) return iso.slice(11, 16);
  return step >= 1 ? iso.slice(11, 19) : iso.slice(11, 23);
}

/**
 * A time of day to the millisecond.
 * @param {number} at milliseconds since 1970
 */
export function clock(at) {
  return new Date(at).toISOString().slice(11, 23);
}

/**
 * A duration as people say it.
 * @param {number} ms
 */
export function lasting(ms) {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 120_000 ? `${(ms / 1000).toFixed(1)} s` : `${(ms / 60_000).toFixed(1)} min`;
}

/**
 * The stretch to show for something that lasted from one moment to another: half as much room on both sides.
 * @param {number} from
 * @param {number} to
 * @param {number} end the last moment that can be shown
 * @returns {[number, number]}
 */
export function around(from, to, end) {
  const room = Math.max(1_000, (to - from) / 2);
  return [Math.max(0, from - room), Math.min(end, to + room)];
}
