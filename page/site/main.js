// The landing page is the lab: it plays a lesson at once, and Python follows in a worker.

import { bytesOf } from "../shared/model.js";
import { Lab } from "../lab/lab.js";
import { carried } from "./carrier.js";
import { keepOffline } from "./visits.js";

const SAYS = "You can play, seek and read. What you do is answered when Python is here.";
/** In the place of a protocol: each member speaks what the lesson says. */
const AS_CONFIGURED = "own";
const LINKED = "The run of the link comes with Python; until then you see the first lesson.";
const STOPPED = "Python could not be started here";

let note = ""; // what stays said beside where loading is
/** @type {() => void} */
let loaded;
/** @type {Promise<void>} Python is here, or will not be */
const over = new Promise((done) => {
  loaded = done;
});

/** @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** The film that the page shows first: the one in the page, or the one its address asks for. */
async function firstState() {
  const asked = new URLSearchParams(location.search);
  const island = JSON.parse(byId("rebalance-first").textContent ?? "{}");
  if (asked.has("rebalance-lab") && !asked.has("lesson")) note = LINKED;
  const name = asked.get("lesson") ?? island.lesson;
  const protocol = asked.get("protocol") ?? island.protocol;
  if (name === island.lesson && protocol === island.protocol) return island;
  const answer = await fetch(`films/${encodeURIComponent(name)}.${encodeURIComponent(protocol)}.json`);
  if (answer.ok) return answer.json();
  note = `There is no lesson “${name}” under “${protocol}”. The first lesson is shown.`;
  return island;
}

/** @param {string} words */
function say(words) {
  byId("rebalance-says").textContent = `${note} ${words}`.trim();
}

/**
 * @param {string} words
 * @param {number} share of what has to be loaded; 1 is all of it, -1 is a failure
 */
function onProgress(words, share) {
  if (share >= 1 && note === LINKED) note = "";
  if (share >= 1 || share < 0) loaded();
  const bar = /** @type {HTMLProgressElement} */ (byId("rebalance-loads"));
  bar.hidden = share < 0 || share >= 1;
  bar.value = Math.max(0, share);
  if (share < 0) {
    say(`${STOPPED}${words ? `: ${words}` : ""}. The run still plays; reload the page to try again.`);
  } else say(share < 1 ? `${words}… ${SAYS}` : "");
}

async function open() {
  const { lesson, protocol, film, controls, cursor_ms } = await firstState();
  const theme = new URLSearchParams(location.search).get("theme") ?? "auto";
  const model = carried(
    { film: bytesOf(film), controls, cursor_ms, theme },
    { scenario: lesson, protocol: protocol === AS_CONFIGURED ? null : protocol },
    onProgress,
  );
  const el = byId("rebalance-lab");
  const lab = new Lab(model, el);
  Object.assign(el, { rebalanceLab: lab });
  document.addEventListener("keydown", (event) => {
    if (event.target === document.body) lab.onKey(event);
  });
  await model.ready;
  document.documentElement.dataset.python = "ready";
}

keepOffline(over);
await open();
