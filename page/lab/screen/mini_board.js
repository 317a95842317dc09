// A small live board: a lane per member, a rail for what has no owner, and tokens that fly between them.

import { make, say, set } from "../../shared/dom.js";
import { GONE } from "../film/format.js";
import { doingLine, lookOf } from "../words/lines.js";

const HEAD = 44;
const LANE = 50;
const CHIP = 26;
const GAP = 4;

/** @typedef {import("../film/format.js").Film} Film */
/** @typedef {import("../film/board.js").Board} Board */

/** One run of a comparison, drawn small. */
export class MiniBoard {
  /**
   * @param {Film} film
   * @param {string[]} names the members of all runs, a lane each, so that a row is one member everywhere
   */
  constructor(film, names) {
    this.film = film;
    this.names = names;
    this.width = 0;
    this.lanes = names.map((name, row) => {
      const member = film.members.find((each) => each.name === name);
      const hue = member ? `--hue:var(--rk-m${member.hue});--on:var(--rk-m${member.hue}o)` : "";
      const doing = make("small", {});
      const face = make("i", { class: "rk-seat rk-in", "aria-hidden": "true" }, member?.label ?? "");
      const node = make("div", { class: "rk-minilane", style: `top:${row * LANE}px;${hue}` }, face, doing);
      return { node, doing, member };
    });
    this.rail = make(
      "div",
      { class: "rk-minilane rk-minirail", style: `top:${names.length * LANE}px` },
      make("small", {}, "No owner"),
    );
    this.tokens = film.partitions.map((name) => {
      const number = name.slice(name.lastIndexOf("-") + 1);
      return make("i", { class: "rk-minitoken", title: name }, number);
    });
    this.root = make(
      "div",
      { class: "rk-mini-board", style: `height:${(names.length + 1) * LANE}px`, "aria-hidden": "true" },
      ...this.lanes.map(({ node }) => node),
      this.rail,
      ...this.tokens,
    );
  }

  /**
   * @param {Board} board
   * @param {number} width
   */
  paint(board, width) {
    const across = Math.max(1, Math.floor((width - HEAD - 8) / (CHIP + GAP)));
    for (const { node, doing, member } of this.lanes) {
      const state = member && board.members[member.index].state;
      set(node, "data-look", state ? lookOf(state) : "absent");
      say(doing, member ? doingLine(this.film, board, member.index) : "not in this run");
    }
    /** @type {Map<number, number>} */
    const filled = new Map();
    board.partitions.forEach((state, partition) => {
      const node = this.tokens[partition];
      node.hidden = state.owner === GONE;
      const row = state.owner < 0 ? this.names.length : this.rowOf(state.owner);
      const place = filled.get(row) ?? 0;
      filled.set(row, place + 1);
      const x = HEAD + (place % across) * (CHIP + GAP);
      const y = row * LANE + 20 + Math.floor(place / across) * 4;
      node.style.transform = `translate(${x}px,${y}px)`;
      const hue = state.owner >= 0 ? this.film.members[state.owner].hue : 0;
      node.style.setProperty("--hue", hue ? `var(--rk-m${hue})` : "var(--rk-ink)");
      node.style.setProperty("--on", hue ? `var(--rk-m${hue}o)` : "var(--rk-surface)");
      set(node, "data-reads", state.flows ? "yes" : state.owner < 0 ? "loose" : "no");
    });
  }

  /** @param {number} owner */
  rowOf(owner) {
    return this.names.indexOf(this.film.members[owner].name);
  }
}
