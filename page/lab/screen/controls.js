// What the kernel says of the run: title, lesson, protocol, branches, what can be undone.

import { make, say, set } from "../../shared/dom.js";

const SHOWN_BRANCHES = 4;

/** @typedef {import("../lab.js").Lab} Lab */

/**
 * @param {Lab} lab
 * @param {any} controls
 */
export function showControls(lab, controls) {
  const { ui } = lab;
  say(ui.title, controls.title);
  set(ui.presetButton, "title", controls.title);
  set(ui.presetButton, "aria-label", `Lessons: ${controls.title}`);
  set(ui.root, "aria-label", `Rebalance lab, ${controls.title}`);
  const lesson = `${controls.lesson}. Try: ${controls.try} Watch: ${controls.watch}.`;
  say(ui.lesson, controls.try ? lesson : "");
  set(ui.lesson, "title", controls.try ? lesson : null);
  say(ui.storyText, controls.story ?? "");
  ui.story.hidden = !controls.story;
  showProtocols(lab, controls);
  showBranches(ui.branches, controls);
  ui.undo.disabled = !controls.undo;
  ui.redo.disabled = !controls.redo;
  set(ui.undo, "title", controls.undo || "Nothing to undo");
  set(ui.redo, "title", controls.redo || "Nothing to redo");
}

/**
 * The switch of protocols. Where the lesson says itself which one its members speak, that one is marked; where they
 * speak several, words stand beside the switch.
 * @param {Lab} lab
 * @param {{ protocols: [name: string, words: string, says: string][], protocol: string, own?: string[] }} controls
 */
function showProtocols(lab, { protocols, protocol, own = [] }) {
  const { ui } = lab;
  if (ui.protocols.children.length !== protocols.length) {
    ui.protocols.replaceChildren(...protocols.map(([name, words, says]) => {
      const node = make("button", { type: "button", "data-protocol": name, "data-says": says }, words);
      node.addEventListener("click", () => showProtocol(lab, name));
      return node;
    }));
  }
  const shown = protocol || (own.length === 1 ? own[0] : "");
  for (const node of ui.protocols.children) {
    const name = node.getAttribute("data-protocol");
    const chosen = name === shown && !lab.comparison.view;
    set(node, "aria-pressed", chosen ? "true" : "false");
    const says = node.getAttribute("data-says");
    set(node, "title", name === shown && !protocol ? `${says} The lesson's members are set to it.` : says);
  }
  const named = protocols.filter(([name]) => own.includes(name)).map(([, words]) => words);
  const mixed = !shown && named.length > 1;
  say(ui.mixed, mixed ? "Mixed" : "");
  set(ui.mixed, "title", mixed ? `The members of this lesson speak several: ${named.join(" and ")}.` : null);
  ui.mixed.hidden = !mixed || lab.alone;
}

/**
 * Show the run under a protocol; a comparison ends, because one of its runs is chosen.
 * @param {Lab} lab
 * @param {string} name
 */
export function showProtocol(lab, name) {
  if (lab.comparison.view) lab.comparison.end();
  lab.ask({ type: "set", name: "protocol", value: name });
}

/**
 * @param {Element} node
 * @param {{ branches?: [string, ...unknown[]][], here: number }} controls
 */
function showBranches(node, { branches, here }) {
  const shown = branches?.[here];
  if (!branches || !shown) return;
  const dots = branches.slice(-SHOWN_BRANCHES);
  node.replaceChildren(
    ...dots.map((branch) => make("i", { class: branch === shown ? "rk-hereB" : "" })),
    shown[0],
  );
  const count = `${branches.length} branch${branches.length === 1 ? "" : "es"}`;
  set(node, "aria-label", `History: ${count}, ${shown[0]} is shown`);
}
