// The cause and the effect that are said at a moment. `{left:ms}` and `{ago:ms}` in them run with the clock.

import { placeOf, seconds } from "./times.js";

/** @typedef {{ times: number[], said: [string, string][] }} Sentences */

/**
 * @param {{ words: string[], track: number[] }} raw
 * @returns {Sentences}
 */
export function decodeSentences({ words, track }) {
  const times = [];
  /** @type {[string, string][]} */
  const said = [];
  let at = 0;
  for (let i = 0; i < track.length; i += 3) {
    at += track[i];
    times.push(at);
    said.push([words[track[i + 1]], words[track[i + 2]]]);
  }
  return { times, said };
}

/**
 * @param {import("./format.js").Film} film
 * @param {number} at
 * @returns {[string, string, number]} cause, effect, and the place among all sentences
 */
export function sentenceAt(film, at) {
  const place = Math.max(0, placeOf(film.sentences.times, at));
  const [cause, effect] = film.sentences.said[place] || ["", ""];
  return [fillClock(cause, at), fillClock(effect, at), place];
}

/**
 * @param {string} text
 * @param {number} at
 */
export function fillClock(text, at) {
  return text.replace(
    /\{(left|ago):(\d+)\}/g,
    (_, way, ms) => seconds(Math.max(0, way === "left" ? ms - at : at - ms)),
  );
}
