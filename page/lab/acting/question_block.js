// One question of a prediction: its answer as it is chosen, and its mark.

import { make } from "../../shared/dom.js";

/** @typedef {{ kind: string, words: string, options: string[] }} Question kind: number, tick (several) or choose */
/** @typedef {string | number | string[] | null} Answer */
/** @typedef {{ truth: string | number | string[], answer: Answer, why: string }} Mark */

/** A question with its fields. */
export class QuestionBlock {
  /**
   * @param {Question} question
   * @param {number} place
   */
  constructor(question, place) {
    this.question = question;
    /** @type {Answer} */
    this.answer = question.kind === "tick" ? [] : null;
    this.remark = make("div", { class: "rk-told" });
    const fields = question.kind === "number" ? [this.numberField()] : this.optionFields();
    this.node = make(
      "fieldset",
      { class: "rk-question" },
      make("legend", {}, `${place + 1}. ${question.words}`),
      make("div", { class: "rk-options" }, ...fields),
      this.remark,
    );
  }

  numberField() {
    const field = make("input", { type: "number", min: 0, step: "0.1", "aria-label": this.question.words });
    field.addEventListener("input", () => {
      this.answer = field.value === "" ? null : Number(field.value);
    });
    return field;
  }

  optionFields() {
    const several = this.question.kind === "tick";
    const name = `rk-${Math.random().toString(36).slice(2)}`;
    return this.question.options.map((option) => {
      const box = make("input", { type: several ? "checkbox" : "radio", name, value: option });
      box.addEventListener("input", () => this.choose(option, box.checked));
      return make("label", { class: "rk-check", "data-option": option }, box, option);
    });
  }

  /**
   * @param {string} option
   * @param {boolean} on
   */
  choose(option, on) {
    if (!Array.isArray(this.answer)) this.answer = option;
    else this.answer = on ? [...this.answer, option] : this.answer.filter((chosen) => chosen !== option);
  }

  /**
   * Tick an option, or take the tick away; false where there is no such option.
   * @param {string} option
   */
  toggle(option) {
    const box = this.node.querySelector(`[data-option="${CSS.escape(option)}"] input`);
    if (!(box instanceof HTMLInputElement) || box.disabled) return false;
    box.click();
    return true;
  }

  /**
   * Say what is right, at each option and in words.
   * @param {Mark} mark
   */
  mark({ truth, answer, why }) {
    this.node.querySelectorAll("input").forEach((input) => (input.disabled = true));
    this.node.querySelectorAll("[data-option]").forEach((label) => {
      const option = label.getAttribute("data-option");
      const [right, chosen] = [truth, answer].map((value) =>
        Array.isArray(value) ? value.includes(option ?? "") : value === option
      );
      if (!right && !chosen) return;
      const sign = right ? (chosen ? " ✓" : " missed") : " ✗";
      label.append(make("b", { class: right && chosen ? "rk-good" : "rk-bad" }, sign));
    });
    const plain = Array.isArray(truth) || answer === truth;
    const words = plain ? why : `You said ${answer ?? "nothing"}; it is ${truth}. ${why}`;
    this.remark.replaceChildren(make("p", {}, words));
  }
}
