// A learner's vote: choose, then send the code that appears. No key is known here.

import { make } from "../shared/dom.js";
import { focusOn, ownKeys } from "./parts/page.js";
import { press, questionBody, readAnswer } from "./parts/question.js";

/** @param {import("./parts/types.js").VotePage} page */
function ballot(page) {
  if (!page.code) return null;
  const field = make("input", {
    type: "text",
    readonly: true,
    value: page.code,
    class: "rkq-code",
    "aria-label": "your code",
  });
  field.addEventListener("focus", () => field.select());
  const said = make("span", { role: "status" });
  const copy = make("button", { type: "button", class: "rkq-go rkq-quiet", "data-role": "copy" }, "Copy");
  copy.addEventListener("click", async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(page.code);
      said.textContent = "copied";
    } catch {
      said.textContent = "press Ctrl+C";
    }
  });
  const where = page.kept
    ? "Your vote is in the shared folder. Its code:"
    : "Send this code to the instructor:";
  return make(
    "div",
    { class: "rkq-ballot" },
    make(
      "p",
      {},
      `${
        page.again ? "Vote after the discussion" : "First vote"
      } taken: ${page.given.toUpperCase()}. ${where}`,
    ),
    make("div", { class: "rkq-foot" }, field, copy, said),
  );
}

/**
 * @param {import("./parts/types.js").VotePage} page
 * @param {boolean} again
 * @param {import("./parts/types.js").Send} send
 */
function form(page, again, send) {
  const state = { given: page.given, disabled: false };
  const rounds = [false, true].map((value) =>
    make(
      "label",
      {},
      make("input", { type: "radio", name: "round", value: String(value), checked: again === value }),
      value ? "after the discussion" : "first vote",
    )
  );
  const made = make(
    "form",
    { "aria-label": "Your vote" },
    make(
      "h3",
      { tabindex: "-1" },
      "Your vote",
      make("small", {}, "nobody sees the split before the instructor shows it"),
    ),
    ...questionBody(page.question, state),
    make("fieldset", { class: "rkq-confidence" }, make("legend", {}, "Which vote?"), ...rounds),
    make(
      "div",
      { class: "rkq-foot" },
      make("button", { type: "submit", class: "rkq-go" }, "Vote"),
      make("output", { class: page.error ? "error" : "" }, page.error),
    ),
    ballot(page),
  );
  made.addEventListener("submit", (event) => {
    event.preventDefault();
    const chosen = new FormData(made);
    send({ do: "vote", given: readAnswer(made, page.question), again: chosen.get("round") === "true" });
  });
  return made;
}

/** @param {{ model: import("../shared/model.js").Model, el: HTMLElement }} widget */
export function render({ model, el }) {
  const root = make("section", { class: "rkq", "aria-label": "Vote" });
  el.append(root);
  /** @type {any} */
  let made;
  let sent = false;
  const send = (/** @type {any} */ message) => {
    sent = true;
    model.send(message);
  };
  const draw = () => {
    const page = model.get("page");
    made = form(page, page.again || Boolean(page.code), send);
    root.replaceChildren(made);
    if (sent) focusOn(root, page.error ? "input" : ".rkq-code");
    sent = false;
  };
  ownKeys(root, (event) => press(event, made, false));
  model.on("change:page", draw);
  draw();
  return () => model.off("change:page", draw);
}

export default { render };
