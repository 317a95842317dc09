// The second pane: Why beside the board where there is room, its rule lit at the cursor or at the beat of the guide.

import { make, say } from "../../shared/dom.js";
import { WhyView } from "../panels/why.js";

/** From this width on, in the lab's own pixels, the board has company. */
const FROM = 1200;
const SHARE = 0.22;
const LEAST = 290;
const MOST = 440;
const REST_MS = 250;

/** Why beside the board. */
export class Pane {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.view = new WhyView(lab, () => lab.guide.lit);
    this.root = make(
      "aside",
      { class: "rk-pane", "aria-label": "Why", hidden: true },
      make("h2", {}, "Why"),
      this.view.root,
    );
    this.wide = 0;
    this.waiting = 0;
  }

  get shown() {
    return !this.root.hidden;
  }

  /** Whether a number in it is being stepped: it is not drawn anew under the hand. */
  get stepped() {
    const { activeElement } = document;
    return this.root.contains(activeElement) && activeElement?.getAttribute("role") === "spinbutton";
  }

  /**
   * How much of this width the pane takes.
   * @param {number} outer
   */
  widthOf(outer) {
    const { alone, presenter, model } = this.lab;
    const fits = outer >= FROM && !presenter.on && (!alone || model.get("controls").guide);
    this.wide = fits ? Math.round(Math.max(LEAST, Math.min(MOST, outer * SHARE))) : 0;
    this.root.style.width = `${this.wide}px`;
    return this.wide;
  }

  /** Show it, or not, as the picture on the stage allows. */
  place() {
    const { comparison, predict, screen } = this.lab;
    this.root.hidden = !this.wide || comparison.view !== null || screen.beside > 0;
    this.root.classList.toggle("rk-unseen", predict.on);
    if (this.shown) this.want();
  }

  /** Ask for the account of the run a little after it is shown, so that no click waits for it. */
  want() {
    const { guide, serial } = this.lab;
    clearTimeout(this.waiting);
    if (guide.serial === serial) return;
    this.waiting = setTimeout(async () => {
      await guide.load();
      this.paint(this.lab.player.at);
    }, REST_MS);
  }

  /** @param {number} at */
  paint(at) {
    const { guide } = this.lab;
    if (!this.shown || !guide.content) return;
    if (!this.view.drawn || !this.stepped) this.view.content = guide.content;
    this.view.paint(at);
    say(/** @type {Node} */ (this.root.firstChild), guide.on ? "Why: the rule of this beat" : "Why");
  }
}
