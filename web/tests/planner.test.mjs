// The package in Node: plans are those of the command, byte for byte.
//
// Needs dist/ (scripts/web) and the command (BERTH, or build/release/tools/berth/berth). BERTH_DATA
// may name a folder with tables, graphs and models.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { BerthError, kindOf, load, place, plan } from "../dist/index.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "..", "..");
const command = process.env.BERTH ?? join(root, "build/release/tools/berth/berth");
const hasCommand = existsSync(command);
const data = process.env.BERTH_DATA;
const folder = mkdtempSync(join(tmpdir(), "berth-web-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const planner = await load();

/** What the command writes with -o; null if it writes nothing, as no plan fits. */
function written(args, ending) {
  const path = join(folder, `plan.${ending}`);
  rmSync(path, { force: true });
  const result = spawnSync(command, [...args, "-o", path], { encoding: "utf8" });
  assert.ok([0, 1, 2, 3].includes(result.status), `${args.join(" ")}: ${result.stderr}`);
  return existsSync(path) ? readFileSync(path, "utf8") : null;
}

/** Without the times of a search, which differ from run to run. */
const timeless = (json) => json?.replace(/"seconds": [\d.e+-]+/g, '"seconds": 0') ?? null;

/** The first example of a document: nine operators. */
const STEP = readFileSync(join(root, "docs/howto/recompute.md"), "utf8")
  .split("```json")[1]
  .split("```")[0];

const NODES = 2000;
function compare(path, options = {}, flags = []) {
  const bytes = readFileSync(path);
  const graph = kindOf(bytes) === "graph";
  const made = planner.plan(bytes, { node_limit: NODES, ...options }, { name: basename(path) });
  try {
    const args = [graph ? "plan" : "place", path, "--node-limit", String(NODES), ...flags];
    const { summary } = made;
    const fits = summary.outcome === "optimal" || summary.outcome === "feasible";
    assert.equal(fits ? timeless(made.json()) : null, timeless(written(args, "json")), path);
    // For several memories the command writes no table.
    if (fits && !options.memory) assert.equal(made.csv(), written(args, "csv"), path);
    return summary;
  } finally {
    made.free();
  }
}
/** What the command says about a file that it does not take. */
const refusal = (path) => spawnSync(command, ["plan", path], { encoding: "utf8" }).stderr;
const afterName = (message) => message.slice(message.indexOf(": "));
const filesIn = (...parts) => {
  const path = join(...parts);
  return existsSync(path)
    ? readdirSync(path)
        .sort()
        .map((name) => join(path, name))
    : [];
};

describe("plans are those of the command", { skip: hasCommand ? false : command }, () => {
  const examples = filesIn(root, "examples").filter((path) => /\.(csv|onnx|json)$/.test(path));
  for (const path of examples) {
    test(basename(path), () => void compare(path));
  }
  test("with options", () => {
    const model = join(root, "examples/cells.onnx");
    compare(model, { in_place: true, fuse: true }, ["--in-place", "--fuse"]);
    compare(model, { order: "program" }, ["--order", "program"]);
    compare(model, { count: "all", alignment: 64 }, ["--count", "all", "--alignment", "64"]);
    compare(model, { element_bytes: 1 }, ["--element-bytes", "1"]);
    const least = compare(model).height;
    const small = Math.floor(least / 2);
    compare(model, { budget: small }, ["--budget", String(small)]);
    compare(model, { capacity: small }, ["--capacity", String(small)]);
    const device = join(root, "examples/devices/cortex-m7.json");
    const timed = { device: readFileSync(device, "utf8") };
    compare(model, { budget: small, recompute: true, ...timed }, [
      "--budget",
      String(small),
      "--recompute",
      "--device",
      device,
    ]);
    const memory = ["sram=48KiB@960MB/s", "psram@40MB/s"];
    const memories = memory.flatMap((each) => ["--memory", each]);
    const step = join(folder, "step.json");
    writeFileSync(step, STEP);
    compare(step, { memory }, memories);
    compare(step, { memory, may_move: true }, [...memories, "--may-move"]);
    compare(step, { memory, weights_in: "psram" }, [...memories, "--weights-in", "psram"]);
    compare(
      join(root, "examples/training_alexnet_b32.json"),
      { memory, prefetch: true, copy_latency: 1000, ...timed },
      [...memories, "--prefetch", "--copy-latency", "1us", "--device", device],
    );
  });
  /** Those of the files that are not planned like the command plans them, or refused with its words. */
  const differing = (paths) => {
    const differ = [];
    for (const path of paths) {
      try {
        compare(path);
      } catch (error) {
        if (error instanceof BerthError && refusal(path).includes(afterName(error.message)))
          continue;
        differ.push(`${path}: ${String(error.message).slice(0, 200)}`);
      }
    }
    return differ;
  };
  const planned = /\.(csv|json|onnx|tflite)$/;
  const own = ["models", "tflite/files", "good_input", "recorded/files", "golden"]
    .flatMap((name) => filesIn(root, "tests", name))
    .filter((path) => planned.test(path));
  test(`${own.length} files of the tests`, () => {
    assert.ok(own.length > 30);
    assert.deepEqual(differing(own), []);
  });
  const shared = data
    ? [
        ...["challenging", "models", "large"].flatMap((name) => filesIn(data, "buffers", name)),
        ...["inference", "training"].flatMap((name) => filesIn(data, "graphs", name)),
        ...["tflite", "faults", "remat"].flatMap((name) => filesIn(data, name)),
      ].filter((path) => planned.test(path))
    : [];
  test(`${shared.length} tables, graphs and models of others`, { skip: !shared.length }, () =>
    assert.deepEqual(differing(shared), []),
  );
});

test("buffers are placed from arrays", async () => {
  const arrays = { start: [0, 3, 2], end: [3, 5, 4], size: [4096, 4096, 2048] };
  const found = await place(arrays);
  assert.equal(found.outcome, "optimal");
  assert.equal(found.height, 6144);
  assert.deepEqual([...found.offsets], [0, 0, 4096]);
  const closed = await place(
    { start: [0, 2], end: [1, 3], size: Int32Array.of(8, 8) },
    { endpoints: "inclusive", capacity: 8 },
  );
  assert.deepEqual([closed.outcome, closed.height], ["optimal", 8]);
  const tight = await place(arrays, { capacity: 4096 });
  assert.equal(tight.outcome, "infeasible");
});

test("buffers get one of several memories", () => {
  // One fits the fast memory, and the second costs more elsewhere.
  const arrays = { start: [0, 0, 2], end: [2, 2, 3], size: [64, 64, 64] };
  const memories = { capacities: [64, -1], costs: [1, 10, 1, 30, 1, 20] };
  const found = planner.placeInMemories(arrays, memories);
  assert.deepEqual([found.outcome, found.cost, found.unplaced], ["optimal", 12, 0]);
  assert.deepEqual([...found.memories], [1, 0, 0]);
  assert.deepEqual([...found.offsets], [0, 0, 0]);
  // A range that nobody may use, and a buffer that may be left out.
  const reserved = planner.placeInMemories(arrays, {
    ...memories,
    reserved: [0, 0, 1, 0, 3],
    costs_left_out: [5, -1, -1],
  });
  assert.deepEqual([reserved.cost, ...reserved.memories], [55, -1, 1, 1]);
  const tight = planner.placeInMemories(arrays, { capacities: [64] });
  assert.deepEqual([tight.outcome, tight.unplaced, tight.unplaced_bound], ["infeasible", 1, 1]);
  const kept = planner.placeInMemories(arrays, {
    capacities: [64, 192],
    previous_memories: [1, 1, -1],
    previous_offsets: [128, 0, 0],
    move_costs: [7, 7, 7],
  });
  assert.deepEqual([kept.cost, kept.moved, kept.memories[0], kept.offsets[0]], [0, 0, 1, 128]);
  assert.throws(
    () => planner.placeInMemories(arrays, { capacities: [64], costs: [1] }),
    /costs has 1 /,
  );
});

test("plans in several memories, with copies and with operators that run again, have their costs", () => {
  const graph = new TextEncoder().encode(STEP);
  const options = { memory: ["fast=48KiB@1GB/s", "slow@100MB/s"], may_move: true };
  const made = planner.plan(graph, options, { name: "step.json" });
  const json = JSON.parse(made.json());
  const { outcome, cost, cost_bound } = made.inMemories();
  assert.equal(outcome, "optimal");
  assert.deepEqual([cost, cost_bound], [json.cost, json.cost]);
  assert.deepEqual(
    made.memories().map(({ name, capacity }) => [name, capacity]),
    [
      ["fast", 48 * 1024],
      ["slow", -1],
    ],
  );
  assert.ok(made.copies().every(({ bytes, cost }) => bytes > 0 && cost > 0));
  assert.equal(made.copies().length, 1);
  const { nodes } = JSON.parse(new TextDecoder().decode(graph));
  assert.deepEqual(
    made.order().map((operator) => nodes[operator].name),
    json.order,
  );
  assert.throws(() => made.run(), BerthError);
  assert.throws(() => made.recomputed(), BerthError);
  made.free();
  const again = planner.plan(graph, { budget: "64KiB", recompute: true }, { name: "step.json" });
  const { operators, cost: extra, bound } = again.recomputed();
  assert.equal(operators, again.order().length - new Set(again.order()).size);
  assert.ok(operators === 1 && extra === bound && extra > 0);
  again.free();
  const cells = readFileSync(join(root, "examples/cells.onnx"));
  const device = readFileSync(join(root, "examples/devices/cortex-m7.json"), "utf8");
  const run = planner.plan(
    cells,
    { memory: ["sram=320KiB@960MB/s", "psram@40MB/s"], prefetch: true, device, time_limit: 1 },
    { name: "cells.onnx" },
  );
  const { time, computing, accessing, stalled } = run.run();
  assert.equal(time, computing + accessing + stalled);
  assert.equal(time, run.inMemories().cost);
  assert.ok(run.copies().every(({ begins, ends }) => 0 <= begins && begins <= ends));
  run.free();
});

test(
  "a run with copies off chip is that of the command, with every copy",
  { skip: !hasCommand },
  () => {
    const path = join(root, "examples/cells.onnx");
    const device = join(root, "examples/devices/edge-accelerator.json");
    const bytes = readFileSync(path);
    const options = { budget: "MR", device: readFileSync(device, "utf8") };
    const made = planner.plan(bytes, options, { name: "cells.onnx" });
    const { copies, operators, ...sums } = made.runOffChip();
    const { summary } = made;
    const { residencies } = JSON.parse(made.json());
    const args = ["plan", path, "--budget", "MR", "--device", device, "--json"];
    const said = JSON.parse(spawnSync(command, args, { encoding: "utf8" }).stdout).off_chip_run;
    for (const name of ["time", "computing", "copying", "stalled"])
      assert.equal(sums[name], said[name], name);
    assert.equal(sums.avoidable_pj, 162.5 * (summary.spilled + summary.retrieved));
    assert.equal(sums.compulsory_pj, 162.5 * (summary.compulsory_in + summary.compulsory_out));
    assert.equal(operators.length, made.order().length);
    assert.ok(
      operators.every(
        ([begins, ends], k) => begins >= (operators[k - 1]?.[1] ?? 0) && begins <= ends,
      ),
    );
    assert.equal(
      sums.computing,
      operators.reduce((sum, [begins, ends]) => sum + ends - begins, 0),
    );
    assert.equal(
      sums.copying,
      copies.reduce((sum, { begins, ends }) => sum + ends - begins, 0),
    );
    for (const { after: earlier, before, begins, ends } of copies) {
      assert.ok(earlier === 0 || operators[earlier - 1][1] <= begins);
      assert.ok(before === null || ends <= operators[before][0]);
    }
    for (const [direction, flag] of [
      ["out", "written_out"],
      ["in", "comes_in"],
    ]) {
      const moved = copies.filter((copy) => copy.direction === direction && copy.avoidable);
      assert.ok(moved.length > 0, direction);
      for (const { residency } of moved)
        assert.equal(residencies[residency][flag], true, direction);
    }
    assert.ok(copies.some(({ before }) => before === null));
    made.free();
    const without = planner.plan(bytes, { budget: "MR" }, { name: "cells.onnx" });
    assert.throws(() => without.runOffChip(), /device: the graph has none/);
    without.free();
    const table = planner.plan(new TextEncoder().encode("id,lower,upper,size\na,0,1,4\n"));
    assert.throws(() => table.runOffChip(), /the plan is one of a table/);
    table.free();
  },
);

test(
  "a proof is that of the command, or there is a reason why there is none",
  { skip: !hasCommand },
  () => {
    for (const [path, flags, options] of [
      [join(root, "examples/inference_mobilenet_v2.csv"), [], {}],
      [
        join(root, "examples/inference_mobilenet_v2.csv"),
        ["--capacity", "8MiB"],
        { capacity: "8MiB" },
      ],
    ]) {
      const made = planner.plan(readFileSync(path), options, { name: basename(path) });
      const proof = made.prove({ node_limit: 100000 });
      const file = join(folder, "proof.txt");
      spawnSync(command, ["place", path, ...flags, "--proof", file]);
      assert.equal(proof.missing, null);
      assert.equal(proof.text, readFileSync(file, "utf8"), path);
      assert.ok(proof.nodes >= 0 && proof.seconds >= 0);
      made.free();
    }
    // No bound shows that this one does not fit: the proof needs a search.
    const full = join(folder, "full.csv");
    const shape = ["--steps", "12", "--capacity", "1000", "--buffers", "21", "--seed", "6"];
    spawnSync(command, ["generate", "full", ...shape, "-o", full]);
    const made = planner.plan(readFileSync(full), { capacity: 1000 }, { name: "full.csv" });
    assert.equal(made.summary.outcome, "infeasible");
    const { text, missing, nodes } = made.prove({ node_limit: 1 });
    assert.deepEqual([text, missing, nodes], [null, "budget", 1]);
    const whole = made.prove({ node_limit: 100000 });
    assert.match(whole.text, /^berth-proof 1\nclaim infeasible 1000\n/);
    assert.ok(whole.missing === null && whole.nodes > 1);
    made.free();
    const graph = planner.plan(readFileSync(join(root, "examples/cells.onnx")));
    assert.match(graph.prove().text, /^berth-order-proof 1\nclaim optimal /);
    graph.free();
  },
);

test("what is wrong with arrays names the buffer", async () => {
  const wrong = place({ start: [0, 5], end: [1, 5], size: [1, 1] });
  await assert.rejects(wrong, (error) => {
    assert.ok(error instanceof BerthError);
    assert.deepEqual([error.status, error.subject, error.index], ["invalid problem", "buffer", 1]);
    return true;
  });
  await assert.rejects(place({ start: [0], end: [1.5], size: [1] }), /end of buffer 0 is 1.5/);
  await assert.rejects(place({ start: [0], end: [1, 2], size: [1] }), /end has 2 values/);
});

test("a plan is data without anything to free", async () => {
  const bytes = readFileSync(join(root, "examples/cells.onnx"));
  const made = await plan(bytes, {}, { name: "cells.onnx" });
  assert.equal(made.summary.outcome, "optimal");
  assert.equal(JSON.parse(made.json).height, made.summary.height);
  assert.match(made.csv, /^id,lower,upper,size/);
});

test("options that do not exist or do not fit are refused by name", () => {
  const bytes = new TextEncoder().encode("id,lower,upper,size\na,0,1,4\n");
  assert.throws(() => planner.plan(bytes, { capacitty: 4 }), /capacitty/);
  assert.throws(() => planner.plan(bytes, { capacity: "4 apples" }), /4 apples/);
  const names = planner.options().map(({ name }) => name);
  for (const name of ["capacity", "budget", "time_limit", "order", "in_place", "seed"])
    assert.ok(names.includes(name), name);
});

test("a search reports, and ends when it is told to", () => {
  const next = (
    (state) => () =>
      (state = (state * 48271) % 2147483647)
  )(7);
  const count = 3000;
  const start = Array.from({ length: count }, () => next() % 3000);
  const arrays = {
    start,
    end: start.map((from) => from + 1 + (next() % 200)),
    size: start.map(() => 1 + (next() % 100000)),
  };
  const seen = [];
  const found = planner.place(
    arrays,
    { time_limit: 60 },
    {
      onProgress: (progress) => {
        seen.push(progress);
        return seen.length >= 3;
      },
    },
  );
  assert.equal(seen.length, 3);
  assert.ok(found.seconds < 30);
  assert.equal(found.stopped, "budget");
  assert.ok(found.offsets.every((offset) => offset >= 0));
  const thrown = () =>
    planner.place(
      arrays,
      {},
      {
        onProgress: () => {
          throw new Error("mine");
        },
      },
    );
  assert.throws(thrown, /mine/);
});

test(
  "advice for a model is that of the command, with its command lines",
  { skip: !hasCommand },
  () => {
    const path = join(root, "examples/cells.onnx");
    const made = planner.plan(readFileSync(path), { capacity: "512KiB" }, { name: "cells.onnx" });
    made.advise();
    const remedies = made.remedies();
    made.free();
    const result = spawnSync(command, ["plan", path, "--capacity", "512KiB", "--json"], {
      encoding: "utf8",
    });
    const said = JSON.parse(result.stdout).remedies;
    assert.ok(said.some(({ command }) => / --element-bytes 1$/.test(command)));
    assert.deepEqual(
      remedies.map(({ title, detail, needs, fits, enlarges }) => ({
        ...{ title, detail, fits, enlarges },
        needs: needs < 0 ? null : needs,
      })),
      said.map(({ title, detail, needs, fits, enlarges }) => ({
        ...{ title, detail, fits, enlarges },
        needs,
      })),
    );
    for (const [i, { change }] of remedies.entries()) {
      if (change) assert.ok(said[i].command.includes(change.split(" ")[0]), change);
    }
  },
);
test("problems of a file are told by name", () => {
  const open = (text) => planner.open(new TextEncoder().encode(text), "x");
  const two = open("MODEL a\nALLOC 1 9\nMODEL b\nALLOC 1 5\n");
  assert.deepEqual(two.problems(), ["a", "b"]);
  const plan = two.plan({ problem: "b" });
  assert.equal(plan.summary.height, 5);
  plan.free();
  assert.deepEqual(open("id,lower,upper,size\nx,0,2,7\n").problems(), []);
  assert.throws(() => open("MODEL a\nALLOC 1\n").problems(), /x:2/);
});
test("two plans are compared", () => {
  const bytes = readFileSync(join(root, "examples/cells.onnx"));
  const json = (options) => {
    const made = planner.plan(bytes, options, { name: "cells.onnx" });
    const text = new TextEncoder().encode(made.json());
    made.free();
    return text;
  };
  const { counts, page } = planner.diff(
    { bytes: json({ order: "program" }), name: "old.json" },
    { bytes: json({}), name: "new.json" },
  );
  assert.ok(counts.height_after <= counts.height_before);
  assert.match(page, /"kind":"diff"/);
});

test("bad tables are refused with the line, and the planner goes on", () => {
  const expected = new Map(
    readFileSync(join(root, "tests/bad_input/expected.txt"), "utf8")
      .split("\n")
      .filter((line) => line.includes(":"))
      .map((line) => [line.split(":", 1)[0].trim(), line]),
  );
  let tried = 0;
  for (const path of filesIn(root, "tests/bad_input").filter((each) => each.endsWith(".csv"))) {
    assert.throws(
      () => planner.plan(readFileSync(path), {}, { name: basename(path) }).free(),
      BerthError,
      path,
    );
    ++tried;
  }
  assert.ok(tried > 40 && expected.size > 40);
});

test("sequences of plans do not leak", () => {
  const bytes = readFileSync(join(root, "examples/cells.onnx"));
  const input = planner.open(bytes, "cells.onnx");
  const once = () => {
    const made = input.plan({ node_limit: 100 });
    made.page();
    made.free();
  };
  for (let i = 0; i < 5; ++i) once();
  const before = planner.memory();
  for (let i = 0; i < 100; ++i) once();
  assert.equal(planner.memory(), before);
  input.free();
});

describe("the types of the package", () => {
  /** What tsc says about a program that uses the installed package. */
  const checked = (name, program) => {
    const user = join(folder, name);
    mkdirSync(join(user, "node_modules/@berth"), { recursive: true });
    symlinkSync(join(here, ".."), join(user, "node_modules/@berth/planner"));
    writeFileSync(join(user, "package.json"), '{"type": "module"}');
    writeFileSync(join(user, "user.ts"), program);
    const tsc = join(here, "../node_modules/.bin/tsc");
    const flags = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2022"];
    return spawnSync(tsc, [...flags, "--lib", "es2022,dom", "user.ts"], {
      cwd: user,
      encoding: "utf8",
    }).stdout;
  };
  const use = (field) => `import { load, BerthError, type Summary } from "@berth/planner";
    const planner = await load();
    const made = planner.plan(new Uint8Array(1), { capacity: "256KiB", in_place: true });
    const summary: Summary = made.summary;
    const height: number = summary.${field};
    const text: string = made.json();
    export const all = [height, text, BerthError];`;
  test("say what there is", () => assert.equal(checked("right", use("height")), ""));
  test("name every option but those of engines", () => {
    const declared = readFileSync(join(here, "../dist/types/planner.d.ts"), "utf8");
    const [, fields] = /interface Options \{([\s\S]*?)\n\}/.exec(declared);
    const names = [...fields.matchAll(/^ {4}(\w+)\?:/gm)].map(([, name]) => name);
    // The package does not repack.
    const others = ["exchange", "most_moved", "place_nodes"];
    const known = planner.options().map(({ name }) => name);
    const expected = known.filter((name) => !name.includes(".") && !others.includes(name));
    assert.deepEqual(names.sort(), expected.sort());
  });
  test("and what there is not", () => assert.match(checked("wrong", use("hight")), /hight/));
});
