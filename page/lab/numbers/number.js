// The arithmetic of a number that is dragged, and its words.

import { seconds } from "../film/times.js";

/** @typedef {{ name: string, value: number, least: number, most: number }} Setting */

/** Pixels of the pointer for one step. */
export const PIXELS = 6;

/**
 * The settings that can be dragged in this run; none where no kernel would answer.
 * @param {{ numbers?: Record<string, [number, number, number]>, alone?: boolean }} controls
 * @returns {Map<string, Setting>}
 */
export function settingsOf({ numbers = {}, alone }) {
  const rows = Object.entries(alone ? {} : numbers);
  return new Map(rows.map(([name, [value, least, most]]) => [name, { name, value, least, most }]));
}

/**
 * What one step is: the second digit by one, as 1 s of 45 s.
 * @param {number} value where the drag began
 */
export function stepOf(value) {
  return Math.max(1, 10 ** (String(Math.floor(Math.abs(value))).length - 2));
}

/**
 * The value so many steps away from where it began.
 * @param {Setting} setting
 * @param {number} steps
 */
export function moved({ value, least, most }, steps) {
  return Math.max(least, Math.min(most, value + Math.round(steps) * stepOf(value)));
}

/**
 * How many steps a key is; null for one that steps nothing.
 * @param {string} key
 */
export function stepsOfKey(key) {
  /** @type {Record<string, number>} */
  const known = {
    ArrowUp: 1,
    ArrowRight: 1,
    ArrowDown: -1,
    ArrowLeft: -1,
    PageUp: 10,
    PageDown: -10,
  };
  return known[key] ?? null;
}

/**
 * A value as people read it: times in seconds from one second on.
 * @param {string} name
 * @param {number} value
 */
export function inWords(name, value) {
  if (!/[._]ms$/.test(name)) return String(value);
  return value >= 1000 ? seconds(value) : `${value} ms`;
}

/** @type {Record<string, number>} */
const MILLISECONDS = { ms: 1, s: 1000, min: 60_000, m: 60_000 };

/**
 * What a field sends: a time with its unit (22.5 s) in the milliseconds of Kafka's key, anything else as it stands.
 * @param {string} name
 * @param {string} text
 */
export function asKafkaWrites(name, text) {
  const typed = /^\s*(\d+(?:\.\d+)?)\s*(ms|s|min|m)\s*$/.exec(text);
  return typed && /[._]ms$/.test(name) ? String(Math.round(Number(typed[1]) * MILLISECONDS[typed[2]])) : text;
}

/**
 * A change of a setting, its values as they stand in fields.
 * @param {string} name
 * @param {string} was
 * @param {string} is
 */
export function changeWords(name, was, is) {
  const [before, after] = [was, is].map((text) =>
    text.trim() && Number.isFinite(Number(text)) ? inWords(name, Number(text)) : text || "none"
  );
  return `${name} ${before} → ${after}`;
}

/**
 * Where settings are named in a text: pieces of plain text, and settings with the words that stand for their value.
 * A number that stands behind a name in the text is the value; a name alone gets it.
 * @param {string} text
 * @param {Map<string, Setting>} settings
 * @returns {(string | { name: string })[]}
 */
export function pieces(text, settings) {
  /** @type {(string | { name: string })[]} */
  const found = [];
  let from = 0;
  for (const match of text.matchAll(places(settings))) {
    const { all, name, value } = /** @type {Record<string, string | undefined>} */ (match.groups);
    const setting = all ? theOnly(settings, Number(all)) : name;
    if (!setting) continue;
    const words = all ? "All " : value ? `${name} (` : `${name} `;
    found.push(text.slice(from, match.index) + words, { name: setting });
    from = match.index + (all ? `All ${all}`.length : match[0].length - (value ? 1 : 0));
  }
  if (from < text.length || !found.length) found.push(text.slice(from));
  return found;
}

/** @param {Map<string, Setting>} settings */
function places(settings) {
  const names = [...settings.keys()].filter((name) => /[._]/.test(name) && !name.startsWith("partitions."))
    .sort((a, b) => b.length - a.length).map((name) => name.replaceAll(".", "\\."));
  const value = "(?: \\((?<value>[\\d.,]+ (?:s|ms))\\))?";
  return new RegExp(
    `(?<![\\w.])(?<name>${names.join("|") || "(?!)"})(?![\\w.=])${value}|All (?<all>\\d+) partitions`,
    "g",
  );
}

/**
 * The only topic's setting, where it has so many partitions.
 * @param {Map<string, Setting>} settings
 * @param {number} count
 */
function theOnly(settings, count) {
  const topics = [...settings.values()].filter(({ name }) => name.startsWith("partitions."));
  return topics.length === 1 && topics[0].value === count ? topics[0].name : null;
}
