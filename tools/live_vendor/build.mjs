// Make book/live/vendor anew: node build.mjs TARGET WHEELS (make vendor-live does it)
//
// TARGET/codemirror  the editor, bundled from the npm packages that package-lock.json pins
// TARGET/pyodide     of the npm package: its two scripts, and its list of packages cut down to
//                    what NumPy and matplotlib need. files.json says how many bytes each file has
//                    that a reader downloads, plain and compressed, and its hash; the files
//                    themselves (WHEELS is a folder with the wheels) stay where they are.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const [target, wheels] = process.argv.slice(2);
const WANTED = ["numpy", "matplotlib"];
// matplotlib's own windows for pages, which need the page itself, and time zones.
const LEFT_OUT = ["matplotlib-pyodide", "pytz"];

const json = (path) => JSON.parse(readFileSync(path, "utf8"));
const write = (path, value) => writeFileSync(path, JSON.stringify(value, null, 1) + "\n");

// The editor's styles as constructed sheets: a policy against inline styles allows them.
const constructedStyles = {
  name: "constructed-styles",
  setup({ onLoad }) {
    onLoad({ filter: /style-mod\.js$/ }, ({ path }) => {
      const [before, after, ...more] = readFileSync(path, "utf8").split("!root.head && ");
      if (after === undefined || more.length) throw new Error(`${path} is not as expected`);
      return { contents: before + after };
    });
  },
};

async function bundleEditor(folder) {
  mkdirSync(folder, { recursive: true });
  const { metafile } = await build({
    entryPoints: ["codemirror.js"],
    bundle: true,
    minify: true,
    metafile: true,
    format: "esm",
    legalComments: "none",
    outfile: join(folder, "codemirror.js"),
    plugins: [constructedStyles],
  });
  const names = Object.keys(metafile.inputs).map((path) => path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1]);
  const licences = [...new Set(names)].filter(Boolean).sort().map((name) => {
    const folder = join("node_modules", name);
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    const { version, license } = json(join(folder, "package.json"));
    return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
  });
  writeFileSync(join(folder, "LICENSE.txt"), licences.join(`\n${"-".repeat(70)}\n\n`));
}

function needed(packages, names, found = {}) {
  for (const name of names.filter((name) => !found[name] && !LEFT_OUT.includes(name))) {
    const entry = packages[name];
    found[name] = { ...entry, depends: entry.depends.filter((other) => !LEFT_OUT.includes(other)) };
    needed(packages, entry.depends, found);
  }
  return found;
}

function facts(path) {
  const content = readFileSync(path);
  const packed = /\.(whl|zip)$/.test(path); // which no server compresses further
  return {
    bytes: content.length,
    compressed: packed ? content.length : gzipSync(content, { level: 9 }).length,
    integrity: "sha256-" + createHash("sha256").update(content).digest("base64"),
  };
}

function pickPyodide(folder) {
  mkdirSync(folder, { recursive: true });
  const source = "node_modules/pyodide";
  for (const name of ["pyodide.mjs", "pyodide.asm.mjs"]) cpSync(join(source, name), join(folder, name));
  const lock = json(join(source, "pyodide-lock.json"));
  lock.packages = needed(lock.packages, WANTED);
  write(join(folder, "pyodide-lock.json"), lock);
  const core = ["pyodide.asm.wasm", "python_stdlib.zip"];
  const files = Object.fromEntries(core.map((name) => [name, facts(join(source, name))]));
  for (const { file_name: name, sha256 } of Object.values(lock.packages)) {
    files[name] = facts(join(wheels, name));
    const found = Buffer.from(files[name].integrity.slice(7), "base64").toString("hex");
    if (found !== sha256) throw new Error(`${name} is not the file that Pyodide's list names`);
  }
  const { version } = json(join(source, "package.json"));
  write(join(folder, "files.json"), { version, files });
}

await bundleEditor(join(target, "codemirror"));
pickPyodide(join(target, "pyodide"));
