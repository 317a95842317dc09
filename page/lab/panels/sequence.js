// A sequence diagram: time runs down, one life line per actor; quiet time is folded, so that a burst of a few
// milliseconds can be read. More members than fit are one line with a count.

import { MARKS } from "../../generated/kinds.js";
import { make, set } from "../../shared/dom.js";
import { boardAt } from "../film/board.js";
import { milliseconds, placeOf, seconds } from "../film/times.js";
import { stateAt } from "../film/tracks.js";

const LINES = 7;
const STEP = 26;
const FOLD = 24;
const FOLD_MS = 1500;
const COORDINATOR_X = 92;
const SLANT = 7;
/** The usual size of the letters, and how wide a name or words are at that size, per letter. */
const LETTERS = 12, NAME = 8.4, SAID = 6.9, BOLD = 8.4;

/** @typedef {import("../film/format.js").Film} Film */
/** @typedef {import("../film/format.js").Message} Message */
/** @typedef {import("../film/format.js").Mark} Mark */
/** @typedef {(Message & { mark?: undefined }) | { sent: number, mark: Mark }} Item a message, or what was done */
/** @typedef {{ own: number[], others: number, width: number, large: number }} Actors */

/** A diagram of some messages. */
export class Sequence {
  constructor() {
    this.cursor = make("svg:line", { x1: 0, class: "rk-now" });
    /** @type {number[]} */
    this.times = [];
    /** @type {number[]} */
    this.heights = [];
  }

  /**
   * The heads and the diagram.
   * @param {Film} film
   * @param {Item[]} items
   * @param {number} selected
   * @param {number} at
   * @param {number} width
   * @param {number} letters the size of the letters
   */
  draw(film, items, selected, at, width, letters) {
    const messages = items.flatMap((item) => item.mark ? [] : [item]);
    const actors = { ...actorsOf(film, messages, selected, at), width, large: letters / LETTERS };
    this.times = items.map((item) => item.sent);
    const { parts, heights, bottom } = drawItems(film, items, actors);
    this.heights = heights;
    set(this.cursor, "x2", width);
    const names = actors.own.map((member) => film.members[member].name).join(", ") || "nobody";
    const others = actors.others ? ` and ${actors.others} others` : "";
    const label =
      `${messages.length} messages between the coordinator and ${names}${others}; the table below lists them`;
    const looks = { width, height: bottom + 8, role: "img", "aria-label": label };
    const heads = drawHeads(film, actors);
    return [
      make("svg:svg", { class: "rk-heads", width, height: 28, "aria-hidden": "true" }, ...heads),
      make("svg:svg", looks, ...drawLives(film, actors, items, heights, bottom), ...parts, this.cursor),
    ];
  }

  /**
   * Move the cursor to a moment; where it stands, or null without messages.
   * @param {number} at
   */
  mark(at) {
    if (!this.times.length) return null;
    const place = placeOf(this.times, at);
    const y = place < 0 ? 6 : this.heights[place] + STEP / 2;
    set(this.cursor, "y1", y);
    set(this.cursor, "y2", y);
    return y;
  }
}

/**
 * Who has a line of its own: the coordinator's partners here, the selected one and the leader first.
 * @param {Film} film
 * @param {Message[]} messages
 * @param {number} selected
 * @param {number} at
 */
function actorsOf(film, messages, selected, at) {
  /** @type {Map<number, number>} */
  const weights = new Map();
  for (const { member, error } of messages) weights.set(member, (weights.get(member) ?? 0) + (error ? 3 : 1));
  const leader = boardAt(film, at).members.findIndex(({ state }) => state.leader);
  const rank = (/** @type {number} */ member) =>
    (member === selected ? 2e6 : member === leader ? 1e6 : 0) + (weights.get(member) ?? 0);
  const order = [...weights.keys()].sort((a, b) => rank(b) - rank(a) || a - b);
  const own = order.slice(0, order.length > LINES ? LINES - 1 : LINES).sort((a, b) => a - b);
  return { own, others: order.length - own.length };
}

/**
 * Where a member's line stands; those without one share the last.
 * @param {Omit<Actors, "large">} actors
 * @param {number} member
 */
function xOf({ own, others, width }, member) {
  const lines = own.length + (others ? 1 : 0);
  const place = own.indexOf(member);
  return 150 + ((width - 190) / Math.max(1, lines)) * ((place < 0 ? lines - 1 : place) + 0.75);
}

/**
 * @param {Film} film
 * @param {Item[]} items
 * @param {Actors} actors
 */
function drawItems(film, items, actors) {
  /** @type {SVGElement[]} */
  const parts = [];
  const heights = [];
  /** @type {Map<string, number>} */
  const waiting = new Map();
  let y = 18;
  /** @type {number | null} */
  let before = null;
  /** @type {number | null} */
  let generation = null;
  for (const item of items) {
    if (before !== null && item.sent - before > FOLD_MS) {
      parts.push(
        make("svg:text", { x: 40, y: y + 4, class: "rk-fold" }, `≈ ${seconds(item.sent - before)}`),
      );
      y += FOLD;
    }
    before = item.sent;
    const group = stateAt(film.groupTrack, film.groupStates, item.sent);
    if (generation !== null && group.generation !== null && group.generation !== generation) {
      parts.push(...drawBand(group, actors.width, y));
      y += FOLD;
    }
    generation = group.generation;
    if (item.mark) parts.push(...drawEvent(film, actors, item.mark, y));
    else {
      parts.push(
        ...drawWaiting(film, waiting, item, y),
        ...drawArrow(item, actors, y),
      );
    }
    heights.push(y);
    y += STEP;
  }
  return { parts, heights, bottom: y };
}

/**
 * @param {Film} film
 * @param {Actors} actors
 */
function drawHeads(film, actors) {
  const step = xOf(actors, actors.own[1] ?? -1) - xOf(actors, actors.own[0] ?? -1);
  const widest = Math.max(...actors.own.map((member) => film.members[member].name.length), 0);
  const names = actors.own.length > 1 && widest * NAME * actors.large > step ? "label" : "name";
  const head = (/** @type {number} */ x, /** @type {string} */ words) =>
    make("svg:text", { x, y: 20, class: "rk-actor", "text-anchor": "middle" }, words);
  return [
    head(COORDINATOR_X, "Coordinator"),
    ...actors.own.map((member) => head(xOf(actors, member), film.members[member][names])),
    actors.others ? head(xOf(actors, -1), `${actors.others} others`) : null,
  ];
}

/**
 * What was done or ran out, on the line of the member to whom it happened.
 * @param {Film} film
 * @param {Actors} actors
 * @param {Mark} mark
 * @param {number} y
 */
function drawEvent(film, actors, mark, y) {
  const member = film.members.findIndex(({ name }) => name === mark.member);
  const x = member < 0 ? COORDINATOR_X : xOf(actors, member);
  const right = standsLeft(actors, x, mark.words, BOLD);
  const said = { x: right ? x - 12 : x + 12, y: y + 4, "text-anchor": right ? "end" : "start" };
  const { sign, colour } = MARKS[mark.kind];
  const looks = { class: "rk-event", style: `--rk-mark:var(--rk-${colour})` };
  return [
    make("svg:text", { x: 8, y: y + 4, class: "rk-when" }, milliseconds(mark.at)),
    make("svg:text", { x, y: y + 5, "text-anchor": "middle", ...looks }, sign),
    make("svg:text", { ...said, ...looks }, mark.words),
  ];
}

/**
 * @param {Film} film
 * @param {Actors} actors
 * @param {Item[]} items
 * @param {number[]} heights
 * @param {number} bottom
 */
function drawLives(film, actors, items, heights, bottom) {
  const life = (/** @type {number} */ x, /** @type {string | null} */ style) =>
    make("svg:line", { x1: x, x2: x, y1: 0, y2: bottom, class: "rk-life", style });
  return [
    life(COORDINATOR_X, null),
    ...actors.own.flatMap((member) =>
      spansOf(film, member, items, heights, bottom).map(({ from, until, runs }) =>
        make("svg:line", {
          x1: xOf(actors, member),
          x2: xOf(actors, member),
          y1: from,
          y2: until,
          class: runs ? "rk-life" : "rk-life rk-off",
          style: `stroke:var(--rk-m${film.members[member].hue})`,
        })
      )
    ),
    actors.others ? life(xOf(actors, -1), null) : null,
  ];
}

/**
 * From which height to which a member's process runs, and where it does not.
 * @param {Film} film
 * @param {number} member
 * @param {Item[]} items
 * @param {number[]} heights
 * @param {number} bottom
 */
function spansOf(film, member, items, heights, bottom) {
  /** @type {{ from: number, until: number, runs: boolean }[]} */
  const spans = [];
  items.forEach((item, place) => {
    const { life } = stateAt(film.memberTracks[member], film.memberStates, item.sent);
    const runs = life === "alive" || life === "frozen";
    const last = spans[spans.length - 1];
    if (last?.runs === runs) return;
    const from = last ? heights[place] : 0;
    if (last) last.until = from;
    spans.push({ from, until: bottom, runs });
  });
  return spans;
}

/**
 * A new generation or epoch, across all lines.
 * @param {import("../film/format.js").GroupState} group
 * @param {number} width
 * @param {number} y
 */
function drawBand({ protocol, generation }, width, y) {
  const words = `${protocol === "consumer" ? "group epoch" : "generation"} ${generation}`;
  return [
    make("svg:rect", { x: 0, y: y - 10, width, height: 18, class: "rk-bandline" }),
    make("svg:text", { x: width - 10, y: y + 3, "text-anchor": "end", class: "rk-fold" }, words),
  ];
}

/**
 * A request that waits at the coordinator, as a bar beside its line from the request to its answer.
 * @param {Film} film
 * @param {Map<string, number>} waiting since which height, by request
 * @param {Message} message
 * @param {number} y
 */
function drawWaiting(film, waiting, { kind, api, member, request }, y) {
  if (kind !== "waits") return [];
  const key = `${api}/${member}`;
  const since = waiting.get(key);
  if (request) waiting.set(key, y + SLANT);
  else waiting.delete(key);
  if (request || since === undefined || y - since < 10) return [];
  const { name, hue } = film.members[member];
  const place = { x: 96 + (member % 5) * 5, y: since, width: 3.5, height: y - since };
  const title = make("svg:title", {}, `${api} of ${name} waits`);
  return [make("svg:rect", { ...place, style: `fill:var(--rk-m${hue})` }, title)];
}

/**
 * Near the right edge words stand left of the line.
 * @param {Actors} actors
 * @param {number} x
 * @param {string} words
 * @param {number} letter
 */
function standsLeft({ width, large }, x, words, letter) {
  return x + 10 + words.length * letter * large > width;
}

/**
 * @param {Message} message
 * @param {Actors} actors
 * @param {number} y
 */
function drawArrow({ sent, arrives, api, request, error, member }, actors, y) {
  const x = xOf(actors, member); // of the member's line
  const lost = arrives === null;
  const [from, to] = request ? [x, COORDINATOR_X] : [COORDINATOR_X, x];
  const end = lost ? (from + to) / 2 : to;
  const side = Math.sign(to - from);
  const kind = `rk-arrow${request ? "" : " rk-reply"}${error || lost ? " rk-error" : ""}`;
  const words = `${api}${error ? ` ${error}` : ""}${lost ? " lost" : ""}`;
  const right = standsLeft(actors, x, words, error ? BOLD : SAID);
  const cross = { x: end, y: y + SLANT + 5, class: "rk-error rk-cross", "text-anchor": "middle" };
  const said = { class: `rk-said${error ? " rk-error" : ""}`, "text-anchor": right ? "end" : "start" };
  return [
    make("svg:text", { x: 8, y: y + 4, class: "rk-when" }, milliseconds(sent)),
    make("svg:line", { x1: from, y1: y, x2: end - side * 6, y2: y + SLANT, class: kind }),
    lost
      ? make("svg:text", cross, "×")
      : make("svg:path", { d: `M${end} ${y + SLANT}l${-side * 8} -4v8z`, class: `${kind} rk-head` }),
    make("svg:text", { ...said, x: right ? x - 12 : x + 8, y: y + 5 - (right ? 3 : 0) }, words),
  ];
}
