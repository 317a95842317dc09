// The page of a look at logs: timelines where their groups are opened, cards that lead to them, themes, copying.

import { make, say } from "../shared/dom.js";
import { Timeline } from "./timeline.js";

const THEMES = ["light", "dark", "projector"];

/** @type {Map<Element, Timeline>} */
const drawn = new Map();

/**
 * Draw the timeline of a group that is open, once.
 * @param {HTMLDetailsElement} group
 */
function open(group) {
  const place = /** @type {HTMLElement | null} */ (group.querySelector(".timeline"));
  const data = group.querySelector("script[type='application/json']");
  if (!group.open || !place || !data || drawn.has(group)) return;
  drawn.set(
    group,
    new Timeline(place, JSON.parse(data.textContent ?? ""), (card) => choose(group, card, true)),
  );
}

/**
 * Choose a finding: its card is marked and, when asked from the timeline, brought into view.
 * @param {HTMLDetailsElement} group
 * @param {string} card
 * @param {boolean} toCard
 */
function choose(group, card, toCard) {
  const timeline = drawn.get(group);
  const chosen = document.getElementById(card);
  if (!timeline || !chosen) return;
  timeline.show(card);
  for (const each of group.querySelectorAll(".card.chosen")) each.classList.remove("chosen");
  chosen.classList.add("chosen");
  const target = toCard ? chosen : timeline.holder;
  target.scrollIntoView({ block: "nearest" });
  if (!toCard) timeline.holder.focus({ preventScroll: true });
}

/** @param {HTMLElement} card */
function addShow(card) {
  const group = card.closest("details.group");
  if (!(group instanceof HTMLDetailsElement) || card.dataset.at === undefined) return;
  const button = make("button", { type: "button", class: "show" }, "Show on the timeline");
  button.addEventListener("click", () => choose(group, card.id, false));
  card.querySelector(".do")?.after(button);
}

/** @param {HTMLElement} code */
function addCopy(code) {
  const button = make("button", { type: "button", class: "copy" }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent ?? "");
      say(button, "Copied");
    } catch {
      getSelection()?.selectAllChildren(code);
      say(button, "Selected: copy it with Ctrl-C");
    }
  });
  code.after(button);
}

/** @param {string} theme */
function dress(theme) {
  document.body.className = `rk-${theme}`;
}

function begin() {
  const asked = new URLSearchParams(location.search).get("theme") ?? "";
  const own = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const select = make(
    "select",
    { id: "theme", "aria-label": "colours" },
    ...THEMES.map((theme) => make("option", { value: theme }, theme)),
  );
  select.value = THEMES.includes(asked) ? asked : own;
  select.addEventListener("change", () => dress(select.value));
  document.querySelector("header")?.append(select);
  dress(select.value);
  for (const card of document.querySelectorAll(".card")) addShow(/** @type {HTMLElement} */ (card));
  for (const code of document.querySelectorAll("code.command")) addCopy(/** @type {HTMLElement} */ (code));
  for (const group of document.querySelectorAll("details.group")) {
    const details = /** @type {HTMLDetailsElement} */ (group);
    details.addEventListener("toggle", () => open(details));
    open(details);
  }
}

/** Open what the address names: a group, or a card in one. */
function follow() {
  const target = document.getElementById(location.hash.slice(1));
  const group = target?.closest("details.group");
  if (!target || !(group instanceof HTMLDetailsElement)) return;
  group.open = true;
  open(group);
  if (target.classList.contains("card")) choose(group, target.id, true);
  else group.scrollIntoView();
}

begin();
follow();
addEventListener("hashchange", follow);
