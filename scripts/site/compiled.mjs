// Modules compiled by the page's own Python, so that no visit has to: deno run … compiled.mjs PYODIDE ZIP…
// Each NAME.zip of sources becomes NAME.tar.xz of compiled modules. Of Python's library, PYODIDE/core.zip has what Python starts
// with; what the sources can import beside that goes into the first archive, and elsewhere.txt there names what is in neither.
// The same sources give the same bytes.
// @ts-nocheck: run by scripts/site/lab.py, with Deno's own globals.

const [home, ...zips] = Deno.args;
const { loadPyodide } = await import(`file://${home}/pyodide.mjs`);
const python = await loadPyodide({ indexURL: `${home}/` });
const [divided, packed, archive] = python.runPython(`
import ast, importlib.util, io, lzma, marshal, sys, tarfile, zipfile
from importlib._bootstrap_external import _code_to_hash_pyc

# Beside the start, a page unpacks archives: that takes tarfile and lzma.
STARTED = {*sys.modules}
# What the library imports for work that no page does: debuggers, processes, help, servers, tests.
NEVER = tuple("_pydatetime _pydecimal _pyio _pyrepl asyncio.windows_events cProfile code doctest ftplib http multiprocessing optparse pdb "
              "pickletools plistlib profile pydoc smtplib socketserver turtle unittest webbrowser wsgiref xml xmlrpc".split())
# What is imported by a name that only a text says.
BY_NAME = ["_strptime"] + [f"encodings.{name}" for name in "ascii cp1252 cp437 idna latin_1 utf_16 utf_16_be utf_16_le utf_8 utf_8_sig".split()]
FIXED = (1980, 1, 1, 0, 0, 0)

def opened(data):
    return zipfile.ZipFile(io.BytesIO(bytes(data)))

def pyc(name, held, place, optimize):
    code = compile(held, f"{place}/{name}", "exec", dont_inherit=True, optimize=optimize)
    return name + "c", _code_to_hash_pyc(marshal.loads(marshal.dumps(code)), bytes(8), False)

def module_of(name):
    return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

def asked(held, name):
    """The modules that a source names: what it imports, and what may be a module of what it imports from."""
    package = module_of(name) if name.endswith("__init__.py") else module_of(name).rpartition(".")[0]
    for node in ast.walk(ast.parse(held)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            whole = "." * node.level + (node.module or "")
            whole = importlib.util.resolve_name(whole, package) if node.level else whole
            yield whole
            yield from (f"{whole}.{alias.name}" for alias in node.names)

def divided(library, *zips):
    """The library's files: those of the start, those that the sources can reach, and the rest."""
    lib = opened(library)
    files = {module_of(name): name for name in lib.namelist() if name.endswith(".py")}
    first = {name for module, name in files.items() if module in STARTED or module.startswith(("pyodide", "_pyodide"))}
    line = [*STARTED, *BY_NAME]
    for sources in map(opened, zips):
        line += (module for name in sources.namelist() if name.endswith(".py") for module in asked(sources.read(name), name))
    reached = set()
    while line:
        module = line.pop()
        name = files.get(module)
        if name in reached or name is None or any(f"{module}.".startswith(f"{each}.") for each in NEVER):
            continue
        reached.add(name)
        line += (module.rpartition(".")[0], *asked(lib.read(name), name))
    tops = {name.split("/")[0] for name in first if "/" in name}  # a package is looked up in one archive
    first |= {name for name in reached if name.split("/")[0] in tops}
    rest = sorted(module for module, name in files.items() if name not in first | reached)
    return sorted(first), sorted(reached - first), rest

def packed(library, names):
    lib, out = opened(library), io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as target:
        for name in names:
            name, held = pyc(name, lib.read(name), "/lib/python", 2)
            entry = zipfile.ZipInfo(name, FIXED)
            entry.compress_type = zipfile.ZIP_DEFLATED
            target.writestr(entry, held)
    return out.getvalue()

def archive(data, library=None, names=(), rest=()):
    out = io.BytesIO()
    sources = opened(data)
    files = [pyc(name, sources.read(name), "/kit", 0) if name.endswith(".py") else (name, sources.read(name)) for name in sources.namelist()]
    if library is not None:
        lib = opened(library)
        files += [pyc(name, lib.read(name), "/lib/python", 2) for name in names]
        files.append(("elsewhere.txt", " ".join(rest).encode()))
    with tarfile.open(fileobj=out, mode="w:xz", preset=9) as target:
        for name, held in files:
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(held), 0o644
            target.addfile(entry, io.BytesIO(held))
    return out.getvalue()

divided, packed, archive
`);
const library = Deno.readFileSync(`${home}/python_stdlib.zip`);
const sources = zips.map((zip) => Deno.readFileSync(zip));
const [first, reached, rest] = divided(library, ...sources);
Deno.writeFileSync(`${home}/core.zip`, packed(library, first).toJs());
sources.forEach((source, at) => {
  const made = at ? archive(source) : archive(source, library, reached, rest);
  Deno.writeFileSync(zips[at].replace(/\.zip$/, ".tar.xz"), made.toJs());
});
