// Tracks: which state of a table holds from which moment on.

import { placeOf } from "./times.js";

/** @typedef {{ times: number[], states: number[] }} Track the numbers of states, each from its time on */

/**
 * A track from `[wait, state, wait, state, ...]`.
 * @param {number[]} flat
 * @returns {Track}
 */
export function decodeTrack(flat) {
  const times = [];
  const states = [];
  let at = 0;
  for (let i = 0; i < flat.length; i += 2) {
    at += flat[i];
    times.push(at);
    states.push(flat[i + 1]);
  }
  return { times, states };
}

/**
 * The state at a moment; before the first one is known, the first.
 * @template S
 * @param {Track} track
 * @param {S[]} table
 * @param {number} at
 * @returns {S}
 */
export function stateAt(track, table, at) {
  return table[track.states[Math.max(0, placeOf(track.times, at))]];
}

/**
 * Since when every state has been the same, looking back from a moment.
 * @template S
 * @param {Track} track
 * @param {S[]} table
 * @param {number} at
 * @param {(state: S) => boolean} same
 */
export function sinceWhen(track, table, at, same) {
  let place = Math.max(0, placeOf(track.times, at));
  while (place > 0 && same(table[track.states[place - 1]])) place -= 1;
  return track.times[place];
}

/**
 * A track as [from, until, state]; neighbours that look the same are one.
 * @template S
 * @param {Track} track
 * @param {S[]} table
 * @param {number} end
 * @param {(state: S) => string} look
 * @returns {[number, number, S][]}
 */
export function bars(track, table, end, look) {
  /** @type {[number, number, S][]} */
  const merged = [];
  track.times.forEach((from, place) => {
    const until = place + 1 < track.times.length ? track.times[place + 1] : end;
    const state = table[track.states[place]];
    const last = merged.at(-1);
    if (last && look(last[2]) === look(state)) last[1] = until;
    else merged.push([from, until, state]);
  });
  return merged;
}

/**
 * A partition's bars: one for each owner and word, read and unread apart.
 * @param {Track} track
 * @param {import("./format.js").PartitionState[]} table
 * @param {number} end
 */
export function partitionBars(track, table, end) {
  return bars(track, table, end, (state) => `${state.owner}${state.word}${state.flows}`);
}
