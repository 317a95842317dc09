// The stage at up to sixteen members: lanes, tokens, rail, coordinator. Lanes and rail never move.

import { make, say, set } from "../../shared/dom.js";
import { seconds } from "../film/times.js";
import { sinceWhen } from "../film/tracks.js";
import { spoken } from "../words/twin.js";
import { Bus } from "./bus.js";
import { CoordinatorBar } from "./coordinator.js";
import { Lane } from "./lane.js";
import { laneBox } from "./sizes.js";
import { Token } from "./token.js";

const OFFERED_UP_TO = 3;

/** The board of lanes. */
export class Stage {
  /**
   * @param {import("../film/format.js").Film} film
   * @param {import("./sizes.js").LaneSizes} sizes
   * @param {(index: number) => void} onSelect hears -1 where a lane is offered to a new member
   * @param {boolean} [offers] whether a lane is offered
   */
  constructor(film, sizes, onSelect, offers = true) {
    this.film = film;
    this.sizes = sizes;
    const size = `height:${sizes.height}px;min-width:${sizes.inner}px`;
    this.root = make("div", { class: "rk-stage", style: size });
    this.coordinator = new CoordinatorBar(film);
    this.board = make("div", { class: "rk-board", role: "listbox", "aria-label": "Members", tabindex: "-1" });
    this.railCount = make("span", { class: "rk-railcount" });
    this.railNote = make("p", { class: "rk-railnote" });
    const place = `left:${sizes.railX}px;top:${sizes.railY}px`;
    const room = `width:${sizes.railWidth}px;height:${sizes.railHeight}px`;
    this.rail = make(
      "div",
      { class: "rk-rail", role: "group", "aria-label": "No owner", style: `${place};${room}` },
      make("b", {}, "No owner"),
      this.railCount,
      this.railNote,
    );
    this.bus = new Bus(film, sizes);
    const tokenLayer = make("div", { class: "rk-tokens", "aria-hidden": "true" });
    this.lanes = film.members.map((member) => new Lane(member, sizes, onSelect));
    this.board.append(...this.lanes.map((lane) => lane.node));
    this.tokens = film.partitions.map((name, index) => new Token(name, index, tokenLayer));
    this.root.append(this.coordinator.root, this.bus.root, this.rail, this.board, tokenLayer);
    if (!sizes.busWidth) this.bus.root.hidden = true;
    if (offers && sizes.busWidth) this.offerLane(onSelect);
  }

  /**
   * A small group offers room for one more lane.
   * @param {(index: number) => void} onSelect
   */
  offerLane(onSelect) {
    const { members } = this.film;
    if (members.length >= OFFERED_UP_TO) return;
    const box = laneBox({ ...this.sizes, rows: 99 }, members.length);
    const style = `left:${box.x}px;top:${box.y}px;width:${box.width}px;height:${box.height}px`;
    const looks = { type: "button", class: "rk-offer", "aria-label": "Add a member", style };
    const node = make("button", looks, "+ Add a member");
    node.addEventListener("click", () => onSelect(-1));
    this.root.append(node);
  }

  /**
   * Another film of the same members and partitions, and of the same sizes: nothing has to be built anew.
   * @param {import("../film/format.js").Film} film
   * @param {import("./sizes.js").LaneSizes | { inner: number }} sizes
   */
  adopt(film, sizes) {
    const named = (
      /** @type {import("../film/format.js").Film} */ { group, members, partitions },
    ) => [group, members.map(({ name }) => name), partitions];
    if (!alike([named(film), sizes], [named(this.film), this.sizes])) return false;
    this.film = this.bus.film = film;
    return true;
  }

  /**
   * Draw one moment. `moving` lets tokens fly; scrubbing shows states, never flights.
   * @param {import("../film/board.js").Board} board
   * @param {number} selected
   * @param {boolean} moving
   */
  paint(board, selected, moving) {
    this.coordinator.paint(this.film, board);
    this.bus.paint(board);
    this.lanes.forEach((lane, index) => lane.paint(this.film, board, selected === index));
    this.tokens.forEach((token) => token.paint(this.film, board, this.sizes, moving));
    const orphans = this.film.partitions.filter((_, index) => board.partitions[index].owner === -1);
    say(this.railCount, orphans.length ? String(orphans.length) : "");
    say(this.railNote, orphans.length ? this.waits(board) : allOwned(board));
    set(this.rail, "data-count", orphans.length);
    set(this.rail, "aria-label", `No owner: ${orphans.length ? spoken(orphans) : "none"}`);
  }

  /**
   * Since when the longest of the ownerless partitions is unread.
   * @param {import("../film/board.js").Board} board
   */
  waits(board) {
    const { partitionTracks, partitionStates } = this.film;
    const since = board.partitions.flatMap((state, index) =>
      state.owner === -1
        ? sinceWhen(partitionTracks[index], partitionStates, board.at, (earlier) => !earlier.flows)
        : []
    );
    const subject = since.length > 1 ? "The longest" : "It";
    return `${subject} has been unread for ${seconds(board.at - Math.min(...since))}.`;
  }

  /** @param {import("../film/format.js").Message} message */
  pill(message) {
    this.bus.pill(message);
  }
}

/**
 * What is said where no partition lacks an owner.
 * @param {import("../film/board.js").Board} board
 */
export function allOwned(board) {
  return board.there ? "Every partition has an owner." : "There is no partition.";
}

/**
 * Whether two plain values hold the same.
 * @param {unknown} one
 * @param {unknown} other
 */
function alike(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}
