// What the guide says and its buttons, in the place of the sentence of the moment.

import { make, say, set } from "../../shared/dom.js";
import { menuItem } from "../dialogs/items.js";
import { seconds } from "../film/times.js";
import { button } from "../screen/buttons.js";

/** @param {import("../lab.js").Lab} lab */
export function buildGuideBar(lab) {
  const key = (/** @type {string} */ name) => make("kbd", { "aria-hidden": "true" }, name);
  const guideButton = button("Guide me", "Guide me", () => lab.guide.toggle(), { class: "rk-guidebutton" });
  guideButton.title = "Stops at each beat of the rebalance, and says one sentence and the rule";
  const backButton = button("Back", "Previous beat", () => lab.guide.back());
  const nextWords = make("span", {}, "Next");
  const nextButton = button(nextWords, "Next beat", () => lab.guide.next(), { class: "rk-nextbutton" });
  nextButton.append(key("N"));
  const leaveButton = button("Leave", "Leave the guide", () => lab.guide.end());
  leaveButton.append(key("Esc"));
  const progress = button("", "Beats", () => showBeats(lab, progress), { class: "rk-progress" });
  const beatWords = make("span", {});
  const beatRule = make("p", { class: "rk-beatrule" });
  const id = `rk-beat-${Math.random().toString(36).slice(2)}`;
  const said = make("div", { class: "rk-beat", role: "status", "aria-live": "polite", id });
  nextButton.setAttribute("aria-describedby", id);
  said.append(make("p", { class: "rk-cause" }, progress, beatWords), beatRule);
  const guideButtons = make(
    "div",
    { class: "rk-guidebuttons", role: "toolbar", "aria-label": "Guide" },
    backButton,
    nextButton,
    leaveButton,
  );
  return {
    guideButton,
    guideButtons,
    backButton,
    nextButton,
    nextWords,
    progress,
    beatWords,
    beatRule,
    said,
  };
}

/**
 * The beats of the run, each of which can be gone to.
 * @param {import("../lab.js").Lab} lab
 * @param {HTMLElement} opener
 */
function showBeats(lab, opener) {
  const { guide } = lab;
  lab.popup.show(
    opener,
    make("h2", {}, "Beats of this run"),
    ...guide.beats.map(([at, words], place) =>
      menuItem(lab, [`${place + 1}  ${words}`, make("small", {}, seconds(at))], () => guide.go(place), {
        "aria-current": place === guide.index ? "true" : null,
      })
    ),
  );
}

/**
 * Keep room for the longest beat, so that nothing below moves from beat to beat.
 * @param {import("../lab.js").Lab} lab
 */
export function reserveGuideBar(lab) {
  const { guide, ui } = lab;
  ui.said.style.minHeight = "";
  if (!guide.on) return;
  const { index } = guide;
  const heights = guide.beats.map((_, place) => {
    guide.index = place;
    paintGuideBar(lab);
    return ui.said.offsetHeight;
  });
  guide.index = index;
  paintGuideBar(lab);
  ui.said.style.minHeight = `${Math.max(...heights)}px`;
}

/**
 * Say the beat; the rule stands here only where no pane beside the board lights it.
 * @param {import("../lab.js").Lab} lab
 */
export function paintGuideBar({ guide, ui, pane }) {
  const { beat } = guide;
  if (!guide.on || !beat) return;
  const [, words, step] = beat;
  const [, , rule, source] = guide.content?.entries[step] ?? [0, "", "", ""];
  say(ui.progress, `${guide.index + 1} of ${guide.beats.length}`);
  set(ui.progress, "aria-label", `Beat ${guide.index + 1} of ${guide.beats.length}: list of the beats`);
  say(ui.beatWords, ` ${words}`);
  say(ui.beatRule, rule);
  set(ui.beatRule, "title", source);
  ui.beatRule.classList.toggle("rk-status", pane.shown);
  set(ui.backButton, "aria-disabled", guide.index === 0 ? "true" : "false");
  const skips = guide.underWay;
  say(ui.nextWords, skips ? "Skip" : guide.last ? "Done" : "Next");
  set(
    ui.nextButton,
    "aria-label",
    skips ? "Skip to the beat" : guide.last ? "End of the guide" : "Next beat",
  );
}
