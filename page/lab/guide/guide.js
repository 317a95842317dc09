// Guided playing: the run plays from beat to beat and rests at each, with one sentence and the rule behind it.

import { inflate } from "../film/format.js";
import { placeOf } from "../film/times.js";
import { reserveGuideBar } from "./bar.js";

/** @typedef {[at: number, words: string, step: number]} Beat step: the number of the entry of Why whose rule is lit */
/** @typedef {{ beats: Beat[], entries: import("../panels/content.js").WhyContent["entries"] }} Content */

const NOTHING = "Nothing happens in this run yet. Do something first, then be guided through what follows.";
const FOGGED = "The future is hidden while you predict.";
/** Said while the run plays on to the next beat. */
const SKIPS = "Plays on to the next beat. N or Enter goes there at once.";
const DONE = "That was the last beat of this run.";

/** The guide through a run. */
export class Guide {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.on = false;
    this.index = 0;
    /** @type {Content | null} */
    this.content = null;
    this.serial = -1;
    this.wanted = false; // somebody waits for the beats
    /** @type {Promise<void> | null} */
    this.loading = null;
  }

  /** @returns {Beat[]} */
  get beats() {
    return this.content?.beats ?? [];
  }

  get beat() {
    return this.beats[this.index];
  }

  /** The entry of Why that is lit while the guide rests at a beat; null where the cursor decides. */
  get lit() {
    return this.on && this.beat ? this.beat[2] : null;
  }

  /** Whether the run plays on to the next beat. */
  get underWay() {
    return this.on && this.lab.player.playing && this.lab.player.until !== null;
  }

  get last() {
    return this.index >= this.beats.length - 1;
  }

  /** Get the beats of the run that is shown; a page without a kernel has them with it. */
  async load() {
    const { lab } = this;
    while (this.serial !== lab.serial) {
      if (!this.loading) this.loading = this.fetch(lab.serial).finally(() => (this.loading = null));
      await this.loading;
    }
  }

  /** @param {number} serial */
  async fetch(serial) {
    const { lab } = this;
    if (lab.alone) this.content = lab.model.get("controls").guide ?? null;
    else {
      const answer = await lab.talk.request({ type: "guide" }, !this.wanted);
      this.content = answer.buffers.length ? await inflate(answer.buffers[0]) : null;
    }
    this.serial = serial;
  }

  /** Begin at the first beat, or leave. */
  async toggle() {
    if (this.on) this.end();
    else await this.begin();
  }

  async begin() {
    const { lab } = this;
    if (lab.predict.on) {
      lab.tell(FOGGED);
      return;
    }
    lab.player.pause();
    this.wanted = true;
    await this.load();
    this.wanted = false;
    if (!this.beats.length) {
      lab.tell(NOTHING);
      return;
    }
    if (lab.comparison.view) lab.comparison.end();
    lab.panels.open("flow");
    this.on = true;
    lab.ui.root.classList.add("rk-guided");
    if (lab.presenter.on) lab.screen.refit();
    else reserveGuideBar(lab);
    this.go(0);
    lab.ui.nextButton.focus();
  }

  end() {
    const { lab } = this;
    if (!this.on) return;
    this.on = false;
    lab.player.until = null;
    lab.player.pause();
    lab.ui.root.classList.remove("rk-guided");
    lab.screen.refit();
    lab.paint(false);
    lab.ui.playButton.focus(); // not a member: an Enter too many plays, and opens no menu of deeds
  }

  /** The run has changed: its beats are others. */
  async again() {
    if (!this.on) return;
    this.lab.player.until = null;
    await this.load();
    if (!this.on) return;
    if (this.beats.length) {
      reserveGuideBar(this.lab);
      this.follow(this.lab.player.at);
    } else this.end();
    this.lab.paint(false);
  }

  /**
   * Rest at a beat at once.
   * @param {number} index
   */
  go(index) {
    const { lab } = this;
    lab.player.until = null;
    lab.player.pause();
    this.index = Math.max(0, Math.min(index, this.beats.length - 1));
    lab.seek(this.beat[0], false);
  }

  /** Play on to the next beat; while it plays, be there at once. After the last one the guide ends. */
  next() {
    const { lab } = this;
    if (this.last) {
      lab.tell(DONE);
      this.end();
      return;
    }
    const [at] = this.beats[this.index + 1];
    const passes = at > lab.player.at && !lab.options.still && !lab.player.playing;
    if (!passes) {
      this.go(this.index + 1);
      return;
    }
    lab.player.until = at;
    lab.play();
    lab.tell(SKIPS);
  }

  back() {
    const { player } = this.lab;
    this.go(player.playing || player.at > this.beat[0] ? this.index : this.index - 1);
  }

  /** The player has stopped: at the next beat, or where it was held on the way. */
  stopped() {
    const { player, ui } = this.lab;
    if (ui.notice.textContent === SKIPS) this.lab.tell("");
    if (!this.on || player.until === null || player.at < player.until) return;
    player.until = null;
    this.index += 1;
  }

  /**
   * The cursor was moved by hand: the beat is the last one before it.
   * @param {number} at
   */
  follow(at) {
    if (!this.on || this.lab.player.playing || !this.beat || Math.round(at) === this.beat[0]) return;
    this.index = Math.max(0, placeOf(this.beats.map(([moment]) => moment), at));
  }
}
