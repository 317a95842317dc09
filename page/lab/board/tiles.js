// The stage beyond sixteen members: a tile per member on one canvas, a cell per partition.
// Grey is normal, so whatever stopped catches the eye. Text that is read lives in the DOM beside it.

import { make, say, set } from "../../shared/dom.js";
import { Painter, sharpPen } from "../time/painter.js";
import { lookOf } from "../words/lines.js";
import { memberLine } from "../words/twin.js";
import { CoordinatorBar } from "./coordinator.js";
import { Filter } from "./filter.js";
import { COORDINATOR, FULL_HEIGHT, GAP, RAIL } from "./sizes.js";
import { allOwned } from "./stage.js";
import { TILE_HEIGHT, TilePainter } from "./tile_painter.js";

const TILE = 78;
const NARROW_TILE = 64;
const LARGE_TILE = { sides: 32, letters: 2.9 };
const TILE_GAP = 4;
/** Below this width the rail lies under the tiles, so high. */
const LOW_INNER = 680;
const LOW_RAIL = 190;
const MOST_ROWS = 12;
const LISTED = 6;
/** How strongly a tile is drawn that the filter leaves out. */
const PALE = 0.18;

/** The board of tiles. */
export class Tiles {
  /**
   * @param {import("../film/format.js").Film} film
   * @param {{ inner: number, spare: number, large: number }} sizes
   * @param {(index: number) => void} onSelect
   */
  constructor(film, { inner, spare, large }, onSelect) {
    this.film = film;
    this.large = large;
    const low = inner < LOW_INNER;
    this.width = low ? inner : inner - RAIL - GAP;
    this.top = COORDINATOR + 8;
    const count = film.members.length, room = FULL_HEIGHT - this.top - 6 + TILE_GAP;
    const across = (/** @type {number} */ wide) => Math.floor((this.width + TILE_GAP) / (wide + TILE_GAP));
    const fewest = Math.ceil(count / Math.floor(room / (TILE_HEIGHT + TILE_GAP)));
    const wanted = LARGE_TILE.sides + LARGE_TILE.letters * large; // disc, label and sign, none on another
    this.columns = large
      ? Math.max(4, across(Math.max(TILE, wanted)))
      : Math.max(4, across(TILE), Math.min(across(NARROW_TILE), fewest));
    this.tile = Math.floor((this.width + TILE_GAP) / this.columns) - TILE_GAP;
    const rows = Math.min(Math.ceil(count / this.columns), MOST_ROWS);
    this.step = TILE_HEIGHT + TILE_GAP + Math.floor(spare / rows);
    const tilesEnd = this.top + rows * this.step + 2;
    this.tilesHeight = (low ? tilesEnd : Math.max(FULL_HEIGHT, tilesEnd)) - this.top;
    this.height = this.top + this.tilesHeight + (low ? LOW_RAIL : 0);
    const size = `height:${this.height}px;min-width:${inner}px`;
    this.root = make("div", { class: "rk-stage", style: size });
    this.coordinator = new CoordinatorBar(film);
    this.canvas = make("canvas", { class: "rk-tiles", "aria-hidden": "true", style: `top:${this.top}px` });
    this.board = make("div", { class: "rk-board", role: "listbox", "aria-label": "Members", tabindex: "-1" });
    this.lanes = film.members.map((member) => ({ node: this.makeTile(member, onSelect), key: "" }));
    this.board.append(...this.lanes.map(({ node }) => node));
    this.railCount = make("span", { class: "rk-railcount" });
    this.railList = make("p", { class: "rk-raillist" });
    const railTop = low ? tilesEnd + 2 : this.top;
    const place = low
      ? `left:0;top:${railTop}px;width:${inner}px`
      : `left:${inner - RAIL}px;top:${railTop}px;width:${RAIL}px`;
    const style = `${place};height:${this.height - railTop - 6}px`;
    const looks = { class: "rk-rail", role: "group", "aria-label": "No owner", style };
    this.filter = new Filter(() => this.shown && this.draw(this.shown), onSelect);
    const title = make("b", {}, "No owner");
    const rail = make("div", looks, title, this.railCount, this.railList, this.filter.root);
    /** @type {import("../film/board.js").Board | null} */
    this.shown = null;
    this.root.append(this.coordinator.root, this.canvas, this.board, rail);
    this.key = "";
    this.line = ""; // what the selected member does
  }

  /**
   * Another film of the same members and partitions: nothing has to be built anew.
   * @param {import("../film/format.js").Film} film
   */
  adopt(film) {
    const same = film.partitions.length === this.film.partitions.length &&
      film.members.length === this.film.members.length &&
      film.members.every((member, index) => member.name === this.film.members[index].name);
    if (!same) return false;
    this.film = film;
    this.key = "";
    this.lanes.forEach((lane) => (lane.key = ""));
    return true;
  }

  /**
   * @param {import("../film/format.js").Member} member
   * @param {(index: number) => void} onSelect
   */
  makeTile({ name, index }, onSelect) {
    const { x, y } = this.place(index);
    const style = `left:${x}px;top:${this.top + y}px;width:${this.tile}px;height:${TILE_HEIGHT}px`;
    const looks = { class: "rk-lane rk-tile", role: "option", tabindex: "-1", title: name, style };
    const node = make("div", { ...looks, "data-member": name });
    node.addEventListener("click", () => onSelect(index));
    return node;
  }

  /**
   * Where a tile stands on the canvas.
   * @param {number} index
   */
  place(index) {
    return {
      x: (index % this.columns) * (this.tile + TILE_GAP),
      y: Math.floor(index / this.columns) * this.step,
    };
  }

  /**
   * @param {import("../film/board.js").Board} board
   * @param {number} selected
   */
  paint(board, selected) {
    this.coordinator.paint(this.film, board);
    this.lanes.forEach((lane, index) => {
      set(lane.node, "aria-selected", selected === index ? "true" : "false");
      const { state } = board.members[index];
      const stopped = board.owned[index].filter((partition) => !board.partitions[partition].flows).length;
      const key = `${lookOf(state)}/${state.doing}/${board.owned[index].length}/${stopped}`;
      if (lane.key === key) return;
      lane.key = key;
      set(lane.node, "data-look", lookOf(state));
      set(lane.node, "aria-label", memberLine(this.film, board, index));
    });
    const orphans = this.film.partitions.filter((_, index) => board.partitions[index].owner === -1);
    say(this.railCount, orphans.length ? String(orphans.length) : "");
    this.list(orphans, allOwned(board));
    this.line = board.members[selected] ? memberLine(this.film, board, selected) : "";
    this.draw(board);
  }

  /**
   * The first of the ownerless partitions, none of them broken.
   * @param {string[]} orphans
   * @param {string} otherwise what is said where there are none
   */
  list(orphans, otherwise) {
    const more = orphans.length > LISTED ? `and ${orphans.length - LISTED} more` : "";
    const words = orphans.length ? [...orphans.slice(0, LISTED), more] : [otherwise];
    if (this.railList.textContent === words.join(" ")) return;
    const whole = orphans.length ? { class: "rk-whole" } : {};
    this.railList.replaceChildren(...words.flatMap((each) => [make("span", whole, each), " "]));
    this.railList.lastChild?.remove();
  }

  /** @param {import("../film/board.js").Board} board */
  draw(board) {
    const partitions = board.partitions.map(({ owner, word }) => `${owner}${word}`).join();
    const members = board.members.map(({ state }) => state.doing).join();
    this.shown = board;
    const passing = this.filter.passing(this.film, board);
    this.filter.tell(this.line);
    const key = `${partitions}${members}${board.group.state}${this.filter.key}${passing}`;
    if (key === this.key) return;
    this.key = key;
    this.lanes.forEach(({ node }, index) => set(node, "data-out", passing[index] ? null : "yes"));
    const pen = sharpPen(this.canvas, this.width, this.tilesHeight);
    const painter = new TilePainter(pen, new Painter(this.root), this.tile, this.large);
    board.members.forEach((member) => {
      pen.globalAlpha = passing[member.index] ? 1 : PALE;
      painter.draw(board, member, this.place(member.index));
    });
  }

  // Tiles have no bus: nothing flies.
  pill() {}
}
