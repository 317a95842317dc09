// The stage beyond sixteen members: a tile per member on one canvas, a cell per partition.
// Grey is normal, so whatever stopped catches the eye. Text that is read lives in the DOM beside it.

import { make, say, set } from "../../shared/dom.js";
import { ALERTING, lookOf, SIGNS } from "../words/lines.js";
import { memberLine } from "../words/twin.js";
import { CoordinatorBar } from "./coordinator.js";
import { COORDINATOR, FULL_HEIGHT, GAP, RAIL } from "./sizes.js";

const TILE = 78;
const TILE_HEIGHT = 56;
const TILE_GAP = 4;
/** What stands on the tile of a member that does not run. */
const AWAY = /** @type {Record<string, string>} */ ({ gone: "gone", closed: "left", absent: "not started" });

export class Tiles {
  constructor(film, sizes, onSelect) {
    this.film = film;
    this.inner = sizes.inner;
    this.columns = Math.max(4, Math.floor((sizes.inner - RAIL - GAP + TILE_GAP) / (TILE + TILE_GAP)));
    this.tile = Math.floor((sizes.inner - RAIL - GAP + TILE_GAP) / this.columns) - TILE_GAP;
    this.rows = Math.ceil(film.members.length / this.columns);
    this.shownRows = Math.min(this.rows, 12);
    this.top = COORDINATOR + 10;
    this.height = Math.max(FULL_HEIGHT, this.top + this.shownRows * (TILE_HEIGHT + TILE_GAP) + 6);
    this.root = make("div", {
      class: "rk-stage",
      style: `height:${this.height}px;min-width:${sizes.inner}px`,
    });
    this.coordinator = new CoordinatorBar(film);
    this.canvas = make("canvas", { class: "rk-tiles", "aria-hidden": "true", style: `top:${this.top}px` });
    this.board = make("div", { class: "rk-board", role: "listbox", "aria-label": "Members", tabindex: "-1" });
    this.lanes = film.members.map((member) => this.makeTile(member, onSelect));
    this.rail = make(
      "div",
      {
        class: "rk-rail",
        role: "group",
        "aria-label": "No owner",
        style: `left:${sizes.inner - RAIL}px;top:${this.top}px;width:${RAIL}px;height:${
          this.height - this.top - 6
        }px`,
      },
      make("b", {}, "No owner"),
      make("span", { class: "rk-railcount" }),
      make("p", { class: "rk-raillist" }),
    );
    this.root.append(this.coordinator.root, this.canvas, this.board, this.rail);
    this.key = "";
  }

  // Another film of the same members and partitions: nothing has to be built anew.
  adopt(film) {
    const same = film.members.length === this.film.members.length &&
      film.partitions.length === this.film.partitions.length &&
      film.members.every((one, index) => one.name === this.film.members[index].name);
    if (!same) return false;
    this.film = film;
    this.key = "";
    this.lanes.forEach((lane) => {
      lane.key = "";
    });
    return true;
  }

  makeTile(member, onSelect) {
    const { x, y } = this.place(member.index);
    const node = make("div", {
      class: "rk-lane rk-tile",
      role: "option",
      "data-member": member.name,
      tabindex: "-1",
      title: member.name,
      style: `left:${x}px;top:${y}px;width:${this.tile}px;height:${TILE_HEIGHT}px`,
    });
    node.addEventListener("click", () => onSelect(member.index));
    this.board.append(node);
    return { node };
  }

  place(index) {
    return {
      x: (index % this.columns) * (this.tile + TILE_GAP),
      y: this.top + Math.floor(index / this.columns) * (TILE_HEIGHT + TILE_GAP),
    };
  }

  paint(board, selected) {
    this.coordinator.paint(this.film, board);
    this.lanes.forEach((lane, index) => {
      set(lane.node, "aria-selected", selected === index ? "true" : "false");
      const look = lookOf(board.members[index].state),
        stopped = board.owned[index].filter((one) => !board.partitions[one].flows).length;
      const key = `${look}/${board.members[index].state.doing}/${board.owned[index].length}/${stopped}`;
      if (lane.key === key) return;
      lane.key = key;
      set(lane.node, "data-look", look);
      set(lane.node, "aria-label", memberLine(this.film, board, index));
    });
    const orphans = board.partitions.map((one, index) => (one.owner === -1 ? index : -1)).filter((index) =>
      index >= 0
    );
    say(this.rail.children[1], orphans.length ? String(orphans.length) : "");
    say(
      this.rail.children[2],
      orphans.length
        ? orphans.slice(0, 20).map((one) => this.film.partitions[one]).join("  ") +
          (orphans.length > 20 ? `  and ${orphans.length - 20} more` : "")
        : "Every partition has an owner.",
    );
    this.draw(board);
  }

  draw(board) {
    const key = `${board.partitions.map((one) => `${one.owner}${one.word}`).join()}${
      board.members.map((one) => one.state.doing).join()
    }${board.group.state}`;
    if (key === this.key) return;
    this.key = key;
    const ratio = Math.min(2, devicePixelRatio || 1),
      width = this.inner - RAIL - GAP,
      height = this.height - this.top;
    if (this.canvas.width !== Math.round(width * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      this.canvas.style.width = `${width}px`;
      this.canvas.style.height = `${height}px`;
    }
    const pen = this.canvas.getContext("2d"),
      css = getComputedStyle(this.root),
      colour = (name) => css.getPropertyValue(`--rk-${name}`).trim();
    const paint = {
      sunk: colour("sunk"),
      ink: colour("ink"),
      ink3: colour("ink3"),
      alert: colour("alert"),
      surface: colour("surface"),
    };
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    board.members.forEach((member) =>
      this.drawTile(pen, board, member, { ...paint, on: colour(`m${member.hue}o`) }, colour(`m${member.hue}`))
    );
  }

  drawTile(pen, board, member, paint, hue) {
    const { x, y: top } = this.place(member.index), y = top - this.top, look = lookOf(member.state);
    pen.fillStyle = paint.sunk;
    pen.beginPath();
    pen.roundRect(x, y, this.tile, TILE_HEIGHT, 7);
    pen.fill();
    if (["crashed", "gone", "frozen", "died", "fenced", "zombie"].includes(look)) {
      pen.strokeStyle = paint.alert;
      pen.lineWidth = 1.5;
      pen.setLineDash([4, 3]);
      pen.stroke();
      pen.setLineDash([]);
    }
    pen.fillStyle = hue;
    pen.beginPath();
    pen.arc(x + 14, y + 13, 6.5, 0, 7);
    pen.fill();
    this.drawPattern(pen, member.pattern, x + 14, y + 13, paint.on);
    pen.fillStyle = paint.ink;
    pen.font = "600 12px system-ui, sans-serif";
    pen.textAlign = "left";
    pen.fillText(member.label, x + 25, y + 17);
    pen.textAlign = "right";
    pen.font = "600 12px system-ui, sans-serif";
    const seat = member.seat === "joined" ? "✓" : "○";
    const sign = look === "live" ? (board.phase ? seat : "") : SIGNS[look] || "";
    const word = AWAY[look];
    if (word) {
      pen.fillStyle = look === "gone" ? paint.alert : paint.ink3;
      pen.textAlign = "center";
      pen.fillText(word, x + this.tile / 2, y + 41);
      pen.textAlign = "right";
    }
    if (look !== "live") pen.fillStyle = paint.alert;
    pen.fillText(sign, x + this.tile - 7, y + 17);
    this.drawCells(pen, board, board.owned[member.index], x + 8, y + 26, paint);
  }

  // From the thirteenth member on hues come again, and a pattern tells the members apart.
  drawPattern(pen, kind, x, y, colour) {
    if (!kind) return;
    const line = (x1, y1, x2, y2) => {
      pen.moveTo(x + x1, y + y1);
      pen.lineTo(x + x2, y + y2);
    };
    pen.strokeStyle = pen.fillStyle = colour;
    pen.lineWidth = 1.6;
    pen.beginPath();
    if (kind === 2) {
      [[-2.5, -2], [2.5, -2], [0, 2.5]].forEach(([dx, dy]) => pen.rect(x + dx - 1, y + dy - 1, 2, 2));
      pen.fill();
      return;
    }
    if (kind === 3) {
      line(-5, -2, 5, -2);
      line(-5, 2, 5, 2);
    } else line(-4, 4, 4, -4);
    if (kind === 4) line(-4, -4, 4, 4);
    pen.stroke();
  }

  drawCells(pen, board, owned, left, top, paint) {
    const side = owned.length <= 10 ? 11 : owned.length <= 24 ? 8 : 5,
      across = Math.floor((this.tile - 11) / (side + 2));
    owned.forEach((partition, place) => {
      const x = left + (place % across) * (side + 2),
        y = top + Math.floor(place / across) * (side + 2),
        state = board.partitions[partition];
      if (y > top + 26) return;
      if (state.flows) {
        pen.fillStyle = paint.ink3;
        pen.fillRect(x, y, side, side);
        return;
      }
      const bad = ALERTING.has(state.word);
      pen.strokeStyle = bad ? paint.alert : paint.ink;
      pen.lineWidth = 1.2;
      pen.strokeRect(x + 0.6, y + 0.6, side - 1.2, side - 1.2);
      if (bad) {
        pen.beginPath();
        pen.moveTo(x + 2, y + 2);
        pen.lineTo(x + side - 2, y + side - 2);
        pen.moveTo(x + side - 2, y + 2);
        pen.lineTo(x + 2, y + side - 2);
        pen.stroke();
      }
    });
  }

  // Tiles have no bus: nothing flies.
  pill() {}
}
