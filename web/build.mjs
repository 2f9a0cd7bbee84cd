// Builds dist/: the package (index.mjs, worker.mjs, engine.wasm and their types) and the page with
// everything in it (berth.html), from the module in build/web, which scripts/web compiles.
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "..");
const engine = process.env.BERTH_ENGINE ?? join(root, "build/web/web");
const dist = join(here, "dist");
mkdirSync(dist, { recursive: true });

async function bundle(entry, options) {
  const result = await build({
    entryPoints: [join(here, "src", entry)],
    bundle: true,
    minify: true,
    write: false,
    charset: "ascii",
    target: ["chrome100", "firefox113", "safari16.4"],
    legalComments: "none",
    alias: { "@engine": join(engine, "engine.mjs") },
    external: ["node:*", "fs", "path", "module"],
    // The module is given its bytes, so its loader looks for no folder.
    define: { __dirname: '""', __filename: '""' },
    ...options,
  });
  return result.outputFiles[0].text.trim();
}

const wasm = readFileSync(join(engine, "engine.wasm"));
copyFileSync(join(engine, "engine.wasm"), join(dist, "engine.wasm"));
writeFileSync(join(dist, "index.mjs"), (await bundle("index.ts", { format: "esm" })) + "\n");
const worker = await bundle("worker.ts", { format: "iife" });
writeFileSync(join(dist, "worker.mjs"), worker + "\n");

// What the package declares. Node's rules want the endings of imported files.
const types = join(dist, "types");
rmSync(types, { recursive: true, force: true });
const tsc = join(here, "node_modules/.bin/tsc");
const declared = spawnSync(tsc, ["-p", join(here, "tsconfig.types.json")], { encoding: "utf8" });
if (declared.status !== 0) throw new Error(declared.stdout || String(declared.error));
for (const name of readdirSync(types)) {
  const path = join(types, name);
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replace(/(from |import\()"(\.\/\w+)"/g, '$1"$2.js"'));
}

const EXAMPLES = [
  ["cells.onnx", "A network found by search"],
  ["training_alexnet_b32.json", "A training step of AlexNet"],
  ["inference_densenet121.csv", "The buffers of DenseNet-121"],
];
const examples = EXAMPLES.map(([name, title]) => ({
  name,
  title,
  base64: readFileSync(join(root, "examples", name)).toString("base64"),
}));
// Within the page a "</" would end the element that a text is in.
const inside = (text) => text.replaceAll("</", "<\\/");
const parts = {
  STYLE: inside(await bundle("page/page.css", {})),
  EXAMPLES: JSON.stringify(examples),
  WORKER: inside(worker),
  WASM: gzipSync(wasm, { level: 9 }).toString("base64"),
  SCRIPT: inside(await bundle("page/main.ts", { format: "iife" })),
};
const page = readFileSync(join(here, "src/page/page.html"), "utf8").replace(
  /@(STYLE|EXAMPLES|WORKER|WASM|SCRIPT)@/g,
  (_, name) => parts[name],
);
writeFileSync(join(dist, "berth.html"), page);
const size = (bytes) => `${(bytes / 1024).toFixed(0)} KiB`;
console.log(
  `dist/berth.html: ${size(page.length)}, of which the planner ${size(parts.WASM.length)} ` +
    `(${size(wasm.length)} unpacked)`,
);
