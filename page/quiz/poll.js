// The poll on the projector: the question, how many have voted, and only when the instructor says so the split and
// the answer. Neither is in what the kernel sends before.

import { questionBody } from "./parts/question.js";
import { make } from "../shared/dom.js";
import { focusOn, follow, ownKeys, replayButtons } from "./parts/page.js";

/** @type {Record<string, (page: import("./parts/types.js").PollPage) => string>} */
const SAID = {
  vote: (page) => `First vote: ${page.votes} so far`,
  discuss: (page) => `Discuss with your neighbour. ${page.votes} voted`,
  revote: (page) => `Second vote: ${page.votes} of ${page.before} so far`,
  closed: (page) => `The vote is over: ${page.votes} voted`,
};
const LOOK_S = 3;

/**
 * @param {string} text
 * @param {string} step
 * @param {import("./parts/types.js").Send} send
 */
function pollButton(text, step, send) {
  const button = make("button", { type: "button", class: "rkq-go rkq-quiet", "data-role": step }, text);
  button.addEventListener("click", () => send({ do: step }));
  return button;
}

/**
 * @param {import("./parts/types.js").PollPage} page
 * @param {import("./parts/types.js").Send} send
 */
function steps(page, send) {
  const offered = [];
  if (page.step === "vote") offered.push(["End the first vote", "end_round"]);
  if (page.step === "discuss") offered.push(["Open the second vote", "revote"]);
  if (page.step === "revote") offered.push(["End the second vote", "end_round"]);
  if (!page.shown) offered.push(["Show the split", "show"]);
  if (!page.revealed) offered.push(["Show the answer", "reveal"]);
  offered.push(["Begin anew", "restart"]);
  return make("div", { class: "rkq-foot" }, ...offered.map(([text, step]) => pollButton(text, step, send)));
}

/**
 * Two bars an option: before the discussion, after it.
 * @param {import("./parts/types.js").PollPage} page
 */
function shift(page) {
  const most = Math.max(1, ...page.split.flatMap((counts) => Object.values(counts)));
  const rows = page.question.options.map((option) => {
    const right = page.verdict?.remarks.some((remark) => remark.option === option.id && remark.right);
    const bars = page.split.map((counts, round) => {
      const number = counts[option.id];
      const bar = make("span", { class: `rkq-votes r${round + 1}` });
      bar.style.width = `${(100 * number) / most}%`;
      return make(
        "div",
        { class: "rkq-bar-row" },
        make("span", { class: "rkq-when" }, round ? "after" : "before"),
        make("div", { class: "rkq-track" }, bar),
        make("b", {}, String(number)),
      );
    });
    return make(
      "div",
      { class: `rkq-shift${right ? " right" : ""}` },
      make("span", { class: "rkq-letter" }, option.id.toUpperCase()),
      make("div", { class: "rkq-bars" }, ...bars),
    );
  });
  const moved = page.moves.filter(([from, to]) => from !== to).map(([from, to, many]) =>
    `${many} went from ${from.toUpperCase()} to ${to.toUpperCase()}`
  );
  return make(
    "div",
    {
      role: "img",
      "aria-label": `split: ${page.split.map((counts) => JSON.stringify(counts)).join(" then ")}`,
    },
    ...rows,
    moved.length ? make("p", { class: "rkq-moved" }, moved.join(", ")) : null,
  );
}

/**
 * @param {import("./parts/types.js").PollPage} page
 * @param {any} local
 * @param {import("./parts/types.js").Send} send
 */
function codesField(page, local, send) {
  if (page.revealed) return null;
  const area = make("textarea", {
    rows: "2",
    "aria-label": "codes of the learners",
    placeholder: "Paste codes here, a whole chat if you like",
  });
  area.value = local.text;
  area.addEventListener("input", () => (local.text = area.value));
  const button = make(
    "button",
    { type: "button", class: "rkq-go rkq-quiet", "data-role": "take" },
    "Count them",
  );
  button.addEventListener("click", () => {
    const text = area.value;
    local.text = "";
    send({ do: "take", text });
  });
  return make("div", { class: "rkq-foot" }, area, button);
}

/** @param {import("./parts/types.js").PollPage} page */
function notices(page) {
  const more = page.refused_more ? [`and ${page.refused_more} more`] : [];
  const lines = [...page.refused, ...more, page.notice].filter(Boolean);
  return lines.map((line) => make("p", { class: "rkq-notice", role: "status" }, line));
}

/**
 * @param {import("./parts/types.js").PollPage} page
 * @param {any} local
 * @param {import("./parts/types.js").Send} send
 */
function stage(page, local, send) {
  const state = { remarks: page.verdict?.remarks, given: "", disabled: true };
  const call = page.step === "revote" ? `${page.call}, and "after the discussion"` : page.call;
  return make(
    "div",
    { class: "rkq-projected" },
    make(
      "h3",
      { tabindex: "-1", role: "status" },
      SAID[page.step](page),
      make("small", {}, page.revealed ? "" : call),
    ),
    ...questionBody(page.question, state),
    page.shown ? shift(page) : null,
    steps(page, send),
    replayButtons(page.replays, send),
    codesField(page, local, send),
    ...notices(page),
    make("output", { class: page.error ? "error" : "" }, page.error ?? ""),
  );
}

/** @param {{ model: import("../shared/model.js").Model, el: HTMLElement }} widget */
export function render({ model, el }) {
  const root = make("section", { class: "rkq", "aria-label": "Poll" });
  const slot = make("div", { class: "rkq-lab" });
  el.append(root, slot);
  ownKeys(root);
  const local = { text: "" };
  let sent = "";
  const send = (/** @type {any} */ message) => {
    sent = message.do;
    model.send(message);
  };
  const draw = () => {
    const typing = root.contains(document.activeElement) && document.activeElement?.tagName === "TEXTAREA";
    root.replaceChildren(stage(model.get("page"), local, send));
    if (typing) root.querySelector("textarea")?.focus();
    else if (sent && sent !== "collect") focusOn(root, `[data-role=${sent}]`, "h3");
    sent = "";
  };
  const look = setInterval(() => {
    const page = model.get("page");
    if (page.folder && ["vote", "revote"].includes(page.step)) send({ do: "collect" });
  }, LOOK_S * 1000);
  return follow(model, slot, draw, () => clearInterval(look));
}

export default { render };
