// Moments in words, and places in sorted lists of moments.

/**
 * The last place in sorted `times` that is not after `at`; -1 when all are after.
 * @param {number[]} times
 * @param {number} at
 */
export function placeOf(times, at) {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/**
 * Waits from one moment to the next, added up to moments.
 * @param {number[]} waits
 */
export function sums(waits) {
  let at = 0;
  return waits.map((wait) => (at += wait));
}

/**
 * One decimal; a tie such as 11.25 s goes to the even digit, as Python rounds it in the text twin.
 * @param {number} ms
 */
export function seconds(ms) {
  return `${((ms % 1000 === 250 ? ms - 1 : ms) / 1000).toFixed(1)} s`;
}

/** @param {number} ms */
export function milliseconds(ms) {
  return `${(ms / 1000).toFixed(3)} s`;
}
