// What the browser tests share: reports made by the command, and pages that may neither log errors
// nor use the network.
//
// Needs the command (BERTH, or build/release/tools/berth/berth) and a Chromium (CHROMIUM, or
// /usr/bin/chromium). BERTH_DATA may name a folder with graphs of real models.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import playwright from "playwright-core";
import { browserOf, faultsOfAccess } from "./browser.mjs";
import { random } from "./random.mjs";

export { random };

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const here = dirname(fileURLToPath(import.meta.url));
export const root = join(here, "..", "..", "..", "..");
const command = process.env.BERTH ?? join(root, "build/release/tools/berth/berth");
const data = process.env.BERTH_DATA;

export class Workshop {
  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), "berth-report-"));
  }
  path(name) {
    return join(this.folder, name);
  }
  write(name, text) {
    writeFileSync(this.path(name), text);
    return this.path(name);
  }
  read(name) {
    return readFileSync(this.path(name), "utf8");
  }
  json(name) {
    return JSON.parse(this.read(name));
  }
  /** Runs the command; `codes` are the exit codes that are right. */
  berth(args, codes = [0]) {
    const result = spawnSync(command, args, {
      cwd: this.folder,
      encoding: "utf8",
      maxBuffer: 1 << 28,
    });
    if (!codes.includes(result.status)) {
      throw new Error(`berth ${args.join(" ")} ended with ${result.status}: ${result.stderr}`);
    }
    return result;
  }
  remove() {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A table of `count` buffers, most of them short-lived. */
export function table(count, seed) {
  const next = random(seed);
  const rows = ["id,lower,upper,size"];
  for (let i = 0; i < count; ++i) {
    const start = next(count);
    const long = next(50) === 0 ? next(Math.max(2, count >> 3)) : next(60);
    rows.push(
      `buffer_${i},${start},${start + 1 + long},${64 * (1 + next(next(10) === 0 ? 4000 : 200))}`,
    );
  }
  return rows.join("\n") + "\n";
}

/** A training step of layers forwards and backwards, some 3,000 operators, as a graph. */
export function trainingGraph(layers) {
  const nodes = [];
  const tensors = [];
  const tensor = (name, bytes, kind) => tensors.push({ id: tensors.length, name, bytes, kind }) - 1;
  const width = (i) => 1024 * (1 + ((i * 37) % 64));
  let last = tensor("input", 4096, "input");
  const activations = [];
  for (let i = 0; i < layers; ++i) {
    activations.push(tensor(`act.${i}`, width(i), "activation"));
    nodes.push({
      name: `forward.${i}`,
      op: i % 3 ? "Conv" : "Relu",
      inputs: [last],
      outputs: [activations[i]],
    });
    last = activations[i];
  }
  let gradient = null;
  for (let i = layers - 1; i >= 0; --i) {
    const made = tensor(`grad.${i}`, width(i), "gradient");
    nodes.push({
      name: `backward.${i}`,
      op: "ConvGrad",
      inputs: [activations[i], ...(gradient === null ? [] : [gradient])],
      outputs: [made],
    });
    nodes.push({
      name: `weights.${i}.step`,
      op: "Sgd",
      inputs: [made],
      outputs: [tensor(`weights.${i}`, 512, "gradient")],
    });
    gradient = made;
  }
  return { format: "berth-graph", format_version: 1, name: "training", nodes, tensors };
}

export function realGraph(name) {
  const path = data && join(data, "graphs", name);
  return path && existsSync(path) ? path : null;
}

export const { launch, close } = browserOf(playwright);

/** Opens a report from its file. `faults` gathers whatever should not be. The option `init` is a
 * function that the page runs before its own program. */
export async function open(file, options = {}) {
  const context = await (
    await launch()
  ).newContext({ viewport: { width: 1440, height: 1000 }, acceptDownloads: true, ...options });
  if (options.init) await context.addInitScript(options.init);
  const page = await context.newPage();
  const faults = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("request", (request) => {
    if (!/^(file|blob|data):/.test(request.url())) faults.push(`request: ${request.url()}`);
  });
  page.on("dialog", async (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    await dialog.dismiss();
  });
  const session = await context.newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const begin = performance.now();
  await page.goto(pathToFileURL(file).href + (options.hash ?? ""));
  await page.waitForFunction(() => window.berth?.plots.every((plot) => plot.frames > 0));
  return {
    page,
    session,
    faults,
    seconds: (performance.now() - begin) / 1000,
    close: () => context.close(),
  };
}

/** Waits until what the page was told shows: pictures and tables are drawn in the next frame. */
export const settled = (page) =>
  page.evaluate(async () => {
    for (let i = 0; i < 2; ++i) await new Promise((done) => requestAnimationFrame(done));
    await new Promise((done) => setTimeout(done));
  });
/** Types a query. Pages of more than 20,000 buffers wait for the next key a while, or for Enter. */
export async function search(page, query) {
  await page.getByRole("searchbox").fill(query);
  await settled(page);
}
/** The page's link to what it shows once another tab is open; written shortly after a change. */
export async function linkOnceOn(page, tab) {
  await page.evaluate(() => history.replaceState(null, "", "#"));
  await page.click(`#tab-${tab}`);
  await page.waitForFunction((part) => location.hash.includes(part), `tab=${tab}`);
  return page.evaluate(() => location.hash);
}

/** Serious faults of accessibility, by axe-core. */
export const accessibility = (page) => faultsOfAccess(page, axe);

/** The figures of the top, as exact bytes. */
export const figures = (page) =>
  page.$$eval("[data-figure]", (all) =>
    Object.fromEntries(all.map((one) => [one.dataset.figure, one.dataset.value])),
  );

export const grouped = (value) => String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ",");

/** The cells of every row of a table, however many are in sight at a time. */
export async function rowsOf(page, panel, count) {
  await page.click(`#tab-${panel}`);
  const rows = [];
  for (let top = 0; rows.filter(Boolean).length < count && top <= 28 * count; top += 224) {
    await page.$eval(`#panel-${panel} .table`, (box, y) => (box.scrollTop = y), top);
    await settled(page);
    for (const [at, cells] of await page.$$eval(`#panel-${panel} [data-at]`, (all) =>
      all.map((row) => [Number(row.dataset.at), [...row.children].map((cell) => cell.textContent)]),
    )) {
      rows[at] = cells;
    }
  }
  return rows;
}

/** Names that try to be something else. */
export const hostileNames = [
  "</script><script>alert(1)</script>",
  "<img src=x onerror=alert(2)>",
  "x".repeat(10_000),
  "\u202egnp.exe\u2066",
  "\u0645\u0631\u062d\u0628\u0627 \u05e9\u05dc\u05d5\u05dd",
  "\u{1F44D}\u{1F3FD}\u{1F468}\u200D\u{1F469}\u200D\u{1F467}",
  "{{constructor.constructor('alert(3)')()}}",
  "a\"b'c&amp;<!--",
  "@BERTH_DATA@ $& $1 \\u003c",
  "__proto__",
  "]]>&#x3c;script&#x3e;",
  "\u2028\u2029line",
  "1234567890123456789012345",
];
