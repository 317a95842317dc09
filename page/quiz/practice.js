// The quiz on a page: draws what the kernel sends, sends back what was chosen. Right and wrong arrive with the
// verdict, after the answer.

import { make } from "../shared/dom.js";
import { focusOn, follow, ownKeys, replayButtons } from "./parts/page.js";
import { press, questionBody, readAnswer } from "./parts/question.js";

/** @param {import("./parts/types.js").PracticePage} page */
function outcome(page) {
  if (page.error) return page.error;
  if (!page.verdict) return "";
  const score = `${page.right} right of ${page.answered} answered.`;
  const part = page.verdict.credit > 0 && !page.verdict.right
    ? ` (${Math.round(100 * page.verdict.credit)} % of it)`
    : "";
  // The rows of a matching or an ordering say what is right where; their letters are not on the page.
  const key = ["matching", "ordering"].includes(page.question.kind)
    ? ""
    : `; the answer is ${page.verdict.key.join(", ")}`;
  return page.verdict.right ? `Right. ${score}` : `Not right${part}${key}. ${score}`;
}

const SURE = [["sure", "Sure"], ["think", "Think so"], ["guess", "Guess"]];

/** @param {import("./parts/types.js").PracticePage} page */
function confidence(page) {
  if (page.verdict || !page.asks_confidence) return null;
  const radios = SURE.map(([value, text]) =>
    make("label", {}, make("input", { type: "radio", name: "confidence", value }), text)
  );
  return make("fieldset", { class: "rkq-confidence" }, make("legend", {}, "How sure are you?"), ...radios);
}

/**
 * @param {import("./parts/types.js").PracticePage} page
 * @param {import("./parts/types.js").Send} send
 */
function build(page, send) {
  if (!page.of) return make("div", {}, make("h3", { tabindex: "-1" }, page.title), make("p", {}, page.said));
  const answered = Boolean(page.verdict);
  const state = {
    remarks: page.verdict?.remarks,
    given: page.verdict ? page.verdict.given.join(" ") : "",
    disabled: answered,
  };
  const button = answered
    ? page.last
      ? null
      : make("button", { type: "button", class: "rkq-go", "data-role": "next" }, "Next question")
    : make("button", { type: "submit", class: "rkq-go" }, "Answer");
  const form = make(
    "form",
    { "aria-label": `Question ${page.number} of ${page.of}` },
    make("h3", { tabindex: "-1" }, `Question ${page.number} of ${page.of}`, make("small", {}, page.title)),
    ...questionBody(page.question, state),
    confidence(page),
    make(
      "div",
      { class: "rkq-foot" },
      button,
      make("output", { class: page.error ? "error" : "" }, outcome(page)),
    ),
    answered && page.source ? make("p", { class: "rkq-scale" }, page.source) : null,
    replayButtons(answered ? page.replays : [], send),
    page.notice ? make("p", { class: "rkq-notice", role: "status" }, page.notice) : null,
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const sure = new FormData(form).get("confidence");
    if (!answered) {
      send({ do: "answer", given: readAnswer(form, page.question), ...(sure ? { confidence: sure } : {}) });
    }
  });
  form.querySelector("[data-role=next]")?.addEventListener("click", () => send({ do: "next" }));
  return form;
}

/** @param {{ model: import("../shared/model.js").Model, el: HTMLElement }} widget */
export function render({ model, el }) {
  const root = make("section", { class: "rkq", "aria-label": "Quiz" });
  const slot = make("div", { class: "rkq-lab" });
  el.append(root, slot);
  let sent = false;
  /** @type {any} */
  let form;
  const send = (/** @type {any} */ message) => {
    sent = true;
    model.send(message);
  };
  const draw = () => {
    const page = model.get("page");
    form = build(page, send);
    root.replaceChildren(form);
    if (!sent) return;
    sent = false;
    if (page.verdict) focusOn(root, "[data-role=next]", "h3");
    else focusOn(root, page.error ? "input, select, button" : "h3");
  };
  ownKeys(root, (event) => {
    const page = model.get("page");
    if (page.of) press(event, form, Boolean(page.verdict));
  });
  return follow(model, slot, draw);
}

export default { render };
