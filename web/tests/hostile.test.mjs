// Real files of every kind, damaged at random, on the page: what is said names the file, and the page
// goes on. BERTH_SEED repeats a run; the seed is printed.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { load } from "../dist/index.mjs";
import { random } from "../../src/report/app/tests/random.mjs";
import { close, data, drop, example, hasBrowser, open, plans, replan, root } from "./support.mjs";

const seed = Number(process.env.BERTH_SEED ?? Date.now() % 1e9);
const EACH = Number(process.env.BERTH_EACH ?? 14); // Damages of each file.
const CELLS = example("cells.onnx");

/** Files that other programs made, where they are at hand, by their kind. */
const shared = (...parts) =>
  data && existsSync(join(data, ...parts)) ? join(data, ...parts) : null;
const first = (folder, pattern) =>
  join(
    folder,
    readdirSync(folder)
      .sort()
      .find((name) => pattern.test(name)),
  );
const KINDS = {
  onnx: [CELLS, first(join(root, "tests/models"), /\.onnx$/)],
  tflite: [
    first(join(root, "tests/tflite/files"), /\.tflite$/),
    shared("tflite", "person_detect.tflite"),
    shared("tflite", "trained_lstm_int8.tflite"),
  ],
  json: [example("training_alexnet_b32.json")],
  csv: [example("inference_densenet121.csv"), shared("buffers", "challenging", "A.1048576.csv")],
  pickle: [
    join(root, "tests/snapshot/files/pools.pickle"),
    join(root, "tests/snapshot/files/small_4.pickle"),
  ],
};

/** Ways to damage bytes, each with what it is called. */
const DAMAGES = {
  cut: (bytes, next) => bytes.subarray(0, next(bytes.length)),
  flipped: (bytes, next) => {
    const made = Buffer.from(bytes);
    for (let i = 0; i < 1 + next(12); ++i) made[next(made.length)] ^= 1 << next(8);
    return made;
  },
  large: (bytes, next) => {
    // Lengths, offsets and sizes become as large as they can be.
    const made = Buffer.from(bytes);
    const at = next(made.length);
    return made.fill(next(2) ? 0xff : 0x7f, at, Math.min(made.length, at + 1 + next(10)));
  },
  empty: (bytes, next) => {
    const made = Buffer.from(bytes);
    const at = next(made.length);
    return made.fill(0, at, Math.min(made.length, at + next(200)));
  },
  twice: (bytes, next) => {
    const [from, to] = [next(bytes.length), next(bytes.length)].sort((x, y) => x - y);
    return Buffer.concat([bytes.subarray(0, to), bytes.subarray(from)]);
  },
  swapped: (bytes, next) => {
    const at = 1 + next(bytes.length - 1);
    return Buffer.concat([bytes.subarray(0, 8), bytes.subarray(at), bytes.subarray(8, at)]);
  },
};

/** Files that are deep or huge rather than damaged. */
const deep = (open, close, core, depth = 200000) =>
  Buffer.from(open.repeat(depth) + core + close.repeat(depth));
const varint = (value) => {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return Buffer.from([...bytes, value]);
};
function nestedField(field, depth) {
  const heads = [];
  for (let size = 0; heads.length < depth;) {
    const head = Buffer.concat([Buffer.from([(field << 3) | 2]), varint(size)]);
    heads.push(head);
    size += head.length;
  }
  return Buffer.concat(heads.reverse());
}
const EXTREMES = {
  "deep.json": () => deep("[", "]", ""),
  "deep-objects.json": () => deep('{"nodes":', "}", "0"),
  "deep.pickle": () =>
    Buffer.concat([Buffer.from([0x80, 4]), Buffer.alloc(400000, "]("), Buffer.from(".")]),
  "deep.onnx": () => nestedField(7, 20000),
  "huge-sizes.csv": () =>
    Buffer.from("id,lower,upper,size\na,0,3,9223372036854775807\nb,1,2,9223372036854775807\n"),
  "beyond.csv": () => Buffer.from("id,lower,upper,size\na,0,1,92233720368547758080\n"),
  "huge-steps.csv": () =>
    Buffer.from("id,lower,upper,size\na,-9223372036854775808,9223372036854775807,1\n"),
  "long-line.csv": () => Buffer.from(`id,lower,upper,size\n${"x".repeat(5e6)},0,1,4\n`),
  "wide.csv": () => Buffer.from(`id,lower,upper,size${",c".repeat(100000)}\n`),
  "zeros.bin": () => Buffer.alloc(16e6),
  "ones.bin": () => Buffer.alloc(4e6, 0xff),
  "memo.pickle": () =>
    // A list of itself, and a memo of an entry that nobody made.
    Buffer.from([0x80, 2, 0x5d, 0x71, 0, 0x68, 0, 0x61, 0x6a, 0xff, 0xff, 0xff, 0x7f, 0x2e]),
};

describe(`hostile files, BERTH_SEED=${seed}`, { skip: hasBrowser ? false : "no browser" }, () => {
  let view;
  before(async () => {
    console.log(`BERTH_SEED=${seed}`);
    view = await open({ hash: "#time_limit=1" });
  });
  after(async () => {
    await view?.close();
    await close();
  });

  /** Drops them; what is said of each that is not planned. */
  async function tryEach(files) {
    const { page } = view;
    const said = [];
    for (const { name, bytes } of files) {
      const count = await plans(page);
      await page.evaluate(() => {
        document.querySelector(".complaint")?.remove();
        document.querySelector(".search-text")?.classList.remove("bad");
      });
      await drop(page, { name, bytes });
      const result = await page.waitForFunction(
        (n) => {
          if (window.app.plans > n) return { planned: true };
          const text = document.querySelector(".complaint, .search-text.bad")?.textContent;
          return text && { text };
        },
        count,
        { timeout: 60000 },
      );
      said.push({ name, ...(await result.jsonValue()) });
    }
    return said;
  }
  /** The page still plans, and has reported no error of its own. */
  async function alive() {
    await replan(view.page, () => drop(view.page, CELLS));
    assert.deepEqual(view.faults, []);
  }

  for (const [kind, all] of Object.entries(KINDS)) {
    const paths = all.filter(Boolean);
    test(`${kind}: ${paths.length} files, each damaged ${EACH} times`, async () => {
      const next = random(seed + kind.length);
      const ways = Object.entries(DAMAGES);
      const files = paths.flatMap((path, p) => {
        const whole = readFileSync(path);
        return Array.from({ length: EACH }, (_, k) => {
          const [way, damage] = ways[k % ways.length];
          return { name: `${way}-${p}-${k}.${kind}`, bytes: damage(whole, next) };
        });
      });
      for (const { name, planned, text } of await tryEach(files)) {
        assert.ok(planned || text.includes(name), `${name}: ${text}`);
      }
      await alive();
    });
  }
  test("deep and huge files are refused, or planned", async () => {
    const files = Object.entries(EXTREMES).map(([name, make]) => ({ name, bytes: make() }));
    for (const { name, planned, text } of await tryEach(files)) {
      assert.ok(planned || text.includes(name), `${name}: ${text}`);
    }
    await alive();
  });
  test("two files that are no plans are not compared", async () => {
    const planner = await load();
    const made = planner.plan(readFileSync(CELLS), {}, { name: "cells.onnx" });
    const whole = Buffer.from(made.json());
    made.free();
    const next = random(seed);
    for (const [way, damage] of Object.entries(DAMAGES)) {
      const { page } = view;
      await page.evaluate(() => {
        document.querySelector(".complaint")?.remove();
        document.querySelector(".picture.two")?.remove();
      });
      const pair = [`old-${way}.json`, `new-${way}.json`];
      await drop(
        page,
        { name: pair[0], bytes: damage(whole, next) },
        { name: pair[1], bytes: damage(whole, next) },
      );
      const result = await page.waitForFunction(() => {
        const text = document.querySelector(".complaint")?.textContent;
        return text ? { text } : document.querySelector(".picture.two") && { compared: true };
      });
      const { text, compared } = await result.jsonValue();
      assert.ok(compared || pair.some((name) => text.includes(name)), `${way}: ${text}`);
    }
    await alive();
  });
});
