// What a deed costs, said before it is done and after.

import { say } from "../../shared/dom.js";
import { boardAt } from "../film/board.js";
import { refusalOf, thawInstead } from "./deeds.js";
import { decodeFilm, inflate } from "../film/format.js";
import { actionOf, argsOf } from "./actions.js";

const REST_MS = 150;
const SLOW_MS = 150;

/** @typedef {{ what: string, member: number, at: number, cost: number }} Foreseen */
/** @typedef {{ what: string, args: () => Record<string, unknown> }} Wanted a deed that is looked at */

/** Costs foreseen and told. */
export class Costs {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.asking = false;
    this.waiting = 0;
    /** @type {HTMLElement | null} the button that is looked at */
    this.at = null;
    /** @type {Foreseen | null} */
    this.preview = null;
    /** @type {Foreseen | null} */
    this.foreseen = null;
  }

  /**
   * A button that is hovered or focused for a moment says what it will cost, and shows it pale on the strip; the kernel
   * keeps the run for the click.
   * @param {HTMLElement} node
   * @param {string} what
   * @param {() => Record<string, unknown>} [args] of the deed
   */
  watch(node, what, args) {
    const begin = () => this.want(node, { what, args: args ?? (() => argsOf(this.lab, what)) });
    const end = () => this.leave(node);
    node.addEventListener("pointerenter", begin);
    node.addEventListener("focus", begin);
    node.addEventListener("pointerleave", end);
    node.addEventListener("blur", end);
  }

  /**
   * @param {HTMLElement} node
   * @param {Wanted} wanted
   */
  want(node, wanted) {
    clearTimeout(this.waiting);
    this.at = node;
    this.waiting = setTimeout(() => this.ask(wanted), REST_MS);
  }

  /** @param {HTMLElement} node */
  leave(node) {
    if (this.at !== node) return;
    clearTimeout(this.waiting);
    this.at = null;
    this.lab.strip.unghost();
    say(this.lab.ui.cost, "");
  }

  /** @param {string} what */
  mayAsk(what) {
    const { lab } = this;
    if (lab.alone || lab.talk.changing || lab.player.playing || lab.predict.on) return false;
    return !actionOf(what)?.member || !refusalOf(lab, what);
  }

  /** @param {Wanted} wanted */
  async ask(wanted) {
    const { lab, at: node } = this;
    const { what } = wanted;
    if (this.asking || !this.mayAsk(what)) return; // asked again when the answer that is on its way has come
    this.asking = true;
    const at = Math.round(lab.player.at);
    const member = actionOf(what)?.member ? lab.film.members[lab.selected].name : null;
    const name = thawInstead(what, boardAt(lab.film, lab.player.at).members[lab.selected]);
    const slow = setTimeout(() => say(lab.ui.cost, "computing…"), SLOW_MS);
    const answer = await lab.talk.request({
      type: "preview",
      do: name,
      member,
      at_ms: at,
      args: wanted.args(),
    });
    clearTimeout(slow);
    this.asking = false;
    if (this.at !== node) {
      if (this.at) this.at.dispatchEvent(new Event("pointerenter"));
      return;
    }
    const done = answer.type === "done";
    say(lab.ui.cost, done ? answer.words : answer.words ?? "");
    if (!done || at !== Math.round(lab.player.at)) return;
    if (answer.cost !== undefined) this.preview = { what, member: lab.selected, at, cost: answer.cost };
    if (answer.buffers.length) await this.show(answer, at, node);
  }

  /**
   * @param {any} answer
   * @param {number} at
   * @param {HTMLElement | null} node whose future it is
   */
  async show(answer, at, node) {
    const { lab } = this;
    const then = decodeFilm(await inflate(answer.buffers[0]));
    if (this.at === node && lab.player.at === at && !lab.talk.changing) {
      lab.strip.ghost(then, at, `What would be: ${answer.would}`);
    }
  }

  /**
   * Keep what was foreseen of the deed that is done now.
   * @param {string} what
   */
  keep(what) {
    const { player, selected } = this.lab;
    const { preview } = this;
    const same = preview?.what === what && preview.member === selected &&
      preview.at === Math.round(player.at);
    this.foreseen = same ? preview : null;
  }

  /** @param {string} words */
  say(words) {
    say(this.lab.ui.cost, words);
  }

  /**
   * After a deed: what was foreseen beside what it came to.
   * @param {{ cost: number, without: number, twice: number, skipped: number, deleted: string[] }} answer
   */
  tell({ cost, without, twice, skipped, deleted }) {
    const foreseen = this.foreseen ? `foreseen ${thousands(this.foreseen.cost)}, ` : "";
    const words = `Unread from here on: ${thousands(cost)} partition-seconds`;
    const records = [[twice, "twice"], [skipped, "skipped"]].filter(([count]) => count)
      .map(([count, how]) => `${Number(count).toLocaleString("en")} ${how}`).join(", ");
    const gone = deleted.length
      ? ` ${deleted.length} partitions are deleted with their records and not counted, with or without it.`
      : "";
    const also = `${records ? ` Records: ${records}.` : ""}${gone}`;
    say(this.lab.ui.cost, `${words} (${foreseen}without it ${thousands(without)}).${also}`);
    this.foreseen = this.preview = null;
  }
}

/** @param {number} value */
function thousands(value) {
  return value.toLocaleString("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
}
