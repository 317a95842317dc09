// Marks above the strip: which are shown, and which have room for their words.

/** What is told first where there is no room for all. */
const WEIGHT = /** @type {Record<string, number>} */ ({ fault: 0, timer: 1, action: 2, rebalance: 3 });
const SIDE = 6;
const LETTER = 6.6;

/** @typedef {import("../film/format.js").Mark} Mark */

/**
 * Marks of a run, without what was done from outside and without rebalances that stand on another mark.
 * @param {Mark[]} marks
 * @param {import("./scale.js").Scale} scale
 */
export function shownMarks(marks, scale) {
  const all = marks.filter((mark) => mark.kind !== "done" && mark.at > 0);
  const others = all.filter((mark) => mark.kind !== "rebalance");
  return all.filter((mark) =>
    mark.kind !== "rebalance" || !others.some((other) => Math.abs(scale.x(other.at) - scale.x(mark.at)) < 9)
  );
}

/**
 * Marks whose words have room, and whether they stand left of the sign.
 * @param {Mark[]} shown
 * @param {import("./scale.js").Scale} scale
 * @returns {Map<Mark, boolean>}
 */
export function labelled(shown, scale) {
  const taken = shown.map((mark) => ({ from: scale.x(mark.at) - SIDE, to: scale.x(mark.at) + SIDE, mark }));
  const labels = new Map();
  const wordy = shown.filter((mark) => mark.kind !== "rebalance");
  for (const mark of wordy.sort((a, b) => WEIGHT[a.kind] - WEIGHT[b.kind] || a.at - b.at)) {
    const x = scale.x(mark.at);
    const room = mark.words.length * LETTER + 16;
    const flip = x + room > scale.width;
    const [from, to] = flip ? [x - room, x] : [x, x + room];
    if (taken.some((other) => other.mark !== mark && other.from < to && other.to > from)) continue;
    taken.push({ from, to, mark });
    labels.set(mark, flip);
  }
  return labels;
}
