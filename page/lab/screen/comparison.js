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
    /** @type {string | null} the lesson that the run is compared with */
    this.lesson = null;
    this.asked = 0;
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
    lab.guide.end();
    this.branches = branches;
    this.lesson = null;
    await this.ask();
  }

  /**
   * Compare the run that is shown with another lesson.
   * @param {string} name
   */
  async withLesson(name) {
    this.lab.predict.leave();
    this.lab.guide.end();
    this.branches = null;
    this.lesson = name;
    await this.ask();
  }

  end() {
    const { lab } = this;
    this.view = null;
    this.asked += 1; // whatever is on its way is not shown any more
    set(lab.ui.compareButton, "aria-pressed", "false");
    lab.showControls();
    lab.screen.showStage();
  }

  /** Ask the kernel for the runs, one after the other, and show them. */
  async ask() {
    const { lab, branches, lesson } = this;
    const asked = (this.asked += 1);
    const message = { type: "compare", ...(branches ? { branches } : {}), ...(lesson ? { lesson } : {}) };
    /** @type {import("../film/format.js").Film[]} */
    const films = [];
    let count = 1;
    for (let column = 0; column < count; column += 1) {
      const answer = await lab.talk.request({ ...message, column });
      if (asked !== this.asked) return;
      if (answer.type === "refused") {
        if (this.view) this.end();
        lab.refuse(answer.words);
        return;
      }
      count = answer.labels.length;
      films.push(decodeFilm(await inflate(answer.buffers[0])));
      lab.tell(`Compares: ${answer.labels[column]} is ready, ${column + 1} of ${count}.`);
    }
    const answer = await lab.talk.request(message);
    if (asked !== this.asked) return;
    if (answer.type === "refused") {
      lab.refuse(answer.words);
      return;
    }
    lab.tell("");
    this.view = new Compare(lab, await inflate(answer.buffers[0]), films);
    set(lab.ui.compareButton, "aria-pressed", "true");
    lab.showControls();
    lab.screen.showStage();
    this.draw(this.view);
  }

  /**
   * Draw the same deeds with other chances, a little at a time, while the comparison is looked at.
   * @param {Compare} view
   */
  async draw(view) {
    for (let done = false; !done && this.view === view;) {
      const answer = await this.lab.talk.request({ type: "draws" });
      if (answer.type === "refused" || this.view !== view) return;
      const drawn = await inflate(answer.buffers[0]);
      view.takeDraws(drawn);
      done = drawn.done;
    }
  }
}
