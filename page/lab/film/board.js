// All that a picture needs at one moment, looked up in the film.

import { GONE } from "./format.js";
import { stateAt } from "./tracks.js";

/**
 * @typedef {import("./format.js").Member & { state: import("./format.js").MemberState, seat: string }} SeatedMember
 * `seat` is the member's place in the waiting room of a classic group: "", joined, awaited or coming
 */

/** @typedef {ReturnType<typeof boardAt>} Board */

/**
 * @param {import("./format.js").Film} film
 * @param {number} at
 */
export function boardAt(film, at) {
  /** @type {SeatedMember[]} */
  const members = film.members.map((member) => ({
    ...member,
    state: stateAt(film.memberTracks[member.index], film.memberStates, at),
    seat: stateAt(film.seatTracks[member.index], film.seats, at),
  }));
  const partitions = film.partitionTracks.map((track) => stateAt(track, film.partitionStates, at));
  const group = stateAt(film.groupTrack, film.groupStates, at);
  /** @type {number[][]} */
  const owned = members.map(() => []);
  partitions.forEach((state, index) => {
    if (state.owner >= 0) owned[state.owner].push(index);
  });
  const seated = (/** @type {string} */ seat) => members.filter((member) => member.seat === seat);
  return {
    at,
    members,
    partitions,
    group,
    phase: group.phase,
    joined: seated("joined"),
    awaited: seated("awaited"),
    coming: seated("coming"),
    owned,
    there: partitions.filter((state) => state.owner !== GONE).length,
    flowing: partitions.filter((state) => state.flows && state.owner !== GONE).length,
  };
}
