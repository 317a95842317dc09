// Bars on a canvas, in the colours and patterns of the page's theme.

import { make } from "../../shared/dom.js";
import { GONE } from "../film/format.js";
import { PARTITION_WORDS } from "../../generated/kinds.js";
import { worstPerPixel } from "./scale.js";

/** @typedef {CanvasRenderingContext2D} Pen */

/** From so many partitions on, counts are drawn instead of a bar each. */
const MANY_BARS = 24;

/**
 * Whether a run has so many partitions that counts are drawn.
 * @param {import("../film/format.js").Film} film
 */
export function drawsCounts(film) {
  return film.partitions.length > MANY_BARS;
}

/**
 * Give a canvas its size, sharp on dense screens.
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height
 * @returns {Pen}
 */
export function sharpPen(canvas, width, height) {
  const ratio = Math.min(2, devicePixelRatio || 1);
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const pen = /** @type {Pen} */ (canvas.getContext("2d"));
  pen.scale(ratio, ratio);
  return pen;
}

/**
 * Patterns by kind and colours: they are the same for every canvas.
 * @type {Map<string, CanvasPattern>}
 */
const PATTERNS = new Map();

/**
 * Colours by theme, as the lab's classes and the system name it: they are read once.
 * @type {Map<string, Map<string, string>>}
 */
const COLOURS = new Map();
const THEMES = /\brk-(?:light|dark|projector)\b/g;
const FORCED = matchMedia("(forced-colors: active)");

/** Colours and patterns as the style of a node has them now. */
export class Painter {
  /** @param {Element} root */
  constructor(root) {
    this.root = root;
    this.large = root.classList.contains("rk-projector");
    /** @type {CSSStyleDeclaration | undefined} */
    this.css = undefined;
    const lab = root.closest(".rk-lab");
    const theme = lab?.isConnected ? `${lab.className.match(THEMES)?.sort()} ${FORCED.matches}` : "";
    this.colours = COLOURS.get(theme) ?? new Map();
    if (theme) COLOURS.set(theme, this.colours);
  }

  /** @param {string} name */
  colour(name) {
    const known = this.colours.get(name);
    if (known) return known;
    this.css ??= getComputedStyle(this.root);
    const read = this.css.getPropertyValue(`--rk-${name}`).trim();
    this.colours.set(name, read);
    return read;
  }

  /**
   * What a partition in a state is filled with.
   * @param {Pen} pen
   * @param {import("../film/format.js").Film} film
   * @param {import("../film/format.js").PartitionState} state
   */
  fillOf(pen, film, state) {
    if (state.owner < 0) return this.pattern(pen, "dots", this.colour("ink"));
    const hue = this.colour(`m${film.members[state.owner].hue}`);
    if (state.flows) return hue;
    return PARTITION_WORDS[state.word].alerting
      ? this.pattern(pen, "cross", this.colour("alert"))
      : this.pattern(pen, "diagonal", hue);
  }

  /**
   * @param {Pen} pen
   * @param {"dots" | "diagonal" | "cross"} kind
   * @param {string} colour
   */
  pattern(pen, kind, colour) {
    const surface = this.colour("surface");
    const key = `${kind}/${colour}/${surface}`;
    const known = PATTERNS.get(key);
    if (known) return known;
    const tile = make("canvas", { width: 4, height: 4 });
    const brush = /** @type {Pen} */ (tile.getContext("2d"));
    brush.fillStyle = surface;
    brush.fillRect(0, 0, 4, 4);
    brush.strokeStyle = brush.fillStyle = colour;
    brush.beginPath();
    if (kind === "dots") brush.fillRect(0, 1, 1.5, 1.5);
    else line(brush, 0, 4, 4, 0);
    if (kind === "cross") line(brush, 0, 0, 4, 4);
    brush.stroke();
    const pattern = /** @type {CanvasPattern} */ (pen.createPattern(tile, "repeat"));
    PATTERNS.set(key, pattern);
    return pattern;
  }

  /**
   * The whole run as a picture: a bar for each partition, or counts where they are many.
   * @param {Pen} pen
   * @param {import("../film/format.js").Film} film
   * @param {import("./scale.js").Scale} scale
   * @param {number} height
   */
  drawRun(pen, film, scale, height) {
    if (drawsCounts(film)) this.drawCounts(pen, film, scale, height);
    else this.drawOwners(pen, film, scale, height);
  }

  /**
   * @param {Pen} pen
   * @param {import("../film/format.js").Film} film
   * @param {import("./scale.js").Scale} scale
   * @param {number} height
   */
  drawOwners(pen, film, scale, height) {
    const each = Math.min(7, height / film.partitions.length);
    film.partitionTracks.forEach((track, index) =>
      forSpans(track, film.end, (from, until, number) => {
        const state = film.partitionStates[number];
        if (state.owner === GONE) return;
        const x = scale.x(from);
        pen.fillStyle = this.fillOf(pen, film, state);
        pen.fillRect(
          x,
          index * each,
          Math.max(scale.x(until) - x, state.flows ? 0 : 1),
          Math.max(1, each - 1.6),
        );
      })
    );
  }

  /**
   * Two rows: is the group stable, and how many are unread (the worst of each pixel).
   * @param {Pen} pen
   * @param {import("../film/format.js").Film} film
   * @param {import("./scale.js").Scale} scale
   * @param {number} height
   */
  drawCounts(pen, film, scale, height) {
    forSpans(film.groupTrack, film.end, (from, until, number) => {
      pen.fillStyle = this.colour(film.groupStates[number].state === "Stable" ? "sunk" : "ink");
      pen.fillRect(scale.x(from), 0, Math.max(1, scale.x(until) - scale.x(from)), 12);
    });
    pen.fillStyle = this.colour("alert");
    worstPerPixel(stoppedSpans(film), scale).forEach((count, x) => {
      if (!count) return;
      const tall = Math.max(3, (count / film.partitions.length) * 20);
      pen.fillRect(x, height - tall, 1, tall);
    });
  }
}

/**
 * @param {Pen} pen
 * @param {number} x1
 * @param {number} y1
 * @param {number} x2
 * @param {number} y2
 */
function line(pen, x1, y1, x2, y2) {
  pen.moveTo(x1, y1);
  pen.lineTo(x2, y2);
}

/**
 * @param {import("../film/tracks.js").Track} track
 * @param {number} end
 * @param {(from: number, until: number, state: number) => void} visit
 */
function forSpans(track, end, visit) {
  track.times.forEach((from, place) => visit(from, track.times[place + 1] ?? end, track.states[place]));
}

/**
 * When partitions were unread, as far as the run is known.
 * @param {import("../film/format.js").Film} film
 */
function stoppedSpans(film) {
  /** @type {[number, number][]} */
  const spans = [];
  for (const track of film.partitionTracks) {
    forSpans(track, film.end, (from, until, number) => {
      if (!film.partitionStates[number].flows) spans.push([from, Math.min(until, film.known)]);
    });
  }
  return spans;
}
