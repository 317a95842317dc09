// What a deed costs, said before it is done and after.

import { say } from "../../shared/dom.js";
import { boardAt } from "../film/board.js";
import { refusalOf, thawInstead } from "./deeds.js";
import { actionOf } from "./actions.js";

const REST_MS = 150;
const REST_LARGE_MS = 700;
const LARGE = 64;
const SLOW_MS = 150;

/** @typedef {{ what: string, member: number, at: number, cost: number }} Foreseen */

/** Costs foreseen and told. */
export class Costs {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.asking = false;
    /** @type {Foreseen | null} */
    this.preview = null;
    /** @type {Foreseen | null} */
    this.foreseen = null;
  }

  /**
   * A button that is hovered or focused for a moment says what it will cost; the kernel keeps the run for the click.
   * @param {HTMLElement} node
   * @param {string} what
   */
  watch(node, what) {
    let waiting = 0;
    const begin = () => {
      clearTimeout(waiting);
      const rest = this.lab.film.partitions.length > LARGE ? REST_LARGE_MS : REST_MS;
      waiting = setTimeout(() => this.ask(what), rest);
    };
    const end = () => {
      clearTimeout(waiting);
      say(this.lab.ui.cost, "");
    };
    node.addEventListener("pointerenter", begin);
    node.addEventListener("focus", begin);
    node.addEventListener("pointerleave", end);
    node.addEventListener("blur", end);
  }

  /** @param {string} what */
  mayAsk(what) {
    const { lab } = this;
    if (this.asking || lab.alone || lab.talk.changing || lab.player.playing || lab.predict.on) return false;
    return !actionOf(what)?.member || !refusalOf(lab, what);
  }

  /** @param {string} what */
  async ask(what) {
    if (!this.mayAsk(what)) return;
    const { lab } = this;
    this.asking = true;
    const at = Math.round(lab.player.at);
    const member = actionOf(what)?.member ? lab.film.members[lab.selected].name : null;
    const name = thawInstead(what, boardAt(lab.film, lab.player.at).members[lab.selected]);
    const slow = setTimeout(() => say(lab.ui.cost, "computing…"), SLOW_MS);
    const answer = await lab.talk.request({ type: "preview", do: name, member, at_ms: at });
    clearTimeout(slow);
    this.asking = false;
    const done = answer.type === "done";
    if (done) {
      this.preview = { what, member: lab.selected, at: Math.round(lab.player.at), cost: answer.cost };
    }
    say(lab.ui.cost, done ? answer.words : "");
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
   * @param {{ cost: number, without: number, twice: number, skipped: number }} answer
   */
  tell({ cost, without, twice, skipped }) {
    const foreseen = this.foreseen ? `foreseen ${thousands(this.foreseen.cost)}, ` : "";
    const words = `Stopped from here on: ${thousands(cost)} partition-seconds`;
    const records = [[twice, "twice"], [skipped, "skipped"]].filter(([count]) => count)
      .map(([count, how]) => `${Number(count).toLocaleString("en")} ${how}`).join(", ");
    const also = records ? ` Records: ${records}.` : "";
    say(this.lab.ui.cost, `${words} (${foreseen}without it ${thousands(without)}).${also}`);
    this.foreseen = this.preview = null;
  }
}

/** @param {number} value */
function thousands(value) {
  return value.toLocaleString("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
}
