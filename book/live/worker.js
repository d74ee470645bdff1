// Python in a worker: started by the first click on a page, ended by Stop.
//
// In:  { id, number, source }, one cell; the next only after the answer { id, kind: "done", ... }.
// Out: { id, kind, text, about } as book/live/kernel.py sends them; { kind: "stage", text } for what
//      takes long; { id, kind: "done", ok } at the end; { kind: "broken", text } when Python cannot
//      go on, after which nothing more comes.
//
// Scripts come from this folder. What comes from elsewhere is data with its hash in
// vendor/pyodide/files.json, and the browser refuses what does not fit it.

import { loadPyodide } from "./vendor/pyodide/pyodide.mjs";

const FIRST = "numpy"; // what a page needs at once
const CORE = ["pyodide.asm.wasm", "python_stdlib.zip"];

const here = new URL(".", import.meta.url);
const fetchPlain = self.fetch.bind(self);
const tell = (kind, text = "", about = "") => postMessage({ id: current, kind, text, about });

let current; // the id of the run that output belongs to
const python = start();

async function read(path, form = "json") {
  const answer = await fetchPlain(new URL(path, here));
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer[form]();
}

// Pyodide asks for a file at a time and for most without a hash: those needed anyway are asked for
// at once, and all of them with their hash. Gives what is to be used as fetch, and a promise that
// breaks with the first of those files: Pyodide itself would wait on.
function fetchChecked(place, files, names) {
  const get = async (name) => {
    const answer = await fetchPlain(new URL(name, place), { integrity: files[name].integrity });
    if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
    return answer;
  };
  const ahead = new Map(names.map((name) => [name, get(name)]));
  const broken = new Promise((_, reject) => ahead.forEach((answer) => answer.catch(reject)));
  const fetch = (address, options) => {
    const name = new URL(address, place).pathname.split("/").pop();
    if (!files[name]) return fetchPlain(address, options);
    const answer = ahead.get(name) ?? get(name);
    ahead.delete(name);
    return answer;
  };
  return { fetch, broken };
}

async function start() {
  const [settings, { files }, lock] = await Promise.all([
    read("settings.json"),
    read("vendor/pyodide/files.json"),
    read("vendor/pyodide/pyodide-lock.json"),
  ]);
  const place = new URL(settings.pyodide, here).href;
  const { fetch, broken } = fetchChecked(place, files, [...CORE, lock.packages[FIRST].file_name]);
  self.fetch = fetch;
  const [module, library, kernel] = await Promise.all([
    import("./vendor/pyodide/pyodide.asm.mjs"),
    read("minitransformer.zip", "arrayBuffer"),
    read("kernel.py", "text"),
  ]);
  const loading = loadPyodide({
    createPyodideModule: module.default,
    indexURL: place,
    packageBaseUrl: place,
    lockFileContents: lock,
    env: { MPLBACKEND: "agg" },
    packages: [FIRST],
  });
  const pyodide = await Promise.race([loading, broken]);
  pyodide.unpackArchive(library, "zip", { extractDir: "/lib/book" });
  pyodide.FS.writeFile("/lib/book/kernel.py", kernel);
  pyodide.runPython("import sys; sys.path.append('/lib/book')");
  const modules = pyodide.toPy(settings.modules);
  return { pyodide, kernel: pyodide.pyimport("kernel").Kernel(tell, modules) };
}

async function run({ id, number, source }) {
  const { pyodide, kernel } = await python;
  const wanted = kernel.packages(source);
  const missing = wanted.toJs().filter((name) => !pyodide.loadedPackages[name]);
  if (missing.length) {
    postMessage({ kind: "stage", text: `Loading ${missing.join(", ")}` });
    await pyodide.loadPackage(missing, { messageCallback() {} });
    const lost = missing.filter((name) => !pyodide.loadedPackages[name]);
    if (lost.length) throw new Error(`${lost.join(", ")} did not come`);
  }
  current = id;
  postMessage({ kind: "stage", text: "" });
  postMessage({ id, kind: "done", ok: kernel.run(number, source) });
}

self.onmessage = ({ data }) =>
  run(data).catch((error) => postMessage({ kind: "broken", text: String(error?.message ?? error) }));
