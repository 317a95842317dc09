// The lab's model on a page of the site: what the widget says to a kernel goes to a worker that runs Python.

import { PageModel } from "../shared/model.js";

/** @typedef {{ text?: string, buffers?: ArrayBuffer[], progress?: [string, number], ready?: string, failed?: string }} FromWorker */

/**
 * A model that can be played at once and is answered when Python is there: until then requests wait in line.
 * @param {Record<string, unknown>} state the film and what stands around it, as a page of its own holds them
 * @param {Record<string, unknown>} opened what the worker's lab begins with: `scenario` and `protocol` (null: as the lesson says)
 * @param {(words: string, share: number) => void} onProgress where loading is; a share of 1 is the end of it
 */
export function carried(state, opened, onProgress) {
  const worker = new Worker(new URL("worker.js", document.baseURI), { type: "module" });
  /** @type {object[] | null} */
  let waiting = [];
  const post = (/** @type {object} */ message) => {
    if (waiting) waiting.push(message);
    else worker.postMessage({ text: JSON.stringify(message) });
  };
  const model = new PageModel(state, {
    send: (message) => post({ message }),
    save: ({ cursor_ms, theme }) => post({ save: { cursor_ms, theme } }),
  });
  /** @type {Promise<void>} */
  const ready = new Promise((resolve) => {
    worker.addEventListener("message", ({ data }) => {
      const { text, buffers = [], progress, ready: version, failed } = /** @type {FromWorker} */ (data);
      if (text) deliver(model, JSON.parse(text), buffers, !!waiting);
      if (progress) onProgress(...progress);
      if (failed) onProgress(failed, -1);
      if (version === undefined) return;
      const line = waiting ?? [];
      waiting = null;
      onProgress("", 1);
      resolve();
      line.forEach(post);
    });
  });
  worker.addEventListener("error", () => onProgress("", -1));
  worker.postMessage({ open: opened });
  return Object.assign(model, { ready });
}

/**
 * What the worker's lab says at its beginning, the page has shown already; a cursor that was moved meanwhile stays.
 * @param {PageModel} model
 * @param {{ state?: Record<string, unknown>, message?: object }} told
 * @param {ArrayBuffer[]} buffers
 * @param {boolean} beginning
 */
function deliver(model, { state, message }, buffers, beginning) {
  const views = buffers.map((buffer) => new DataView(buffer));
  if (state && !beginning) model.receive("film" in state ? { ...state, film: views[0] } : state);
  if (message) model.hear(message, views);
}
