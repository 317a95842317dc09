// The rows of a question: options, words, pairs, steps. Remarks come with a verdict only; no key is known here.

import { make } from "../../shared/dom.js";
import { chart, scale, strip } from "./chart.js";
import { prose } from "./prose.js";

/**
 * An option: chosen or struck, and with the verdict its remark.
 * @param {import("./types.js").Question} question
 * @param {import("./types.js").Option} option
 * @param {import("./types.js").AnswerState} state
 */
function optionRow(question, option, state) {
  const remark = state.remarks?.find((each) => each.option === option.id);
  const struck = state.struck?.includes(option.id);
  const input = make("input", {
    type: question.many ? "checkbox" : "radio",
    name: "given",
    value: option.id,
    disabled: state.disabled,
    checked: remark ? remark.chosen : state.given.split(" ").includes(option.id),
  });
  const row = question.picture?.rows.find((each) => each.name === option.text);
  const log = question.kind === "log";
  const text = log ? [option.text] : prose(option.text);
  const quiet = remark && question.options.length > 6 && !remark.right && !remark.chosen;
  const looks = ["rkq-option"];
  if (remark) looks.push(remark.right ? "right" : "wrong");
  if (remark?.chosen) looks.push("chosen");
  if (struck) looks.push("struck");
  const label = make(
    "label",
    {},
    input,
    make("span", { class: "rkq-letter", "aria-hidden": "true" }, option.id.toUpperCase()),
    make("span", { class: log ? "rkq-text rkq-log" : "rkq-text" }, ...text),
    row && question.picture ? strip(question.picture, row) : null,
    remark ? make("span", { class: "rkq-mark" }, markOf(remark)) : null,
    strikeButton(option, state, !!struck),
  );
  return make(
    "div",
    { class: looks.join(" ") },
    label,
    option.picture ? chart(option.picture) : null,
    remark && !quiet ? make("p", { class: "rkq-why" }, ...prose(remark.why)) : null,
  );
}

/** @param {import("./types.js").Remark} remark */
function markOf({ right, chosen }) {
  return `${right ? "✓ right" : "✗ wrong"}${chosen ? ", your answer" : ""}`;
}

/**
 * @param {import("./types.js").Option} option
 * @param {import("./types.js").AnswerState} state
 * @param {boolean} struck
 */
function strikeButton({ id }, { strike }, struck) {
  if (!strike) return null;
  const looks = { type: "button", class: "rkq-strike", "aria-pressed": String(struck) };
  const node = make("button", { ...looks, "aria-label": `strike out ${id}` }, struck ? "restore" : "strike");
  node.addEventListener("click", () => strike(id));
  return node;
}

/** @param {import("./types.js").AnswerState} state */
function remarkRows(state) {
  return (state.remarks ?? []).map((remark) =>
    make(
      "div",
      { class: `rkq-option ${remark.right ? "right" : "wrong"}${remark.chosen ? " chosen" : ""}` },
      make("span", { class: "rkq-text" }, remark.text),
      make(
        "span",
        { class: "rkq-mark" },
        markOf(remark),
      ),
      make("p", { class: "rkq-why" }, ...prose(remark.why)),
    )
  );
}

/**
 * @param {import("./types.js").Question} question
 * @param {import("./types.js").AnswerState} state
 */
function wordRows(question, state) {
  const number = question.kind === "numeric";
  const label = number ? `Your answer, a number of ${question.unit}` : "Your answer, a word or two";
  const input = make("input", {
    type: "text",
    inputmode: number ? "decimal" : "text",
    name: "given",
    autocomplete: "off",
    value: state.given,
    disabled: state.disabled,
    "aria-label": label,
  });
  return [
    make(
      "label",
      { class: number ? "rkq-number" : "rkq-number rkq-word" },
      input,
      make("span", {}, question.unit ?? ""),
    ),
    ...remarkRows(state),
  ];
}

/**
 * A remark of a pair or a step says what is right there, and whether the answer was.
 * @param {import("./types.js").AnswerState} state
 */
function placedRows(state) {
  return (state.remarks ?? []).map((remark) => {
    const known = remark.right;
    const says = !known
      ? (remark.chosen ? "✗ your answer" : "✗ wrong")
      : remark.chosen
      ? "✓ right"
      : state.given
      ? "✗ not so in your answer"
      : "";
    return make(
      "div",
      { class: `rkq-option ${known && remark.chosen ? "right" : "wrong"}${remark.chosen ? " chosen" : ""}` },
      make("span", { class: "rkq-text" }, remark.text),
      says ? make("span", { class: "rkq-mark" }, says) : null,
      make("p", { class: "rkq-why" }, ...prose(remark.why)),
    );
  });
}

/**
 * @param {import("./types.js").Question} question
 * @param {import("./types.js").AnswerState} state
 */
function pairRows(question, state) {
  if (state.remarks) return placedRows(state);
  const given = Object.fromEntries(
    state.given.split(" ").filter(Boolean).map((pair) => [pair.slice(0, -1), pair.slice(-1)]),
  );
  return question.prompts.map((prompt) => {
    const choices = question.options.map((option) =>
      make(
        "option",
        { value: option.id, selected: given[prompt.id] === option.id },
        `${option.id}) ${option.text}`,
      )
    );
    const select = make(
      "select",
      { name: "pair", "data-prompt": prompt.id, disabled: state.disabled },
      make("option", { value: "" }, "choose"),
      ...choices,
    );
    return make(
      "label",
      { class: "rkq-pair" },
      make("span", { class: "rkq-text" }, ...prose(prompt.text)),
      select,
    );
  });
}

/**
 * @param {import("./types.js").Question} question
 * @param {import("./types.js").AnswerState} state
 */
function stepRows(question, state) {
  if (state.remarks) return placedRows(state);
  const order = state.given ? state.given.split(" ") : question.steps.map((step) => step.id);
  const list = make("ol", { class: "rkq-steps", "data-touched": Boolean(state.given) });
  const move = (/** @type {Element | null} */ from, /** @type {Element | null | undefined} */ to) => {
    if (from && to) from.before(to);
    list.setAttribute("data-touched", "");
    list.dispatchEvent(new Event("change", { bubbles: true }));
  };
  for (const step of order.flatMap((id) => question.steps.find((each) => each.id === id) ?? [])) {
    const item = make("li", { "data-step": step.id });
    const button = (
      /** @type {string} */ word,
      /** @type {string} */ sign,
      /** @type {() => void} */ run,
    ) => {
      const looks = { type: "button", "aria-label": `${word}: ${step.text}`, disabled: state.disabled };
      const node = make("button", looks, sign);
      node.addEventListener("click", () => {
        run();
        node.focus();
      });
      return node;
    };
    item.append(
      make("span", { class: "rkq-text" }, ...prose(step.text)),
      button("up", "↑", () => move(item.previousElementSibling, item)),
      button("down", "↓", () => move(item, item.nextElementSibling)),
    );
    list.append(item);
  }
  return [list];
}

/**
 * @param {import("./types.js").Question} question
 * @param {import("./types.js").AnswerState} state
 */
export function answerRows(question, state) {
  if (question.kind === "matching") return pairRows(question, state);
  if (question.kind === "ordering") return stepRows(question, state);
  if (!question.options) return wordRows(question, state);
  const rows = question.options.map((option) => optionRow(question, option, state));
  return question.picture ? [...rows, scale(question.picture)] : rows;
}
