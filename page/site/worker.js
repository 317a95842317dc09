// Python in a worker: Pyodide, the kit compiled beside it, and one lab, a reader of logs, or a desk of questions.
// @ts-nocheck: a worker's own globals; Deno checks pages.

const BASE = new URL(".", self.location.href).href;
const PARTS = {
  "Python loads": 0.1,
  "The kit loads": 0.75,
  "The questions are read": 0.85,
  "The run is made ready": 0.9,
};
let python = null;
let heard = null;

const tell = (words) => self.postMessage({ progress: [words, PARTS[words]] });

/** Modules of Python's library that came with neither archive: the whole library comes when one of them is imported. */
const ELSEWHERE = `
import importlib.machinery, pathlib, sys

sys.path.insert(0, "/kit")

class Elsewhere:
    names = frozenset(pathlib.Path("/kit/elsewhere.txt").read_text().split())

    def find_spec(self, name, path=None, target=None):
        if name not in self.names:
            return None
        return importlib.machinery.PathFinder.find_spec(name, ["/".join([whole(), *name.split(".")[:-1]])])

sys.meta_path.append(Elsewhere())
`;
const WHOLE = "/lib/whole.zip";

/** The whole library, there at once, because an import cannot wait. */
function whole() {
  if (!python.FS.analyzePath(WHOLE).exists) {
    const asked = new XMLHttpRequest();
    asked.open("GET", `${BASE}pyodide/python_stdlib.zip`, false);
    asked.responseType = "arraybuffer";
    asked.send();
    if (asked.status !== 200) throw new Error(`Python's library: the host answered ${asked.status}`);
    python.FS.writeFile(WHOLE, new Uint8Array(asked.response));
  }
  return WHOLE;
}

async function started() {
  if (typeof WebAssembly === "undefined") {
    throw new Error("this browser has no WebAssembly, or it is switched off");
  }
  tell("Python loads");
  const kit = fetched("kit.tar.xz");
  kit.catch(() => {}); // what is wrong with it is said when its turn comes
  const { loadPyodide } = await import(`${BASE}pyodide/pyodide.mjs`);
  python = await loadPyodide({
    indexURL: `${BASE}pyodide/`,
    stdLibURL: `${BASE}pyodide/core.zip`,
  });
  tell("The kit loads");
  put(await kit);
  python.globals.set("whole", whole);
  python.runPython(ELSEWHERE);
}

/** What an archive of xz begins with. */
const XZ = [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00];

/** An archive of the site; what a proxy has put in its place is none. */
async function fetched(name) {
  const answer = await fetch(`${BASE}${name}`);
  if (!answer.ok) throw new Error(`${name}: the host answered ${answer.status}`);
  const bytes = await answer.arrayBuffer();
  const head = new Uint8Array(bytes, 0, Math.min(XZ.length, bytes.byteLength));
  if (!XZ.every((byte, at) => head[at] === byte)) {
    throw new Error(
      `${name}: another file came in its place; a proxy between here and the host may have put it there`,
    );
  }
  return bytes;
}

/** Put an archive among Python's modules. */
const put = (bytes) => python.unpackArchive(bytes, "xztar", { extractDir: "/kit" });

/** Text and bytes from Python; the bytes are handed over, not copied again. */
function post(text, buffers) {
  const bytes = buffers.toJs().map((each) => new Uint8Array(each).buffer);
  buffers.destroy();
  self.postMessage({ text, buffers: bytes }, bytes);
}

async function open({ scenario, protocol }) {
  await started();
  tell("The run is made ready");
  const { WorkerLab } = python.pyimport("rebalance_kit.view.lab.worker");
  const lab = WorkerLab(post, scenario, protocol ?? undefined);
  heard = (text) => lab.hear(text);
  self.postMessage({ ready: python.version });
}

/** What a traceback of Python says at its end. */
const lastLine = (words) => words.trim().split("\n").at(-1);

let readings = 0;
let night = null;

/** Each reading has a folder of its own, which goes with the next one. */
async function read(files) {
  if (!python) await started();
  const shutil = python.pyimport("shutil");
  if (readings) shutil.rmtree(`/logs/${readings}`, true);
  night = null;
  const folder = `/logs/${(readings += 1)}`;
  for (const { path, bytes } of files) {
    const target = `${folder}/${path}`;
    python.FS.mkdirTree(target.slice(0, target.lastIndexOf("/")));
    python.FS.writeFile(target, new Uint8Array(bytes));
  }
  const told = python.pyimport("rebalance_kit.view.reports.log_report").read_dropped(folder);
  return { screen: told.screen, page: told.page, files: files.length };
}

/** What the night of the logs that were read last would have cost otherwise: one wish, one answer. */
function hearNight(text) {
  night ??= python.pyimport("rebalance_kit.whatif.command").Desk(`/logs/${readings}`);
  return night.hear(text);
}

// --- questions -------------------------------------------------------------------------------------
const LINES = "lines";
let desk = null;

/** The answers' place in the browser; whatever it refuses is refused here. */
function database() {
  return new Promise((done, failed) => {
    const asked = indexedDB.open("rebalance-kit", 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore(LINES);
    asked.onsuccess = () => done(asked.result);
    asked.onerror = () => failed(asked.error);
  });
}

/** One look or one change; what `wanted` asks of the lines is the result. */
function change(kept, mode, wanted) {
  return new Promise((done, failed) => {
    const whole = kept.transaction(LINES, mode);
    const asked = wanted(whole.objectStore(LINES));
    whole.oncomplete = () => done(asked.result);
    whole.onabort = () => failed(whole.error);
  });
}

const unkept = (problem) => {
  const full = problem?.name === "QuotaExceededError";
  self.postMessage({ unkept: full ? "its storage is full" : String(problem?.message || problem) });
};

/** A desk of questions with the answers of earlier visits; each new one is kept at once, and other tabs hear of it. */
async function openDesk(home) {
  const questions = fetched("quiz.tar.xz");
  questions.catch(() => {});
  await started();
  put(await questions);
  tell("The questions are read");
  let kept = null;
  let lines = [];
  try {
    kept = await database();
    lines = await change(kept, "readonly", (all) => all.getAll());
  } catch (problem) {
    unkept(problem);
  }
  const others = new BroadcastChannel("rebalance-kit");
  const keep = (key, line) => {
    if (!kept) return;
    change(kept, "readwrite", (all) => line ? all.put(line, key) : all.delete(key))
      .then(() => others.postMessage(line), unkept);
  };
  const { Desk } = python.pyimport("rebalance_kit.view.quiz.worker");
  desk = Desk((text) => self.postMessage({ text }), keep, lines, "/answers/attempts.sqlite", home);
  others.onmessage = ({ data }) => data && desk.hear(JSON.stringify({ kept: data }));
  heard = (text) => desk.hear(text);
  answer({ ask: "topics" });
  self.postMessage({ ready: python.version });
}

/** What the desk is asked for beside questions: topics, report, export, bring. */
function answer({ ask, text }) {
  self.postMessage({ answer: { ask, text: text === undefined ? desk[ask]() : desk[ask](text) } });
  if (ask === "bring") answer({ ask: "report" });
}

self.addEventListener("message", async ({ data }) => {
  try {
    if (data.open) await open(data.open);
    if (data.desk) await openDesk(data.desk);
    if (data.ask) answer(data);
    if (data.text) heard(data.text);
    if (data.night) self.postMessage({ night: hearNight(data.night) });
    if (data.files) self.postMessage({ report: await read(data.files) });
  } catch (problem) {
    self.postMessage({ failed: lastLine(String(problem?.message ?? problem)) });
  }
});
