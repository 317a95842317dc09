// The film: what the kernel sends once per run. docs/film.md describes it; everything here is decoding.

import { decodePositions } from "./positions.js";
import { decodeSentences } from "./sentences.js";
import { placeTokens } from "./slots.js";
import { sums } from "./times.js";
import { decodeTrack } from "./tracks.js";

/** The version of the format that this page reads. */
export const FILM_VERSION = 5;
/** The owner of a partition that is not there (yet, or any more). */
export const GONE = -2;

/** Columns of the rows of `memberStates`, `partitionStates`, `groupStates`, `members`, `marks` and `messages`. */
export const COLUMNS = Object.freeze({
  memberStates: [
    "life",
    "standing",
    "doing",
    "generation",
    "leader",
    "parked",
    "sending",
    "callback",
    "error",
    "instanceId",
    "protocol",
    "epoch",
    "session",
  ],
  partitionStates: ["owner", "word", "flows", "last", "target", "also"],
  groupStates: [
    "state",
    "protocol",
    "generation",
    "targetEpoch",
    "assignor",
    "reason",
    "up",
    "phase",
    "former",
  ],
  members: ["name", "label", "hue", "pattern"],
  marks: ["at", "kind", "member", "words"],
  deliveries: ["at", "kind", "partition", "member", "count", "first"],
  messages: ["sent", "flight", "member", "api", "request", "error", "news"],
});

/**
 * @typedef {object} MemberState
 * @property {import("../../generated/kinds.js").Life} life
 * @property {import("../../generated/kinds.js").Standing} standing
 * @property {string} doing the word beside the disc
 * @property {number | null} generation
 * @property {boolean} leader
 * @property {string | null} parked the request that waits at the coordinator
 * @property {string | null} sending the request that is on its way
 * @property {string | null} callback
 * @property {string | null} error
 * @property {string | null} instanceId
 * @property {string} protocol
 * @property {number | null} epoch
 * @property {number | null} session its timeout; 0 while a parked JoinGroup holds it, null where there is none
 *
 * @typedef {object} PartitionState
 * @property {number} owner a member's number, -1 for nobody, GONE for a partition that is not there
 * @property {import("../../generated/kinds.js").PartitionWord} word
 * @property {boolean} flows
 * @property {number} last
 * @property {number} target
 * @property {number[]} also members outside the group that still read it
 *
 * @typedef {object} GroupState
 * @property {string} state
 * @property {string} protocol
 * @property {number | null} generation
 * @property {number | null} targetEpoch
 * @property {string | null} assignor
 * @property {string} reason
 * @property {boolean} up
 * @property {string | null} phase the request that all members send in this state
 * @property {number} former how many member ids of processes that are gone the group has beside those of the restarted ones
 *
 * @typedef {{ name: string, label: string, hue: number, pattern: number, index: number }} Member
 * @typedef {{ at: number, kind: import("../../generated/kinds.js").MarkKind, member: string | null, words: string }} Mark
 * @typedef {{ at: number, kind: import("../../generated/kinds.js").DeliveryKind, partition: number, member: number, count: number, first: number }} Delivery
 *
 * @typedef {object} Message
 * @property {number} sent
 * @property {number | null} arrives null for one that is lost
 * @property {number} member
 * @property {string} api
 * @property {string} kind heartbeat, commit, waits (its answer may be kept waiting), or ""
 * @property {boolean} request
 * @property {string | null} error
 * @property {boolean} news
 * @property {boolean} quiet a heartbeat or a commit that says nothing new
 */

/** @typedef {ReturnType<typeof decodeFilm>} Film */

/** What the page says of a film that it cannot read. */
export class FilmError extends Error {}

/**
 * Raise `FilmError` for a film of another version.
 * @param {any} raw
 */
export function checkVersion(raw) {
  const version = raw?.version ?? "none";
  if (version === FILM_VERSION) return;
  throw new FilmError(
    `This page reads films of version ${FILM_VERSION}; the kernel sent one of version ${version}. ` +
      "Restart the kernel, reload the page, and run the cell again.",
  );
}

/**
 * A film from its bytes: deflated JSON of this version.
 * @param {DataView | Uint8Array} bytes
 */
export async function readFilm(bytes) {
  return decodeFilm(await inflate(bytes));
}

/**
 * Deflated JSON as a value.
 * @param {any} bytes
 * @returns {Promise<any>}
 */
export async function inflate(bytes) {
  const { readable, writable } = new DecompressionStream("deflate");
  const writer = writable.getWriter();
  const written = writer.write(bytes).then(() => writer.close());
  const [value] = await Promise.all([new Response(readable).json(), written]);
  return value;
}

/**
 * The film as the page uses it: rows by name, waits as moments, places of tokens.
 * @param {any} raw
 */
export function decodeFilm(raw) {
  checkVersion(raw);
  const partitionStates = raw.partitionStates.map(partitionState);
  /** @type {import("./tracks.js").Track[]} */
  const partitionTracks = raw.partitionTracks.map(decodeTrack);
  const positions = /** @type {import("./positions.js").Look[][] | null} */ (
    raw.positions && raw.positions.map(decodePositions)
  );
  const film = {
    label: /** @type {string} */ (raw.label),
    group: /** @type {string} */ (raw.group),
    end: /** @type {number} */ (raw.end),
    known: /** @type {number} */ (raw.known ?? raw.end), // the rest of a long run follows
    settled: /** @type {number} */ (raw.settled),
    steps: /** @type {Record<string, string[]>} */ (raw.steps),
    heartbeats: /** @type {Record<string, string>} */ (raw.heartbeats),
    seats: /** @type {string[]} */ (raw.seats),
    partitions: /** @type {string[]} */ (raw.partitions),
    members: rows("members", raw).map((member, index) => /** @type {Member} */ ({ ...member, index })),
    memberStates: /** @type {MemberState[]} */ (rows("memberStates", raw)),
    partitionStates: /** @type {PartitionState[]} */ (partitionStates),
    groupStates: rows("groupStates", raw).map((state) => /** @type {GroupState} */ ({
      ...state,
      up: !!state.up,
    })),
    memberTracks: /** @type {import("./tracks.js").Track[]} */ (raw.memberTracks.map(decodeTrack)),
    seatTracks: /** @type {import("./tracks.js").Track[]} */ (raw.seatTracks.map(decodeTrack)),
    partitionTracks,
    groupTrack: decodeTrack(raw.groupTrack),
    beats: /** @type {number[][]} */ (raw.beats.map(sums)),
    polls: /** @type {number[][]} */ (raw.polls),
    sentences: decodeSentences(raw.sentences),
    positions,
    mostLag: mostLag(positions ?? []),
    callbacks: sums(raw.callbacks),
    marks: /** @type {Mark[]} */ (rows("marks", raw)),
    deliveries: /** @type {Delivery[]} */ (rows("deliveries", raw)),
    messages: rows("messages", raw).map((message) => messageOf(message, raw.apis)),
    ...placeTokens(partitionTracks, partitionStates, raw.members.length, raw.settled),
  };
  return { ...film, events: eventTimes(film) };
}

/**
 * Rows of a table as objects, by the names of its columns.
 * @param {keyof typeof COLUMNS} table
 * @param {any} raw
 * @returns {Record<string, any>[]}
 */
function rows(table, raw) {
  const columns = COLUMNS[table];
  return raw[table].map((/** @type {any[]} */ row) =>
    Object.fromEntries(columns.map((column, place) => [column, row[place]]))
  );
}

/**
 * @param {any[]} row
 * @returns {PartitionState}
 */
export function partitionState([owner, word, flows, last, target, also]) {
  return { owner: word === "not there" ? GONE : owner, word, flows: !!flows, last, target, also };
}

/**
 * @param {Record<string, any>} row
 * @param {Record<string, string>} apis
 * @returns {Message}
 */
function messageOf({ sent, flight, member, api, request, error, news }, apis) {
  const kind = apis[api] ?? "";
  const quiet = (kind === "heartbeat" || kind === "commit") && !error && !news;
  const arrives = flight < 0 ? null : sent + flight;
  return { sent, arrives, member, api, kind, request: !!request, error, news: !!news, quiet };
}

/**
 * The longest queue of records that is ever seen, for one scale over the run.
 * @param {import("./positions.js").Look[][]} positions
 */
function mostLag(positions) {
  return Math.max(20, ...positions.flatMap((looks) => looks.map(([, position, end]) => end - position)));
}

/**
 * Moments worth stopping at: marks, changes of the group, tokens that change hands.
 * @param {{ marks: Mark[], groupTrack: import("./tracks.js").Track, slots: import("./slots.js").Slots[],
 *   partitionTracks: import("./tracks.js").Track[] }} film
 */
function eventTimes({ marks, groupTrack, slots, partitionTracks }) {
  const tracks = partitionTracks.length <= 100 ? partitionTracks : [];
  const times = [groupTrack, ...slots, ...tracks].flatMap((track) => track.times);
  return [...new Set([...marks.map((mark) => mark.at), ...times])].sort((a, b) => a - b);
}
