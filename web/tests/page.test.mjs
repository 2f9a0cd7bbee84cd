// The page as people use it, in a real browser.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createServer } from "node:http";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, beforeEach, describe, test } from "node:test";
import {
  accessibility,
  close,
  command,
  data,
  drop,
  example,
  hasCommand,
  open,
  planned,
  plans,
  replan,
  root,
  serve,
  settled,
  status,
  take,
} from "./support.mjs";
import { load } from "../dist/index.mjs";

const CELLS = example("cells.onnx");
const ALEXNET = example("training_alexnet_b32.json");
/** The first example of the document: nine operators, of which one runs twice in 64 KiB. */
const [, example1] = readFileSync(join(root, "docs/howto/recompute.md"), "utf8").split("```json");
const STEP = { name: "step.json", bytes: Buffer.from(example1.split("```")[0]) };
const DENSENET = example("inference_densenet121.csv");
const planner = await load();
const folder = mkdtempSync(join(tmpdir(), "berth-page-"));
after(async () => {
  await close();
  rmSync(folder, { recursive: true, force: true });
});

let view;
let page;
const start = async (options) => {
  view = await open(options);
  page = view.page;
};
const shown = async (file, options) => {
  await start(options);
  await drop(page, ...[file].flat());
  await planned(page);
};
afterEach(async () => {
  const faults = view?.faults ?? [];
  await view?.close();
  view = null;
  assert.deepEqual(faults, []);
});
const limit = async (size) =>
  replan(page, async () => {
    await page.getByRole("textbox", { name: "Memory" }).fill(size);
    await page.keyboard.press("Enter");
  });
const list = (name) => page.getByRole("combobox", { name, exact: true });
const choose = (name, value) => replan(page, () => list(name).selectOption(value));
/** What one operator needs, and the least peak. */
const rangeOf = (file) => {
  const made = planner.plan(readFileSync(file), { budget: "MP", time_limit: 10 }, { name: "x" });
  const { least_memory: least, least_peak: peak } = made.summary;
  made.free();
  return { least, peak };
};
const badge = () => page.locator(".report-place .badge").textContent();
const heightOf = (file, options = {}) => {
  const made = planner.plan(readFileSync(file), options, { name: "x" });
  const { height } = made.summary;
  made.free();
  return height;
};
const figure = (name) =>
  page.locator(`[data-figure="${name}"]`).first().getAttribute("data-value").then(Number);

/** The files of a folder whose names match. */
const filesIn = (folder, pattern) =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => pattern.test(name))
        .sort()
        .map((name) => join(folder, name))
    : [];

describe("the first screen", () => {
  beforeEach(() => start());
  test("says what the page is for, and that nothing leaves the computer", async () => {
    await page.getByRole("heading", { name: "Does your model fit?" }).waitFor();
    await page.getByText("Nothing leaves this computer.").waitFor();
    await page.getByText("Files may have up to 1 GiB").waitFor();
  });
  test("is accessible, in both colours", async () => {
    assert.deepEqual(await accessibility(page), []);
    await page.getByRole("button", { name: "Light or dark" }).click();
    assert.deepEqual(await accessibility(page), []);
  });
  test("takes a built-in example", async () => {
    await page.getByRole("button", { name: /network found by search/ }).click();
    await planned(page);
    assert.match(await badge(), /Proved optimal/);
  });
  test("takes a pasted table", async () => {
    await page.getByText("Paste a table or a graph").click();
    await page.getByRole("textbox").fill("id,lower,upper,size\nx,0,2,100\ny,1,3,28\n");
    await page.getByRole("button", { name: "Plan it" }).click();
    await planned(page);
    assert.equal(await figure("height"), 128);
  });
  test("takes what is pasted anywhere", async () => {
    await page.evaluate(() => {
      const clipboardData = new DataTransfer();
      clipboardData.setData("text", "id,lower,upper,size\nx,0,2,7\n");
      document.body.dispatchEvent(
        new ClipboardEvent("paste", {
          clipboardData,
          data: clipboardData.getData("text"), // Of Firefox.
          dataType: "text/plain",
          bubbles: true,
        }),
      );
    });
    await planned(page);
    assert.equal(await figure("height"), 7);
  });
  test("takes a chosen file", async () => {
    await page.locator("#file").setInputFiles(CELLS);
    await planned(page);
    assert.match(await page.title(), /cells\.onnx/);
  });
  test("comes back at once, whatever is still planned or drawn", async () => {
    await shown(example("training_alexnet_b32.json"));
    await page.getByRole("textbox", { name: "Memory" }).fill("900MB");
    await page.keyboard.press("Enter"); // Plans, and tells the address, a moment later.
    await page.getByRole("button", { name: "Berth", exact: true }).click();
    await page.getByRole("heading", { level: 1 }).waitFor();
    const before = await plans(page);
    await page.waitForTimeout(1500);
    assert.equal(await plans(page), before);
    assert.equal(await page.locator(".report, .answer:visible").count(), 0);
    await drop(page, CELLS);
    await planned(page);
  });
  test("has made the browser compile the planner before there is a file", async () => {
    await page.waitForFunction(() => window.app.warm > 0, null, { timeout: 60000 });
    await drop(page, CELLS);
    await planned(page);
  });
  test("is used by keyboard alone", async () => {
    for (let i = 0; i < 12; ++i) {
      await page.keyboard.press("Tab");
      const text = await page.evaluate(() => document.activeElement.textContent);
      if (text.includes("AlexNet")) break;
    }
    await page.keyboard.press("Enter");
    await planned(page);
    await page.locator("#memory-slider").focus();
    await replan(page, () => page.keyboard.press("ArrowLeft"));
    assert.match(await status(page), /(Fits|Does not fit|Not known)/);
  });
});

describe("a plan", () => {
  test("has the figures of the planner", async () => {
    await shown(ALEXNET);
    assert.equal(await figure("height"), heightOf(ALEXNET));
  });
  test("is accessible, in both colours", async () => {
    await shown(CELLS);
    assert.deepEqual(await accessibility(page), []);
    await page.getByRole("button", { name: "Light or dark" }).click();
    await settled(page);
    assert.deepEqual(await accessibility(page), []);
  });
  test("fits a phone", async () => {
    await shown(CELLS, { viewport: { width: 390, height: 844 }, hasTouch: true });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 390, `${wide} pixels`);
    // What is changed seldom is folded, so that the answer is in sight.
    assert.equal(await list("Order").isVisible(), false);
    const answer = await page.locator(".search-text").boundingBox();
    assert.ok(answer.y < 600, `${answer.y} pixels`);
    assert.deepEqual(await accessibility(page), []);
    await page.getByText("More choices").click();
    await replan(page, () => list("Order").selectOption("program"));
    assert.deepEqual(await accessibility(page), []);
  });
  test("changes with the memory: it fits, or the page says why not", async () => {
    await shown(ALEXNET);
    const height = heightOf(ALEXNET);
    await limit(`${height}B`);
    assert.match(await status(page), /^Fits/);
    await limit(`${height - 1}B`);
    assert.match(await status(page), /Does not fit.*proved/);
    await page.getByRole("heading", { name: "Would make it fit", exact: true }).waitFor();
    await page.locator(".conflict").waitFor();
    // The first remedy is taken by a click.
    await replan(page, () => page.locator(".try button.fits").first().click());
    assert.match(await status(page), /^Fits/);
  });
  test("tries 8-bit elements where the model is too large, and says when they are not enough", async () => {
    await shown(CELLS);
    await limit("512KiB");
    const remedy = page.locator(".try button").filter({ hasText: "8-bit elements" }).first();
    await remedy.waitFor({ timeout: 60000 });
    assert.match(await remedy.getAttribute("class"), /fits/);
    await replan(page, () => remedy.click());
    assert.match(await status(page), /^Fits 512 KiB/);
    await replan(page, () => page.getByRole("checkbox", { name: "8 bit" }).uncheck());
    await limit("128KiB");
    const group = (title) => page.locator(".try > div").filter({ has: page.getByText(title) });
    const short = group("Not enough alone").getByRole("button", { name: /^8-bit elements needs/ });
    await short.first().waitFor({ timeout: 60000 });
    // What is said to fit does, each by itself, and its command is in the report.
    const would = group("Would make it fit").getByRole("button");
    const titles = await would.allTextContents();
    assert.ok(titles.length > 1);
    await page.locator("#tab-fit").click();
    assert.match(
      await page.locator(".fit").textContent(),
      /berth plan cells\.onnx [^\n]*--element-bytes 1/,
    );
    const { hash } = new URL(page.url());
    for (const i of titles.keys()) {
      await view.close();
      await shown(CELLS, { hash });
      const button = group("Would make it fit").getByRole("button").nth(i);
      await button.waitFor({ timeout: 60000 });
      await replan(page, () => button.click());
      assert.match(await status(page), /^Fits/, titles[i]);
    }
  });
  test("marks on the slider what is known with these settings, and nothing else", async () => {
    await shown(CELLS);
    const marks = () => page.locator(".mark-list").textContent();
    const least = /least: 1\.41 MiB/;
    assert.match(await marks(), least);
    await limit("1600KiB");
    assert.match(await marks(), least);
    await replan(page, () => page.getByRole("checkbox", { name: "8 bit" }).check());
    assert.doesNotMatch(await marks(), least);
    await page.locator(".mark-list", { hasText: "least: 360 KiB" }).waitFor({ timeout: 60000 });
    await choose("If it does not fit", "spill");
    await replan(page, () => page.getByRole("checkbox", { name: "8 bit" }).uncheck());
    assert.doesNotMatch(await marks(), /360 KiB/);
  });
  test("spills, with the curve of traffic and a point on it", async () => {
    await shown(CELLS);
    const { least, peak } = rangeOf(CELLS);
    const budget = Math.floor((least + peak) / 2);
    await choose("If it does not fit", "spill");
    await limit(`${budget}B`);
    const made = planner.plan(readFileSync(CELLS), { budget, time_limit: 10 }, { name: "x" });
    const traffic = made.summary.spilled + made.summary.retrieved;
    made.free();
    assert.ok(traffic > 0);
    assert.equal(await figure("traffic"), traffic);
    await page.locator(".search-text").filter({ hasText: "of traffic" }).waitFor();
    await page.locator('.curve-box [data-line="traffic"]').waitFor({ timeout: 60000 });
    await page.locator(".curve-box circle").first().waitFor(); // Around the current point.
  });
  test("runs operators again instead", async () => {
    await shown(STEP);
    await choose("If it does not fit", "recompute");
    await limit("64KiB");
    assert.match(await status(page), /^Fits 64 KiB/);
    const { order } = JSON.parse((await take(page, "json")).bytes.toString());
    assert.equal(order.length, 10);
    await page.getByText("--budget 65536 --recompute").waitFor();
    // The operator that runs twice, by its name, and what that costs.
    const twice = order.find((name, i) => order.indexOf(name) < i);
    assert.ok((await status(page)).includes(`Runs again: ${twice}.`));
    assert.match(await status(page), /This costs .*proved the least/);
    // What memory is worth, with this plan on the curve.
    const curve = page.locator(".curve-box");
    await curve.getByRole("heading", { name: "Cost of recomputation against memory" }).waitFor();
    await curve.locator("circle").first().waitFor();
    await page.waitForFunction(() => document.querySelector(".search-work").hidden);
    assert.match(await curve.textContent(), /cost of running operators again, of one run/);
  });
  test("places tensors in several memories, at the cost that the planner finds", async () => {
    const choose = (name, value) => replan(page, () => list(name).selectOption(value));
    const memories = ["sram=320KiB@960MB/s", "psram=8MiB@40MB/s"];
    const cost = () =>
      page.locator("dt:text-is('Cost') + dd [data-value]").getAttribute("data-value");
    const costOf = (options) => {
      const made = planner.plan(STEP.bytes, { time_limit: 10, ...options }, { name: "x" });
      const summary = made.inMemories();
      assert.equal(summary.outcome, "optimal");
      made.free();
      return summary.cost;
    };
    await shown(STEP);
    await choose("Memories", "esp32");
    assert.equal(Number(await cost()), costOf({ memory: memories }));
    assert.match(await status(page), /^Fits. Accesses take .*: proved the least/);
    assert.equal(await page.locator("#memory-slider").isVisible(), false);
    // A smaller first memory, and copies.
    await replan(page, async () => {
      await page.getByRole("group", { name: "Memory 1" }).getByLabel("Size").fill("48 KiB");
      await page.keyboard.press("Tab");
    });
    const small = ["sram=48KiB@960MB/s", memories[1]];
    assert.equal(Number(await cost()), costOf({ memory: small }));
    // What the size of the first memory is worth, with this plan on the curve; a place on it is taken.
    await page.locator('.curve-box [data-line="traffic"]').waitFor({ timeout: 60000 });
    await page.getByRole("heading", { name: "Cost against the size of sram" }).waitFor();
    await page.locator(".curve-box circle").first().waitFor();
    // Advice was tried: its figure is that of the plan that a click makes.
    const advice = page.locator(".try button").first();
    const said = await advice.locator("small").textContent();
    await replan(page, () => advice.click());
    const taken = Number(await cost());
    assert.ok(taken < costOf({ memory: small }));
    assert.match(await status(page), new RegExp(`take ${said.trim().split(",")[0]}`));
    await choose("Tensors", "stay");
    await choose("Tensors", "copy");
    assert.equal(Number(await cost()), costOf({ memory: small, may_move: true }));
    await choose("Weights", "psram");
    await page.getByText("--memory sram=48KiB@960MB/s --memory psram=8MiB@40MB/s").waitFor();
    assert.deepEqual(await accessibility(page), []);
    // The link alone does the same.
    const { hash } = new URL(page.url());
    const before = await cost();
    await view.close();
    await shown(STEP, { hash });
    assert.equal(await cost(), before);
    assert.equal(await list("Weights").inputValue(), "psram");
  });
  test("copies tensors while operators run, for a device", async () => {
    await shown(CELLS, { hash: "#time_limit=1" });
    await choose("Memories", "esp32");
    await list("Tensors").selectOption("prefetch");
    // Without a device nothing is known of the time that operators take.
    await page.locator(".search-text.bad").filter({ hasText: "device" }).waitFor();
    await choose("Device", "cortex-m7");
    assert.match(await status(page), /^Fits. The run takes /);
    await page.getByRole("tab", { name: "Copies and time" }).waitFor();
    await page.getByText("--prefetch --device examples/devices/cortex-m7.json").waitFor();
  });
  test("in several memories shows plan and bound while it searches, and can be stopped", async () => {
    await shown(CELLS, { hash: "#time_limit=60" });
    const before = await plans(page);
    await list("Memories").selectOption("esp32");
    const work = page.locator(".search-work");
    await work.filter({ hasText: /best so far [\d.]+ m?s, at least [1-9]/ }).waitFor();
    await page.locator(".approach .bound").first().waitFor();
    const told = await work.textContent();
    await page.getByRole("button", { name: "Stop, keep the best plan" }).click();
    await planned(page, before);
    assert.match(await status(page), /^Fits. Accesses take /);
    // At least as good as what was told before the click.
    const nanoseconds = /best so far ([\d.]+) (m?s)/.exec(told);
    const best = Number(nanoseconds[1]) * (nanoseconds[2] === "s" ? 1e9 : 1e6);
    const cost = page.locator("dt:text-is('Cost') + dd [data-value]");
    assert.ok(Number(await cost.getAttribute("data-value")) <= 1.01 * best, told);
  });
  const mobilenet = data && join(data, "tflite/mobilenet_v1_0.25_128_quant.tflite");
  const present = mobilenet && existsSync(mobilenet);
  test("advises no change that is not needed", { skip: !present && "no data" }, async () => {
    await shown(mobilenet);
    const least = await figure("height");
    await limit("256KiB");
    assert.ok((await figure("height")) > least);
    await page.waitForFunction(() => document.querySelector(".details")?.textContent);
    await page.waitForTimeout(1000);
    await page.waitForFunction(() => document.querySelector(".search-work").hidden);
    const needs = await page.evaluate(() => window.berth.data.remedies.map((each) => each.needs));
    for (const each of needs) assert.ok(each === null || each < least, `${each}`);
  });
  test("says that a plan within a memory is the least", async () => {
    await shown(CELLS, { hash: "#memory=8388608" });
    assert.match(await status(page), /^Fits 8 MiB: this plan takes 1.41 MiB, proved the least\./);
  });
  test(
    "opened by a link with a memory says how little would do",
    { skip: !present && "no data" },
    async () => {
      await shown(mobilenet, { hash: "#memory=262144" });
      const told = page.locator(".search-text").filter({ hasText: "would do" });
      await told.waitFor({ timeout: 60000 });
      assert.equal(
        await told.textContent(),
        "Fits 256 KiB: this plan takes 112 KiB, and 96 KiB would do.",
      );
      const [takes, needs] = [112, 96].map((size) => 1024 * size);
      assert.equal(await figure("height"), takes);
      await replan(page, () => page.getByRole("button", { name: "No limit" }).click());
      assert.equal(await figure("height"), needs);
    },
  );
  test("keeps its verdict when the curve is stopped", async () => {
    await shown(CELLS, { hash: "#time_limit=1&overflow=recompute" });
    await limit("1300KiB");
    await page.locator(".search-work").filter({ hasText: "curve" }).waitFor({ timeout: 60000 });
    const before = await status(page);
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await page.waitForFunction(() => document.querySelector(".search-work").hidden);
    assert.equal((await status(page)).trim(), before.trim());
  });
  test("says what is wrong with a memory, and takes more of them", async () => {
    await shown(STEP);
    await choose("Memories", "own");
    await page.getByRole("group", { name: "Memory 1" }).getByLabel("Size").fill("much");
    await page.keyboard.press("Tab");
    await page.locator(".search-text.bad").filter({ hasText: "sram=much" }).waitFor();
    await replan(page, () => page.getByRole("button", { name: "Remove memory 1" }).click());
    await replan(page, () => page.getByRole("button", { name: "Add a memory" }).click());
    assert.equal(await page.evaluate(() => document.activeElement.value), "memory2");
    await choose("Memories", "one");
    assert.equal(await page.locator("#memory-slider").isVisible(), true);
  });
  test("changes with order, counts, alignment, in place and 8 bit", async () => {
    await shown(CELLS);
    const check = async (options, act) => {
      await replan(page, act);
      assert.equal(await figure("height"), heightOf(CELLS, options), JSON.stringify(options));
    };
    const order = list("Order");
    await check({ order: "program" }, () => order.selectOption("program"));
    await check({}, () => order.selectOption("auto"));
    const count = list("Planned tensors");
    await check({ count: "all" }, () => count.selectOption("all"));
    await check({}, () => count.selectOption("none"));
    await check({ in_place: true }, () => page.getByLabel("In place").check());
    await check({ in_place: true, element_bytes: 1 }, () => page.getByLabel("8 bit").check());
    await check({ in_place: true, element_bytes: 1, alignment: 4096 }, async () => {
      await page.getByRole("textbox", { name: "Alignment" }).fill("4096");
      await page.keyboard.press("Enter");
    });
  });
  test("keeps tab, colours and filter while the slider moves", async () => {
    await shown(ALEXNET);
    await page.click("#tab-buffers");
    await page.getByRole("searchbox").fill("size>1MiB");
    const slider = page.locator("#memory-slider");
    await page.getByRole("searchbox").focus();
    await replan(page, () =>
      slider.evaluate((input) => {
        input.value = "900";
        input.dispatchEvent(new Event("input"));
      }),
    );
    // Whoever types goes on typing.
    const label = () => page.evaluate(() => document.activeElement.getAttribute("aria-label"));
    assert.equal(await label(), "Search or filter");
    assert.equal(await page.locator("#tab-buffers").getAttribute("aria-selected"), "true");
    assert.equal(await page.getByRole("searchbox").inputValue(), "size>1MiB");
  });
  test("follows the slider while it moves", async () => {
    await shown(ALEXNET);
    const before = await plans(page);
    // A change with every frame, until three plans were seen.
    await page.evaluate(async (count) => {
      const slider = document.getElementById("memory-slider");
      for (let i = 0; window.app.plans < count + 3; ++i) {
        slider.value = String(500 + Math.round(400 * Math.sin(i / 20)));
        slider.dispatchEvent(new Event("input"));
        await new Promise((done) => requestAnimationFrame(done));
      }
      slider.value = "900";
      slider.dispatchEvent(new Event("input"));
    }, before);
    // What is shown in the end is the plan for where the slider stopped.
    const exact = await page.locator("#memory-size").getAttribute("title");
    const memory = Number(exact.replace(/\D/g, ""));
    assert.ok(memory > 0);
    await page.waitForFunction(
      (wanted) =>
        Number(document.querySelector('[data-figure="capacity"]')?.dataset.value) === wanted,
      memory,
    );
    // The address, too, says so in the end.
    await page.waitForURL((url) => url.hash.includes(`memory=${memory}`));
  });
  test("keeps the picture, what is in view and what is selected, while the slider moves", async () => {
    await shown(ALEXNET);
    const seen = () =>
      page.evaluate(() => {
        const { plots, selected, plans } = window.berth;
        return { view: plots[0].view, name: plans[0].name(selected) };
      });
    await page.evaluate(() => {
      window.kept = document.querySelector(".plot canvas");
      window.berth.select(0, 3, false);
      window.berth.plots[0].show({ x0: 10, x1: 20, y0: 0, y1: 1e6 });
    });
    const before = await seen();
    assert.ok(before.name);
    await replan(page, () =>
      page.locator("#memory-slider").evaluate((input) => {
        input.value = "850";
        input.dispatchEvent(new Event("input"));
      }),
    );
    assert.deepEqual(await seen(), before);
    assert.equal(await page.evaluate(() => window.kept.isConnected), true);
  });
  test("keeps the colour of every kind, and the picture in its place, whatever fits", async () => {
    await shown(ALEXNET, { hash: "#time_limit=1" });
    const { least, peak } = rangeOf(ALEXNET);
    const seen = () =>
      page.evaluate(() => ({
        looks: [...document.querySelectorAll(".legend button")].map((entry) => [
          entry.querySelector("bdi").textContent,
          entry.querySelector(".swatch").getAttribute("style"),
        ]),
        top: document.querySelector(".plot canvas").getBoundingClientRect().top,
      }));
    await page.waitForTimeout(100);
    await limit(`${peak}B`);
    const before = await seen();
    assert.ok(before.looks.length > 2);
    for (const overflow of ["explain", "spill", "recompute"]) {
      if (overflow !== "explain") await choose("If it does not fit", overflow);
      for (const share of [0, 0.3, 0.6, 1]) {
        await limit(`${Math.round(least + share * (peak - least))}B`);
        await settled(page);
        const { looks, top } = await seen();
        const known = new Map(looks);
        for (const [name, look] of before.looks) {
          if (known.has(name)) assert.equal(known.get(name), look, `${name}, ${overflow} ${share}`);
        }
        assert.equal(top, before.top, `${overflow} ${share}`);
      }
    }
  });
  test("is a link with its settings, without the model", async () => {
    await shown(CELLS);
    await page.getByLabel("In place").check();
    await limit("300KiB");
    await page.waitForURL(/memory=307200/);
    const { hash } = new URL(page.url());
    assert.match(hash, /in_place=true/);
    await view.close();
    await shown(CELLS, { hash });
    assert.equal(await page.getByLabel("In place").isChecked(), true);
    assert.equal(await page.getByRole("textbox", { name: "Memory" }).inputValue(), "300 KiB");
  });
  test("refuses a size that is none, and says so", async () => {
    await shown(CELLS);
    await page.getByRole("textbox", { name: "Memory" }).fill("lots");
    await page.keyboard.press("Enter");
    await page.getByText("A size such as 256 KiB").waitFor();
  });
  test("of a model with open dimensions has fields for them", async () => {
    const open = join(root, "tests/models/open_batch.onnx");
    await shown(open);
    assert.match(await status(page), /no known size/);
    await replan(page, async () => {
      await page.getByLabel("batch_size").fill("8");
      await page.keyboard.press("Enter");
    });
    assert.equal(await figure("height"), heightOf(open, { dim: ["batch_size=8"] }));
    assert.match(new URL(page.url()).hash, /dim=batch_size%3D8/);
    // The same model again keeps them; another one lacks them. The memory is that of the device.
    await limit("300KiB");
    await page.waitForURL(/memory=307200/);
    await replan(page, () => drop(page, open));
    assert.equal(await page.getByLabel("batch_size").inputValue(), "8");
    await replan(page, () => drop(page, CELLS));
    assert.equal(await page.locator(".search-text.bad").count(), 0);
    assert.match(await status(page), /300 KiB/);
    assert.equal(await page.getByRole("textbox", { name: "Memory" }).inputValue(), "300 KiB");
    await page.waitForURL((url) => !url.hash.includes("dim="));
    assert.match(new URL(page.url()).hash, /memory=307200/);
  });
  test("says what a link sets that the model lacks, and can be set otherwise", async () => {
    await start({ hash: "#dim=batch%3D4" });
    await drop(page, CELLS);
    await page.locator(".search-text.bad").filter({ hasText: '"batch"' }).waitFor();
    await replan(page, async () => {
      await page.getByLabel("batch").fill("");
      await page.keyboard.press("Enter");
    });
    assert.equal(await figure("height"), heightOf(CELLS));
  });
  test("can be stopped, with the best plan so far", async () => {
    const rows = ["id,lower,upper,size"];
    let state = 7;
    const next = (below) => (state = (state * 48271) % 2147483647) % below;
    for (let i = 0; i < 4000; ++i) {
      const from = next(3000);
      rows.push(`b${i},${from},${from + 1 + next(300)},${1 + next(100000)}`);
    }
    await start({ hash: "#time_limit=60" });
    await drop(page, { name: "hard.csv", bytes: Buffer.from(rows.join("\n")) });
    const stop = page.getByRole("button", { name: "Stop, keep the best plan" });
    await stop.waitFor({ timeout: 20000 });
    await page.getByText(/best so far/).waitFor({ timeout: 20000 });
    const began = Date.now();
    await stop.click();
    await planned(page);
    assert.ok(Date.now() - began < 20000);
    assert.ok((await figure("height")) > 0);
  });
});

describe("what is taken away", () => {
  beforeEach(() => shown(CELLS));
  test("plans are the bytes of the package", async () => {
    const made = planner.plan(readFileSync(CELLS), { time_limit: 10 }, { name: "cells.onnx" });
    const json = await take(page, "json");
    assert.equal(json.name, "cells.json");
    const timeless = (text) => text.replace(/"seconds": [\d.e+-]+/g, "");
    assert.equal(timeless(json.bytes.toString()), timeless(made.json()));
    assert.equal((await take(page, "csv")).bytes.toString(), made.csv());
    assert.equal((await take(page, "svg")).bytes.toString(), made.svg());
    made.free();
  });
  test("the reordered model is a model of the same memory", async () => {
    const { name, bytes } = await take(page, "model");
    assert.equal(name, "cells.reordered.onnx");
    const path = join(folder, name);
    writeFileSync(path, bytes);
    assert.equal(heightOf(path, { order: "program" }), heightOf(CELLS));
  });
  test("the planned model of TensorFlow Lite has the plan inside", async () => {
    await view.close();
    const [model] = filesIn(join(root, "tests/tflite/files"), /\.tflite$/);
    await shown(model);
    await limit("256KiB");
    assert.match(await status(page), /^Fits 256 KiB/);
    const { name, bytes } = await take(page, "model");
    assert.match(name, /\.planned\.tflite$/);
    const made = planner.plan(readFileSync(model), { capacity: "256KiB" }, { name: "x" });
    assert.deepEqual(bytes, Buffer.from(made.model()));
    assert.ok(bytes.includes("OfflineMemoryAllocation"));
    made.free();
  });
  test("says why a plan cannot be written into the model", async () => {
    await view.close();
    const [model] = filesIn(join(root, "tests/tflite/files"), /\.tflite$/);
    await shown(model);
    await replan(page, () => page.getByRole("checkbox", { name: "8 bit" }).check());
    await page.getByRole("combobox", { name: "Download" }).selectOption("model");
    assert.match(await page.locator(".complaint").textContent(), /^With 8 bit the plan is an/);
    await replan(page, () => page.getByRole("checkbox", { name: "8 bit" }).uncheck());
    await take(page, "model");
    assert.equal(await page.locator(".complaint").count(), 0);
  });
  test("the report is a page of its own", async () => {
    const { bytes } = await take(page, "html");
    assert.match(bytes.toString(), /^<!doctype html>[\s\S]*"kind":"plan"/);
  });
  test("the command line does the same", { skip: !hasCommand }, async () => {
    await page.getByLabel("In place").check();
    await limit("400KiB");
    const line = await page.locator(".extras code").textContent();
    const [name, ...words] = line.replace("cells.onnx", CELLS).split(" ");
    assert.equal(name, "berth");
    const result = spawnSync(command, [...words, "--json"], { encoding: "utf8" });
    assert.ok([0, 1].includes(result.status), result.stderr);
    assert.equal(JSON.parse(result.stdout).height, await figure("height"));
  });
});

describe("other files", () => {
  test("two plans are compared", async () => {
    const json = (options) => {
      const made = planner.plan(readFileSync(CELLS), options, { name: "cells.onnx" });
      const bytes = Buffer.from(made.json());
      made.free();
      return bytes;
    };
    await start();
    await drop(
      page,
      { name: "old.json", bytes: json({ order: "program" }) },
      { name: "new.json", bytes: json({}) },
    );
    await page.locator(".picture.two").waitFor();
    assert.deepEqual(await accessibility(page), []);
  });
  test("a table has its own controls", async () => {
    await shown(DENSENET);
    assert.equal(await page.getByLabel("In place").count(), 0);
    assert.equal(await figure("height"), heightOf(DENSENET));
  });
  /** The file of a plan. */
  const planOf = (input, options) => {
    const made = planner.plan(input, options, { name: "model" });
    const bytes = Buffer.from(made.json());
    made.free();
    return { name: "plan.json", bytes };
  };
  /** What a tab shows. */
  const panel = async (name) => {
    await page.click(`#tab-${name}`);
    return page.locator(`#panel-${name}`);
  };
  const cells = readFileSync(CELLS);
  test("of a file with several problems one is chosen", async () => {
    const text = "MODEL a\nALLOC 1 9\nFREE 1\nMODEL b\nALLOC 1 5\nALLOC 2 6\n";
    const file = { name: "two.txt", bytes: Buffer.from(text) };
    await shown(file);
    assert.equal(await figure("height"), 9);
    const choice = page.getByRole("combobox", { name: "Problem, of 2" });
    await replan(page, () => choice.selectOption("b"));
    assert.equal(await figure("height"), 11);
    await page.getByText("--problem b").waitFor();
    await page.waitForURL(/problem=b/);
    assert.deepEqual(await accessibility(page), []);
    // The same file keeps it; a file without it does not.
    await replan(page, () => drop(page, file));
    assert.equal(await figure("height"), 11);
    await replan(page, () => drop(page, DENSENET));
    assert.equal(await choice.count(), 0);
    await page.waitForURL((url) => !url.hash.includes("problem="));
    assert.equal(await figure("height"), heightOf(DENSENET));
  });
  test("one plan alone is shown as it is", async () => {
    for (const [options, badge] of [
      [{}, /Proved optimal/],
      [{ budget: "1300KiB" }, /Fits with spills/],
      [{ memory: ["sram=320KiB@960MB/s", "psram@40MB/s"], time_limit: 1 }, /Fits/],
    ]) {
      const file = planOf(cells, options);
      const plan = JSON.parse(file.bytes);
      await start();
      await drop(page, file);
      await page.locator(".report-place .badge").filter({ hasText: badge }).waitFor();
      assert.equal(await page.evaluate(() => window.berth.plans[0].n), plan.residencies.length);
      if (!options.memory) assert.equal(await figure("height"), plan.height);
      assert.equal(await page.locator(".controls").count(), 0);
      assert.equal(await page.locator("#tab-transfers").count(), options.budget ? 1 : 0);
      if (options.memory) {
        // What each memory costs is not in the file.
        const said = await page.locator(".report-place header").textContent();
        assert.doesNotMatch(said, /of the cost|where it costs the least/);
        const titles = await (await panel("memories")).locator("th").allTextContents();
        assert.equal(titles.at(-1), "Buffers");
      }
      for (const tab of await page.getByRole("tab").all()) await tab.click();
      assert.match((await take(page, "seen:svg")).bytes.toString(), /^<svg/);
      assert.deepEqual(await accessibility(page), []);
      assert.deepEqual(view.faults, []);
      await view.close();
    }
  });
  test("the file of a plan with spills lists its transfers", async () => {
    const file = planOf(cells, { budget: "1300KiB" });
    const { traffic, residencies } = JSON.parse(file.bytes);
    assert.ok(traffic.spilled > 0);
    await shown(file);
    const moves = await page.evaluate(() => window.berth.moves);
    const sum = (key) => moves.reduce((all, move) => all + move[key], 0);
    assert.deepEqual([sum("written"), sum("read")], [traffic.spilled, traffic.retrieved]);
    const transfers = await panel("transfers");
    const back = residencies.filter(
      ({ id, comes_in }, i) => comes_in && residencies.findIndex((each) => each.id === id) < i,
    );
    assert.match(
      await transfers.textContent(),
      new RegExp(`${back.length} transfers: 216 KiB .* 216 KiB`),
    );
    for (const { id } of back) await transfers.getByText(id, { exact: true }).waitFor();
    // Both residencies of a tensor are marked where one is selected.
    const same = await page.evaluate(() => {
      window.berth.select(0, window.berth.moves[0].from, false);
      return window.berth.plots[0].marks.related.filter(({ kind }) => kind === "same");
    });
    assert.deepEqual(same, [{ buffer: moves[0].to, kind: "same" }]);
  });
  test("the file of a plan with scratchpads says what each spills", async () => {
    // The last operator reads the first tensor and its weight again; neither had room to stay.
    const tensors = ["w", "v", "x", "y", "a", "z"].map((name, id) => ({
      ...{ id, name, bytes: name === "z" ? 1024 : 8192 },
      ...{ kind: id < 2 ? "parameter" : "activation", output: name === "z" },
    }));
    const node = (name, inputs, output) => ({ name, op: "Op", inputs, outputs: [output] });
    const nodes = [node("X", [0], 2), node("Y", [2, 1], 3), node("A", [3], 4)];
    nodes.push(node("Z", [4, 2, 0], 5));
    const graph = { format: "berth-graph", format_version: 1, name: "pads", nodes, tensors };
    const file = planOf(Buffer.from(JSON.stringify(graph)), {
      ...{ memory: ["acts=17KiB", "weights=8KiB"], spill: true, order: "program" },
      ...{ activations_in: "acts", weights_in: "weights" },
    });
    await shown(file);
    await page.getByRole("heading", { name: "What has the most traffic" }).waitFor();
    assert.match(await (await panel("transfers")).textContent(), /2 transfers: 8 KiB .* 16 KiB/);
    assert.match(await page.locator(".report-place header").textContent(), /67 % of the traffic/);
  });
  test("the file of a plan that runs operators again names them", async () => {
    const file = planOf(STEP.bytes, { budget: "64KiB", recompute: true });
    const { order, recomputed } = JSON.parse(file.bytes);
    const again = order.findIndex((name, i) => order.indexOf(name) < i);
    assert.equal(recomputed.operators, 1);
    await shown(file);
    const header = page.locator(".report-place header");
    await header.getByText(`${order[again]} at step ${again}`).waitFor();
  });
  test("the file of a plan keeps every digit beyond 2^53", async () => {
    const [size, bound] = ["1152921504606846001", "1152921504606845999"];
    const file = planOf(Buffer.from(`id,lower,upper,size\na,0,2,${size}\n`), {});
    const text = file.bytes.toString().replace(/"height_bound": ?\d+/, `"height_bound": ${bound}`);
    await shown({ ...file, bytes: Buffer.from(text) });
    const exact = (name) =>
      page.locator(`[data-figure="${name}"]`).first().getAttribute("data-value");
    assert.equal(await exact("height"), size);
    assert.equal(await exact("lower_bound"), bound);
  });
  test("what a plan's file says besides is shown, whatever its type", async () => {
    const plan = JSON.parse(planOf(cells, {}).bytes);
    const own = Object.keys(plan).filter((key) => !["format", "format_version"].includes(key));
    const values = [
      null,
      0.5,
      "constructor",
      [null, { a: null }],
      { a: null, name: [], dimensions: 3 },
    ];
    const keys = ["device", "link", "memories", "traffic", "recomputed", "spills", "outcome"];
    await start();
    let seen = 0;
    for (const value of values) {
      // The planner refuses some of these: all others are shown.
      for (const key of new Set([...own, ...keys])) {
        if (["residencies", "order"].includes(key)) continue;
        const before = await plans(page);
        await page.evaluate(() => document.querySelector(".complaint")?.remove());
        const bytes = Buffer.from(JSON.stringify({ ...plan, [key]: value }));
        await drop(page, { name: "odd.json", bytes });
        const said = await page.waitForFunction(
          (n) => (window.app.plans > n ? " " : document.querySelector(".complaint")?.textContent),
          before,
        );
        const text = (await said.jsonValue()).trim();
        assert.ok(
          !text || text.startsWith("odd.json"),
          `${key}: ${JSON.stringify(value)}: ${text}`,
        );
        if (text) continue;
        ++seen;
        await panel("about");
        await page.evaluate(() => window.berth.select(0, 0, true));
        assert.deepEqual(view.faults, [], `${key}: ${JSON.stringify(value)}`);
      }
    }
    assert.ok(seen > 100, `${seen}`);
  });
});

describe("what is wrong", () => {
  test("bad tables are refused with the line, and the page goes on", async () => {
    await start();
    for (const path of filesIn(join(root, "tests/bad_input"), /\.csv$/).filter(
      (_, i) => i % 3 === 0,
    )) {
      await page.evaluate(() => document.querySelector(".complaint")?.remove());
      await drop(page, path);
      await page.locator(".complaint").waitFor();
      assert.match(await page.locator(".complaint").textContent(), /\.csv(:\d+)?/);
      await page.getByRole("heading", { name: "Does your model fit?" }).waitFor();
    }
    await drop(page, CELLS);
    await planned(page);
  });
  test("damaged models are refused or planned, and the page goes on", async () => {
    await start();
    const whole = readFileSync(CELLS);
    for (let k = 1; k < 12; ++k) {
      const bytes = Buffer.from(whole.subarray(0, k % 2 ? (whole.length * k) / 12 : whole.length));
      for (let i = 0; i < 20; ++i) bytes[(k * 7919 + i * 104729) % bytes.length] ^= 1 << (k % 8);
      const before = await plans(page);
      await page.evaluate(() => document.querySelector(".complaint")?.remove());
      await drop(page, { name: `damaged${k}.onnx`, bytes });
      await page.waitForFunction(
        (n) =>
          window.app.plans > n ||
          document.querySelector(".complaint") ||
          document.querySelector(".search-text.bad"),
        before,
      );
    }
    await replan(page, () => drop(page, CELLS));
  });
  test("hostile files are refused with their place, or planned", async () => {
    const corpora = join(root, "tests/fuzz/corpus");
    const files = readdirSync(corpora)
      .filter((name) => name !== "c" && name !== "offsets") // No files of any program.
      .flatMap((name) => filesIn(join(corpora, name), /./));
    assert.ok(files.length > 80);
    await start({ hash: "#time_limit=1" });
    for (const path of files) {
      const before = await plans(page);
      await page.evaluate(() => document.querySelector(".complaint")?.remove());
      await drop(page, path);
      const said = await page.waitForFunction(
        (n) =>
          window.app.plans > n
            ? "planned"
            : document.querySelector(".complaint, .search-text.bad")?.textContent,
        before,
      );
      const text = await said.jsonValue();
      const name = path.slice(path.lastIndexOf("/") + 1);
      assert.ok(text === "planned" || text.includes(name.slice(0, 40)), `${path}: ${text}`);
    }
    await replan(page, () => drop(page, CELLS));
  });
  test("other people's files are named, not guessed at", async () => {
    await start();
    for (const [name, bytes] of [
      ["empty.onnx", ""],
      ["photo.png", "\x89PNG\r\n\x1a\n0000000000"],
      ["archive.zip", "PK\x03\x04aaaaaaaaaaaaaaaaaaaa"],
    ]) {
      await page.evaluate(() => document.querySelector(".complaint")?.remove());
      await drop(page, { name, bytes: Buffer.from(bytes, "latin1") });
      await page.locator(".complaint, .search-text.bad").first().waitFor();
    }
  });
  test("names from files stay text", async () => {
    const name = "</script><img src=x onerror=alert(1)>";
    await shown({
      name: `${name}.csv`,
      bytes: Buffer.from(`id,lower,upper,size\n"${name}",0,1,4\n`),
    });
    assert.equal(await page.locator("img").count(), 0);
    assert.equal(await figure("height"), 4);
  });
});

describe("the policy of the page", () => {
  test("lets no request through", async () => {
    let received = 0;
    const server = createServer((request, response) => {
      ++received;
      response.end();
    });
    await new Promise((done) => server.listen(0, "127.0.0.1", done));
    const at = `127.0.0.1:${server.address().port}`;
    await start();
    const refused = await page.evaluate(async (host) => {
      const refused = new Set();
      document.addEventListener("securitypolicyviolation", (event) =>
        refused.add(event.effectiveDirective.replace("-elem", "")),
      );
      const url = `http://${host}/`;
      const add = (tag, set) =>
        document.body.append(Object.assign(document.createElement(tag), set));
      const form = document.createElement("form");
      form.action = url;
      form.target = "_blank";
      document.body.append(form);
      for (const attempt of [
        () => fetch(url).catch(() => {}),
        () => new WebSocket(`ws://${host}/`),
        () => navigator.sendBeacon(url, "x"),
        () => add("img", { src: url }),
        () => add("script", { src: url }),
        () => add("iframe", { src: url }),
        () => add("link", { rel: "stylesheet", href: url }),
        () => add("video", { src: url }),
        () => form.submit(),
      ]) {
        try {
          await attempt();
        } catch {
          // Refused at once.
        }
      }
      await new Promise((done) => setTimeout(done, 1500));
      return [...refused].sort();
    }, at);
    server.close();
    server.closeAllConnections();
    assert.equal(received, 0);
    const kinds = ["connect", "form-action", "frame", "img", "media", "script", "style"];
    assert.deepEqual(
      refused,
      kinds.map((kind) => (kind === "form-action" ? kind : `${kind}-src`)),
    );
    // The browser says each refusal in its console; nothing else may be there.
    const others = view.faults.filter(
      (fault) =>
        !/Content Security Policy|Refused to|page’s settings blocked|^request: /.test(fault),
    );
    view.faults.length = 0;
    assert.deepEqual(others, []);
  });
  test("lets the planner work from a server, too", async () => {
    const server = await serve();
    try {
      await start({ url: server.url });
      await drop(page, CELLS);
      await planned(page);
      assert.equal(await figure("height"), heightOf(CELLS));
    } finally {
      await view.close();
      await server.close();
    }
  });
});

describe("berth view", { skip: !hasCommand }, () => {
  test("writes the page with the file in it", async () => {
    const path = join(folder, "view.html");
    const result = spawnSync(command, ["view", CELLS, "--no-browser", "-o", path], {
      encoding: "utf8",
    });
    assert.equal(result.status, 0, result.stderr);
    assert.match(result.stdout, /view\.html/);
    await start({ url: `file://${path}` });
    await planned(page);
    assert.equal(await figure("height"), heightOf(CELLS));
  });
});

describe("large inputs", () => {
  test("100,000 buffers do not freeze the page", async () => {
    const rows = ["id,lower,upper,size"];
    let state = 7;
    const next = (below) => (state = (state * 48271) % 2147483647) % below;
    for (let i = 0; i < 100000; ++i) {
      const from = next(100000);
      rows.push(`b${i},${from},${from + 1 + next(60)},${64 * (1 + next(200))}`);
    }
    await start({ hash: "#time_limit=1" });
    await drop(page, { name: "large.csv", bytes: Buffer.from(rows.join("\n")) });
    // The page draws frames and hears keys while the planner works.
    const frames = await page.evaluate(async () => {
      let count = 0;
      while (window.app.plans === 0) {
        await new Promise((done) => requestAnimationFrame(done));
        ++count;
      }
      return count;
    });
    assert.ok(frames > 10, `${frames} frames`);
    assert.ok((await figure("height")) > 0);
    await page.locator("#tab-buffers").click();
  });
});
