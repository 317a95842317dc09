// Signs on buttons.

import { make } from "../../shared/dom.js";

/** @type {Record<string, string>} */
const ICONS = {
  first: "M3 3v10M14 3.5L9 8l5 4.500zM9 3.500L4 8l5 4.500z",
  back: "M4 3v10M12.500 3.500L6 8l6.500 4.500z",
  next: "M12 3v10M3.500 3.500L10 8l-6.500 4.500z",
  last: "M13 3v10M2 3.500L7 8l-5 4.500zM7 3.500L12 8l-5 4.500z",
  play: "M4.500 2.500L13 8l-8.500 5.500z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
};

/** @param {string} name */
export function icon(name) {
  return make(
    "svg:svg",
    { width: 16, height: 16, viewBox: "0 0 16 16", "aria-hidden": "true" },
    make("svg:path", {
      d: ICONS[name],
      fill: "currentColor",
      stroke: "currentColor",
      "stroke-width": 1.2,
      "stroke-linejoin": "round",
    }),
  );
}
