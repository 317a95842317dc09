// Which rows the timeline shows: the group, members to whom something happened, partitions that changed.

import { partitionBars, stateAt } from "../film/tracks.js";

const MOST_ROWS = 60;
const ALL_ROWS = 24;
const ALL_MEMBERS = 12;
const MOST_MEMBERS = 8;
/** Kinds of marks that name a member to whom something was done. */
const ACTED = new Set(["fault", "action", "timer"]);

/** @typedef {{ name: string, kind: "group" | "member" | "partition", index: number, stopped: number }} Row */
/** @typedef {import("../film/format.js").Film} Film */

/** Orders of partitions, as the reader may choose. */
export const ORDERS = Object.freeze(["by number", "by owner", "most unread first"]);

/**
 * The rows, and how many partitions have none because they flowed all the time.
 * @param {Film} film
 * @param {string} order
 * @param {number} at whose owners "by owner" means
 * @returns {{ rows: Row[], others: number }}
 */
export function chooseRows(film, order, at) {
  const changed = (/** @type {import("../film/tracks.js").Track} */ track) =>
    track.times.filter((time) => time > film.settled).length;
  const members = film.members.length <= ALL_MEMBERS
    ? film.members
    : mostTouched(film, (index) => changed(film.memberTracks[index]));
  /** @type {Row[]} */
  const all = film.partitions.map((name, index) => ({
    name,
    kind: "partition",
    index,
    stopped: stoppedFor(film, index),
  }));
  const partitions = all.length > ALL_ROWS
    ? all.filter(({ index }) => changed(film.partitionTracks[index]))
    : all;
  const others = all.length > ALL_ROWS ? all.length - Math.min(partitions.length, MOST_ROWS) : 0;
  partitions.sort(ordering(film, order, at));
  return {
    rows: [
      { name: "Group", kind: "group", index: 0, stopped: 0 },
      ...members.map(({ name, index }) => /** @type {Row} */ ({ name, kind: "member", index, stopped: 0 })),
      ...partitions.slice(0, MOST_ROWS),
    ],
    others,
  };
}

/**
 * The members to whom most happened, those first to whom something was done; in their usual order.
 * @param {Film} film
 * @param {(index: number) => number} changes
 */
function mostTouched(film, changes) {
  const acted = new Set(film.marks.filter(({ kind }) => ACTED.has(kind)).map((mark) => mark.member));
  const weight = (/** @type {import("../film/format.js").Member} */ { name, index }) =>
    (acted.has(name) ? 1e6 : 0) + changes(index);
  return film.members.filter((member) => acted.has(member.name) || changes(member.index) > 2)
    .sort((a, b) => weight(b) - weight(a)).slice(0, MOST_MEMBERS).sort((a, b) => a.index - b.index);
}

/**
 * @param {Film} film
 * @param {string} order
 * @param {number} at
 * @returns {(a: Row, b: Row) => number}
 */
function ordering(film, order, at) {
  if (order === "by owner") {
    return (a, b) => ownerAt(film, a.index, at) - ownerAt(film, b.index, at) || a.index - b.index;
  }
  if (order === "most unread first") return (a, b) => b.stopped - a.stopped || a.index - b.index;
  return (a, b) => a.index - b.index;
}

/**
 * @param {Film} film
 * @param {number} partition
 * @param {number} at
 */
export function ownerAt(film, partition, at) {
  return stateAt(film.partitionTracks[partition], film.partitionStates, at).owner;
}

/**
 * For how long a partition was unread since the group settled.
 * @param {Film} film
 * @param {number} partition
 */
export function stoppedFor(film, partition) {
  return partitionBars(film.partitionTracks[partition], film.partitionStates, film.end).reduce(
    (sum, [from, until, state]) =>
      sum + (state.flows ? 0 : Math.max(0, until - Math.max(from, film.settled))),
    0,
  );
}
