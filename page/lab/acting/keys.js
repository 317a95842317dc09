// Keys: each does what its button does.

import { say } from "../../shared/dom.js";
import { showHistory } from "../dialogs/history.js";
import { showPresets } from "../dialogs/lessons.js";
import { showLink } from "../dialogs/link.js";
import { showMore } from "../dialogs/more.js";
import { showSettings } from "../dialogs/settings.js";
import { boardAt } from "../film/board.js";
import { TABS } from "../panels/tabs.js";
import { groupLine, twinText } from "../words/twin.js";
import { MORE } from "./actions.js";
import { nextProtocol, walk } from "./deeds.js";

/** @typedef {import("../lab.js").Lab} Lab */
/** @typedef {{ key: string, target: Element, shiftKey: boolean, ctrlKey: boolean, altKey: boolean }} Key */
/** @typedef {(() => void) | null} Run what a key does; null where it is not the lab's */

const SLIDE_MS = 1000;
const LETTERS_OFF = "Single letters are no keys now. The menu ⋯ makes them keys again.";

/** Keys that hold whatever is chosen about letters. */
/** @type {Record<string, (lab: Lab) => void>} */
const ALWAYS = {
  ".": (lab) => lab.steps.jump(1, "events"),
  ",": (lab) => lab.steps.jump(-1, "events"),
  ">": (lab) => lab.steps.jump(1, "messages"),
  "<": (lab) => lab.steps.jump(-1, "messages"),
  Home: (lab) => lab.seek(0, false),
  End: (lab) => lab.seek(lab.film.end, false),
  "?": (lab) => lab.legend.toggle(),
};

/** Single letters and signs, which a reader may turn off. Letters of deeds stand with the deeds. */
/** @type {Record<string, (lab: Lab) => unknown>} */
const LETTERS = {
  0: (lab) => lab.tell(groupLine(boardAt(lab.film, lab.player.at))),
  n: (lab) => lab.steps.jump(1, "marks"),
  N: (lab) => lab.steps.jump(-1, "marks"),
  "]": (lab) => lab.steps.faster(1),
  "[": (lab) => lab.steps.faster(-1),
  u: (lab) => walk(lab, "undo"),
  U: (lab) => walk(lab, "redo"),
  t: nextProtocol,
  a: (lab) => showSettings(lab, lab.ui.settingsButton),
  s: (lab) => showSettings(lab, lab.ui.settingsButton),
  k: (lab) => lab.ask({ type: "fork" }),
  h: (lab) => showHistory(lab, lab.ui.menuButton),
  v: (lab) => lab.comparison.toggle(null),
  g: (lab) => lab.predict.begin(lab.ui.predictButton),
  f: (lab) => lab.presenter.toggle(),
  y: (lab) => lab.guide.toggle(),
  q: showLink,
  "=": (lab) => lab.panels.views.timeline.zoom(0.5),
  "-": (lab) => lab.panels.views.timeline.zoom(2),
  "/": focusFilter,
  i: (lab) => {
    lab.screen.speaker.repeat();
    lab.paint(false);
  },
  I: (lab) => say(lab.ui.status, twinText(lab.film, boardAt(lab.film, lab.player.at))),
};

/** @type {Record<string, (lab: Lab) => void>} */
const ARROWS = {
  ArrowUp: (lab) => lab.select(lab.selected - 1),
  ArrowDown: (lab) => lab.select(lab.selected + 1),
  ArrowLeft: (lab) => lab.marker.step(-1),
  ArrowRight: (lab) => lab.marker.step(1),
};

/**
 * What a key asks for, or nothing.
 * @param {Lab} lab
 * @param {Key} pressed
 * @returns {Run}
 */
export function keyRun(lab, pressed) {
  const { key, shiftKey, ctrlKey, altKey, target } = pressed;
  if (!lab.ui.help.hidden) return legendRun(lab, key);
  if (altKey) {
    return /^[1-9]$/.test(key) && TABS[Number(key) - 1]
      ? () => {
        lab.newcomer.played();
        lab.panels.open(TABS[Number(key) - 1][0]);
      }
      : null;
  }
  if (ctrlKey) {
    return key === "z" ? () => walk(lab, "undo") : key === "y" ? () => walk(lab, "redo") : null;
  }
  if (key === " ") {
    const pressed = target.tagName === "BUTTON" && target.getAttribute("aria-selected") !== "true"; // an open tab has nothing to press
    return pressed || target.tagName === "SUMMARY" ? null : () => lab.toggle();
  }
  if (key === "Escape") return escapeRun(lab, target);
  const along = guideRun(lab, pressed);
  if (along) return along;
  if (key.startsWith("Arrow")) return arrowRun(lab, pressed);
  if (key === "Enter" || (key === "F10" && shiftKey)) {
    if (!target.closest(".rk-board")) return null;
    const { partition } = lab.marker;
    if (lab.predict.blocks.length && partition !== null) {
      return () => lab.predict.pick(lab.film.partitions[partition]);
    }
    return () => showMore(lab, /** @type {HTMLElement} */ (target));
  }
  const always = ALWAYS[key];
  if (always) return () => always(lab);
  const run = letterRun(lab, key, shiftKey);
  return run && !lab.options.letters ? () => lab.tell(LETTERS_OFF) : run;
}

/**
 * Behind the open legend nothing is done unseen: it closes, and it scrolls.
 * @param {Lab} lab
 * @param {string} key
 * @returns {Run}
 */
function legendRun(lab, key) {
  return key === "Escape" || key === "?" ? () => lab.legend.toggle() : null;
}

/**
 * While the guide is on, Enter and N go on to the next beat, Shift+N to the one before.
 * @param {Lab} lab
 * @param {Key} pressed
 * @returns {Run}
 */
function guideRun({ guide, options }, { key, target }) {
  if (!guide.on) return null;
  if (key === "Enter") {
    return target.tagName === "BUTTON" || target.tagName === "SUMMARY" ? null : () => guide.next();
  }
  if (!options.letters) return null;
  return key === "n" ? () => guide.next() : key === "N" ? () => guide.back() : null;
}

/**
 * On the slider arrows are its own, with Shift they move a second; elsewhere they choose.
 * @param {Lab} lab
 * @param {Key} pressed
 * @returns {Run}
 */
function arrowRun(lab, { key, shiftKey, target }) {
  if (target === lab.strip.slider) {
    const by = key === "ArrowLeft" || key === "ArrowDown" ? -SLIDE_MS : SLIDE_MS;
    return shiftKey ? () => lab.seek(lab.player.at + by, false) : null;
  }
  const onBoard = target.closest(".rk-board") !== null;
  return lab.panels.name === "flow" || onBoard ? () => ARROWS[key](lab) : null;
}

/**
 * @param {Lab} lab
 * @param {string} key
 * @param {boolean} shiftKey
 * @returns {Run}
 */
function letterRun(lab, key, shiftKey) {
  if (/^[1-9]$/.test(key)) return () => lab.select(Number(key) - 1);
  const action = MORE.find((each) => each.key?.toLowerCase() === key.toLowerCase() && !shiftKey);
  if (action) return () => lab.act(action.do);
  const letter = LETTERS[key];
  return letter ? () => void letter(lab) : null;
}

/**
 * What Esc closes or leaves (a field, in which letters are typed); nothing when there is nothing to close, so that it leaves the lab.
 * @param {Lab} lab
 * @param {Element} target
 * @returns {Run}
 */
function escapeRun(lab, target) {
  if (lab.predict.on) return () => lab.predict.end();
  const open = lab.popups.find((popup) => popup.open);
  if (open) return () => open.close(true);
  if (lab.guide.on) return () => lab.guide.end();
  if (/^(INPUT|SELECT)$/.test(target.tagName) && target !== lab.strip.slider) {
    return () => lab.screen.focusAfterChange();
  }
  if (lab.comparison.view) return () => void lab.comparison.toggle(null);
  if (lab.presenter.on) return () => lab.presenter.toggle();
  return null;
}

/**
 * The search field of the open tab, else the lessons.
 * @param {Lab} lab
 */
function focusFilter(lab) {
  const field = lab.panels.name === "flow"
    ? lab.screen.stage.root.querySelector("input[type=search]")
    : lab.panels.panel.querySelector("input[type=search]");
  if (field instanceof HTMLElement) field.focus();
  else showPresets(lab, lab.ui.presetButton);
}
