// What a screen reader is told: one polite message per 1.5 s while playing, and the latest replaces what waits.

import { say } from "../../shared/dom.js";

const APART_MS = 1500;

/** Speaks through a live region. */
export class Speaker {
  /** @param {Node} region */
  constructor(region) {
    this.region = region;
    this.place = -1;
    this.spokenAt = 0;
    this.waiting = 0;
  }

  /**
   * @param {number} place which sentence it is; the same one is said once
   * @param {string} words
   * @param {boolean} playing
   */
  speak(place, words, playing) {
    if (place === this.place) return;
    this.place = place;
    clearTimeout(this.waiting);
    const wait = Math.max(0, APART_MS - (performance.now() - this.spokenAt));
    this.waiting = setTimeout(() => {
      this.spokenAt = performance.now();
      say(this.region, words);
    }, playing ? wait : 0);
  }

  /** Say the present sentence again at the next look. */
  repeat() {
    this.place = -1;
  }
}
