// Logs dropped on the page: read by the kit in a worker, shown as its screen and its report; nothing leaves the page.

import { keepOffline } from "./visits.js";

/** @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
const MEGABYTE = 1e6;
/** A browser's tab holds the text, its lines and their events at once. */
const MOST_BYTES = 200 * MEGABYTE;

/** @type {Worker | null} */
let worker = null;

/** @param {string} words */
const say = (words) => {
  byId("logs-says").textContent = words;
};

/** @param {boolean} busy */
function busy(busy) {
  byId("logs-busy").hidden = !busy;
  for (const each of document.querySelectorAll("button, input")) {
    /** @type {HTMLButtonElement} */ (each).disabled = busy;
  }
}

/**
 * Names as they were given, made safe to be paths: a folder keeps its shape.
 * @param {File} file
 */
const pathOf = (file) =>
  (file.webkitRelativePath || file.name).split("/").filter((part) => part && part !== "." && part !== "..")
    .join("/");

/** @param {File[]} files */
async function read(files) {
  const size = files.reduce((sum, file) => sum + file.size, 0);
  if (!files.length) return;
  if (size > MOST_BYTES) {
    say(
      `These files have ${Math.round(size / MEGABYTE)} MB; a page reads up to ${MOST_BYTES / MEGABYTE} MB. ` +
        "At a terminal, rebalance-kit logs reads any size.",
    );
    return;
  }
  busy(true);
  say(worker ? "The logs are read…" : "Python loads, then the logs are read…");
  worker ??= begun();
  const told = await Promise.all(
    files.map(async (file) => ({ path: pathOf(file), bytes: await file.arrayBuffer() })),
  );
  worker.postMessage({ files: told }, told.map((one) => one.bytes));
}

function begun() {
  const made = new Worker(new URL("worker.js", document.baseURI), { type: "module" });
  made.addEventListener("message", ({ data: { report, failed } }) => {
    if (report) show(report);
    if (failed) stopped(failed);
  });
  made.addEventListener("error", () => stopped("the worker ended"));
  return made;
}

/** @param {string} why */
function stopped(why) {
  worker = null;
  busy(false);
  say(`The logs could not be read: ${why}. Reload the page to try again.`);
}

/** @param {{ screen: string, page: string, files: number }} report */
function show({ screen, page, files }) {
  busy(false);
  say(`${files} file${files === 1 ? "" : "s"} read, here in the page.`);
  byId("logs-screen").textContent = screen;
  byId("logs-answer").hidden = false;
  const frame = /** @type {HTMLIFrameElement} */ (byId("logs-report"));
  frame.hidden = !page;
  frame.srcdoc = page;
  byId("logs-answer").scrollIntoView();
}

/** @param {DataTransfer} dropped */
async function filesOf(dropped) {
  const entries = [...dropped.items].map((item) => item.webkitGetAsEntry?.()).filter((entry) => !!entry);
  if (!entries.length) return [...dropped.files];
  return (await Promise.all(entries.map((entry) => below(/** @type {any} */ (entry))))).flat();
}

/**
 * Every file at or below an entry; a folder answers in batches until it is empty.
 * @param {any} entry
 * @returns {Promise<File[]>}
 */
async function below(entry) {
  if (entry.isFile) {
    const file = await new Promise((done, failed) => entry.file(done, failed));
    Object.defineProperty(file, "webkitRelativePath", { value: entry.fullPath.slice(1) });
    return [file];
  }
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const batch = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!batch.length) return found;
    found.push(...(await Promise.all(batch.map(below))).flat());
  }
}

function listen() {
  const zone = byId("logs-zone");
  for (const id of ["logs-files", "logs-folder"]) {
    const input = /** @type {HTMLInputElement} */ (byId(id));
    input.addEventListener("change", () => read([...(input.files ?? [])]));
  }
  zone.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.classList.add("site-over");
  });
  zone.addEventListener("dragleave", () => zone.classList.remove("site-over"));
  zone.addEventListener("drop", async (event) => {
    event.preventDefault();
    zone.classList.remove("site-over");
    if (event.dataTransfer) await read(await filesOf(event.dataTransfer));
  });
  byId("logs-read").addEventListener("click", () => {
    const { value } = /** @type {HTMLTextAreaElement} */ (byId("logs-text"));
    if (value.trim()) read([new File([value], "pasted.log")]);
    else say("There is nothing to read yet: paste lines of a log into the field.");
  });
}

listen();
keepOffline();
