// What all pages of the quiz share: their keys, redrawing, and the lab below.

import { make } from "../../shared/dom.js";

/**
 * @param {string[] | undefined} names
 * @param {import("./types.js").Send} send
 * @param {string} [heading]
 */
export function replayButtons(names, send, heading) {
  if (!names?.length) return null;
  const buttons = names.map((name, run) => {
    const button = make(
      "button",
      { type: "button", class: "rkq-go rkq-quiet", "data-role": "lab" },
      `Open in the lab: ${name}`,
    );
    button.addEventListener("click", () => send({ do: "lab", run }));
    return button;
  });
  return make(
    "div",
    { class: "rkq-foot rkq-replays" },
    make("span", {}, heading ?? (names.length > 1 ? "The runs that decide it:" : "The run that decides it:")),
    ...buttons,
  );
}

/**
 * The lab is a widget of its own, shown below the question.
 * @param {import("../../shared/model.js").Model} model
 * @param {HTMLElement} slot
 */
async function showLab(model, slot) {
  const named = model.get("lab");
  slot.replaceChildren();
  if (!named || !model.widget_manager) return;
  const child = await model.widget_manager.get_model(named.replace("IPY_MODEL_", ""));
  const view = await model.widget_manager.create_view(child);
  slot.append(view.el);
  slot.scrollIntoView({ block: "nearest" });
}

/**
 * Move the focus to the first of these that is there, else to the whole page.
 * @param {HTMLElement} root
 * @param {...string} selectors
 */
export function focusOn(root, ...selectors) {
  const first = selectors.map((selector) => root.querySelector(selector)).find((node) => node !== null);
  (first instanceof HTMLElement ? first : root).focus();
}

/**
 * Plain keys are the quiz's own: JupyterLab takes any that comes through as a command of the notebook ("a" puts a cell
 * above), be the focus on a list or a radio button.
 * @param {HTMLElement} root
 * @param {(event: KeyboardEvent) => void} [pressed]
 */
export function ownKeys(root, pressed) {
  root.addEventListener("keydown", (event) => {
    pressed?.(event);
    if (!event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
  });
}

/**
 * Draw now and at each change of the page, show the lab that is asked for; what is returned ends it.
 * @param {import("../../shared/model.js").Model} model
 * @param {HTMLElement} slot
 * @param {() => void} draw
 * @param {() => void} [ended]
 */
export function follow(model, slot, draw, ended) {
  const labs = () => showLab(model, slot);
  model.on("change:page", draw);
  model.on("change:lab", labs);
  draw();
  labs();
  return () => {
    ended?.();
    model.off("change:page", draw);
    model.off("change:lab", labs);
  };
}
