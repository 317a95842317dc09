// What runs with the clock of a member: its session, its heartbeats, its poll interval. Which clock runs in which
// state, and how long it is, comes in the film.

import { placeOf } from "./times.js";
import { stateAt } from "./tracks.js";

/**
 * When the member's session would end; null while none runs.
 * @param {import("./format.js").Film} film
 * @param {number} member
 * @param {number} at
 */
export function sessionEnds(film, member, at) {
  const { session } = stateAt(film.memberTracks[member], film.memberStates, at);
  if (!session) return null;
  const beats = film.beats[member];
  const place = placeOf(beats, at);
  const ends = place < 0 ? null : beats[place] + session;
  return ends === null || ends < at ? null : ends; // none runs while the coordinator is away
}

/**
 * The share of max.poll.interval.ms that is left to a member that does not poll; null while it polls.
 * @param {import("./format.js").Film} film
 * @param {number} member
 * @param {number} at
 */
export function pollLeft(film, member, at) {
  const [limit, ...spans] = film.polls[member] || [];
  for (let i = 0; i < spans.length; i += 2) {
    if (spans[i] <= at && at < spans[i + 1]) return Math.max(0, limit - (at - spans[i])) / limit;
  }
  return null;
}

/**
 * The next heartbeat of a member after a moment, as the run has it; null where it sends none any more.
 * @param {import("./format.js").Film} film
 * @param {number} member
 * @param {number} at
 */
export function nextBeat(film, member, at) {
  const beats = film.beats[member];
  return beats[placeOf(beats, at) + 1] ?? null;
}
