// The exam on a page: one question, a strip of all places, the time left. It knows no key; the report comes with the end.

import { lines, whole } from "./parts/prose.js";
import { make } from "../shared/dom.js";
import { focusOn, follow, ownKeys, replayButtons } from "./parts/page.js";
import { press, questionBody, readAnswer } from "./parts/question.js";

/**
 * @typedef {object} Local what the page itself remembers
 * @property {boolean} review whether the review is open
 * @property {string} given
 * @property {boolean} ended whether the end was drawn before
 * @property {boolean} warned whether the last five minutes were announced
 * @property {(given: string) => void} keep
 */

/** @param {number} left */
function clock(left) {
  const seconds = Math.max(0, Math.round(left));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} left`;
}

/**
 * @param {import("./parts/types.js").ExamPage} page
 * @param {import("./parts/types.js").Send} send
 * @param {() => string} [given]
 */
function places(page, send, given) {
  return make(
    "nav",
    { class: "rkq-places", "aria-label": "All questions" },
    ...page.places.map((place, number) => {
      const mark = page.ended ? (page.right[number] ? "right" : "not right") : null;
      const says = [
        `question ${number + 1}`,
        place.answered ? "answered" : place.lacking ? `open, ${place.lacking} more asked for` : "open",
        mark,
        place.flagged ? "flagged" : null,
      ].filter(Boolean).join(", ");
      const sign = page.ended
        ? (page.right[number] ? " ✓" : place.answered ? " ✗" : " ○")
        : place.answered
        ? " ●"
        : place.lacking
        ? " ◐"
        : " ○";
      const button = make(
        "button",
        {
          type: "button",
          class: place.answered ? "answered" : "",
          "aria-label": says,
          "aria-current": number + 1 === page.number ? "true" : null,
        },
        `${number + 1}${place.flagged ? " ⚑" : ""}${sign}`,
      );
      button.addEventListener(
        "click",
        () => send({ do: "go", place: number, ...(given ? { given: given() } : {}) }),
      );
      return button;
    }),
  );
}

/**
 * @param {string} text
 * @param {string} role
 * @param {() => any} message
 * @param {import("./parts/types.js").Send} send
 */
function control(text, role, message, send) {
  const button = make("button", { type: "button", class: "rkq-go rkq-quiet", "data-role": role }, text);
  button.addEventListener("click", () => send(message()));
  return button;
}

/**
 * @param {import("./parts/types.js").ExamPage} page
 * @param {import("./parts/types.js").Send} send
 * @param {() => string} given
 */
function reviewScreen(page, send, given) {
  const open = page.places.filter((place) => !place.answered).length;
  const flagged = page.places.filter((place) => place.flagged).length;
  return make(
    "div",
    { class: "rkq-review", role: "group", "aria-label": "Review" },
    make(
      "p",
      {},
      `${open} without an answer, ${flagged} flagged. Choose a number above to go back, or hand in.`,
    ),
    control("Hand in", "finish", () => ({ do: "finish", given: given() }), send),
  );
}

/**
 * @param {import("./parts/types.js").ExamPage} page
 * @param {import("./parts/types.js").Send} send
 * @param {Local} local
 */
function sheet(page, send, local) {
  const state = {
    given: page.error ? local.given : page.given,
    disabled: false,
    struck: page.struck,
    strike: page.question.options && page.question.kind !== "matching"
      ? (/** @type {string} */ option) => send({ do: "strike", option })
      : null,
  };
  const form = make(
    "form",
    { "aria-label": `Question ${page.number} of ${page.of}` },
    make(
      "h3",
      { tabindex: "-1" },
      `Question ${page.number} of ${page.of}`,
      make("small", { class: "rkq-clock", role: "timer" }, clock(page.left_s)),
    ),
    ...questionBody(page.question, state),
  );
  const given = () => readAnswer(form, page.question);
  form.append(footOf(page, send, given), places(page, send, given));
  if (local.review) form.append(reviewScreen(page, send, given));
  // What is chosen is kept at once, and nothing is drawn anew for it.
  form.addEventListener("change", () => local.keep(given()));
  if (page.notice) form.append(make("p", { class: "rkq-notice", role: "status" }, page.notice));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send({ do: "go", place: Math.min(page.number, page.of - 1), given: given() });
  });
  return form;
}

/**
 * The ways on from a question; each takes the answer along.
 * @param {import("./parts/types.js").ExamPage} page
 * @param {import("./parts/types.js").Send} send
 * @param {() => string} given
 */
function footOf(page, send, given) {
  const { number, of, places: all, error } = page;
  const go = (/** @type {number} */ place) => () => ({ do: "go", place, given: given() });
  const previous = control("Previous", "previous", go(number - 2), send);
  previous.disabled = number === 1;
  const flag = all[number - 1].flagged ? "Take the flag away" : "Flag";
  const review = () => ({ ...go(number - 1)(), review: true });
  return make(
    "div",
    { class: "rkq-foot" },
    previous,
    control(number === of ? "Keep the answer" : "Next", "next", go(Math.min(number, of - 1)), send),
    control(flag, "flag", () => ({ do: "flag", given: given() }), send),
    control("Next open", "next-open", () => ({ do: "next open", given: given() }), send),
    control("Next flagged", "next-flagged", () => ({ do: "next flagged", given: given() }), send),
    control("Review", "review", review, send),
    make("output", { class: error ? "error" : "" }, error ?? ""),
  );
}

/** @param {string} role */
function warning(role) {
  return make("p", { class: "rkq-warned", role }, "Five minutes or less are left.");
}

/**
 * Before the clock runs: what the exam is, and the button that begins it.
 * @param {import("./parts/types.js").ExamPage} page
 * @param {import("./parts/types.js").Send} send
 */
function startScreen(page, send) {
  const points = page.start.filter((line) => line.startsWith("- "));
  const begin = make("button", { type: "button", class: "rkq-go", "data-role": "begin" }, "Begin");
  begin.addEventListener("click", () => {
    begin.disabled = true;
    begin.textContent = "Making the questions …";
    send({ do: "start" });
  });
  /** @type {(HTMLElement | SVGElement)[]} */
  const body = [];
  for (const line of page.start) {
    if (!line.startsWith("- ")) body.push(make("p", {}, whole(line)));
    else if (line === points[0] || body.at(-1)?.tagName !== "UL") {
      body.push(make("ul", {}, make("li", {}, line.slice(2))));
    } else body.at(-1)?.append(make("li", {}, line.slice(2)));
  }
  return make(
    "div",
    { class: "rkq-start" },
    make("h3", { tabindex: "-1" }, page.title, make("small", {}, "not begun")),
    ...body,
    make("div", { class: "rkq-foot" }, begin),
    page.notice ? make("p", { class: "rkq-notice", role: "status" }, page.notice) : null,
  );
}

/**
 * Once it is over: the report, and below it every question with its key, the reasons and the runs behind it.
 * @param {import("./parts/types.js").ExamPage} page
 * @param {import("./parts/types.js").Send} send
 */
function ended(page, send) {
  const state = { remarks: page.verdict.remarks, given: page.given, disabled: true, struck: [] };
  return make(
    "div",
    {},
    make("h3", { tabindex: "-1" }, page.title, make("small", {}, "over")),
    make("pre", { tabindex: "0", "aria-label": "report", class: "rkq-wrapped" }, ...lines(page.report)),
    replayButtons(
      page.report_replays,
      (message) => send({ ...message, do: "report lab" }),
      "Runs behind what was not right:",
    ),
    places(page, send),
    make(
      "h3",
      { tabindex: "-1", class: "rkq-told" },
      `Question ${page.number} of ${page.of}`,
      make("small", {}, page.given ? (page.verdict.right ? "right" : "not right") : "not answered"),
    ),
    ...questionBody(page.question, state),
    make("p", { class: "rkq-scale" }, `${page.question.id}; sources: ${page.source.join(", ")}`),
    replayButtons(page.replays, send),
    page.notice ? make("p", { class: "rkq-notice", role: "status" }, page.notice) : null,
  );
}

/** @param {{ model: import("../shared/model.js").Model, el: HTMLElement }} widget */
export function render({ model, el }) {
  const root = make("section", { class: "rkq", "aria-label": "Exam" });
  const slot = make("div", { class: "rkq-lab" });
  el.append(root, slot);
  /** @type {Local} */
  const local = {
    review: false,
    given: "",
    ended: false,
    warned: false,
    keep: (given) => model.send({ do: "keep", given }),
  };
  let sent = false;
  let began = performance.now();
  const send = (/** @type {any} */ message) => {
    sent = true;
    local.review = Boolean(message.review);
    local.given = message.given ?? "";
    delete message.review;
    model.send(message);
  };
  const draw = () => {
    const page = model.get("page");
    began = performance.now();
    root.replaceChildren(
      page.ended
        ? ended(page, send)
        : page.begun === false
        ? startScreen(page, send)
        : sheet(page, send, local),
    );
    if (local.warned && !page.ended) root.prepend(warning("note"));
    if (!sent) return;
    sent = false;
    const wanted = page.ended
      ? (local.ended ? ".rkq-told" : "h3")
      : local.review
      ? "[data-role=finish]"
      : "h3";
    local.ended = page.ended;
    focusOn(root, wanted);
  };
  const tick = setInterval(() => {
    const page = model.get("page");
    if (page.begun === false) return;
    const left = page.left_s - (performance.now() - began) / 1000;
    const shown = root.querySelector(".rkq-clock");
    if (shown) shown.textContent = clock(left);
    if (!page.ended && left <= 300 && !local.warned) {
      local.warned = true;
      root.prepend(warning("alert"));
    }
    if (!page.ended && left <= 0) send({ do: "time" });
  }, 1000);
  ownKeys(root, (event) => {
    const form = root.querySelector("form");
    if (form) press(event, form, false);
  });
  return follow(model, slot, draw, () => clearInterval(tick));
}

export default { render };
