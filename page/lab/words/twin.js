// Words for screen readers: the same grammar as the text twin that the kernel writes.

import { PARTITION_WORDS } from "../../generated/kinds.js";
import { sessionEnds } from "../film/clocks.js";
import { sentenceAt } from "../film/sentences.js";
import { seconds } from "../film/times.js";
import { sinceWhen } from "../film/tracks.js";
import { numberWord } from "./lines.js";
import { offsetsOf } from "./offsets.js";

/** Up to so many partitions are named. */
const LISTED = 6;

/** @param {string[]} names */
export function spoken(names) {
  if (names.length > LISTED) return `${names[0]} and ${names.length - 1} more partitions`;
  let topic = "";
  return listed(names.map((name) => {
    const cut = name.lastIndexOf("-");
    const said = name.slice(0, cut) === topic ? name.slice(cut + 1) : name;
    topic = name.slice(0, cut);
    return said;
  })) || "nothing";
}

/** @param {string[]} words */
function listed(words) {
  return words.length > 1
    ? `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`
    : words.join("");
}

/**
 * @param {import("../film/format.js").Film} film
 * @param {import("../film/board.js").Board} board
 * @param {number} index
 */
export function memberLine(film, board, index) {
  const { name, state } = board.members[index];
  const track = film.memberTracks[index];
  const parts = [];
  if (["crashed", "gone", "died"].includes(state.doing)) {
    const since = sinceWhen(track, film.memberStates, board.at, ({ doing }) => doing === state.doing);
    parts.push(`${state.doing} ${seconds(board.at - since)} ago`);
  } else parts.push(state.doing);
  if (state.error) parts.push(state.error);
  if (state.generation !== null && state.life === "alive") {
    parts.push(`${numberWord(state.protocol)} ${state.generation}`);
  }
  const ends = sessionEnds(film, index, board.at);
  if (["crashed", "frozen", "died"].includes(state.life) && ends !== null) {
    parts.push(`session ends in ${seconds(ends - board.at)}`);
  }
  parts.push(holding(film, board, index));
  return `${name}: ${parts.join(", ")}.`;
}

/**
 * Partitions that a member outside the group still reads although another member has them.
 * @param {import("../film/board.js").Board} board
 * @param {number} index
 */
export function alsoRead(board, index) {
  return board.partitions.flatMap((state, partition) => state.also.includes(index) ? partition : []);
}

/**
 * @param {import("../film/format.js").Film} film
 * @param {import("../film/board.js").Board} board
 * @param {number} index
 */
function holding(film, board, index) {
  const owned = board.owned[index];
  const named = (/** @type {number[]} */ list) => spoken(list.map((partition) => film.partitions[partition]));
  const also = alsoRead(board, index);
  if (also.length) return `still reads ${named(also)}`;
  if (!owned.length) return "owns nothing";
  const fact = (/** @type {number} */ partition) => PARTITION_WORDS[board.partitions[partition].word].spoken;
  const facts = [...new Set(owned.map(fact))];
  const other = owned.filter((partition) => board.partitions[partition].word !== "flows");
  const state = facts.length === 1
    ? facts[0]
    : other.map((partition) => `${film.partitions[partition]} ${fact(partition)}`).join(", ");
  const verb = ["crashed", "died", "frozen"].includes(board.members[index].state.life) ? "holds" : "owns";
  return `${verb} ${named(owned)} (${state})`;
}

/**
 * Records that came twice or were skipped so far.
 * @param {import("../film/format.js").Film} film
 * @param {number} at
 */
function deliveriesLine(film, at) {
  const parts = [["twice", "came twice"], ["skipped", "skipped"]].flatMap(([kind, words]) => {
    const events = film.deliveries.filter((each) => each.kind === kind && each.at <= at);
    const count = events.reduce((sum, each) => sum + each.count, 0);
    return count ? [`${count} ${words} (${placesOf(film, events)})`] : [];
  });
  return parts.length ? `Records so far: ${parts.join("; ")}.` : "";
}

/**
 * Partitions with the offsets of these records; of many partitions only how many.
 * @param {import("../film/format.js").Film} film
 * @param {import("../film/format.js").Delivery[]} events
 */
function placesOf(film, events) {
  const places = [...new Set(events.map((each) => each.partition))].sort((a, b) => a - b);
  if (places.length > LISTED) return spoken(places.map((place) => film.partitions[place]));
  return places.map((place) =>
    `${film.partitions[place]} ${offsetsOf(events.filter((each) => each.partition === place))}`
  ).join(", ");
}

/** @param {import("../film/board.js").Board} board */
export function groupLine(board) {
  const { group } = board;
  const number = group.generation === null
    ? ""
    : `, ${group.protocol === "consumer" ? "group epoch" : "generation"} ${group.generation}`;
  const room = board.phase === "JoinGroup"
    ? `, joined ${board.joined.length} of ${board.joined.length + board.awaited.length + group.former}`
    : "";
  return `Group ${group.state}${number}${room}. ${board.flowing} of ${board.there} partitions flow.`;
}

/**
 * @param {import("../film/format.js").Film} film
 * @param {import("../film/board.js").Board} board
 */
export function twinText(film, board) {
  const [cause, effect] = sentenceAt(film, board.at);
  const present = board.members.filter((member) => member.state.life !== "absent");
  const shown = present.length <= 12
    ? present
    : present.filter(({ state, index }) =>
      state.doing !== "polls" || board.owned[index].some((partition) => !board.partitions[partition].flows)
    ).slice(0, 12);
  const lines = [
    `${seconds(board.at)} of ${seconds(film.end)}, ${film.label}. ${cause} ${effect}`.trim(),
    groupLine(board),
  ];
  shown.forEach(({ index }) => lines.push(memberLine(film, board, index)));
  if (present.length > shown.length) lines.push(`${present.length - shown.length} more members.`);
  const orphans = film.partitions.filter((_, index) => board.partitions[index].owner === -1);
  if (orphans.length) lines.push(`No owner: ${spoken(orphans)}.`);
  const records = deliveriesLine(film, board.at);
  if (records) lines.push(records);
  return lines.join("\n");
}
