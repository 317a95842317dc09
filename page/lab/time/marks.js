// Marks above the strip: those that stand on each other share a place, and some have room for words.

import { MARKS } from "../../generated/kinds.js";

const SIDE = 6;
const LETTER = 6.6, BOLD = 7.4;
const SIGN = 12;
const MOST_SIGNS = 3;

/** @typedef {import("../film/format.js").Mark} Mark */
/** @typedef {import("../../generated/kinds.js").MarkKind} MarkKind */
/** @typedef {{ x: number, marks: Mark[], signs: Mark[], words: string, kind: MarkKind }} Cluster */

/**
 * Marks of a run by place, without what only ends a rebalance; the heaviest of a place gives its words.
 * @param {Mark[]} marks
 * @param {import("./scale.js").Scale} scale
 * @param {number} [large] how much larger signs are than usual
 * @returns {Cluster[]}
 */
export function clusters(marks, scale, large = 1) {
  /** @type {Cluster[]} */
  const found = [];
  for (const mark of marks.filter((each) => MARKS[each.kind].sign && each.at > 0)) {
    const last = found[found.length - 1];
    if (last && scale.x(mark.at) - last.x < SIGN * large * signsOf(last)) last.marks.push(mark);
    else found.push({ x: scale.x(mark.at), marks: [mark], signs: [], words: "", kind: mark.kind });
  }
  for (const cluster of found) {
    const byWeight = [...cluster.marks].sort((a, b) =>
      MARKS[a.kind].weight - MARKS[b.kind].weight || a.at - b.at
    );
    const kinds = byWeight.filter((mark, place) => mark.kind !== byWeight[place - 1]?.kind);
    const others = kinds.filter((mark) => mark.kind !== "rebalance");
    cluster.signs = (others.length ? others : kinds).slice(0, MOST_SIGNS);
    cluster.kind = byWeight[0].kind;
    cluster.words = cluster.kind === "rebalance" ? "" : byWeight[0].words;
  }
  return found;
}

/**
 * How many signs stand beside each other at a place.
 * @param {Cluster} cluster
 */
function signsOf({ marks }) {
  const kinds = new Set(marks.map((mark) => mark.kind));
  return Math.min(MOST_SIGNS, kinds.size > 1 && kinds.has("rebalance") ? kinds.size - 1 : kinds.size);
}

/**
 * Places whose words have room, and whether they stand left of the sign. A fault is told wherever it stands: its words
 * take the room of signs that only say that a rebalance begins, and those clusters lose their signs.
 * @param {Cluster[]} shown
 * @param {import("./scale.js").Scale} scale
 * @param {number} [large] how much larger letters and signs are than usual
 * @returns {Map<Cluster, boolean>}
 */
export function labelled(shown, scale, large = 1) {
  const sign = SIGN * large;
  let taken = shown.map((cluster) => {
    const from = cluster.x - SIDE;
    return { from, to: from + sign * cluster.signs.length, cluster };
  });
  const labels = new Map();
  const wordy = shown.filter((cluster) => cluster.words);
  for (const cluster of wordy.sort((a, b) => MARKS[a.kind].weight - MARKS[b.kind].weight || a.x - b.x)) {
    const letter = MARKS[cluster.kind].strong ? BOLD : LETTER;
    const room = cluster.words.length * letter * large + 16 + sign * (cluster.signs.length - 1);
    const sides = [false, true].map((flip) => {
      const [from, to] = flip ? [cluster.x - room, cluster.x + SIDE] : [cluster.x, cluster.x + room];
      const inWay = taken.filter((other) => other.cluster !== cluster && other.from < to && other.to > from);
      return { flip, from, to, inWay };
    }).filter(({ from, to }) => from >= 0 && to <= scale.width);
    const weaker = cluster.kind === "fault" ? "rebalance" : "";
    const side = sides.find(({ inWay }) => !inWay.length) ??
      sides.find(({ inWay }) => inWay.every((other) => other.cluster.kind === weaker));
    if (!side) continue;
    side.inWay.forEach((other) => (other.cluster.signs = []));
    taken = [...taken.filter((other) => !side.inWay.includes(other)), { ...side, cluster }];
    labels.set(cluster, side.flip);
  }
  return labels;
}
