// Doing: which deed a button means now, and in words why a member cannot do it.

import { boardAt } from "../film/board.js";
import { showProtocol } from "../screen/controls.js";
import { actionOf, argsOf, wordsOf } from "./actions.js";

/** @typedef {import("../lab.js").Lab} Lab */

/** @type {Record<Exclude<import("../../generated/kinds.js").Life, "alive" | "frozen">, string>} */
const WHY = {
  crashed: "has crashed",
  died: "has died",
  closed: "has left",
  absent: "has not started",
};
const ALWAYS = new Set(["restart", "heal_network", "remove"]);
const LIVE = new Set(["crash", "leave", "freeze", "restart", "add"]);

/**
 * Why the selected member cannot do this now; "" when it can.
 * @param {Lab} lab
 * @param {string} what
 */
export function refusalOf(lab, what) {
  const member = boardAt(lab.film, lab.player.at).members[lab.selected];
  if (!member) return "Nobody is in the group. Add a member (M).";
  const { life } = member.state;
  if (life === "alive" || (life === "frozen" && what !== "leave") || ALWAYS.has(what)) return "";
  if (life === "frozen") return `${member.name} is frozen. Thaw it first.`;
  return `${member.name} ${WHY[life]}. Restart it first.`;
}

/**
 * Freezing a frozen member thaws it; freezing for so long is freezing.
 * @param {string} what
 * @param {import("../film/board.js").SeatedMember | undefined} member
 */
export function thawInstead(what, member) {
  if (what === "freeze_for") return "freeze";
  return what === "freeze" && member?.state.life === "frozen" ? "thaw" : what;
}

/**
 * Do a deed at the cursor; while predicting, ask first what will follow.
 * @param {Lab} lab
 * @param {string} what
 * @param {string[]} [chosen] texts of its arguments
 */
export function act(lab, what, chosen = []) {
  const action = actionOf(what);
  if (!lab.acts || !action) return;
  if (lab.live) lab.player.seek(lab.player.end); // what is done to real processes is done now
  if (lab.alone && !LIVE.has(what)) {
    lab.refuse("That is not done to a live group here.");
    return;
  }
  const refused = action.member ? refusalOf(lab, what) : "";
  if (refused) {
    lab.refuse(refused);
    return;
  }
  const board = boardAt(lab.film, lab.player.at);
  const member = board.members[lab.selected];
  lab.player.pause();
  const down = what === "broker_down" && !board.group.up;
  lab.costs.keep(what);
  const message = {
    type: "act",
    do: down ? "broker_up" : thawInstead(what, member),
    member: action.member ? member.name : null,
    args: argsOf(lab, what, chosen),
    at_ms: Math.round(lab.player.at),
  };
  const words = `${wordsOf(lab, action, chosen)}${action.member ? `, ${member.name}` : ""}`;
  if (lab.predict.on) lab.predict.ask({ ...message, words });
  else lab.ask(message);
}

/**
 * Take the last deed back, or do it again; the answer says which, and time rests where it was done.
 * @param {Lab} lab
 * @param {"undo" | "redo"} how
 */
export function walk(lab, how) {
  lab.player.pause();
  lab.ask({ type: how });
}

/**
 * Run the same history under the next protocol.
 * @param {Lab} lab
 */
export function nextProtocol(lab) {
  const { protocols, protocol } = lab.model.get("controls");
  const place = protocols.findIndex((/** @type {[string, string]} */ [name]) => name === protocol);
  showProtocol(lab, protocols[(place + 1) % protocols.length][0]);
}
