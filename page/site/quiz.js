// Questions in the page: practice, review, exam and poll as in a notebook, with Python in a worker; answers stay in the browser.

import { PageModel } from "../shared/model.js";
import { make } from "../shared/dom.js";
import { render as exam } from "../quiz/exam.js";
import { render as poll } from "../quiz/poll.js";
import { render as practice } from "../quiz/practice.js";
import { render as vote } from "../quiz/vote.js";
import { keepOffline } from "./visits.js";

/** @typedef {{ what: string, name?: string, count?: string, seed?: string, room?: string }} Wanted */
/** @typedef {{ topics: [name: string, many: number][], exams: string[], today: string }} Choices */

const PAGES = { practice, review: practice, today: practice, exam, poll, vote };
/** Where the answers are, when the browser refuses them. */
const UNKEPT = "This browser keeps no new answers";
const HOME = "Take them home before you close this page; those kept before stay.";

/** @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
const chooser = /** @type {HTMLFormElement} */ (byId("quiz-choose"));

/** @param {string} words */
const say = (words) => {
  byId("quiz-says").textContent = words;
};

/** @type {PageModel | null} */
let model = null;
/** @type {Wanted | null} */
let wanted = null;
let end = () => {};
const worker = new Worker(new URL("worker.js", document.baseURI), { type: "module" });
const send = (/** @type {object} */ message) => worker.postMessage({ text: JSON.stringify(message) });

/** What an address asks for, as it stands behind its question mark. */
function asked() {
  const given = new URLSearchParams(location.search);
  const what = Object.keys(PAGES).find((one) => given.has(one));
  if (!what) return null;
  const named = Object.fromEntries(
    ["count", "seed", "room"].filter((one) => given.get(one)).map((one) => [one, given.get(one)]),
  );
  return /** @type {Wanted} */ ({ what, name: given.get(what) ?? "", ...named });
}

/** @param {Wanted} what */
function open(what) {
  end();
  end = () => {};
  model = null;
  wanted = what;
  byId("quiz-sheet").replaceChildren();
  say("The questions are made…");
  send({ open: what });
}

/**
 * The first page of a sheet makes its place; what it says later is for the model that stands there.
 * @param {Record<string, any>} state
 */
function take(state) {
  if (model) {
    model.receive(state);
    return;
  }
  if (!wanted || !state.page) return;
  say("");
  model = new PageModel({ page: state.page, lab: null, run: "" }, { send: (message) => send({ message }) });
  const el = make("div");
  byId("quiz-sheet").replaceChildren(el);
  const stop = PAGES[/** @type {keyof typeof PAGES} */ (wanted.what)]({ model, el });
  end = () => stop();
  model.on("change:run", () => showRun(el));
  el.querySelector("h3")?.focus();
}

/** @param {HTMLElement} el */
function showRun(el) {
  const run = model?.get("run");
  const slot = el.querySelector(".rkq-lab");
  if (!run) {
    slot?.replaceChildren();
    return;
  }
  const src = `embed.html?rebalance-lab=${encodeURIComponent(run)}`;
  slot?.replaceChildren(make("iframe", { src, title: "The run in the lab", class: "site-run" }));
  slot?.scrollIntoView({ block: "nearest" });
}

/** @param {string} name */
const field = (name) => /** @type {HTMLInputElement} */ (chooser.elements.namedItem(name));

/** @param {Choices} choices */
function offer({ topics, exams, today }) {
  const known = field("topic").value;
  field("topic").replaceChildren(
    make("option", { value: "" }, "all topics"),
    ...topics.map(([name, many]) => make("option", { value: name }, `${name} (${many})`)),
  );
  field("topic").value = known;
  for (const name of ["today", "exam"]) {
    if (!field(name).childElementCount) {
      field(name).append(...exams.map((each) => make("option", { value: each }, each)));
    }
  }
  byId("quiz-told").textContent = today;
  chooser.hidden = false;
  byId("quiz-own").hidden = false;
}

/** @type {Record<string, () => Wanted>} */
const CHOICES = {
  practice: () => ({ what: "practice", name: field("topic").value, count: field("count").value }),
  today: () => ({ what: "today", name: field("today").value }),
  review: () => ({ what: "review" }),
  exam: () => ({
    what: "exam",
    name: field("exam").value,
    seed: field("seed").value,
    count: field("length").value,
  }),
  poll: () => ({ what: "poll", name: field("poll").value.trim() }),
};

/** @param {Wanted} what an address that opens the same */
function addressOf({ what, name = "", ...more }) {
  const given = Object.entries(more).filter(([, value]) => value);
  return `?${new URLSearchParams([[what, name], .../** @type {[string, string][]} */ (given)])}`;
}

/** @param {{ ask: string, text: string }} told */
function answered({ ask, text }) {
  if (ask === "topics") offer(JSON.parse(text));
  if (ask === "bring") byId("quiz-told").textContent = text;
  if (ask === "report") {
    byId("quiz-progress").textContent = text;
    byId("quiz-progress").hidden = false;
  }
  if (ask === "export") {
    const href = URL.createObjectURL(new Blob([text], { type: "application/x-ndjson" }));
    make("a", { href, download: "answers.jsonl" }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60_000);
    byId("quiz-told").textContent = "Your answers are in answers.jsonl.";
  }
}

function listen() {
  worker.addEventListener("message", ({ data: { text, progress, ready, failed, unkept, answer } }) => {
    if (progress) {
      say(`${progress[0]}…`);
      /** @type {HTMLProgressElement} */ (byId("quiz-loads")).value = progress[1];
    }
    if (unkept) {
      byId("quiz-kept").textContent = `${UNKEPT} (${unkept}). ${HOME}`;
    }
    if (failed) say(`Python could not go on here: ${failed}. Reload the page; what was answered is kept.`);
    if (answer) answered(answer);
    if (text) {
      const { state, said } = JSON.parse(text);
      if (state) take(state);
      if (said) say(said);
    }
    if (ready === undefined) return;
    byId("quiz-loads").hidden = true;
    document.documentElement.dataset.python = "ready";
    say("");
    const at = asked();
    if (at) open(at);
  });
  worker.addEventListener(
    "error",
    () => say("Python could not be started here; reload the page to try again."),
  );
  chooser.addEventListener("submit", (event) => {
    event.preventDefault();
    const button = /** @type {HTMLButtonElement} */ (event.submitter);
    const what = CHOICES[button.value]();
    history.pushState(null, "", addressOf(what));
    open(what);
  });
  addEventListener("popstate", () => {
    const at = asked();
    if (at) open(at);
  });
  for (const ask of ["report", "export"]) {
    byId(`quiz-${ask}`).addEventListener("click", () => worker.postMessage({ ask }));
  }
  byId("quiz-bring").addEventListener("change", async (event) => {
    const file = /** @type {HTMLInputElement} */ (event.target).files?.[0];
    if (file) worker.postMessage({ ask: "bring", text: await file.text() });
  });
}

listen();
keepOffline();
worker.postMessage({ desk: new URL(".", document.baseURI).href });
