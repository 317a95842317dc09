// The marked partition: chosen by the arrow keys or a click, and said.

import { say } from "../../shared/dom.js";
import { boardAt } from "../film/board.js";
import { positionAt } from "../film/positions.js";
import { recordsWords } from "../words/offsets.js";

/** At most one partition of the board is marked. */
export class Marker {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    /** @type {number | null} */
    this.partition = null;
  }

  /** @returns {import("../board/token.js").Token[]} tokens on the board; tiles have none */
  get tokens() {
    return this.lab.screen.stage?.tokens ?? [];
  }

  /**
   * The next partition in the selected lane.
   * @param {1 | -1} step
   */
  step(step) {
    const { film, player, selected } = this.lab;
    const owned = boardAt(film, player.at).owned[selected] ?? [];
    if (!owned.length || !this.tokens.length) return;
    const at = this.partition === null ? -1 : owned.indexOf(this.partition);
    const first = step > 0 ? 0 : owned.length - 1;
    this.mark(owned[at < 0 ? first : (at + step + owned.length) % owned.length]);
  }

  /** @param {number} partition */
  mark(partition) {
    const { film, player, ui } = this.lab;
    this.partition = partition;
    this.tokens.forEach((token) => token.node.classList.toggle("rk-spot", token.index === partition));
    const state = boardAt(film, player.at).partitions[partition];
    const position = positionAt(film, partition, player.at, state.flows);
    const waiting = position ? `, ${Math.max(0, position.end - position.position)} records wait` : "";
    const records = recordsWords(film, partition, player.at).map((words) => `, ${words}`).join("");
    say(ui.status, `${film.partitions[partition]}: ${state.word}${waiting}${records}`);
  }

  /**
   * A click on a partition marks it: tokens lie above the lanes and let clicks through.
   * @param {MouseEvent} event
   */
  pick(event) {
    if (this.lab.panels.name !== "flow") return;
    const hit = this.tokens.find(({ node }) => {
      const { left, right, top, bottom } = node.getBoundingClientRect();
      const { clientX, clientY } = event;
      return clientX >= left && clientX <= right && clientY >= top && clientY <= bottom;
    });
    if (!hit) return;
    const badge = /** @type {Element} */ (event.target).closest(".rk-delivered"); // it does not let the click through
    const owner = badge ? this.lab.film.members.findIndex(({ name }) => name === hit.node.dataset.owner) : -1;
    if (owner >= 0) this.lab.select(owner);
    this.mark(hit.index);
    this.lab.predict.pick(hit.name);
  }

  clear() {
    this.partition = null;
    this.tokens.forEach((token) => token.node.classList.remove("rk-spot"));
  }
}
