// The bus between the coordinator and the lanes: messages travel on it as pills.

import { make, set } from "../../shared/dom.js";
import { COORDINATOR, laneBox } from "./sizes.js";

const APART_MS = 160;
const WAIT_AT_MOST_MS = 900;
const FLIGHT_MS = 450;
const STILL_MS = 700;
/** Processes that send no heartbeat. */
const SILENT = new Set(["crashed", "frozen", "died"]);

/** The bus of one stage. */
export class Bus {
  /**
   * @param {import("../film/format.js").Film} film
   * @param {import("./sizes.js").LaneSizes} sizes
   */
  constructor(film, sizes) {
    this.film = film;
    this.sizes = sizes;
    this.nextPill = 0;
    const bottom = laneBox(sizes, Math.min(sizes.rows, film.members.length) - 1);
    const height = bottom.y + bottom.height / 2 - COORDINATOR;
    this.root = make("div", {
      class: "rk-bus",
      "aria-hidden": "true",
      style: `top:${COORDINATOR}px;height:${height}px`,
    });
    this.stops = film.members.map((member) => {
      const lane = laneBox(sizes, member.index);
      const stop = make("i", { style: `top:${lane.y + lane.height / 2 - COORDINATOR}px` });
      if (lane.x <= sizes.busWidth) this.root.append(stop);
      return stop;
    });
  }

  /**
   * Where a heartbeat is missing one sees it: the member is in the group, and nothing comes from it.
   * @param {import("../film/board.js").Board} board
   */
  paint(board) {
    this.stops.forEach((stop, index) => {
      const { life, standing } = board.members[index].state;
      set(stop, "data-silent", SILENT.has(life) && standing === "member" ? "no heartbeat" : null);
    });
  }

  /**
   * Messages of one moment follow each other, so that each can be read; those that do not fit are left out.
   * @param {import("../film/format.js").Message} message
   */
  pill(message) {
    const now = performance.now();
    this.nextPill = Math.max(now, this.nextPill);
    if (this.nextPill - now > WAIT_AT_MOST_MS) return;
    setTimeout(() => this.fly(message), this.nextPill - now);
    this.nextPill += APART_MS;
  }

  /**
   * A message as a pill: it lives at least 350 ms of the reader's time.
   * @param {import("../film/format.js").Message} message
   */
  fly(message) {
    if (!this.root.isConnected) return;
    const lane = laneBox(this.sizes, message.member);
    const middle = lane.y + lane.height / 2 - COORDINATOR;
    const [from, there] = message.request ? [middle, 0] : [0, middle];
    const to = message.arrives === null ? (from + there) / 2 : there;
    const still = this.root.closest(".rk-calm") !== null;
    const node = this.makePill(message);
    this.root.append(node);
    const flight = node.animate(
      [still ? to : from, to].map((y) => ({ transform: `translate(-50%,${y}px)` })),
      { duration: still ? STILL_MS : FLIGHT_MS, fill: "forwards" },
    );
    flight.onfinish = () => node.remove();
  }

  /** @param {import("../film/format.js").Message} message */
  makePill(message) {
    const hue = `--rk-m${this.film.members[message.member].hue}`;
    const words = message.error
      ? message.error.replaceAll("_", " ")
      : message.api.replace("ConsumerGroup", "");
    const looks = ["rk-pill", message.request ? "rk-up" : "rk-down"];
    if (message.quiet) looks.push("rk-dot");
    if (message.error) looks.push("rk-error");
    const style = `--hue:var(${hue});--on:var(${hue}o)`;
    return make("b", { class: looks.join(" "), style }, message.quiet ? "" : words);
  }
}
