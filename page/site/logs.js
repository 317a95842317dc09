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
  byId("logs-says").scrollIntoView({ block: "nearest" });
  worker ??= begun();
  const told = await Promise.all(
    files.map(async (file) => ({ path: pathOf(file), bytes: await file.arrayBuffer() })),
  );
  worker.postMessage({ files: told }, told.map((one) => one.bytes));
}

function begun() {
  const made = new Worker(new URL("worker.js", document.baseURI), { type: "module" });
  made.addEventListener("message", ({ data: { report, night, failed } }) => {
    if (report) show(report);
    if (night) told(JSON.parse(night));
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
  byId("night-ask").hidden = !page;
  byId("night").hidden = true;
  byId("logs-answer").scrollIntoView();
}

// --- what it would have cost otherwise -------------------------------------------------------------------

/** @typedef {{ key: string, words: string, values: [string, string][], now: string | null }} Control */
/** @type {Record<string, string>} */
let wish = {};
/** What the worker draws at the moment; null while it rests. */
let drawing = /** @type {string | null} */ (null);

/** @param {object} asked */
const askNight = (asked) => worker?.postMessage({ night: JSON.stringify(asked) });

/** Draw what is wished; one wish is on its way at a time, so that a slider never runs ahead of its answers. */
function draw() {
  if (drawing !== null) return;
  drawing = JSON.stringify(wish);
  askNight({ set: wish });
}

/** @param {string | null} group */
function openNight(group) {
  wish = {};
  drawing = null;
  byId("night").hidden = false;
  for (const id of ["night-controls", "night-table", "night-links"]) byId(id).replaceChildren();
  byId("night-says").textContent = "The night is put together from the lines, then drawn…";
  askNight({ group });
}

/** @param {any} answer */
function told(answer) {
  if (answer.controls) {
    offered(answer);
    draw();
    return;
  }
  const asked = drawing;
  drawing = null;
  if (answer.refused) byId("night-says").textContent = answer.refused;
  else costs(answer);
  const moved = asked !== null && asked !== JSON.stringify(wish);
  if (moved || (!answer.refused && answer.draws < answer.wanted)) draw();
}

/** @param {{ groups: string[], group: string, lines: string[], controls: Control[] }} night */
function offered({ groups, group, lines, controls }) {
  const choice = /** @type {HTMLSelectElement} */ (byId("night-group"));
  choice.replaceChildren(...groups.map((name) => new Option(name, name, false, name === group)));
  byId("night-groups").hidden = groups.length < 2;
  byId("night-lines").textContent = lines.join("\n");
  byId("night-controls").replaceChildren(...controls.map(slider));
  byId("night").scrollIntoView();
}

/** @param {Control} control */
function slider({ key, words, values, now }) {
  const made = document.createElement("label");
  const input = document.createElement("input");
  const said = document.createElement("output");
  const name = document.createElement("span");
  name.textContent = words;
  const had = values.findIndex(([value]) => value === now);
  Object.assign(input, { type: "range", min: "0", max: String(values.length - 1), step: "1" });
  input.value = String(Math.max(0, had));
  input.dataset.key = key;
  const say = () => {
    const text = values[Number(input.value)]?.[1] ?? "";
    said.textContent = key in wish ? text : had < 0 ? "not told" : `${text}, as it was`;
    input.setAttribute("aria-valuetext", said.textContent);
  };
  input.addEventListener("input", () => {
    const value = values[Number(input.value)]?.[0] ?? "";
    if (value === now) delete wish[key];
    else wish[key] = value;
    say();
    draw();
  });
  say();
  made.append(name, input, said);
  return made;
}

const MARKS = /** @type {Record<string, string>} */ ({ less: " ▼", more: " ▲", same: "" });

/** @param {any} answer */
function costs({ draws, wanted, understood, sentence, detection, rows, links, markdown }) {
  byId("night-says").textContent = sentence;
  for (const each of byId("night-controls").querySelectorAll("input")) {
    each.disabled = !understood && draws >= 10;
  }
  const heads = ["", "as it was", "as set here", `difference (${draws} of ${wanted} draws)`];
  const table = byId("night-table");
  table.replaceChildren(
    line("th", heads),
    ...rows.map((/** @type {any} */ row) =>
      line("td", [row.words, row.base, row.wished ?? "–", row.by ? row.by + MARKS[row.verdict] : "–"])
    ),
  );
  const copy = document.createElement("button");
  copy.type = "button";
  copy.textContent = "Copy the table for a postmortem";
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(markdown);
    copy.textContent = "Copied";
  });
  byId("night-links").replaceChildren(
    `A dead member is noticed after ${detection}. One draw in the lab: `,
    ...links.flatMap((/** @type {string} */ link, /** @type {number} */ place) => [opened(link, place), " "]),
    copy,
  );
}

/** @param {"th" | "td"} kind @param {string[]} cells */
function line(kind, cells) {
  const row = document.createElement("tr");
  cells.forEach((text, place) => {
    const cell = document.createElement(place ? kind : "th");
    cell.textContent = text;
    if (kind === "td" && !place) cell.scope = "row";
    row.append(cell);
  });
  return row;
}

/** @param {string} token @param {number} place */
function opened(token, place) {
  const link = document.createElement("a");
  link.href = `index.html?rebalance-lab=${encodeURIComponent(token)}`;
  link.target = "_blank";
  link.rel = "noopener";
  link.textContent = place ? "as set here" : "as it was";
  return link;
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
  byId("night-ask").addEventListener("click", () => openNight(null));
  const groups = /** @type {HTMLSelectElement} */ (byId("night-group"));
  groups.addEventListener("change", () => openNight(groups.value));
  byId("night-controls").addEventListener("submit", (event) => event.preventDefault());
  byId("logs-read").addEventListener("click", () => {
    const { value } = /** @type {HTMLTextAreaElement} */ (byId("logs-text"));
    if (value.trim()) read([new File([value], "pasted.log")]);
    else say("There is nothing to read yet: paste lines of a log into the field.");
  });
}

listen();
keepOffline();
