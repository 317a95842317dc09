// The first screen: one sentence, one board, one button that matters. The rest comes with use, and is in "⋯" and at its keys before.

import { make } from "../../shared/dom.js";

/** Where a browser keeps how much of the lab its reader has seen. */
const KEPT = "rebalance-kit-seen";
/** What is shown: the board alone, tabs and settings too, all of it. */
const LEVELS = Object.freeze({ first: 0, played: 1, all: 2 });
const SIGNS = Object.freeze([
  ["▮", "a partition, in the colour of the member that reads it"],
  ["●", "records that wait"],
  ["◯", "what is left of the member's session; the tick is its next heartbeat"],
  ["▬", "below: every partition over the whole run, crossed where nobody reads it"],
]);

/** How much of the lab is shown to a reader who has not used it yet. */
export class Newcomer {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.level = lab.alone ? LEVELS.all : kept();
    this.signs = make(
      "p",
      { class: "rk-signs" },
      ...SIGNS.flatMap(([sign, says]) => [make("b", { "aria-hidden": "true" }, sign), ` ${says}. `]),
      "All signs: ",
      make("kbd", {}, "?"),
    );
  }

  /** Put on what hides the rest. */
  mark() {
    const { classList } = this.lab.ui.root;
    classList.toggle("rk-first", this.level < LEVELS.played);
    classList.toggle("rk-second", this.level < LEVELS.all);
  }

  /** A deed was done and its effect played, or a tab was opened by key: tabs and settings stay from now on. */
  played() {
    this.rise(LEVELS.played);
  }

  /** Another past was made: branches stay from now on. */
  forked() {
    this.rise(LEVELS.all);
  }

  /** @param {number} level */
  rise(level) {
    if (level <= this.level) return;
    this.level = level;
    keep(level);
    this.mark();
    if (this.lab.screen.stage) this.lab.screen.refit();
  }
}

function kept() {
  try {
    return Number(localStorage.getItem(KEPT) ?? LEVELS.first);
  } catch {
    return LEVELS.all; // a page that may keep nothing would begin anew for ever
  }
}

/** @param {number} level */
function keep(level) {
  try {
    localStorage.setItem(KEPT, String(level));
  } catch {
    // It is only shown again.
  }
}
