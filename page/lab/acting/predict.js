// Predict: choose a deed, say what will follow, then see. Until the answers are locked in, nothing of the
// future is on the page, and what is there of the present run right of the cursor is covered.

import { make, set } from "../../shared/dom.js";
import { QuestionBlock } from "./question_block.js";

const HOW =
  "First choose a deed: press a button below the board, or a key (C, L, Z, R, M). It is not done yet. Then say what will follow, lock in, and see.";

const CHOOSE = "Predict: choose what to do. It is not done yet.";
const ANSWER = "Answer beside the board, or click partitions on it. Then lock in.";

/** @typedef {Record<string, unknown> & { words: string }} Deed what is to be done, and its words */

/** A prediction, while there is one. */
export class Predict {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.on = false;
    /** @type {QuestionBlock[]} */
    this.blocks = [];
    /** @type {HTMLElement | null} */
    this.opener = null;
  }

  /** @param {HTMLElement} opener */
  begin(opener) {
    const { lab } = this;
    if (this.on) {
      this.end();
      return;
    }
    lab.guide.end();
    this.on = true;
    this.opener = opener;
    lab.panels.open("flow");
    lab.ui.root.classList.add("rk-fogged");
    set(lab.ui.predictButton, "aria-pressed", "true");
    lab.player.pause();
    lab.pane.place();
    lab.drawer.show(opener, make("h2", {}, "Predict"), make("p", {}, HOW));
    lab.tell(CHOOSE);
    lab.screen.focusTarget().focus();
  }

  /**
   * Ask what will follow of a deed.
   * @param {Deed} deed
   */
  async ask(deed) {
    const { lab } = this;
    const answer = await lab.talk.request({ ...deed, type: "predict" });
    if (!this.on) return; // it was left meanwhile
    if (answer.type === "refused") {
      lab.refuse(answer.words);
      return;
    }
    /** @type {import("./question_block.js").Question[]} */
    const questions = answer.questions;
    const blocks = questions.map((question, place) => new QuestionBlock(question, place));
    this.blocks = blocks;
    lab.ui.root.classList.remove("rk-locked");
    lab.tell(ANSWER);
    const lock = make("button", { type: "button", class: "rk-primary" }, "Lock in");
    lock.addEventListener("click", () => this.lock(deed, blocks));
    lab.drawer.show(
      this.opener,
      make("h2", {}, `Predict: ${deed.words}`),
      ...blocks.map((block) => block.node),
      make("div", { class: "rk-foot" }, lock),
      make("p", { class: "rk-dim" }, answer.kept),
    );
  }

  /**
   * Show what is right, and offer to watch it.
   * @param {Deed} deed
   * @param {QuestionBlock[]} blocks
   */
  async lock(deed, blocks) {
    const { lab } = this;
    const answer = await lab.talk.request({ type: "answers", answers: blocks.map((block) => block.answer) });
    if (!this.on) return;
    if (answer.type === "refused") {
      lab.refuse(answer.words);
      return;
    }
    blocks.forEach((block, place) => block.mark(answer.marks[place]));
    answer.marks.forEach((/** @type {import("./question_block.js").Mark} */ mark) => this.showMarks(mark));
    const watch = make("button", { type: "button", class: "rk-primary" }, "Do it and watch");
    watch.addEventListener("click", () => {
      this.end();
      lab.ask({ ...deed, type: "act" });
    });
    const again = make("button", { type: "button" }, "Again with a new seed");
    again.addEventListener("click", () => {
      const value = Math.floor(Math.random() * 1e6);
      lab.ask({ type: "set", name: "seed", value }, () => this.ask(deed));
    });
    lab.ui.root.classList.add("rk-locked");
    lab.drawer.root.querySelector(":scope > .rk-dim")?.remove();
    const score = `${Math.round(answer.score * 100)} % right. ${answer.kept}`;
    lab.drawer.root.querySelector(".rk-foot")?.replaceChildren(
      make("b", { role: "status" }, score),
      watch,
      again,
    );
    watch.focus();
  }

  /**
   * Tick a partition on the board itself; nothing while no question is about partitions.
   * @param {string} name
   */
  pick(name) {
    if (this.on && this.blocks.some((block) => block.toggle(name))) this.showTicks();
  }

  /** Show on the tokens which are ticked. */
  showTicks() {
    const ticked = new Set(this.blocks.flatMap((block) => Array.isArray(block.answer) ? block.answer : []));
    this.lab.marker.tokens.forEach((token) =>
      set(token.node, "data-guess", ticked.has(token.name) ? "ticked" : null)
    );
  }

  /**
   * Show on the tokens what was right, wrong and missed.
   * @param {import("./question_block.js").Mark} mark
   */
  showMarks({ truth, answer }) {
    if (!Array.isArray(truth)) return;
    this.lab.marker.tokens.forEach(({ node, name }) => {
      const right = truth.includes(name), said = Array.isArray(answer) && answer.includes(name);
      if (right || said) set(node, "data-guess", right ? (said ? "right" : "missed") : "wrong");
    });
  }

  /** Another run has begun: nothing is asked of it. */
  leave() {
    if (this.on) this.end();
  }

  end() {
    const { ui, drawer, marker } = this.lab;
    this.on = false;
    if ([CHOOSE, ANSWER].includes(ui.notice.textContent ?? "")) this.lab.tell("");
    this.blocks = [];
    marker.tokens.forEach(({ node }) => set(node, "data-guess", null));
    ui.root.classList.remove("rk-fogged", "rk-locked");
    this.lab.pane.place();
    set(ui.predictButton, "aria-pressed", "false");
    drawer.close(true);
  }
}
