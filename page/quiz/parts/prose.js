// Text of items: `code` between backticks, paragraphs, lines of a log. Text is set as text only, never as HTML.

import { make } from "../../shared/dom.js";

/**
 * `code` between backticks becomes <code>; everything else stays text.
 * @param {string} text
 */
export function prose(text) {
  return text.split("`").map((
    part,
    place,
  ) => (place % 2 ? make("code", {}, part) : document.createTextNode(part)));
}

/** @param {string} text */
export function paragraphs(text) {
  return text.split(/\n\s*\n/).map((block) => make("p", {}, ...prose(block.replace(/\s+/g, " "))));
}

/**
 * One block a line, so that a long line of a log wraps under itself.
 * @param {string} text
 */
export function lines(text) {
  return text.trimEnd().split("\n").map((line) => make("span", { class: "rkq-line" }, line || " "));
}
