// Predict: choose a deed, say what will follow, then see. Until the answers are locked in, nothing of the
// future is on the page, and what is there of the present run right of the cursor is covered.

import { make, set } from "../../shared/dom.js";

export class Predict {
  constructor(lab) {
    this.lab = lab;
    this.on = false;
  }

  begin(opener) {
    if (this.on) {
      this.end();
      return;
    }
    this.on = true;
    this.lab.panels.open("flow");
    this.lab.ui.root.classList.add("rk-fogged");
    set(this.lab.ui.predictButton, "aria-pressed", "true");
    this.lab.player.pause();
    this.opener = opener;
    this.lab.drawer.show(
      opener,
      make("h2", {}, "Predict"),
      make(
        "p",
        {},
        "Choose what to do at the cursor: a button below the board, or a key (C, L, Z, R, M). It is not done yet: you say first what will follow.",
      ),
    );
    this.lab.tell("Predict: choose what to do. It is not done yet.");
    this.lab.screen.focusTarget().focus();
  }

  async ask(message) {
    const answer = await this.lab.talk.request({ ...message, type: "predict" });
    if (answer.type === "refused") {
      this.lab.refuse(answer.words);
      return;
    }
    this.message = message;
    const answers = answer.questions.map(() => null);
    const blocks = answer.questions.map((one, place) => this.block(one, place, answers));
    const lock = make("button", { type: "button", class: "rk-primary" }, "Lock in");
    lock.addEventListener("click", () => this.lock(answers, blocks));
    this.lab.drawer.root.onsubmit = null;
    this.lab.drawer.show(
      this.opener,
      make("h2", {}, `Predict: ${message.words}`),
      ...blocks.map((one) => one.node),
      make("div", { class: "rk-foot" }, lock),
      make("p", { class: "rk-dim" }, answer.kept),
    );
  }

  block(question, place, answers) {
    const told = make("div", { class: "rk-told" });
    let body;
    if (question.kind === "number") {
      const input = make("input", { type: "number", min: 0, step: "0.1", "aria-label": question.words });
      input.addEventListener("input", () => {
        answers[place] = input.value === "" ? null : Number(input.value);
      });
      body = [input];
    } else {
      if (question.kind === "tick") answers[place] = [];
      const name = `rk-${Math.random().toString(36).slice(2)}`;
      body = question.options.map((option) => {
        const box = make("input", {
          type: question.kind === "tick" ? "checkbox" : "radio",
          name,
          value: option,
        });
        box.addEventListener("input", () => {
          answers[place] = question.kind === "tick"
            ? (box.checked ? [...answers[place], option] : answers[place].filter((one) => one !== option))
            : option;
        });
        return make("label", { class: "rk-check", "data-option": option }, box, option);
      });
    }
    const node = make(
      "fieldset",
      { class: "rk-question" },
      make("legend", {}, `${place + 1}. ${question.words}`),
      make("div", { class: "rk-options" }, ...body),
      told,
    );
    return { node, told };
  }

  async lock(answers, blocks) {
    const answer = await this.lab.talk.request({ type: "answers", answers });
    if (answer.type === "refused") {
      this.lab.refuse(answer.words);
      return;
    }
    answer.marks.forEach((mark, place) => {
      const { node, told } = blocks[place];
      node.querySelectorAll("input").forEach((input) => {
        input.disabled = true;
      });
      node.querySelectorAll("[data-option]").forEach((label) => {
        const option = label.dataset.option,
          right = Array.isArray(mark.truth) ? mark.truth.includes(option) : mark.truth === option,
          said = Array.isArray(mark.answer) ? mark.answer.includes(option) : mark.answer === option;
        if (right || said) {
          label.append(
            make("b", { class: right ? "rk-good" : "rk-bad" }, right ? (said ? " ✓" : " missed") : " ✗"),
          );
        }
      });
      told.replaceChildren(
        make(
          "p",
          {},
          Array.isArray(mark.truth) || mark.answer === mark.truth
            ? mark.why
            : `You said ${mark.answer ?? "nothing"}; it is ${mark.truth}. ${mark.why}`,
        ),
      );
    });
    const watch = make("button", { type: "button", class: "rk-primary" }, "Do it and watch");
    watch.addEventListener("click", () => {
      const { message } = this;
      this.end();
      this.lab.ask({ ...message, type: "act" });
    });
    const again = make("button", { type: "button" }, "Again with a new seed");
    again.addEventListener("click", () => {
      const { message } = this;
      this.lab.ask(
        { type: "set", name: "seed", value: Math.floor(Math.random() * 1e6) },
        () => this.ask(message),
      );
    });
    this.lab.drawer.root.querySelector(".rk-foot").replaceChildren(
      make("b", { role: "status" }, `${Math.round(answer.score * 100)} % right. ${answer.kept}`),
      watch,
      again,
    );
    watch.focus();
  }

  end() {
    this.on = false;
    this.lab.ui.root.classList.remove("rk-fogged");
    set(this.lab.ui.predictButton, "aria-pressed", "false");
    this.lab.drawer.close(true);
  }
}
