// Gantt charts of an item: who received a partition's records, and when nobody did.

import { make } from "../../shared/dom.js";

/** @param {import("./types.js").Picture} picture */
function membersOf(picture) {
  return [...new Set(picture.rows.flatMap((row) => row.spans.map((span) => span[2])))].sort();
}

/**
 * @param {import("./types.js").Picture} picture
 * @param {import("./types.js").PictureRow} row
 */
export function strip(picture, row) {
  const members = membersOf(picture);
  const wide = 600;
  const x = (/** @type {number} */ at) =>
    ((at - picture.since_ms) / (picture.until_ms - picture.since_ms)) * wide;
  const bars = row.spans.flatMap(([from, to, member]) => {
    const place = members.indexOf(member);
    const width = Math.max(x(to) - x(from), 1);
    const bar = make("svg:rect", { x: x(from), y: 3, width, height: 18, class: `rkq-bar m${place % 6}` });
    return width > 80
      ? [bar, make("svg:text", { x: x(from) + 4, y: 16, class: "rkq-bar-name" }, member)]
      : [bar];
  });
  const said = row.spans.map(([from, to, member]) =>
    `${member} ${(from / 1000).toFixed(1)} to ${(to / 1000).toFixed(1)} s`
  ).join(", ");
  const marks = picture.events.map(([at]) =>
    make("svg:line", { x1: x(at), x2: x(at), y1: 0, y2: 24, class: "rkq-event" })
  );
  return make(
    "svg:svg",
    {
      viewBox: `0 0 ${wide} 24`,
      class: "rkq-strip",
      role: "img",
      "aria-label": `${row.name}: ${said || "nobody"}`,
    },
    ...bars,
    ...marks,
  );
}

/** @param {import("./types.js").Picture} picture */
export function scale(picture) {
  const events = picture.events.map(([at, what]) => `${at / 1000} s: ${what}`).join(", ");
  const said = `${picture.since_ms / 1000} s to ${picture.until_ms / 1000} s${
    events ? `; ${events}` : ""
  }. Bars: records reach that member; gaps: nobody.`;
  return make("p", { class: "rkq-scale" }, said);
}

/** @param {import("./types.js").Picture} picture */
export function chart(picture) {
  const rows = picture.rows.map((row) =>
    make("div", { class: "rkq-row" }, make("span", { class: "rkq-row-name" }, row.name), strip(picture, row))
  );
  return make("div", { class: "rkq-chart" }, ...rows, scale(picture));
}
