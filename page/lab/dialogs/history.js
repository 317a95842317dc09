// What was done, and the branches that it left.

import { make, say } from "../../shared/dom.js";
import { seconds } from "../film/times.js";
import { menuItem } from "./items.js";

const LONGEST_NAME = 40;

/** @typedef {import("../lab.js").Lab} Lab */
/** @typedef {[name: string, parent: number, from: number, count: number]} Branch parent is -1 for none */

/**
 * @param {Lab} lab
 * @param {HTMLElement} opener
 */
export function showHistory(lab, opener) {
  /** @type {{ branches: Branch[], here: number, done: [number, string][] }} */
  const { branches, here, done } = lab.model.get("controls");
  /** @type {Set<number>} */
  const ticked = new Set([here]);
  const note = make("p", { role: "status" }, "");
  const compare = make("button", { type: "button", class: "rk-primary" }, "Compare the ticked");
  compare.addEventListener("click", () => {
    if (ticked.size < 2 || ticked.size > 3) {
      say(note, "Tick two or three branches.");
      return;
    }
    lab.popup.close(true);
    lab.comparison.toggle([...ticked].sort((a, b) => a - b));
  });
  const deeds = done.map(([at, words]) => make("li", {}, `${seconds(at)} ${words}`));
  lab.popup.show(
    opener,
    make("h2", {}, "History"),
    make("ol", { class: "rk-deeds" }, ...deeds),
    ...branches.map((_, number) => branchRow(lab, branches, number, number === here, ticked)),
    compare,
    note,
  );
}

/**
 * @param {Lab} lab
 * @param {Branch[]} branches
 * @param {number} number
 * @param {boolean} isHere
 * @param {Set<number>} ticked
 */
function branchRow(lab, branches, number, isHere, ticked) {
  const [name, parent, from, count] = branches[number];
  const box = make("input", { type: "checkbox", "aria-label": `Compare ${name}` });
  box.checked = isHere;
  box.addEventListener("input", () => void (box.checked ? ticked.add(number) : ticked.delete(number)));
  const left = parent < 0 ? "" : `, left ${branches[parent][0]} at ${seconds(from)}`;
  const content = [make("b", {}, name), make("span", {}, `${count} deed${count === 1 ? "" : "s"}${left}`)];
  const go = menuItem(lab, content, () => lab.ask({ type: "branch", number }), {
    "aria-current": isHere ? "true" : null,
  });
  const rename = make("button", { type: "button", "aria-label": `Rename ${name}` }, "Rename");
  rename.addEventListener("click", () => askName(lab, go, number, name));
  const drop = menuItem(lab, ["Delete"], () => lab.ask({ type: "branch", do: "delete", number }), {
    "aria-label": `Delete ${name}`,
    class: null,
  });
  const style = `margin-left:${parent < 0 ? 0 : 18}px`;
  return make("div", { class: "rk-branchrow", style }, box, go, rename, drop);
}

/**
 * A field in place of a branch's entry; Enter gives the branch its new name.
 * @param {Lab} lab
 * @param {HTMLElement} entry
 * @param {number} number
 * @param {string} name
 */
function askName(lab, entry, number, name) {
  const looks = { type: "text", value: name, maxlength: LONGEST_NAME, "aria-label": "Name of the branch" };
  const field = make("input", looks);
  entry.replaceWith(field);
  field.focus();
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault(); // else Enter presses the button that gets the focus back
    lab.popup.close(true);
    lab.ask({ type: "branch", do: "rename", number, name: field.value });
  });
}
