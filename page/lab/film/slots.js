// Every token keeps its place in a lane (or in the rail, owner -1) for as long as it stays there.

import { stateAt } from "./tracks.js";

/** @typedef {{ at: number, partition: number, owner: number }} Move */
/** @typedef {{ times: number[], slots: number[] }} Slots */

/**
 * The slots of all tokens, and the most that any lane and the rail hold once the group has settled.
 * @param {import("./tracks.js").Track[]} tracks
 * @param {import("./format.js").PartitionState[]} states
 * @param {number} members
 * @param {number} settled
 */
export function placeTokens(tracks, states, members, settled) {
  const room = new Room(tracks.length, members, settled);
  const moves = movesOf(tracks, states);
  for (let i = 0; i < moves.length;) {
    let end = i;
    while (end < moves.length && moves[end].at === moves[i].at) end += 1;
    room.move(moves.slice(i, end));
    i = end;
  }
  room.rest();
  return { slots: room.slots, mostIn: room.mostIn, mostInRail: room.mostInRail };
}

/**
 * Every change of an owner, in order of time.
 * @param {import("./tracks.js").Track[]} tracks
 * @param {import("./format.js").PartitionState[]} states
 * @returns {Move[]}
 */
function movesOf(tracks, states) {
  /** @type {Move[]} */
  const moves = [];
  tracks.forEach((track, partition) => {
    /** @type {number | undefined} */
    let before;
    track.times.forEach((at) => {
      const { owner } = stateAt(track, states, at);
      if (owner !== before) moves.push({ at, partition, owner });
      before = owner;
    });
  });
  return moves.sort((a, b) => a.at - b.at || a.partition - b.partition);
}

/** Who stands where as time goes by. */
class Room {
  /**
   * @param {number} partitions
   * @param {number} members
   * @param {number} settled
   */
  constructor(partitions, members, settled) {
    this.settled = settled;
    /** @type {Slots[]} */
    this.slots = Array.from({ length: partitions }, () => ({ times: [], slots: [] }));
    /** @type {number[]} */
    this.mostIn = Array(members).fill(0);
    this.mostInRail = 0;
    /** @type {Map<number, Set<number>>} */
    this.taken = new Map();
    /** @type {Map<number, { owner: number, slot: number }>} */
    this.here = new Map();
    this.rested = false;
  }

  /**
   * All moves of one moment: first everybody leaves, then everybody arrives.
   * @param {Move[]} moves
   */
  move(moves) {
    if (moves[0].at > this.settled) this.rest();
    for (const { partition } of moves) {
      const left = this.here.get(partition);
      if (left) this.taken.get(left.owner)?.delete(left.slot);
    }
    for (const { at, partition, owner } of moves) {
      const slot = this.take(owner);
      this.here.set(partition, { owner, slot });
      this.slots[partition].times.push(at);
      this.slots[partition].slots.push(slot);
      if (owner === -1) this.mostInRail = Math.max(this.mostInRail, slot + 1);
      else if (at > this.settled) this.count(owner, slot);
    }
  }

  /**
   * The first free slot of an owner.
   * @param {number} owner
   */
  take(owner) {
    const used = this.taken.get(owner) ?? new Set();
    this.taken.set(owner, used);
    let slot = 0;
    while (used.has(slot)) slot += 1;
    used.add(slot);
    return slot;
  }

  /** What the lanes hold when the group settles counts; what they held while it formed does not. */
  rest() {
    if (this.rested) return;
    this.rested = true;
    this.here.forEach(({ owner, slot }) => this.count(owner, slot));
  }

  /**
   * @param {number} owner
   * @param {number} slot
   */
  count(owner, slot) {
    if (owner >= 0) this.mostIn[owner] = Math.max(this.mostIn[owner], slot + 1);
  }
}
