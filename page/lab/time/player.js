// The clock: play, pause, step, speed. The label always says the pace.

import { advance, autoPace, busyTimes, stepFrom } from "./pace.js";

/** Speeds to choose from; "Auto" hurries through quiet time. */
export const SPEEDS = Object.freeze(["Auto", 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 100]);
const STILL_MS = 1200;
const LONGEST_TICK_MS = 100;

/** Moves a cursor through a film. */
export class Player {
  /**
   * @param {(from: number, to: number) => void} onTick
   * @param {() => void} onStop
   * @param {() => boolean} still whether to rest at each event instead of moving evenly
   */
  constructor(onTick, onStop, still) {
    this.onTick = onTick;
    this.onStop = onStop;
    this.still = still;
    this.at = 0;
    this.playing = false;
    /** @type {string | number} */
    this.speed = "Auto";
    /** @type {number[]} */
    this.busy = [];
    /** @type {number[]} */
    this.events = [];
    this.end = 0;
    this.known = 0;
    /** @type {number | null} */
    this.until = null; // where the guide wants it to rest
    /** @type {number | null} */
    this.last = null;
    this.frame = 0;
    this.pacing = 0;
  }

  /** @param {import("../film/format.js").Film} film */
  load(film) {
    this.end = film.end;
    this.known = film.known;
    this.events = film.events;
    this.at = Math.min(this.at, film.end);
    this.busy = busyTimes(film);
  }

  /** @param {number} at */
  pace(at) {
    return typeof this.speed === "number" ? this.speed : autoPace(this.busy, at);
  }

  play() {
    if (this.playing) return;
    if (this.at >= this.end) this.at = 0;
    this.playing = true;
    this.last = null;
    if (this.still()) this.walk();
    else this.frame = requestAnimationFrame((now) => this.tick(now));
  }

  // With less motion, play goes from event to event and rests at each.
  walk() {
    this.pacing = setTimeout(() => {
      const from = this.at;
      this.step(1, this.events);
      this.onTick(from, this.at);
      if (this.at >= this.end) this.pause();
      else if (this.playing) this.walk();
    }, STILL_MS);
  }

  pause() {
    if (!this.playing) return;
    this.playing = false;
    cancelAnimationFrame(this.frame);
    clearTimeout(this.pacing);
    this.onStop();
  }

  /** @param {number} now */
  tick(now) {
    if (!this.playing) return;
    const passed = this.last === null ? 0 : Math.min(LONGEST_TICK_MS, now - this.last);
    this.last = now;
    const from = this.at;
    const rest = Math.min(this.end, this.until ?? this.end);
    this.at = Math.min(advance(from, passed, (at) => this.pace(at)), this.known, rest);
    this.onTick(from, this.at);
    if (this.at >= rest) this.pause();
    else this.frame = requestAnimationFrame((next) => this.tick(next));
  }

  /** @param {number} at */
  seek(at) {
    this.at = Math.max(0, Math.min(Math.round(at), this.end));
  }

  /**
   * @param {1 | -1} direction
   * @param {number[]} times
   */
  step(direction, times) {
    this.seek(stepFrom(this.at, direction, times, this.end));
  }
}
