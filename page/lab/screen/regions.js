// The regions of the lab and their buttons. Nothing is decided here: every button asks the lab.

import { make } from "../../shared/dom.js";
import { ACTIONS } from "../acting/actions.js";
import { walk } from "../acting/deeds.js";
import { KEYS } from "../acting/key_table.js";
import { buildGuideBar } from "../guide/bar.js";
import { showHistory } from "../dialogs/history.js";
import { showPresets } from "../dialogs/lessons.js";
import { showLink } from "../dialogs/link.js";
import { showMenu } from "../dialogs/menu.js";
import { showMore } from "../dialogs/more.js";
import { paceButton } from "../dialogs/pace.js";
import { showSettings } from "../dialogs/settings.js";
import { button, opener } from "./buttons.js";
import { icon } from "./icons.js";

/** @typedef {import("../lab.js").Lab} Lab */
/** @typedef {ReturnType<typeof buildRegions>} Regions */

/** @param {Lab} lab */
export function buildRegions(lab) {
  const suppressed = { "data-lm-suppress-shortcuts": "true" }; // JupyterLab's own shortcuts stay out
  return {
    root: make("section", { class: "rk-lab rk-light", ...suppressed }),
    stageHome: make("div", { class: "rk-stagehome" }),
    viewbar: make("div", { class: "rk-viewbar" }),
    middle: make("div", { class: "rk-middle" }),
    lesson: make("p", { class: "rk-lesson" }),
    band: make("p", { class: "rk-band", role: "alert" }),
    status: make("div", { class: "rk-status", role: "status", "aria-live": "polite" }),
    ...buildHeader(lab),
    ...buildSentences(buildGuideBar(lab)),
    ...buildActions(lab),
    ...buildTransport(lab),
    ...buildTwin(),
    ...buildStory(),
    help: buildHelp(),
  };
}

/** @param {Lab} lab */
function buildHeader(lab) {
  const title = make("b", { class: "rk-title" });
  const presetButton = opener("", "Lessons", (node) => showPresets(lab, node), { class: "rk-presetbutton" });
  presetButton.append(title, lab.alone ? "" : " ▾");
  presetButton.disabled = lab.alone;
  const protocols = make("div", { class: "rk-seg", role: "group", "aria-label": "Protocol" });
  const mixed = make("span", { class: "rk-mixed", hidden: true });
  const compareButton = button("Compare", "Compare the protocols", () => lab.comparison.toggle(null), {
    class: "rk-comparebutton",
    "aria-pressed": "false",
  });
  const tools = buildTools(lab);
  const header = make(
    "div",
    { class: "rk-head", role: "toolbar", "aria-label": "Scenario and protocol" },
    presetButton,
    make("div", { class: "rk-segs" }, mixed, protocols, compareButton),
    make("span", { class: "rk-gap" }),
    ...Object.values(tools),
  );
  protocols.hidden = compareButton.hidden = lab.alone;
  return { header, title, presetButton, mixed, protocols, compareButton, ...tools };
}

/**
 * The buttons at the right of the header; those that need the kernel are hidden where there is none.
 * @param {Lab} lab
 */
function buildTools(lab) {
  const pressed = { "aria-pressed": "false" };
  const round = { class: "rk-help" };
  /** @type {HTMLButtonElement} */
  const predictButton = button("Predict", "Predict", () => lab.predict.begin(predictButton), pressed);
  const settingsButton = opener("Settings", "Settings", (node) => showSettings(lab, node));
  const shareButton = opener("Copy link", "Copy link", () => showLink(lab));
  [settingsButton, predictButton].forEach((node) => (node.hidden = lab.alone));
  shareButton.hidden = lab.alone && !lab.model.get("controls").link;
  return {
    settingsButton,
    predictButton,
    shareButton,
    presentButton: button("Present", "Present", () => lab.presenter.toggle(), pressed),
    menuButton: opener("⋯", "More: files, theme, history", (node) => showMenu(lab, node), round),
    helpButton: button("?", "Keyboard and legend", () => lab.legend.toggle(), round),
  };
}

/** @param {ReturnType<typeof buildGuideBar>} guide */
function buildSentences(guide) {
  const cause = make("p", { class: "rk-cause" });
  const effect = make("p", { class: "rk-effect" });
  const meter = make("span", { class: "rk-squares", "aria-hidden": "true" });
  const flowing = make("b", {});
  const share = make("div", { class: "rk-meter" }, meter, flowing, make("span", {}, "flow"));
  const moment = make("div", { class: "rk-moment" }, cause, effect);
  return {
    ...guide,
    cause,
    effect,
    meter,
    flowing,
    share,
    moment,
    sentences: make(
      "div",
      { class: "rk-say" },
      moment,
      guide.said,
      guide.guideButton,
      guide.guideButtons,
    ),
  };
}

/** @param {Lab} lab */
function buildActions(lab) {
  const who = make("span", { class: "rk-selected" });
  const kbd = (/** @type {string} */ key) => make("kbd", { "aria-hidden": "true" }, key);
  const actions = ACTIONS.map((action) => {
    const node = button(action.words, action.words, (event) => actByButton(lab, action.do, event));
    node.append(kbd(action.key ?? ""));
    lab.costs.watch(node, action.do);
    return { node, action };
  });
  const add = button("+ Member", "Add member", (event) => actByButton(lab, "add", event));
  add.append(kbd("M"));
  lab.costs.watch(add, "add");
  const more = opener("More", "More actions", (node) => showMore(lab, node));
  const notice = make("span", { class: "rk-notice", role: "alert" });
  const cost = make("span", { class: "rk-cost", role: "status" });
  const actionBar = make(
    "div",
    { class: "rk-actions", role: "toolbar", "aria-label": "Actions" },
    who,
    ...actions.map(({ node }) => node),
    add,
    more,
    make("span", { class: "rk-words" }, notice, cost),
  );
  actionBar.hidden = !lab.acts;
  more.hidden = lab.alone;
  return { who, actions, notice, cost, actionBar };
}

/**
 * After a click of the mouse the keys belong to the board again, so that Space plays and does not press once more.
 * @param {Lab} lab
 * @param {string} what
 * @param {MouseEvent} event
 */
function actByButton(lab, what, event) {
  lab.act(what);
  if (event.detail > 0) lab.screen.focusTarget().focus();
}

/** @param {Lab} lab */
function buildTransport(lab) {
  const undo = button("Undo", "Undo", () => walk(lab, "undo"));
  const redo = button("Redo", "Redo", () => walk(lab, "redo"));
  const fork = button("Fork here", "Fork here", () => lab.ask({ type: "fork" }));
  const dots = { class: "rk-branches" };
  const branches = opener("", "History and branches", (node) => showHistory(lab, node), dots);
  const playButton = button(icon("play"), "Play", () => lab.toggle(), { class: "rk-play" });
  const clock = make("b", { class: "rk-clock" });
  const pace = make("span", { class: "rk-pace", "aria-hidden": "true" });
  const pacer = paceButton(lab);
  const transport = make(
    "div",
    { class: "rk-transport", role: "toolbar", "aria-label": "Playback" },
    button(icon("first"), "Jump back", () => lab.steps.jump(-1, "marks")),
    button(icon("back"), "Step back", () => lab.steps.jump(-1, lab.steps.kind)),
    playButton,
    button(icon("next"), "Step forward", () => lab.steps.jump(1, lab.steps.kind)),
    button(icon("last"), "Jump forward", () => lab.steps.jump(1, "marks")),
    clock,
    pace,
    pacer,
    make("span", { class: "rk-gap" }),
    branches,
    fork,
    undo,
    redo,
  );
  [fork, undo, redo, branches].forEach((node) => (node.hidden = lab.alone));
  return { undo, redo, branches, playButton, clock, pace, pacer, transport };
}

function buildTwin() {
  const twin = make("pre", { class: "rk-twin" });
  return { twin, details: make("details", { class: "rk-astext" }, make("summary", {}, "As text"), twin) };
}

// One line of the story; a click shows all of it.
function buildStory() {
  const storyText = make("summary", {});
  return { storyText, story: make("details", { class: "rk-story", hidden: true }, storyText) };
}

function buildHelp() {
  const rows = KEYS.map(([key, does]) =>
    make("tr", {}, make("th", { scope: "row" }, key), make("td", {}, does))
  );
  const table = make("table", {}, make("caption", {}, "Keys"), make("tbody", {}, ...rows));
  const looks = {
    class: "rk-keys",
    role: "dialog",
    "aria-label": "Legend and keys",
    tabindex: "0",
    hidden: true,
  };
  return make("div", looks, table);
}
