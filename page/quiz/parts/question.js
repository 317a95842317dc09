// A question drawn from what the kernel sent, and the answer read from it. No key is known here.

import { answerRows } from "./rows.js";
import { exhibit, paragraphs } from "./prose.js";
import { make } from "../../shared/dom.js";

/**
 * @param {HTMLFormElement} form
 * @param {import("./types.js").Question} question
 */
export function readAnswer(form, question) {
  if (question.kind === "matching") {
    return [...form.querySelectorAll("select")].filter((select) => select.value).map((select) =>
      `${select.dataset.prompt}${select.value}`
    ).join(" ");
  }
  // Steps that nobody has moved are no answer; the order in which they are shown is not the right one.
  if (question.kind === "ordering" && !form.querySelector("ol[data-touched]")) return "";
  if (question.kind === "ordering") {
    return [...form.querySelectorAll("li[data-step]")].map((item) => item.getAttribute("data-step")).join(
      " ",
    );
  }
  return new FormData(form).getAll("given").join(" ");
}

/** @param {import("./types.js").Question} question */
function asks(question) {
  return question.kind === "multiple" && question.choose
    ? `Choose ${question.choose}, no more and no fewer`
    : ASKS[question.kind];
}

/** @type {Record<string, string>} */
const ASKS = {
  single: "Choose one",
  multiple: "Choose the number asked for",
  numeric: "Give a number",
  short: "Give a word or two",
  matching: "Choose an option for each",
  ordering: "Put into order",
  log: "Choose the line",
  picture: "Choose one",
};

/**
 * @param {import("./types.js").Question} question
 * @param {import("./types.js").AnswerState} state
 */
export function questionBody(question, state) {
  return [
    make("div", { class: "rkq-stem" }, ...paragraphs(question.stem)),
    question.exhibit ? exhibit(question.exhibit) : null,
    limited(
      make(
        "fieldset",
        { class: "rkq-answers" },
        make("legend", {}, asks(question)),
        ...answerRows(question, state),
      ),
      question,
    ),
  ];
}

/**
 * Where as many options are chosen as are asked for, the others cannot be chosen before one is taken away.
 * @param {HTMLElement} rows
 * @param {import("./types.js").Question} question
 */
function limited(rows, question) {
  const most = question.many ? question.choose : 0;
  if (!most) return rows;
  /** @type {NodeListOf<HTMLInputElement>} */
  const boxes = rows.querySelectorAll("input[type=checkbox]");
  if ([...boxes].every((box) => box.disabled)) return rows;
  const limit = () => {
    const full = [...boxes].filter((box) => box.checked).length >= most;
    for (const box of boxes) box.disabled = full && !box.checked;
  };
  rows.addEventListener("change", limit);
  limit();
  return rows;
}

/**
 * A letter or a number chooses its option, Enter answers; text fields, lists and buttons keep their keys.
 * @param {KeyboardEvent} event
 * @param {HTMLFormElement} form
 * @param {boolean} done
 */
export function press(event, form, done) {
  const target = /** @type {HTMLInputElement} */ (event.target);
  if (
    event.ctrlKey || event.metaKey || event.altKey || target.type === "text" || target.tagName === "SELECT"
  ) return;
  const inputs = /** @type {HTMLInputElement[]} */ ([...form.querySelectorAll(".rkq-answers input")]);
  const place = inputs.some((input) => input.value === "1") ? -1 : "abcdef".indexOf(event.key.toLowerCase());
  const chosen = inputs[place >= 0 ? place : Number(event.key) - 1];
  if (event.key.length === 1 && chosen && !chosen.disabled && chosen.type !== "text") {
    event.preventDefault();
    chosen.focus();
    chosen.checked = chosen.type === "radio" || !chosen.checked;
    chosen.dispatchEvent(new Event("change", { bubbles: true }));
  } else if (event.key === "Enter" && !done && target.tagName !== "BUTTON") {
    event.preventDefault();
    form.requestSubmit();
  }
}
