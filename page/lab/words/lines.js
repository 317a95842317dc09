// How a member or a token looks, and the short words beside it.

import { seconds } from "../film/times.js";
import { sinceWhen } from "../film/tracks.js";

/**
 * @param {import("../film/format.js").MemberState} state
 * @returns {import("../../generated/kinds.js").Look}
 */
export function lookOf(state) {
  if (state.life === "absent" || state.life === "closed") return state.life;
  if (state.life === "crashed") {
    return state.standing === "member" || state.standing === "away" ? "crashed" : "gone";
  }
  if (state.life === "died") return state.error === "FENCED_INSTANCE_ID" ? "fenced" : "died";
  if (state.life === "frozen") return "frozen";
  if (state.doing === "is cut off") return "cut";
  return state.doing === "removed, still works" ? "zombie" : "live";
}

/**
 * @param {import("../film/format.js").Film} film
 * @param {import("../film/board.js").Board} board
 * @param {number} index
 */
export function doingLine(film, board, index) {
  const { state } = board.members[index];
  if (!["crashed", "gone", "died", "left"].includes(state.doing)) return state.doing;
  const since = sinceWhen(
    film.memberTracks[index],
    film.memberStates,
    board.at,
    ({ doing }) => doing === state.doing,
  );
  return state.doing === "crashed"
    ? `crashed ${seconds(board.at - since)} ago`
    : `${state.doing} at ${seconds(since)}`;
}

/**
 * @param {import("../film/format.js").MemberState} state
 * @param {number | null} ends
 * @param {import("../film/board.js").Board} board
 */
export function thirdLine(state, ends, board) {
  if (state.error) return state.error;
  if (["crashed", "frozen", "died"].includes(state.life)) {
    return ends === null ? "" : `session ends in ${seconds(ends - board.at)}`;
  }
  if (state.life !== "alive" || state.generation === null) return "";
  const strange = state.protocol !== board.group.protocol && state.protocol !== "consumer";
  const number = `${strange ? "classic · " : ""}${numberWord(state.protocol)} ${state.generation}`;
  if (state.leader) return `leader · ${number}`;
  return state.instanceId === null ? number : `static · ${number}`;
}

/**
 * What a member of this protocol counts.
 * @param {string} protocol
 */
export function numberWord(protocol) {
  return protocol === "consumer" ? "epoch" : "generation";
}

/**
 * @param {import("../film/format.js").Film} film
 * @param {number} index
 * @param {import("../film/format.js").PartitionState} state
 * @param {number} at
 * @param {import("../board/sizes.js").Box} box
 */
export function tokenWord(film, index, state, at, box) {
  if (state.word === "was leaving" && box.width < 170) return "leaving";
  if (state.flows || box.width < (state.owner >= 0 ? 190 : 128)) return state.word;
  const since = seconds(
    at - sinceWhen(film.partitionTracks[index], film.partitionStates, at, ({ flows }) => !flows),
  );
  return box.height < 50 && state.owner < 0 ? since : `${state.word} ${since}`;
}
