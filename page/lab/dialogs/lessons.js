// The lessons, with a search and a mark on those that were seen.

import { make } from "../../shared/dom.js";
import { inflate } from "../film/format.js";
import { menuItem } from "./items.js";

const SEEN = "rk-seen";

/** @typedef {import("../lab.js").Lab} Lab */
/** @typedef {{ name: string, title: string, group: string, try: string, watch: string, finds: string }} Lesson */

/**
 * @param {Lab} lab
 * @param {HTMLElement} opener
 */
export async function showPresets(lab, opener) {
  if (!lab.presets) {
    const answer = await lab.talk.request({ type: "presets" });
    lab.presets = await inflate(answer.buffers[0]);
  }
  const lessons = /** @type {Lesson[]} */ (lab.presets);
  const looks = { type: "search", placeholder: "search lessons", "aria-label": "Search lessons" };
  const search = make("input", { ...looks, autofocus: true });
  const list = make("div", { class: "rk-presetlist" });
  const seen = new Set(seenLessons());
  const beside = make("input", { type: "checkbox" });
  const choose = (/** @type {Lesson} */ lesson) =>
    beside.checked ? void lab.comparison.withLesson(lesson.name) : openLesson(lab, lesson, seen);
  const fill = () =>
    list.replaceChildren(...lessonItems(lab, lessons, search.value.toLowerCase(), seen, choose));
  const surprise = make("button", { type: "button" }, "Surprise me");
  surprise.addEventListener("click", () => {
    const unseen = lessons.filter((lesson) => !seen.has(lesson.name));
    const choices = unseen.length ? unseen : lessons;
    openLesson(lab, choices[Math.floor(Math.random() * choices.length)], seen);
    lab.popup.close(true);
  });
  search.addEventListener("input", fill);
  fill();
  const compare = make("label", {}, beside, " Compare with the run that is shown");
  const bar = make("div", { class: "rk-bar" }, search, surprise);
  lab.popup.show(opener, make("h2", {}, "Lessons"), bar, compare, list);
}

/**
 * The lessons that have these words, under the heads of their groups; first those that are about them.
 * @param {Lab} lab
 * @param {Lesson[]} lessons
 * @param {string} words
 * @param {Set<string>} seen
 * @param {(lesson: Lesson) => void} choose
 */
function lessonItems(lab, lessons, words, seen, choose) {
  const has = (/** @type {string[]} */ ...texts) =>
    words.split(" ").every((word) => texts.join(" ").toLowerCase().includes(word));
  const about = (/** @type {Lesson} */ { title, finds, name }) => has(title, finds, name);
  const told = (/** @type {Lesson} */ lesson) =>
    has(lesson.title, lesson.try, lesson.watch, lesson.finds, lesson.group, lesson.name);
  const known = lessons.filter(told);
  const shown = [...known.filter(about), ...known.filter((lesson) => !about(lesson))];
  if (!shown.length) return [make("p", {}, "No lesson has these words.")];
  const here = lab.model.get("controls").preset;
  return shown.flatMap((lesson, place) => {
    const title = `${lessons.indexOf(lesson) + 1}  ${lesson.title}`;
    const mark = seen.has(lesson.name) ? make("small", {}, " ✓ seen") : null;
    const says = make("span", {}, `Try: ${lesson.try} Watch: ${lesson.watch}.`);
    const content = [make("b", {}, title, mark), says];
    const item = menuItem(lab, content, () => choose(lesson), {
      class: "rk-item rk-preset",
      "aria-current": lesson.name === here ? "true" : null,
      "data-preset": lesson.name,
    });
    return lesson.group === shown[place - 1]?.group ? [item] : [make("h3", {}, lesson.group), item];
  });
}

/**
 * @param {Lab} lab
 * @param {Lesson} lesson
 * @param {Set<string>} seen
 */
function openLesson(lab, lesson, seen) {
  try {
    localStorage.setItem(SEEN, JSON.stringify([...seen, lesson.name]));
  } catch { /* a page without storage forgets */ }
  lab.ask({ type: "preset", name: lesson.name });
}

/** @returns {string[]} names that this browser remembers */
function seenLessons() {
  try {
    return JSON.parse(localStorage.getItem(SEEN) ?? "[]");
  } catch {
    return [];
  }
}
