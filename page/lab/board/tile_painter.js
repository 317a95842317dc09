// One tile on the canvas: disc, sign, and a cell per partition.

import { LOOKS, PARTITION_WORDS } from "../../generated/kinds.js";
import { lookOf } from "../words/lines.js";

export const TILE_HEIGHT = 40;
const LETTERS = 12;
/** What stands on the tile of a member that does not run. */
/** @type {Partial<Record<import("../../generated/kinds.js").Look, string>>} */
const AWAY = { gone: "gone", closed: "left", absent: "not started" };
const FRAMED = new Set(["crashed", "gone", "frozen", "died", "fenced", "zombie"]);
const COLOURS = ["sunk", "ink", "ink3", "alert"];

/** @typedef {import("../film/board.js").Board} Board */
/** @typedef {{ x: number, y: number }} Place */

/** Draws tiles in the colours of one theme. */
export class TilePainter {
  /**
   * @param {CanvasRenderingContext2D} pen
   * @param {import("../time/painter.js").Painter} painter
   * @param {number} width of a tile
   * @param {number} [large] the size of small words for a projector
   */
  constructor(pen, painter, width, large = 0) {
    this.font = `600 ${Math.max(LETTERS, large)}px system-ui, sans-serif`;
    this.pen = pen;
    this.painter = painter;
    this.width = width;
    this.colours = Object.fromEntries(COLOURS.map((name) => [name, painter.colour(name)]));
  }

  /**
   * @param {Board} board
   * @param {import("../film/board.js").SeatedMember} member
   * @param {Place} place
   */
  draw(board, member, { x, y }) {
    const { pen, colours } = this;
    const look = lookOf(member.state);
    pen.fillStyle = colours.sunk;
    pen.beginPath();
    pen.roundRect(x, y, this.width, TILE_HEIGHT, 7);
    pen.fill();
    if (FRAMED.has(look)) this.drawFrame();
    pen.fillStyle = this.painter.colour(`m${member.hue}`);
    pen.beginPath();
    pen.arc(x + 14, y + 11, 6, 0, 7);
    pen.fill();
    this.drawPattern(member.pattern, x + 14, y + 11, this.painter.colour(`m${member.hue}o`));
    this.write(member.label, x + 24, y + 15, "left", colours.ink);
    const away = AWAY[look];
    if (away) {
      this.write(away, x + this.width / 2, y + 32, "center", look === "gone" ? colours.alert : colours.ink3);
    }
    const seat = member.seat === "joined" ? "✓" : "○";
    const sign = look === "live" ? (board.phase ? seat : "") : LOOKS[look].badge;
    this.write(sign, x + this.width - 6, y + 15, "right", look === "live" ? colours.ink : colours.alert);
    this.drawCells(board, board.owned[member.index], x + 7, y + 20);
  }

  /**
   * @param {string} words
   * @param {number} x
   * @param {number} y
   * @param {CanvasTextAlign} align
   * @param {string} ink
   */
  write(words, x, y, align, ink) {
    this.pen.font = this.font;
    this.pen.textAlign = align;
    this.pen.fillStyle = ink;
    this.pen.fillText(words, x, y, this.width - 8);
  }

  // A dashed line around what was just filled.
  drawFrame() {
    const { pen } = this;
    pen.strokeStyle = this.colours.alert;
    pen.lineWidth = 1.5;
    pen.setLineDash([4, 3]);
    pen.stroke();
    pen.setLineDash([]);
  }

  /**
   * From the thirteenth member on hues come again, and a pattern tells the members apart.
   * @param {number} kind
   * @param {number} x
   * @param {number} y
   * @param {string} colour
   */
  drawPattern(kind, x, y, colour) {
    if (!kind) return;
    const { pen } = this;
    pen.strokeStyle = pen.fillStyle = colour;
    pen.lineWidth = 1.6;
    pen.beginPath();
    if (kind === 2) {
      [[-2.5, -2], [2.5, -2], [0, 2.5]].forEach(([dx, dy]) => pen.rect(x + dx - 1, y + dy - 1, 2, 2));
      pen.fill();
      return;
    }
    const lines = kind === 3 ? [[-5, -2, 5, -2], [-5, 2, 5, 2]] : [[-4, 4, 4, -4]];
    if (kind === 4) lines.push([-4, -4, 4, 4]);
    for (const [x1, y1, x2, y2] of lines) {
      pen.moveTo(x + x1, y + y1);
      pen.lineTo(x + x2, y + y2);
    }
    pen.stroke();
  }

  /**
   * @param {Board} board
   * @param {number[]} owned
   * @param {number} left
   * @param {number} top
   */
  drawCells(board, owned, left, top) {
    const side = owned.length <= 12 ? 7 : owned.length <= 20 ? 5 : 3;
    const across = Math.floor((this.width - 11) / (side + 2));
    owned.forEach((partition, place) => {
      const x = left + (place % across) * (side + 2);
      const y = top + Math.floor(place / across) * (side + 2);
      if (y + side <= top + 19) this.drawCell(board.partitions[partition], x, y, side);
    });
  }

  /**
   * @param {import("../film/format.js").PartitionState} state
   * @param {number} x
   * @param {number} y
   * @param {number} side
   */
  drawCell({ flows, word }, x, y, side) {
    const { pen, colours } = this;
    if (flows) {
      pen.fillStyle = colours.ink3;
      pen.fillRect(x, y, side, side);
      return;
    }
    const bad = PARTITION_WORDS[word].alerting;
    pen.strokeStyle = bad ? colours.alert : colours.ink;
    pen.lineWidth = 1.2;
    pen.strokeRect(x + 0.6, y + 0.6, side - 1.2, side - 1.2);
    if (!bad) return;
    pen.beginPath();
    pen.moveTo(x + 2, y + 2);
    pen.lineTo(x + side - 2, y + side - 2);
    pen.moveTo(x + side - 2, y + 2);
    pen.lineTo(x + 2, y + side - 2);
    pen.stroke();
  }
}
