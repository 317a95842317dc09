// The bars of the timeline. A bar narrower than a pixel is still drawn, so that no short stop vanishes.

import { GONE } from "../film/format.js";
import { bars, partitionBars } from "../film/tracks.js";

/** Letters for a projector, against usual ones. */
const LARGER = 1.16;
export const TOP = 20;
const TALLEST = 24;
const LOWEST = 18;
const STEPS_S = [0.01, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800];
/** Numbers of the axis stand so many pixels apart at least. */
const APART = 34;
const MOST_TICKS = 11;

/**
 * The height of a row: lower rows where all of them then fit.
 * @param {number} count of rows
 * @param {number} room for them and the axis
 */
export function rowHeight(count, room) {
  const fits = Math.floor((room - TOP) / Math.max(1, count));
  return fits < LOWEST ? TALLEST - 4 : Math.min(TALLEST, fits);
}

/** A chart that is being drawn. */
export class Chart {
  /**
   * @param {CanvasRenderingContext2D} pen
   * @param {import("../time/painter.js").Painter} painter
   * @param {import("../film/format.js").Film} film
   * @param {import("../time/scale.js").Scale} scale
   * @param {number} row its height
   */
  constructor(pen, painter, film, scale, row) {
    this.row = row;
    this.letters = painter.large ? LARGER : 1;
    this.pen = pen;
    this.painter = painter;
    this.film = film;
    this.scale = scale;
  }

  /**
   * @param {import("./rows.js").Row[]} rows
   * @param {number} height
   */
  draw(rows, height) {
    this.drawAxis(height);
    rows.forEach(({ kind, index }, place) => {
      const y = TOP + place * this.row;
      if (kind === "group") this.drawGroup(y);
      else if (kind === "member") this.drawMember(index, y);
      else this.drawPartition(index, y);
    });
  }

  /** @param {number} height */
  drawAxis(height) {
    const { pen, scale } = this;
    const { step, ticks } = scale.ticks(STEPS_S, Math.min(MOST_TICKS, Math.floor(scale.width / APART)));
    pen.fillStyle = this.painter.colour("ink2");
    pen.strokeStyle = this.painter.colour("hairline");
    pen.font = `${11.5 * this.letters}px system-ui, sans-serif`;
    pen.textAlign = "center";
    for (const at of ticks) {
      const x = scale.x(at * 1000);
      const words = step < 1 ? at.toFixed(2) : String(Math.round(at));
      pen.fillText(words, Math.max(10, Math.min(scale.width - 10, x)), 12);
      pen.beginPath();
      pen.moveTo(x, 18);
      pen.lineTo(x, height);
      pen.stroke();
    }
  }

  /** @param {number} y */
  drawGroup(y) {
    const { groupTrack, groupStates, end } = this.film;
    for (
      const [from, until, state] of bars(
        groupTrack,
        groupStates,
        end,
        ({ state, generation }) => `${state}${generation}`,
      )
    ) {
      const steady = state.state === "Stable" || state.state === "Empty";
      const words = `${state.state}${state.generation === null ? "" : ` · ${state.generation}`}`;
      this.drawBox(from, until, y, this.painter.colour(steady ? "sunk" : "ink"));
      this.write(from, until, y, words, this.painter.colour(steady ? "ink" : "surface"));
    }
  }

  /**
   * @param {number} index
   * @param {number} y
   */
  drawMember(index, y) {
    const { members, memberTracks, memberStates, end } = this.film;
    const hue = this.painter.colour(`m${members[index].hue}`);
    for (const [from, until, state] of bars(memberTracks[index], memberStates, end, ({ doing }) => doing)) {
      if (["absent", "closed"].includes(state.life) || state.doing === "gone") continue;
      if (["crashed", "frozen", "died"].includes(state.life)) {
        this.drawBox(from, until, y, this.painter.pattern(this.pen, "cross", this.painter.colour("alert")));
        this.drawTag(from, until, y, state.doing);
      } else if (state.callback) {
        this.drawBox(from, until, y, this.painter.pattern(this.pen, "diagonal", hue));
        this.drawTag(from, until, y, state.callback);
      } else if (state.doing !== "polls") {
        this.drawFrame(from, until, y, hue);
        this.drawTag(from, until, y, state.doing);
      } else {
        const left = this.scale.x(from);
        this.pen.fillStyle = hue;
        this.pen.fillRect(left, y + this.row / 2 - 1, Math.max(1, this.scale.x(until) - left), 2.5);
      }
    }
  }

  /**
   * @param {number} index
   * @param {number} y
   */
  drawPartition(index, y) {
    const { film, painter } = this;
    for (
      const [from, until, state] of partitionBars(film.partitionTracks[index], film.partitionStates, film.end)
    ) {
      if (state.owner === GONE) continue;
      this.drawBox(from, until, y, painter.fillOf(this.pen, film, state));
      if (state.flows) {
        const owner = film.members[state.owner];
        this.write(from, until, y, owner.name, painter.colour(`m${owner.hue}o`));
      } else this.drawTag(from, until, y, state.word);
    }
  }

  /**
   * @param {number} from
   * @param {number} until
   * @param {number} y
   * @param {string | CanvasPattern} fill
   */
  drawBox(from, until, y, fill) {
    const seen = this.scale.clip(from, until);
    if (!seen) return;
    this.pen.fillStyle = fill;
    this.pen.fillRect(seen.left, y + 3, seen.width, this.row - 6);
  }

  /**
   * An empty box with a line around it.
   * @param {number} from
   * @param {number} until
   * @param {number} y
   * @param {string} hue
   */
  drawFrame(from, until, y, hue) {
    this.drawBox(from, until, y, this.painter.colour("surface"));
    const left = this.scale.x(from);
    this.pen.strokeStyle = hue;
    this.pen.strokeRect(left + 0.5, y + 3.5, Math.max(1, this.scale.x(until) - left - 2), this.row - 7);
  }

  /**
   * Words on a bar, where they fit.
   * @param {number} from
   * @param {number} until
   * @param {number} y
   * @param {string} words
   * @param {string} ink
   */
  write(from, until, y, words, ink) {
    const seen = this.scale.clip(from, until);
    this.pen.font = `600 ${12 * this.letters}px system-ui, sans-serif`;
    this.pen.textAlign = "left";
    if (!seen || this.pen.measureText(words).width + 10 > seen.width) return;
    this.pen.fillStyle = ink;
    this.pen.fillText(words, seen.left + 5, y + this.row / 2 + 4);
  }

  /**
   * Words on a ground of their own, where they fit.
   * @param {number} from
   * @param {number} until
   * @param {number} y
   * @param {string} words
   */
  drawTag(from, until, y, words) {
    const { pen, scale, painter } = this;
    const left = Math.max(0, scale.x(from));
    pen.font = `600 ${11.5 * this.letters}px system-ui, sans-serif`;
    const width = pen.measureText(words).width;
    if (Math.min(scale.width, scale.x(until)) - left < width + 14) return;
    pen.fillStyle = painter.colour("surface");
    pen.fillRect(left + 4, y + 4, width + 6, this.row - 8);
    pen.fillStyle = painter.colour("ink");
    pen.textAlign = "left";
    pen.fillText(words, left + 7, y + this.row / 2 + 4);
  }
}
