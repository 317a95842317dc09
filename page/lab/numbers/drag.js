// One drag of a number: each step is asked for and shown; all of them are one deed, or none after Esc.

import { changeWords, moved } from "./number.js";

/** @typedef {import("./number.js").Setting} Setting */

/**
 * What a setting costs, said while it is dragged and after it was typed.
 * @param {{ cost: number, without: number }} costs
 */
export function unreadWords({ cost, without }) {
  return `unread from here on: ${cost} partition-seconds (before ${without})`;
}

/** A drag from its first step to its end. */
export class Drag {
  /**
   * @param {import("../lab.js").Lab} lab
   * @param {Setting} setting as it is at the beginning
   * @param {(value: number, refused: string) => void} show
   */
  constructor(lab, setting, show) {
    this.lab = lab;
    this.setting = setting;
    this.show = show;
    this.number = lab.talk.lastId += 1;
    this.value = setting.value;
    this.taken = setting.value;
    this.steps = 0;
    /** @type {(words: string) => void} */
    this.onTold = () => {};
  }

  /** @param {number} steps in all since the beginning */
  to(steps) {
    this.steps = steps;
    this.jump(moved(this.setting, steps));
  }

  /** @param {number} value */
  jump(value) {
    if (value === this.value) return;
    this.value = value;
    this.show(value, "");
    this.ask("step", (answer) => this.follow(value, answer));
  }

  /**
   * @param {"step" | "keep" | "back"} how
   * @param {(answer: any) => void} then
   */
  ask(how, then) {
    const { name } = this.setting;
    this.lab.ask({ type: "drag", number: this.number, how, name, value: String(this.value) }, then);
  }

  /**
   * @param {number} value
   * @param {any} answer
   */
  follow(value, answer) {
    if (answer.type === "refused") {
      if (value === this.value) this.show(value, answer.words);
      return;
    }
    this.taken = value;
    this.tell(answer);
  }

  /** @param {any} answer */
  tell({ dragged }) {
    const { name, value } = this.setting;
    const change = changeWords(name, String(value), String(this.taken));
    const words = dragged === undefined ? "the first second is shown" : unreadWords(dragged);
    this.lab.costs.say(`${change}: ${words}.`);
    this.onTold(`${change}: ${words}.`);
  }

  /** Let it stay; a value that Kafka refuses falls back to the last one that it took. */
  keep() {
    if (this.taken === this.setting.value && this.value === this.taken) return;
    const sent = this.value;
    this.ask("keep", (answer) => {
      if (answer.type === "refused") this.fallBack(answer.words);
      else {
        this.taken = sent;
        this.tell(answer);
      }
    });
  }

  /** @param {string} words */
  fallBack(words) {
    this.lab.refuse(words);
    this.value = this.taken;
    this.show(this.value, "");
    if (this.taken !== this.setting.value) this.keep();
  }

  /** As if nothing had been dragged. */
  back() {
    this.value = this.setting.value;
    this.show(this.value, "");
    this.lab.costs.say("");
    this.ask("back", () => {});
  }
}
