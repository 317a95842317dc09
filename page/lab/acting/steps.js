// Ways through time: step from event to event, jump from mark to mark, faster and slower.

import { ENDS } from "../words/notices.js";
import { SPEEDS } from "../time/player.js";

export const STEPS = Object.freeze(
  /** @type {[string, string][]} */ ([["events", "event"], ["messages", "message"]]),
);
export const JUMPS = Object.freeze(
  /** @type {[string, string][]} */ ([
    ["marks", "any mark"],
    ["rebalances", "rebalance"],
    ["callbacks", "callback"],
    ["faults", "fault"],
  ]),
);

/**
 * The moments of a film that a step of this kind stops at, rising.
 * @param {import("../film/format.js").Film} film
 * @param {string} kind
 */
export function timesOf(film, kind) {
  const marks = (/** @type {string | null} */ wanted) =>
    film.marks.filter((mark) => wanted === null || mark.kind === wanted).map((mark) => mark.at);
  const times = /** @type {Record<string, () => number[]>} */ ({
    events: () => film.events,
    messages: () => film.messages.map((message) => message.sent),
    callbacks: () => film.callbacks,
    marks: () => marks(null),
    rebalances: () => marks("rebalance"),
    faults: () => marks("fault"),
  })[kind]();
  return [...new Set(times)].sort((a, b) => a - b);
}

/** Steps, jumps and speed of a lab. */
export class Steps {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
  }

  /**
   * @param {1 | -1} direction
   * @param {string} kind
   */
  jump(direction, kind) {
    const { lab } = this;
    const { player } = lab;
    player.pause();
    lab.leaveEnd();
    const before = player.at;
    player.step(direction, timesOf(lab.film, kind));
    lab.paint(direction > 0);
    if (direction > 0 && (kind === "events" || kind === "messages")) lab.pillsUpTo(player.at - 1, player.at);
    if (player.at === before || player.at === lab.film.end) {
      lab.tell(direction > 0 ? ENDS.forward : ENDS.back);
    }
    lab.cursor.send();
  }

  /** @param {string} words one of SPEEDS as text */
  setSpeed(words) {
    this.lab.player.speed = words === "Auto" ? words : Number(words);
  }

  /** @param {1 | -1} by */
  faster(by) {
    const { player, ui } = this.lab;
    const place = Math.max(0, Math.min(SPEEDS.length - 1, SPEEDS.indexOf(player.speed) + by));
    ui.speed.value = String(SPEEDS[place]);
    this.setSpeed(ui.speed.value);
  }
}
