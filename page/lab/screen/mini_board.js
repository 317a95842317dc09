// A small live board: a lane per member, a rail for what has no owner, and tokens that fly between them.

import { make, say, set } from "../../shared/dom.js";
import { GONE } from "../film/format.js";
import { doingLine, lookOf } from "../words/lines.js";

const GAP = 4;
/** Below this width of a lane *more* would lie on its disc. */
const MORE_ROOM = 80;
/** Pixels: of a lane, of what stands left of its tokens, of a token, and of one of many tokens. */
const SIZES = Object.freeze({
  usual: { head: 44, lane: 50, top: 20, chip: 26, small: { width: 20, height: 12, gap: 2 }, rows: 2 },
  presented: { head: 56, lane: 60, top: 28, chip: 32, small: { width: 32, height: 26, gap: 4 }, rows: 1 },
});

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
    this.sizes = SIZES.usual;
    this.lanes = names.map((name) => {
      const member = film.members.find((each) => each.name === name);
      const hue = member ? `--hue:var(--rk-m${member.hue});--on:var(--rk-m${member.hue}o)` : "";
      const doing = make("small", {});
      const face = make("i", { class: "rk-seat rk-in", "aria-hidden": "true" }, member?.label ?? "");
      const node = make("div", { class: "rk-minilane", style: hue }, face, doing);
      return { node, doing, member };
    });
    this.rail = make(
      "div",
      { class: "rk-minilane rk-minirail" },
      make("small", {}, "No owner"),
    );
    this.tokens = film.partitions.map((name) => {
      const number = name.slice(name.lastIndexOf("-") + 1);
      return make("i", { class: "rk-minitoken", title: name }, number);
    });
    this.more = [...names, ""].map(() => make("small", { class: "rk-minimore" }));
    this.root = make(
      "div",
      { class: "rk-mini-board", "aria-hidden": "true" },
      ...this.lanes.map(({ node }) => node),
      this.rail,
      ...this.tokens,
      ...this.more,
    );
    this.lay();
  }

  /** Put every lane in its place. */
  lay() {
    const { lane } = this.sizes, lanes = [...this.lanes.map(({ node }) => node), this.rail];
    lanes.forEach((node, row) => {
      node.style.top = `${row * lane}px`;
      node.style.height = `${lane - 4}px`;
      this.more[row].style.top = `${row * lane + 1}px`;
    });
    this.root.style.height = `${lanes.length * lane}px`;
  }

  /**
   * @param {Board} board
   * @param {number} width
   * @param {boolean} presented
   */
  paint(board, width, presented) {
    const sizes = presented ? SIZES.presented : SIZES.usual;
    if (sizes !== this.sizes) {
      this.sizes = sizes;
      this.lay();
    }
    for (const { node, doing, member } of this.lanes) {
      const state = member && board.members[member.index].state;
      set(node, "data-look", state ? lookOf(state) : "absent");
      say(doing, member ? doingLine(this.film, board, member.index) : "not in this run");
    }
    /** @type {number[][]} */
    const rows = this.more.map(() => []);
    board.partitions.forEach((state, partition) => {
      const node = this.tokens[partition];
      node.hidden = state.owner === GONE;
      if (node.hidden) return;
      rows[state.owner < 0 ? this.names.length : this.rowOf(state.owner)].push(partition);
      const hue = state.owner >= 0 ? this.film.members[state.owner].hue : 0;
      node.style.setProperty("--hue", hue ? `var(--rk-m${hue})` : "var(--rk-ink)");
      node.style.setProperty("--on", hue ? `var(--rk-m${hue}o)` : "var(--rk-surface)");
      set(node, "data-reads", state.flows ? "yes" : state.owner < 0 ? "loose" : "no");
    });
    rows.forEach((held, row) => this.arrange(held, row, width - sizes.head - 8));
  }

  /**
   * Each token of a lane in a place of its own: in one row, else small in two, presented in one; how many more there are is said.
   * @param {number[]} held
   * @param {number} row
   * @param {number} room
   */
  arrange(held, row, room) {
    const { head, lane, top, chip, small: { width, height, gap }, rows } = this.sizes;
    const small = rows > 1 && held.length > Math.max(1, Math.floor((room + GAP) / (chip + GAP)));
    const step = small ? width + gap : chip + GAP;
    const across = Math.max(1, Math.floor((room + gap) / step));
    const shown = small ? across * rows : across;
    held.forEach((partition, place) => {
      const node = this.tokens[partition];
      node.hidden = place >= shown;
      node.classList.toggle("rk-minismall", small);
      const x = head + (place % across) * step;
      const y = row * lane + top + Math.floor(place / across) * (height + 1);
      node.style.transform = `translate(${x}px,${y}px)`;
    });
    const more = room < MORE_ROOM ? "" : " more";
    say(this.more[row], held.length > shown ? `+${held.length - shown}${more}` : "");
  }

  /** @param {number} owner */
  rowOf(owner) {
    return this.names.indexOf(this.film.members[owner].name);
  }
}
