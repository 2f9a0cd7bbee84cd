// How fast the page is, in Chromium:
//   node web/bench.mjs [FILE] [--rounds N]    writes the figures as JSON, medians of N (default: 5) rounds
//
// First pictures and the longest time without a frame, for models of 10 and 100 MB and a table of 100,000
// buffers; plans a second while the slider moves, for 700 operators; and, with BERTH_DATA, searches for
// the tables A..K in a page against the command, which plan by turns. Needs what the tests need.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg, release } from "node:os";
import { join } from "node:path";
import { close, command, data, drop, hasCommand, launch, open } from "./tests/support.mjs";

const words = process.argv.slice(2);
const at = words.indexOf("--rounds");
const rounds = at < 0 ? 5 : Number(words.splice(at, 2)[1]);
const [output] = words;

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const rounded = (value) => Number(value.toPrecision(3));
const load = () => rounded(loadavg()[0]);
const opened = async (hash = "") => {
  const view = await open({ hash });
  await view.page.waitForFunction(() => window.app.warm > 0);
  return view;
};

/** Runs in the page: makes the file `what`, drops it, and waits for its picture. Seconds to that, and the
 * longest time without a frame from the drop to the end of all searches. */
async function firstPicture(what) {
  /** Residual blocks with `megabytes` of weights, in ONNX's encoding of protobuf. */
  function onnx(megabytes) {
    const blocks = 50;
    const weight = new Uint8Array(Math.floor((megabytes * 1e6) / blocks));
    const varint = (n) => {
      const out = [];
      for (; n >= 128; n = Math.floor(n / 128)) out.push((n % 128) | 128);
      return [...out, n];
    };
    const number = (field, n) => [...varint(8 * field), ...varint(n)];
    const field = (number, ...parts) => {
      const bytes = parts.map((part) =>
        typeof part === "string" ? new TextEncoder().encode(part) : Uint8Array.from(part),
      );
      const length = bytes.reduce((sum, { length }) => sum + length, 0);
      const head = [...varint(8 * number + 2), ...varint(length)];
      const made = new Uint8Array(head.length + length);
      made.set(head);
      let end = head.length;
      for (const part of bytes) {
        made.set(part, end);
        end += part.length;
      }
      return made;
    };
    const dims = [1, 64, 56, 56].map((n) => field(1, number(1, n)));
    const value = (name) =>
      field(11, field(1, name), field(2, field(1, number(1, 1), field(2, ...dims))));
    const node = (op, name, inputs) =>
      field(1, ...inputs.map((each) => field(1, each)), field(2, name), field(4, op));
    const graph = [];
    for (let i = 0; i < blocks; ++i) {
      const before = i ? `a${i - 1}` : "in";
      const tensor = [...number(1, weight.length / 4), ...number(2, 1)];
      graph.push(field(5, tensor, field(8, `w${i}`), field(9, weight)));
      graph.push(node("Relu", `r${i}`, [before]));
      graph.push(node("Sigmoid", `s${i}`, [`r${i}`]));
      graph.push(node("Add", `a${i}`, [before, `s${i}`]));
    }
    graph.push(value("in"));
    const last = value(`a${blocks - 1}`);
    last[0] = 8 * 12 + 2; // An output.
    const opset = field(8, number(2, 17));
    return [Uint8Array.from(number(1, 8)), opset, field(7, ...graph, last)];
  }
  function table(count) {
    const rows = ["id,lower,upper,size"];
    let state = 7;
    const next = (below) => (state = (state * 48271) % 2147483647) % below;
    for (let i = 0; i < count; ++i) {
      const from = next(count);
      rows.push(`b${i},${from},${from + 1 + next(60)},${64 * (1 + next(200))}`);
    }
    return [rows.join("\n")];
  }
  const parts = what.buffers ? table(what.buffers) : onnx(what.megabytes);
  const transfer = new DataTransfer();
  transfer.items.add(new File(parts, what.buffers ? "large.csv" : "large.onnx"));
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  await frame();
  const began = performance.now();
  let last = began;
  let gap = 0;
  let picture = null;
  document.body.dispatchEvent(
    new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }),
  );
  for (;;) {
    await frame();
    const now = performance.now();
    gap = Math.max(gap, now - last);
    last = now;
    if (window.app.plans > 0) picture ??= (now - began) / 1000;
    const complaint = document.querySelector(".complaint, .search-text.bad");
    if (complaint) throw new Error(complaint.textContent);
    if (picture !== null && now > began + 1000 * picture + 1500) break;
  }
  return { seconds: picture, gap_ms: gap, bytes: transfer.files[0].size };
}

async function pictures() {
  const all = {};
  for (const what of [{ megabytes: 10 }, { megabytes: 100 }, { buffers: 100_000 }]) {
    const found = [];
    for (let round = 0; round < rounds; ++round) {
      const view = await opened("#time_limit=1");
      found.push(await view.page.evaluate(firstPicture, what));
      await view.close();
    }
    all[what.buffers ? `${what.buffers} buffers` : `${what.megabytes} MB`] = {
      bytes: found[0].bytes,
      seconds: rounded(median(found.map(({ seconds }) => seconds))),
      longest_gap_ms: rounded(median(found.map(({ gap_ms }) => gap_ms))),
    };
  }
  return all;
}

/** Operators that read one of the last results and the one before. */
function network(operators) {
  let state = 11;
  const next = (below) => (state = (state * 48271) % 2147483647) % below;
  const tensors = [{ name: "in", bytes: 4096, kind: "input" }];
  const nodes = [];
  for (let i = 0; i < operators; ++i) {
    const kind = i + 1 < operators ? "activation" : "output";
    const inputs = [...new Set([i, Math.max(0, i - 1 - next(8))])];
    tensors.push({ name: `t${i}`, bytes: 1024 * (1 + next(256)), kind });
    nodes.push({ name: `n${i}`, op: "Add", inputs, outputs: [i + 1] });
  }
  return JSON.stringify({ format: "berth-graph", format_version: 1, nodes, tensors });
}

/** Moves the slider for three seconds. */
async function slide() {
  const slider = document.querySelector("#memory-slider");
  slider.focus();
  const before = window.app.plans;
  const began = performance.now();
  let frames = 0;
  for (; performance.now() - began < 3000; ++frames) {
    slider.value = String(Math.round(600 + 300 * Math.sin(frames / 20)));
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    await new Promise((done) => requestAnimationFrame(done));
  }
  const seconds = (performance.now() - began) / 1000;
  return { plans: (window.app.plans - before) / seconds, frames: frames / seconds };
}

async function slider() {
  const operators = 700;
  const found = [];
  for (let round = 0; round < rounds; ++round) {
    const view = await opened();
    await drop(view.page, { name: "network.json", bytes: Buffer.from(network(operators)) });
    await view.page.waitForFunction(() => window.app.plans > 0);
    found.push(await view.page.evaluate(slide));
    await view.close();
  }
  return {
    operators,
    plans_per_second: rounded(median(found.map(({ plans }) => plans))),
    frames_per_second: rounded(median(found.map(({ frames }) => frames))),
  };
}

const CAPACITY = 1_048_576;
function native(path) {
  const args = ["place", path, "--capacity", String(CAPACITY), "--json"];
  const result = spawnSync(command, args, { encoding: "utf8" });
  if (result.status !== 0) throw new Error(`${path}: ${result.stderr}`);
  return JSON.parse(result.stdout).seconds;
}
async function againstNative() {
  if (!data || !hasCommand) return null;
  const tables = {};
  for (const name of "ABCDEFGHIJK") {
    const path = join(data, `buffers/challenging/${name}.1048576.csv`);
    const bytes = readFileSync(path);
    const found = { native: [], first: [], later: [] };
    for (let round = 0; round < rounds; ++round) {
      found.native.push(native(path));
      const view = await opened(`#memory=${CAPACITY}&time_limit=none`);
      await drop(view.page, { name: `${name}.csv`, bytes });
      const seconds = async (count) => {
        await view.page.waitForFunction((n) => window.app.plans > n, count, { timeout: 0 });
        return view.page.evaluate(() => window.app.summary.seconds);
      };
      found.first.push(await seconds(0));
      for (let later = 1; later <= 2; ++later) {
        await view.page.evaluate(() => window.app.controls.set({}));
        found.later.push(await seconds(later));
      }
      await view.close();
    }
    const times = median(found.native);
    tables[name] = {
      native_seconds: rounded(times),
      first_call_ratio: rounded(median(found.first) / times),
      later_calls_ratio: rounded(median(found.later) / times),
    };
    console.error(name, JSON.stringify(tables[name]));
  }
  return tables;
}

const before = load();
const report = {
  date: new Date().toISOString(),
  machine: { cpu: cpus()[0].model, hardware_threads: cpus().length, operating_system: release() },
  browser: `Chromium ${(await launch()).version()}`,
  rounds,
  first_picture: await pictures(),
  slider: await slider(),
  against_native: await againstNative(),
  load: { before, after: load() },
};
await close();
const text = `${JSON.stringify(report, null, 2)}\n`;
if (output) writeFileSync(output, text);
else process.stdout.write(text);
