// Python in a worker: Pyodide, the kit as a zip beside it, and one lab or a reader of logs.
// @ts-nocheck: a worker's own globals; Deno checks pages.

const BASE = new URL(".", self.location.href).href;
const PARTS = { "Python loads": 0.1, "The kit loads": 0.75, "The run is made ready": 0.9 };
let python = null;
let heard = null;

const tell = (words) => self.postMessage({ progress: [words, PARTS[words]] });

async function started() {
  tell("Python loads");
  const { loadPyodide } = await import(`${BASE}pyodide/pyodide.mjs`);
  python = await loadPyodide({ indexURL: `${BASE}pyodide/` });
  tell("The kit loads");
  const kit = await fetch(`${BASE}kit.zip`);
  if (!kit.ok) throw new Error(`kit.zip: ${kit.status}`);
  python.unpackArchive(await kit.arrayBuffer(), "zip", { extractDir: "/kit" });
  python.runPython("import sys; sys.path.insert(0, '/kit')");
}

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

/** Each reading has a folder of its own, which goes with it. */
async function read(files) {
  if (!python) await started();
  const folder = `/logs/${(readings += 1)}`;
  for (const { path, bytes } of files) {
    const target = `${folder}/${path}`;
    python.FS.mkdirTree(target.slice(0, target.lastIndexOf("/")));
    python.FS.writeFile(target, new Uint8Array(bytes));
  }
  const told = python.pyimport("rebalance_kit.view.reports.log_report").read_dropped(folder);
  python.pyimport("shutil").rmtree(folder);
  return { screen: told.screen, page: told.page, files: files.length };
}

self.addEventListener("message", async ({ data }) => {
  try {
    if (data.open) await open(data.open);
    if (data.text) heard(data.text);
    if (data.files) self.postMessage({ report: await read(data.files) });
  } catch (problem) {
    self.postMessage({ failed: lastLine(String(problem?.message ?? problem)) });
  }
});
