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
  ) => place % 2 ? [make("code", {}, part)] : names(part)).flat();
}

/**
 * A name such as consumer-1 stays on one line.
 * @param {string} text
 */
function names(text) {
  return text.split(/(\b[A-Za-z][\w.]*(?:-\w+)*-\d+\b)/).map((part, place) =>
    place % 2 ? make("span", { class: "rkq-name" }, part) : document.createTextNode(part)
  );
}

/** @param {string} text */
export function paragraphs(text) {
  return text.split(/\n\s*\n/).map((block) => make("p", {}, ...prose(block.replace(/\s+/g, " "))));
}

/**
 * A number stays with its per cent sign.
 * @param {string} text
 */
export function whole(text) {
  return text.replace(/(\d) %/g, "$1\u00a0%");
}

/**
 * One block a line, so that a long line of a log wraps under itself.
 * @param {string} text
 */
export function lines(text) {
  return text.trimEnd().split("\n").map((line) => make("span", { class: "rkq-line" }, whole(line) || " "));
}

const TABLE_COLUMNS = 200;
const IN_COLUMNS = /\S {3,}\S/;
const SENTENCE = /\S {2,}(?=.{40})\S+(?: \S+){3}/;

/**
 * Rows in columns with no more than two blanks between columns; a row without columns stays as it is.
 * @param {string[]} rows
 */
export function narrowed(rows) {
  const table = rows.filter((row) => IN_COLUMNS.test(row));
  const width = Math.max(...table.map((row) => row.length));
  const blank = (/** @type {number} */ at) => table.every((row) => (row[at] ?? " ") === " ");
  const kept = Array.from({ length: width }, (_, at) => at).filter((at) =>
    !(blank(at) && blank(at - 1) && blank(at - 2) && at > 1)
  );
  return rows.map((row) => IN_COLUMNS.test(row) ? kept.map((at) => row[at] ?? " ").join("").trimEnd() : row);
}

/**
 * An exhibit: logs and code are wrapped between words; what stands in columns keeps its lines and takes the size that fits.
 * @param {string} text
 */
export function exhibit(text) {
  const rows = text.trimEnd().split("\n").map((row) => row.trimEnd());
  const inColumns = rows.map((row) => IN_COLUMNS.test(row));
  const aligned = inColumns.filter(Boolean).length > 1;
  const shown = aligned ? narrowed(rows) : rows;
  const columns = Math.max(0, ...shown.filter((_, at) => inColumns[at]).map((row) => row.length));
  const table = aligned && columns <= TABLE_COLUMNS;
  const pre = make(
    "pre",
    { tabindex: "0", "aria-label": "exhibit", class: table ? "rkq-table" : "rkq-wrapped" },
    ...lines((table ? shown : rows).join("\n")),
  );
  if (!table) return pre;
  pre.style.setProperty("--columns", String(columns));
  // Sentences among the columns go on below themselves where the page is narrow: what is cut off decides more than what is aligned.
  [...pre.children].forEach((line, at) => inColumns[at] || line.classList.add("rkq-free"));
  if (shown.some((row) => SENTENCE.test(row))) pre.classList.add("rkq-sentences");
  return pre;
}
