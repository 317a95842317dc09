// Ways through time: step from event to event, jump from mark to mark, faster and slower.

import { ENDS } from "../words/notices.js";
import { SPEEDS } from "../time/player.js";

/** What a step goes to, and its word. */
export const STEPS = Object.freeze(
  /** @type {[string, string][]} */ ([
    ["events", "event"],
    ["messages", "message"],
    ["callbacks", "callback"],
    ["rebalances", "rebalance"],
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
  /** @type {Record<string, () => number[]>} */
  const times = {
    events: () => film.events,
    messages: () => film.messages.map((message) => message.sent),
    callbacks: () => film.callbacks,
    marks: () => marks(null),
    rebalances: () => marks("rebalance"),
    faults: () => marks("fault"),
  };
  const chosen = times[kind]();
  return [...new Set(chosen)].sort((a, b) => a - b);
}

/** Steps, jumps and speed of a lab. */
export class Steps {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.kind = STEPS[0][0];
    /** What shows the speed and the step hears of a change. */
    this.onChange = () => {};
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
    if (direction > 0 && (kind === "events" || kind === "messages")) lab.pills.upTo(player.at - 1, player.at);
    if (player.at === before || player.at === lab.film.end) {
      lab.tell(direction > 0 ? ENDS.forward : ENDS.back);
    }
    lab.cursor.send();
  }

  get speed() {
    return this.lab.player.speed;
  }

  /** @param {string} words one of SPEEDS as text */
  setSpeed(words) {
    this.lab.player.speed = words === "Auto" ? words : Number(words);
    this.onChange();
  }

  /** @param {string} kind one of STEPS */
  setKind(kind) {
    this.kind = kind;
    this.onChange();
  }

  /** @param {1 | -1} by */
  faster(by) {
    const place = Math.max(0, Math.min(SPEEDS.length - 1, SPEEDS.indexOf(this.speed) + by));
    this.setSpeed(String(SPEEDS[place]));
  }
}
