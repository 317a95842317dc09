// Marks above the strip: those that stand on each other share a place, and some have room for words.

/** What is told first where there is no room for all. */
const WEIGHT = /** @type {Record<string, number>} */ ({
  fault: 0,
  skipped: 1,
  twice: 2,
  timer: 3,
  action: 4,
  rebalance: 5,
});
const SIDE = 6;
const LETTER = 6.6;
const SIGN = 12;
const MOST_SIGNS = 3;

/** @typedef {import("../film/format.js").Mark} Mark */
/** @typedef {{ x: number, marks: Mark[], signs: Mark[], words: string, kind: string }} Cluster */

/**
 * Marks of a run by place, without what only ends a rebalance; the heaviest of a place gives its words.
 * @param {Mark[]} marks
 * @param {import("./scale.js").Scale} scale
 * @returns {Cluster[]}
 */
export function clusters(marks, scale) {
  /** @type {Cluster[]} */
  const found = [];
  for (const mark of marks.filter((each) => each.kind !== "done" && each.at > 0)) {
    const last = found[found.length - 1];
    if (last && scale.x(mark.at) - last.x < SIGN) last.marks.push(mark);
    else found.push({ x: scale.x(mark.at), marks: [mark], signs: [], words: "", kind: "" });
  }
  for (const cluster of found) {
    const byWeight = [...cluster.marks].sort((a, b) => WEIGHT[a.kind] - WEIGHT[b.kind] || a.at - b.at);
    const kinds = byWeight.filter((mark, place) => mark.kind !== byWeight[place - 1]?.kind);
    const others = kinds.filter((mark) => mark.kind !== "rebalance");
    cluster.signs = (others.length ? others : kinds).slice(0, MOST_SIGNS);
    cluster.kind = byWeight[0].kind;
    cluster.words = cluster.kind === "rebalance" ? "" : byWeight[0].words;
  }
  return found;
}

/**
 * Places whose words have room, and whether they stand left of the sign.
 * @param {Cluster[]} shown
 * @param {import("./scale.js").Scale} scale
 * @returns {Map<Cluster, boolean>}
 */
export function labelled(shown, scale) {
  const taken = shown.map((cluster) => {
    const from = cluster.x - SIDE;
    return { from, to: from + SIGN * cluster.signs.length, cluster };
  });
  const labels = new Map();
  const wordy = shown.filter((cluster) => cluster.words);
  for (const cluster of wordy.sort((a, b) => WEIGHT[a.kind] - WEIGHT[b.kind] || a.x - b.x)) {
    const room = cluster.words.length * LETTER + 16 + SIGN * (cluster.signs.length - 1);
    const flip = cluster.x + room > scale.width;
    const [from, to] = flip ? [cluster.x - room, cluster.x + SIDE] : [cluster.x, cluster.x + room];
    if (taken.some((other) => other.cluster !== cluster && other.from < to && other.to > from)) continue;
    taken.push({ from, to, cluster });
    labels.set(cluster, flip);
  }
  return labels;
}
