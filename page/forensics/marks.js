// Where the numbered marks of findings stand so that none hides another: arithmetic without a browser.

/**
 * A row for each mark, from 0: the first in which the mark before it leaves room; null where all rows are full there.
 * @param {number[]} places in pixels, in any order
 * @param {number} width of a mark
 * @param {number} most rows
 * @returns {(number | null)[]}
 */
export function rows(places, width, most) {
  /** @type {number[]} */
  const ends = [];
  /** @type {(number | null)[]} */
  const found = places.map(() => null);
  const order = places.map((_, index) => index).sort((a, b) => places[a] - places[b] || a - b);
  for (const index of order) {
    const free = Array.from({ length: most }, (_, row) => row).find((row) =>
      (ends[row] ?? -Infinity) <= places[index]
    );
    if (free === undefined) continue;
    ends[free] = places[index] + width;
    found[index] = free;
  }
  return found;
}
