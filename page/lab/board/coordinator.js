// The coordinator: a classic group shows its states and the waiting room, a consumer group its epochs.

import { make, say, set } from "../../shared/dom.js";
import { groupLine } from "../words/twin.js";
import { COORDINATOR } from "./sizes.js";

/** So many seats have room; of more, two fewer stand beside their number. */
const SEATS = 6;

/** @typedef {[label: string, hue: number, kind: string, epoch: string, behind: boolean]} Seat */

/** The bar at the top of the board. */
export class CoordinatorBar {
  /** @param {import("../film/format.js").Film} film */
  constructor(film) {
    this.steps = make("ol", { class: "rk-steps" });
    this.numberName = make("span", {});
    this.number = make("b", {});
    this.targetNumber = make("b", {});
    this.target = make("div", { class: "rk-number" }, make("span", {}, "Target epoch"), this.targetNumber);
    this.roomTitle = make("b", {});
    this.seats = make("span", { class: "rk-seats" });
    this.title = make(
      "div",
      { class: "rk-ctitle" },
      make("b", {}, "Coordinator"),
      make("span", {}, `group ${film.group}`),
    );
    this.root = make(
      "div",
      { class: "rk-coordinator", style: `height:${COORDINATOR}px`, role: "group" },
      this.title,
      this.steps,
      make("div", { class: "rk-number" }, this.numberName, this.number),
      this.target,
      make("div", { class: "rk-room" }, this.roomTitle, this.seats),
    );
    this.stepsKey = "";
    this.seatsKey = "";
  }

  /**
   * @param {import("../film/format.js").Film} film
   * @param {import("../film/board.js").Board} board
   */
  paint(film, board) {
    const { group } = board;
    const epochs = group.protocol === "consumer";
    this.paintSteps(film.steps[group.protocol], group);
    say(this.numberName, epochs ? "Group epoch" : "Generation");
    say(this.number, group.generation === null ? "–" : String(group.generation));
    this.target.hidden = !epochs;
    say(this.targetNumber, group.targetEpoch === null ? "–" : String(group.targetEpoch));
    set(this.root, "aria-label", `Coordinator. ${groupLine(board)}`);
    set(this.root, "data-state", group.state);
    set(this.title, "data-state", group.state); // a narrow board shows the state in place of the steps
    set(this.root, "data-up", group.up ? "yes" : "no");
    this.paintRoom(board, epochs);
  }

  /**
   * @param {string[]} states
   * @param {import("../film/format.js").GroupState} group
   */
  paintSteps(states, group) {
    const short = this.root.closest(".rk-projector") !== null;
    const key = group.protocol + short;
    if (this.stepsKey !== key) {
      this.stepsKey = key;
      const words = (/** @type {string} */ state) => short ? state.replace("Rebalance", "") : state;
      this.steps.replaceChildren(
        ...states.map((state) => make("li", { "data-state": state }, words(state))),
      );
    }
    [...this.steps.children].forEach((node) =>
      set(node, "aria-current", node.getAttribute("data-state") === group.state ? "step" : null)
    );
  }

  /**
   * @param {import("../film/board.js").Board} board
   * @param {boolean} epochs
   */
  paintRoom(board, epochs) {
    const inside = board.members.filter((member) => member.state.standing === "member");
    const wanted = board.phase ? [...board.joined, ...board.awaited] : inside;
    say(this.roomTitle, epochs ? "Members and epochs" : roomTitle(board, wanted.length + board.group.former));
    const shown = wanted.slice(0, wanted.length > SEATS ? SEATS - 2 : SEATS);
    const seats = [
      ...shown.map((member) => seatOf(member, board, epochs)),
      ...board.coming.slice(0, 3).map((
        { label, hue },
      ) => /** @type {Seat} */ ([label, hue, "coming", "", false])),
    ];
    const key = JSON.stringify(seats);
    if (key === this.seatsKey) return;
    this.seatsKey = key;
    this.seats.replaceChildren(
      ...seats.map(drawSeat),
      wanted.length > SEATS ? make("span", {}, `+${wanted.length - SEATS + 2}`) : "",
    );
  }
}

/**
 * @param {import("../film/board.js").Board} board
 * @param {number} wanted
 */
function roomTitle(board, wanted) {
  if (board.phase === null) return `${wanted} member${wanted === 1 ? "" : "s"}`;
  const verb = board.phase === "JoinGroup" ? "Joined" : board.phase;
  return `${verb} ${board.joined.length} of ${wanted}`;
}

/**
 * A member's disc in the waiting room; in a consumer group with its epoch.
 * @param {import("../film/board.js").SeatedMember} member
 * @param {import("../film/board.js").Board} board
 * @param {boolean} epochs
 * @returns {Seat}
 */
function seatOf({ label, hue, seat, state }, board, epochs) {
  const epoch = epochs ? state.epoch ?? state.generation ?? "" : "";
  const silent = ["crashed", "frozen", "died"].includes(state.life);
  const kind = seat === "awaited" ? (silent ? "dead" : "out") : "in";
  return [label, hue, kind, String(epoch), epoch !== "" && epoch !== board.group.generation];
}

/** @param {Seat} seat */
function drawSeat([label, hue, kind, epoch, behind]) {
  return make(
    "i",
    {
      class: `rk-seat rk-${kind}`,
      style: `--hue:var(--rk-m${hue});--on:var(--rk-m${hue}o)`,
      "data-behind": behind ? "true" : null,
    },
    label,
    epoch === "" ? null : make("small", {}, epoch),
  );
}
