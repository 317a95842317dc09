// Arguments of deeds: how each is asked for, what stands there at first, and what its text means.

/** @typedef {import("../lab.js").Lab} Lab */

/**
 * @typedef {object} Argument
 * @property {string} key the scenario's name of it
 * @property {"number" | "text" | "choice"} kind
 * @property {(lab: Lab) => string} usual
 * @property {(text: string, lab: Lab) => unknown} read
 * @property {(lab: Lab) => string[]} [options] of a choice
 */

const ALL = "all topics";

/**
 * A length of time, asked for in seconds.
 * @param {string} key
 * @param {number} usual
 * @returns {Argument}
 */
export function seconds(key, usual) {
  return { key, kind: "number", usual: () => String(usual), read: (text) => Math.round(Number(text) * 1000) };
}

/**
 * @param {string} key
 * @param {(lab: Lab) => number} usual
 * @returns {Argument}
 */
export function count(key, usual) {
  return { key, kind: "number", usual: (lab) => String(usual(lab)), read: Number };
}

/**
 * @param {string} key
 * @param {string} usual
 * @returns {Argument}
 */
export function text(key, usual) {
  return { key, kind: "text", usual: () => usual, read: (text) => text.trim() };
}

/**
 * @param {string} key
 * @param {(lab: Lab) => string[]} options
 * @param {(lab: Lab) => string} usual
 * @returns {Argument}
 */
export function choice(key, options, usual) {
  return { key, kind: "choice", options, usual, read: (text) => text };
}

/**
 * All topics, or one of them.
 * @param {string} key
 * @returns {Argument}
 */
export function topicList(key) {
  const names = (/** @type {Lab} */ lab) => topicsOf(lab).map(([name]) => name);
  return {
    key,
    kind: "choice",
    options: (lab) => [ALL, ...names(lab)],
    usual: () => ALL,
    read: (text, lab) => text === ALL ? names(lab) : [text],
  };
}

/**
 * One configuration, written as in a properties file.
 * @param {string} key
 * @param {string} usual
 * @returns {Argument}
 */
export function config(key, usual) {
  const read = (/** @type {string} */ text) => {
    const [name, value = ""] = text.split("=").map((part) => part.trim());
    return { [name]: /^\d+$/.test(value) ? Number(value) : value };
  };
  return { key, kind: "text", usual: () => usual, read };
}

/**
 * Topics with their numbers of partitions.
 * @param {Lab} lab
 * @returns {[string, number][]}
 */
export function topicsOf(lab) {
  return lab.model.get("controls").topics;
}
