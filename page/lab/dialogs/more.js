// The menu of everything that can be done, by what it is done to, with the arguments beside each deed.

import { make } from "../../shared/dom.js";
import { argsOf, GROUPS, MORE, wordsOf } from "../acting/actions.js";
import { menuItem } from "./items.js";

/** @typedef {import("../lab.js").Lab} Lab */
/** @typedef {import("../acting/actions.js").Action} Action */
/** @typedef {HTMLInputElement | HTMLSelectElement} Field */

/**
 * @param {Lab} lab
 * @param {HTMLElement} opener
 */
export function showMore(lab, opener) {
  const member = lab.film.members[lab.selected];
  const { partition } = lab.marker;
  const marked = partition === null ? "" : lab.film.partitions[partition];
  const note = make("p", {}, `${marked} is marked: what is done to a topic is done to its topic.`);
  const title = member ? `What can be done, now to ${member.name}` : "Nobody is selected";
  lab.popup.show(
    opener,
    make("h2", {}, title),
    marked ? note : "",
    make("div", { class: "rk-deedgroups" }, ...GROUPS.map(([name, words]) => drawGroup(lab, name, words))),
  );
}

/**
 * @param {Lab} lab
 * @param {string} name
 * @param {string} words
 */
function drawGroup(lab, name, words) {
  const rows = MORE.filter(({ group }) => group === name).map((action) => drawDeed(lab, action));
  return make("section", { class: "rk-deedgroup", "aria-label": words }, make("h3", {}, words), ...rows);
}

/**
 * A deed: its button with the first words, then its arguments with the words between them.
 * @param {Lab} lab
 * @param {Action} action
 */
function drawDeed(lab, action) {
  const [head, ...between] = action.words.split("{}");
  const fields = (action.asks ?? []).map((argument) => drawField(lab, action, argument));
  const chosen = () => fields.map((field) => field.value);
  const key = action.key ? make("kbd", { "aria-hidden": "true" }, action.key) : null;
  const run = () => lab.act(action.do, chosen());
  const looks = { "data-do": action.do, "aria-label": wordsOf(lab, action) };
  const item = menuItem(lab, [make("span", {}, head.trim()), key], run, looks);
  lab.costs.watch(item, action.do, () => argsOf(lab, action.do, chosen()));
  fields.forEach((field) => {
    field.addEventListener("input", () => item.setAttribute("aria-label", wordsOf(lab, action, chosen())));
    field.addEventListener("keydown", (event) => {
      if (/** @type {KeyboardEvent} */ (event).key !== "Enter") return;
      event.preventDefault();
      item.click();
    });
  });
  return make(
    "div",
    { class: "rk-deed" },
    item,
    ...fields.flatMap((field, place) => [field, between[place]]),
  );
}

/**
 * @param {Lab} lab
 * @param {Action} action
 * @param {import("../acting/arguments.js").Argument} argument
 * @returns {Field}
 */
function drawField(lab, action, { key, kind, usual, options }) {
  const label = `${action.words.split("{}")[0].trim()}: ${key}`;
  const value = usual(lab);
  if (kind === "choice") {
    const names = options?.(lab) ?? [];
    const select = make("select", { "aria-label": label, "data-argument": key });
    select.append(...names.map((name) => make("option", { value: name }, name)));
    select.value = value;
    return select;
  }
  const number = kind === "number" ? { type: "number", min: 0, step: "any" } : { type: "text" };
  return make("input", { ...number, value, "aria-label": label, "data-argument": key, autocomplete: "off" });
}
