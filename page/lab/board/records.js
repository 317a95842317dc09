// Records on a token: the queue that waits, and the last ones by their marks.

import { make, say, set } from "../../shared/dom.js";
import { countOf, deliveriesOf, kindWords } from "../words/offsets.js";

/**
 * The queue that waits, as a bar on a square-root scale: a short one is seen, a long one still grows.
 * @param {import("./token.js").Token} token
 * @param {import("../film/positions.js").Position | null} at
 * @param {number} most
 */
export function paintLag(token, at, most) {
  const wide = at ? Math.min(1, Math.sqrt(Math.max(0, at.end - at.position) / most)) : 0;
  const width = `${Math.round(wide * Math.max(0, token.box.width - 14))}px`;
  if (token.lagWidth !== width) {
    token.lagWidth = width;
    token.lag.style.width = width;
  }
}

/** How long a token shows that records come a second time, or are skipped, by more than its count. */
const FRESH_MS = 3000;

/**
 * How many records came twice (a ring round the dot) and how many were skipped (a cross in the square).
 * @param {import("./token.js").Token} token
 * @param {import("../film/format.js").Film} film
 * @param {number} at
 */
export function paintDelivered(token, film, at) {
  const here = deliveriesOf(film, token.index, at);
  paintCount(token.twice, "◎", here, "twice");
  paintCount(token.skipped, "⊠", here, "skipped");
  const fresh = here.find((each) => at < each.at + FRESH_MS);
  set(token.node, "data-delivered", fresh ? fresh.kind : null);
}

/**
 * A sign with a count; what is pointed at says which records.
 * @param {HTMLElement} node
 * @param {string} sign
 * @param {import("../film/format.js").Delivery[]} events
 * @param {string} kind
 */
function paintCount(node, sign, events, kind) {
  const count = countOf(events, kind);
  say(node, count ? `${sign}${thousands(count)}` : "");
  set(node, "title", count ? kindWords(events, kind) : null);
}

/** @param {number} count */
function thousands(count) {
  return count < 1000 ? String(count) : `${(count / 1000).toFixed(1)}k`;
}

/**
 * Records, oldest left: ■ committed, □ processed, | position, ● waiting.
 * @param {import("./token.js").Token} token
 * @param {import("../film/positions.js").Position | null} at
 * @param {number} width
 * @param {boolean} counts whether there is room for how many wait
 * @param {boolean} whole whether there is room for the last ones
 */
export function paintRecords(token, at, width, counts, whole) {
  const key = at
    ? `${Math.min(3, Math.max(0, at.committed))},${
      Math.min(3, Math.max(0, at.position - Math.max(0, at.committed)))
    },${Math.max(0, at.end - at.position)},${width},${counts}`
    : "";
  if (token.recordsKey === key) return;
  token.recordsKey = key;
  token.records.replaceChildren();
  if (!at) return;
  const [done, fresh, lag] = key.split(",").map(Number);
  if (whole) {
    const dots = Math.min(lag, Math.max(0, Math.floor((width - 70) / PITCH) - done - fresh));
    token.records.append(drawn(done, fresh, dots, PITCH));
    if (lag > dots) token.records.append(make("b", {}, `+${lag - dots}`));
    return;
  }
  if (lag && counts) token.records.append(make("b", {}, `●${thousands(lag)}`));
  const dots = Math.min(lag, Math.max(0, Math.floor((width - 28) / SMALL_PITCH) - done - fresh));
  token.records.append(drawn(done, fresh, dots, SMALL_PITCH));
}

const PITCH = 11, SMALL_PITCH = 8;

/**
 * @param {number} done
 * @param {number} fresh
 * @param {number} dots
 * @param {number} pitch from one record to the next
 */
function drawn(done, fresh, dots, pitch) {
  let x = 1;
  const marks = [];
  for (let i = 0; i < done; i += 1, x += PITCH) {
    marks.push(make("svg:rect", { x, y: 2, width: 8, height: 8 }));
  }
  for (let i = 0; i < fresh; i += 1, x += PITCH) {
    marks.push(make("svg:rect", { x: x + 0.75, y: 2.75, width: 6.5, height: 6.5, class: "rk-hollow" }));
  }
  marks.push(make("svg:rect", { x: x + 0.5, y: 0, width: 1.6, height: 12 }));
  x += 5;
  for (let i = 0; i < dots; i += 1, x += PITCH) marks.push(make("svg:circle", { cx: x + 4, cy: 6, r: 4 }));
  const share = pitch / PITCH;
  return make(
    "svg:svg",
    { width: Math.round((x + 2) * share), height: Math.round(12 * share), viewBox: `0 0 ${x + 2} 12` },
    ...marks,
  );
}
