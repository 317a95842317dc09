// Comparing on and off: the kernel simulates the runs, the page plays them on one clock.

import { set } from "../../shared/dom.js";
import { decodeFilm, inflate } from "../film/format.js";
import { Compare } from "./compare.js";

/** The comparison, while there is one. */
export class Comparison {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    /** @type {Compare | null} */
    this.view = null;
    /** @type {number[] | null} */
    this.branches = null;
  }

  /** The run has changed: what is compared is simulated anew. */
  again() {
    if (this.view) this.ask();
  }

  /**
   * Compare these branches, or the protocols (null); once more ends it.
   * @param {number[] | null} branches
   */
  async toggle(branches) {
    const { lab } = this;
    if (this.view) {
      this.end();
      return;
    }
    if (lab.predict.on) {
      lab.tell("The future is hidden while you predict.");
      return;
    }
    this.branches = branches;
    await this.ask();
  }

  end() {
    const { lab } = this;
    this.view = null;
    set(lab.ui.compareButton, "aria-pressed", "false");
    lab.showControls();
    lab.screen.showStage();
  }

  /** Ask the kernel for the runs, and show them. */
  async ask() {
    const { lab, branches } = this;
    const answer = await lab.talk.request({ type: "compare", ...(branches ? { branches } : {}) });
    if (answer.type === "refused") {
      if (this.view) this.end();
      lab.refuse(answer.words);
      return;
    }
    const [table, ...films] = await Promise.all(answer.buffers.map(inflate));
    this.view = new Compare(lab, table, films.map(decodeFilm));
    set(lab.ui.compareButton, "aria-pressed", "true");
    lab.showControls();
    lab.screen.showStage();
  }
}
