// Modules compiled by the page's own Python, so that no visit has to: deno run … compiled.mjs PYODIDE ZIP…
// Each NAME.zip of sources becomes NAME.tar.xz of compiled modules; the same sources give the same bytes.
// @ts-nocheck: run by scripts/site/lab.py, with Deno's own globals.

const [home, ...zips] = Deno.args;
const { loadPyodide } = await import(`file://${home}/pyodide.mjs`);
const python = await loadPyodide({ indexURL: `${home}/` });
const compiled = python.runPython(`
import io, lzma, marshal, tarfile, zipfile
from importlib._bootstrap_external import _code_to_hash_pyc

def compiled(data):
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(bytes(data))) as sources, tarfile.open(fileobj=out, mode="w:xz", preset=9) as target:
        for name in sources.namelist():
            held = sources.read(name)
            if name.endswith(".py"):
                code = marshal.loads(marshal.dumps(compile(held, "/kit/" + name, "exec", dont_inherit=True)))
                held, name = _code_to_hash_pyc(code, bytes(8), False), name + "c"
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(held), 0o644
            target.addfile(entry, io.BytesIO(held))
    return out.getvalue()

compiled
`);
for (const zip of zips) {
  const made = compiled(Deno.readFileSync(zip)).toJs();
  Deno.writeFileSync(zip.replace(/\.zip$/, ".tar.xz"), made);
}
