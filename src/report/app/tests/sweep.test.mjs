// Pages of sweeps in a real browser: used as people use them, every number checked against the CSV.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import {
  Workshop,
  accessibility,
  close,
  figures,
  grouped,
  hostileNames,
  linkOnceOn,
  open,
  rowsOf,
  root,
  search,
  settled,
  trainingGraph,
} from "./support.mjs";

const shop = new Workshop();
after(async () => {
  await close();
  shop.remove();
});

const header =
  "model,point,capacity,outcome,avoidable,spilled,retrieved,traffic_bound,traffic_by_sum," +
  "seconds,input";
/** The rows of a sweep's CSV, by the names of its columns, as text. */
function csv(text) {
  const [first, ...lines] = text.trimEnd().split("\n");
  assert.equal(first, header);
  const keys = first.split(",");
  return lines.map((line) => {
    const cells = [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map((m) =>
      m[1] === undefined ? m[2] : m[1].replaceAll('""', '"'),
    );
    assert.equal(cells.length, keys.length, line);
    return Object.fromEntries(keys.map((key, k) => [key, cells[k]]));
  });
}
const quoted = (text) => (/[,"\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
/** A CSV as a sweep writes it, of points that need not come from any model. */
const csvOf = (rows) =>
  [
    header,
    ...rows.map((row) =>
      header
        .split(",")
        .map((key) => quoted(String(row[key] ?? "")))
        .join(","),
    ),
  ].join("\n") + "\n";
const point = (
  model,
  number,
  capacity,
  avoidable,
  bound,
  outcome = avoidable === bound ? "optimal" : "feasible",
) => ({
  model,
  point: number,
  capacity,
  outcome,
  avoidable: avoidable ?? "",
  spilled: avoidable === null ? 0 : Math.floor(avoidable / 2),
  retrieved: avoidable === null ? 0 : Math.ceil(avoidable / 2),
  traffic_bound: bound,
  traffic_by_sum: avoidable === null ? 0 : avoidable,
  seconds: 0.25 + number / 64,
  input: `fnv1a64:0123456789abcdef`,
});
const merged = (name, rows) => {
  shop.write(`${name}.csv`, csvOf(rows));
  shop.berth([
    "sweep",
    "--merge",
    `${name}.csv`,
    "-o",
    `${name}.all.csv`,
    "--report",
    `${name}.html`,
  ]);
  return csv(shop.read(`${name}.all.csv`));
};
const about = (page) =>
  page.$$eval("#panel-about [data-key]", (all) =>
    Object.fromEntries(all.map((one) => [one.dataset.key, one.textContent])),
  );
/** Every cell of the table of points, in the order of the CSV. */
const shownPoints = (page, count) => rowsOf(page, "points", count);
const seconds = (s) =>
  s < 0.0995
    ? `${(s * 1e3).toFixed(s * 1e3 < 0.995 ? 2 : 1)} ms`
    : s < 119.5
      ? `${s.toFixed(s < 9.995 ? 2 : 1)} s`
      : null;
function expected(row, many) {
  const planned = row.avoidable !== "";
  const gap = !planned ? "–" : row.outcome === "optimal" ? "0 %" : null;
  return [
    ...(many ? [row.model] : []),
    grouped(row.capacity),
    row.outcome,
    ...["avoidable", "spilled", "retrieved"].map((key) => (planned ? grouped(row[key]) : "–")),
    row.outcome === "infeasible" ? "–" : grouped(row.traffic_bound),
    gap,
    planned ? grouped(row.traffic_by_sum) : "–",
    seconds(Number(row.seconds)),
  ];
}
function compare(shown, rows, many) {
  assert.equal(shown.length, rows.length);
  rows.forEach((row, k) => {
    expected(row, many).forEach((cell, column) => {
      if (cell !== null) assert.equal(shown[k][column], cell, `point ${k}, column ${column}`);
    });
  });
}

describe("a sweep of one model", () => {
  const model = join(root, "examples", "cells.onnx");
  let report;
  let rows;
  let printed;
  before(async () => {
    // Not in order, one of them twice, and one that is too small.
    const budgets = "1300000,MP,MR,100KiB,1200000,MH,1300000";
    printed = shop.berth([
      "sweep",
      model,
      "--budget",
      budgets,
      "--node-limit",
      "20000",
      "-o",
      "one.csv",
      "--report",
      "one.html",
    ]).stdout;
    rows = csv(shop.read("one.csv"));
    report = await open(shop.path("one.html"));
  });
  after(() => report.close());

  test("says what the CSV and the printed table say, in the order asked for", async () => {
    const { page } = report;
    assert.deepEqual(
      rows.map((row) => row.point),
      ["0", "1", "2", "3", "4", "5", "6"],
    );
    assert.equal(rows[0].capacity, "1300000");
    compare(await shownPoints(page, rows.length), rows, false);
    for (const row of rows) assert.ok(printed.includes(grouped(row.capacity)), row.capacity);
    const shown = await figures(page);
    const by = (f) => rows.filter(f).map((row) => Number(row.capacity));
    assert.equal(shown.free, String(Math.min(...by((row) => row.avoidable === "0"))));
    assert.equal(shown.smallest, String(Math.min(...by((row) => row.avoidable !== ""))));
    assert.equal(shown.too_small, String(Math.max(...by((row) => row.outcome === "infeasible"))));
    assert.equal(shown.points, "7");
    assert.equal(shown.traffic, rows.find((row) => row.capacity === shown.smallest).avoidable);
    assert.ok(
      Math.abs(Number(shown.seconds) - rows.reduce((all, row) => all + Number(row.seconds), 0)) <
        1e-4,
    );
  });

  test("draws each point where its numbers are", async () => {
    const { page } = report;
    const places = await page.evaluate(() => {
      const { chart, sweep } = window.berth;
      const picture = chart.stage.querySelector("svg");
      const marks = Object.fromEntries(
        [...picture.querySelectorAll("[data-kind]")].map((path) => [
          path.dataset.kind,
          path.getAttribute("d").split("M").length - 1,
        ]),
      );
      return { marks, points: Array.from({ length: sweep.n }, (_, i) => chart.at(i)) };
    });
    const count = (outcome) => rows.filter((row) => row.outcome === outcome).length;
    for (const outcome of ["optimal", "feasible", "infeasible"])
      assert.equal(places.marks[outcome] ?? 0, count(outcome), outcome);
    // To the right for more memory, upwards for more traffic: by equal steps on straight axes.
    const planned = rows
      .map((row, i) => ({
        ...places.points[i],
        c: Number(row.capacity),
        t: Number(row.avoidable),
        ok: row.avoidable !== "",
      }))
      .filter((p) => p.ok);
    const log = await page.evaluate(() => ({
      x: window.berth.chart.scale === "log",
      y: window.berth.chart.logTraffic,
    }));
    const unit = (value, on) => (on ? Math.log2(value) : value);
    const [a, b] = [
      planned.reduce((x, y) => (x.c < y.c ? x : y)),
      planned.reduce((x, y) => (x.c > y.c ? x : y)),
    ];
    for (const p of planned) {
      const part = (unit(p.c, log.x) - unit(a.c, log.x)) / (unit(b.c, log.x) - unit(a.c, log.x));
      assert.ok(Math.abs(p.x - (a.x + part * (b.x - a.x))) < 0.01, `${p.c}`);
      assert.ok(Math.abs(p.y - (b.y + ((p.t - b.t) / (a.t - b.t)) * (a.y - b.y))) < 0.01, `${p.t}`);
    }
  });

  test("a point answers to the mouse and to keys", async () => {
    const { page } = report;
    const index = rows.findIndex((row) => row.capacity === "1200000");
    const at = await page.evaluate((i) => {
      const box = window.berth.chart.stage.getBoundingClientRect();
      const { x, y } = window.berth.chart.at(i);
      return { x: x + box.left, y: y + box.top };
    }, index);
    await page.mouse.move(at.x + 3, at.y - 2);
    assert.ok((await page.locator(".tip").textContent()).includes(grouped(1200000)));
    await page.mouse.click(at.x + 1, at.y);
    assert.equal(await page.evaluate(() => window.berth.selected), index);
    const facts = await page.locator(".details").textContent();
    for (const value of [rows[index].capacity, rows[index].avoidable])
      assert.ok(facts.includes(grouped(value)), value);
    assert.ok(facts.includes("--budget 1200000"));
    assert.equal(await page.locator('#panel-points [aria-selected="true"]').count(), 1);
    await page.locator(".stage").focus();
    await page.keyboard.press(".");
    const next = await page.evaluate(() => window.berth.selected);
    const larger = rows.map((row) => Number(row.capacity)).filter((c) => c > 1200000);
    assert.equal(Number(rows[next].capacity), Math.min(...larger));
    await page.keyboard.press(",");
    assert.equal(await page.evaluate(() => window.berth.selected), index);
    await page.keyboard.press("Escape");
    assert.equal(await page.evaluate(() => window.berth.selected), -1);
    await page.locator('#panel-points [data-at="2"]').click();
    assert.equal(await page.evaluate(() => window.berth.selected), 2);
  });

  test("zooms, pans, and changes its axes", async () => {
    const { page } = report;
    const view = () => page.evaluate(() => window.berth.chart.view);
    const box = await page.locator(".stage").boundingBox();
    const whole = await view();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.wheel(0, -500);
    await page.waitForFunction((x1) => window.berth.chart.view.x1 < x1, whole.x1);
    const near = await view();
    assert.ok(near.x1 - near.x0 < 0.6 * (whole.x1 - whole.x0));
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 - 90, box.y + box.height / 2, { steps: 3 });
    await page.mouse.up();
    assert.ok((await view()).x0 > near.x0);
    await page.locator(".stage").focus();
    await page.keyboard.press("0");
    assert.deepEqual(await view(), whole);
    await page.getByLabel("Log traffic").check();
    assert.ok(await page.evaluate(() => window.berth.chart.logTraffic));
    // Zero has a place of its own below the rest.
    await settled(page);
    assert.ok((await page.locator(".stage svg").textContent()).includes("0 B"));
    await page.getByLabel("Log traffic").uncheck();
  });

  test("search and filters", async () => {
    const { page } = report;
    const count = (test) => rows.filter(test).length;
    for (const [query, wanted] of [
      ["is:infeasible", count((row) => row.outcome === "infeasible")],
      ["capacity>=1200000", count((row) => Number(row.capacity) >= 1200000)],
      [
        "traffic>0 capacity<1.2MiB",
        count(
          (row) =>
            row.avoidable !== "" &&
            Number(row.avoidable) > 0 &&
            Number(row.capacity) < 1.2 * 1048576,
        ),
      ],
      ["cells", 7],
      ["nobody", 0],
    ]) {
      await search(page, query);
      assert.equal(
        await page.locator(".matches").textContent(),
        wanted === 7 ? "" : `${wanted} of 7`,
        query,
      );
      assert.equal(await page.locator("#panel-points [data-at]").count(), wanted, query);
    }
    await search(page, "capacity<much");
    assert.match(await page.locator(".matches").textContent(), /is not a size such as/);
    await search(page, "");
  });

  test("links lead back", async () => {
    const { page } = report;
    await page.getByLabel("Log traffic").check();
    await page.evaluate(() => window.berth.select(4, true));
    const hash = await linkOnceOn(page, "about");
    const again = await open(shop.path("one.html"), { hash });
    await again.page.waitForFunction(() => window.berth.selected === 4);
    assert.ok(await again.page.getByLabel("Log traffic").isChecked());
    assert.equal(await again.page.locator("#tab-about").getAttribute("aria-selected"), "true");
    assert.deepEqual(again.faults, []);
    await again.close();
    await page.getByLabel("Log traffic").uncheck();
  });

  test("says where it comes from", async () => {
    const { page } = report;
    await page.click("#tab-about");
    const shown = await about(page);
    assert.equal(shown.input, rows[0].input);
    assert.equal(shown["node limit"], "20,000 for each point");
    assert.equal(shown["time limit"], "none");
    assert.equal(shown.seed, "1");
    assert.equal(shown["solved by this run"], "7 points");
    assert.equal(shown["berth version"], shop.berth(["--version"]).stdout.trim().split(" ").at(-1));
    assert.match(shown.verifier, /^accepted every plan/);
    await page.click("#tab-points");
  });

  test("saves pictures and the table, which the command reads again", async () => {
    const { page } = report;
    await search(page, "");
    const files = {};
    for (const format of ["svg", "png", "csv", "txt"]) {
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByLabel("Save").selectOption(format),
      ]);
      assert.equal(download.suggestedFilename(), `cells.onnx.sweep.${format}`);
      files[format] = readFileSync(await download.path());
    }
    assert.match(files.svg.toString(), /^<svg [^]*<\/svg>\n$/);
    assert.equal(files.png.subarray(1, 4).toString(), "PNG");
    assert.ok(files.txt.toString().includes(rows[2].avoidable));
    shop.write("saved.csv", files.csv.toString());
    shop.berth(["sweep", "--merge", "saved.csv", "-o", "again.csv"]);
    assert.equal(shop.read("again.csv"), shop.read("one.csv"));
  });

  test("is accessible in light, dark and narrow; prints every table", async () => {
    const { page } = report;
    await page.evaluate(() => window.berth.select(1, true));
    for (const tab of ["points", "about"]) {
      await page.click(`#tab-${tab}`);
      assert.deepEqual(await accessibility(page), [], tab);
    }
    await page.getByRole("button", { name: "Light or dark" }).click();
    assert.deepEqual(await accessibility(page), [], "dark");
    await page.setViewportSize({ width: 420, height: 800 });
    assert.deepEqual(await accessibility(page), [], "narrow");
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
    await page.setViewportSize({ width: 1440, height: 1000 });
    await page.emulateMedia({ media: "print" });
    await settled(page);
    for (const tab of ["points", "about"])
      assert.ok(await page.locator(`#panel-${tab}`).isVisible(), tab);
    assert.equal(await page.locator("#panel-points [data-at]").count(), 7);
    await page.emulateMedia({ media: "screen" });
    assert.deepEqual(report.faults, []);
  });
});

test("many models: hidden by the legend, walked by keys, each in a table", async () => {
  shop.write("small.json", JSON.stringify(trainingGraph(12)));
  shop.berth([
    "sweep",
    join(root, "examples", "cells.onnx"),
    "small.json",
    "--points",
    "4",
    "--node-limit",
    "5000",
    "-o",
    "two.csv",
    "--report",
    "two.html",
  ]);
  const rows = csv(shop.read("two.csv"));
  const report = await open(shop.path("two.html"));
  const { page } = report;
  compare(await shownPoints(page, rows.length), rows, true);
  const shown = await figures(page);
  assert.deepEqual([shown.models, shown.points], ["2", "8"]);
  await page.click("#tab-models");
  const models = await page.$$eval("#panel-models [data-at]", (all) =>
    all.map((row) => [...row.children].map((cell) => cell.textContent)),
  );
  for (const [name, count, proved, free, smallest, traffic] of models) {
    const own = rows.filter((row) => row.model === name);
    const planned = own
      .filter((row) => row.avoidable !== "")
      .sort((x, y) => x.capacity - y.capacity);
    assert.equal(count, String(own.length));
    assert.equal(
      proved,
      String(own.filter((row) => /optimal|infeasible/.test(row.outcome)).length),
    );
    assert.equal(free, grouped(planned.find((row) => row.avoidable === "0")?.capacity ?? "–"));
    assert.deepEqual([smallest, traffic], [planned[0].capacity, planned[0].avoidable].map(grouped));
  }
  await page.locator('#panel-models [data-at="1"]').click();
  const picked = rows
    .filter((row) => row.model === models[1][0] && row.avoidable !== "")
    .reduce((x, y) => (Number(x.capacity) < Number(y.capacity) ? x : y));
  assert.equal(
    await page.evaluate(() => window.berth.sweep.value(window.berth.selected, "capacity")),
    Number(picked.capacity),
  );
  await page.keyboard.press("Escape");
  await page.locator(".stage").focus();
  await page.keyboard.press(".");
  const first = await page.evaluate(() => window.berth.sweep.model(window.berth.selected));
  await page.keyboard.press("]");
  assert.notEqual(
    await page.evaluate(() => window.berth.sweep.model(window.berth.selected)),
    first,
  );
  await page.locator(".legend button").first().click();
  await settled(page);
  assert.equal(await page.locator(".matches").textContent(), "4 of 8");
  assert.equal(await page.locator(".stage [data-curve]").count(), 1);
  assert.deepEqual(await accessibility(page), []);
  assert.deepEqual(report.faults, []);
  await report.close();
});

test("one point, no traffic anywhere, no plan anywhere", async () => {
  for (const [name, rows, words] of [
    ["single", [point("m", 0, 4096, 100, 60)], "less may be possible"],
    [
      "zero",
      [0, 1, 2].map((k) => point("m", k, 4096 - k, 0, 0)),
      "Nothing is spilled at any of these capacities.",
    ],
    [
      "nothing",
      [point("m", 0, 0, null, 0, "infeasible"), point("m", 1, 1, null, 0, "infeasible")],
      "does not fit",
    ],
    ["unknown", [point("m", 0, 4096, null, 77, "unknown")], "no plan found"],
  ]) {
    const written = merged(name, rows);
    const report = await open(shop.path(`${name}.html`));
    const { page } = report;
    compare(await shownPoints(page, written.length), written, false);
    assert.ok((await page.locator("#app").textContent()).includes(words), name);
    await page.getByLabel("Log traffic").click();
    for (const scale of ["share", "bytes", "log"]) {
      await page.getByLabel("Memory", { exact: true }).selectOption(scale);
      await settled(page);
      const broken = await page.$$eval(
        ".stage svg *",
        (all) =>
          all.filter((one) => /NaN|Infinity|undefined/.test(one.outerHTML.split(">")[0])).length,
      );
      assert.equal(broken, 0, `${name}, ${scale}`);
      // Where nothing is known but zero, the axis has no other place.
      const left = await page.$$eval('.stage svg text[text-anchor="end"]', (all) =>
        all.map((one) => one.textContent).filter((text) => /^\d.* B$/.test(text)),
      );
      if (["zero", "nothing"].includes(name)) assert.deepEqual(left, ["0 B"], `${name}, ${scale}`);
    }
    await page.evaluate(() => window.berth.select(0, true));
    assert.deepEqual(await accessibility(page), [], name);
    assert.deepEqual(report.faults, [], name);
    await report.close();
  }
});

test("what is proved of one order is not said of all", async () => {
  const model = join(root, "examples", "cells.onnx");
  shop.write("a.json", JSON.stringify(trainingGraph(4)));
  shop.berth([
    "sweep",
    model,
    "--budget",
    "MP,MR",
    "--program-order",
    "-o",
    "fixed.csv",
    "--report",
    "fixed.html",
  ]);
  assert.deepEqual(
    csv(shop.read("fixed.csv")).map((row) => row.outcome),
    ["optimal", "optimal"],
  );
  const fixed = await open(shop.path("fixed.html"));
  assert.match(
    await fixed.page.locator(".badge").textContent(),
    /no plan in program order has less traffic/,
  );
  assert.match(
    await fixed.page.locator(".chart-key").textContent(),
    /proved the least in program order/,
  );
  await fixed.page.evaluate(() => window.berth.select(1, true));
  const details = await fixed.page.locator(".details").textContent();
  assert.match(details, /proved the least in program order/);
  assert.match(details, /--budget \d+ --order program$/);
  await fixed.close();
  shop.berth(["sweep", "a.json", "--budget", "MP", "-o", "free.csv"]);
  shop.berth(["sweep", "--merge", "fixed.csv", "free.csv", "--report", "both.html"]);
  const both = await open(shop.path("both.html"));
  assert.match(
    await both.page.locator(".badge").textContent(),
    /no plan in the orders allowed has less traffic/,
  );
  assert.deepEqual([...fixed.faults, ...both.faults], []);
  await both.close();
});

test("nothing in the picture is cut off at 400 pixels", async () => {
  shop.berth(["sweep", join(root, "examples", "cells.onnx"), "--report", "narrow.html"]);
  const report = await open(shop.path("narrow.html"), { viewport: { width: 400, height: 800 } });
  const outside = await report.page.evaluate(() => {
    const texts = [...document.querySelectorAll(".stage svg text, svg text")];
    const names = texts.map(({ textContent }) => textContent);
    if (!names.includes("MR") || !names.includes("MP")) return names;
    return texts
      .filter((text) => {
        const [own, all] = [text, text.ownerSVGElement].map((one) => one.getBoundingClientRect());
        return own.left < all.left || own.right > all.right + 1 || own.right > innerWidth;
      })
      .map(({ textContent }) => textContent);
  });
  assert.deepEqual(outside, []);
  const clipped = await report.page.evaluate(() =>
    [...document.querySelectorAll("svg [clip-path] text")]
      .filter((text) => {
        const url = text.closest("[clip-path]").getAttribute("clip-path");
        const clip = document.querySelector(url.slice(4, -1).replaceAll('"', ""));
        const { x, width } = clip.querySelector("rect").getBBox();
        const box = text.getBBox();
        return box.x < x || box.x + box.width > x + width;
      })
      .map(({ textContent }) => textContent),
  );
  assert.deepEqual(clipped, []);
  await report.close();
});

test("a sweep of which no point is ours", async () => {
  shop.berth([
    "sweep",
    join(root, "examples", "cells.onnx"),
    "--budget",
    "MR",
    "--shard",
    "2/2",
    "--report",
    "empty.html",
  ]);
  const report = await open(shop.path("empty.html"));
  assert.match(await report.page.locator("header").textContent(), /No points/);
  assert.match(await report.page.locator("#panel-points").textContent(), /No point passes/);
  await report.page.locator(".stage").focus();
  for (const key of [".", ",", "]", "n", "0", "+"]) await report.page.keyboard.press(key);
  assert.deepEqual(report.faults, []);
  await report.close();
});

test("hostile names of models do no harm", async () => {
  const names = hostileNames.filter((name) => !/[\n\r]/.test(name));
  const written = merged(
    "hostile",
    names.flatMap((name) => [point(name, 0, 2000, 0, 0), point(name, 1, 1000, 300, 200)]),
  );
  const report = await open(shop.path("hostile.html"));
  const { page } = report;
  assert.deepEqual(
    await page.evaluate(() => window.berth.sweep.curves.map((curve) => curve.model)),
    [...new Set(written.map((row) => row.model))],
  );
  for (let i = 0; i < written.length; ++i)
    await page.evaluate((k) => window.berth.select(k, true), i);
  for (const tab of ["models", "about", "points"]) await page.click(`#tab-${tab}`);
  await settled(page);
  assert.equal(await page.locator("img").count(), 0);
  assert.equal(await page.locator("script").count(), 2);
  assert.ok(!/[\u202a-\u202e\u2066-\u2069]/.test(await page.locator("#app").textContent()));
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByLabel("Save").selectOption("csv"),
  ]);
  shop.write("hostile.saved.csv", readFileSync(await download.path(), "utf8"));
  shop.berth(["sweep", "--merge", "hostile.saved.csv", "-o", "hostile.again.csv"]);
  assert.equal(shop.read("hostile.again.csv"), shop.read("hostile.all.csv"));
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
  assert.deepEqual(report.faults, []);
  await report.close();
});

test("numbers beyond 2^53 keep every digit", async () => {
  const rows = [
    { ...point("m", 0, 0, 0, 0), capacity: "1152921504606846975", seconds: 0.1234567 },
    {
      ...point("m", 1, 0, 0, 0),
      capacity: "1152921504606846001",
      avoidable: "1152921504606000001",
      spilled: "1152921504606000000",
      retrieved: "1",
      traffic_bound: "1152921504605999999",
      traffic_by_sum: "1152921504606000001",
      outcome: "feasible",
    },
  ];
  const written = merged("huge", rows);
  const report = await open(shop.path("huge.html"));
  compare(await shownPoints(report.page, 2), written, false);
  assert.equal((await figures(report.page)).smallest, "1152921504606846001");
  assert.deepEqual(report.faults, []);
  await report.close();
});

test("thousands of points: quick, and all of them in the table", async (context) => {
  const models = 40;
  const each = 200;
  const rows = [];
  for (let m = 0; m < models; ++m) {
    for (let k = 0; k < each; ++k) {
      const traffic = k * k * (m + 3) * 64;
      rows.push(
        point(
          `model ${m}`,
          k,
          (each - k) * 4096 * (m + 1),
          traffic,
          k % 3 ? traffic : Math.floor(traffic / 2),
        ),
      );
    }
  }
  merged("large", rows);
  const report = await open(shop.path("large.html"));
  const { page } = report;
  assert.equal((await figures(page)).points, "8000");
  assert.equal(await page.locator("#panel-points .table").getAttribute("aria-rowcount"), "8001");
  const work = async () => {
    const { metrics } = await report.session.send("Performance.getMetrics");
    return 1000 * metrics.find((metric) => metric.name === "TaskDuration").value;
  };
  const first = await work();
  const frames = 30;
  await page.evaluate(async (count) => {
    for (let i = 0; i < count; ++i) {
      window.berth.chart.zoom(2 * i < count ? 0.9 : 1 / 0.9, "both", { x: 500, y: 250 });
      await new Promise((done) => requestAnimationFrame(done));
    }
  }, frames);
  const perFrame = ((await work()) - first) / frames;
  context.diagnostic(
    `${(statSync(shop.path("large.html")).size / 1e6).toFixed(2)} MB; ` +
      `first picture: ${first.toFixed(0)} ms of work; a frame: ${perFrame.toFixed(1)} ms of work`,
  );
  assert.ok(first < 2000, `${first} ms until the first picture`);
  assert.ok(perFrame < 1000 / 30, `${perFrame} ms for a frame`);
  await search(page, '"model 7" traffic>1MiB');
  const matching = rows.filter((row) => row.model === "model 7" && row.avoidable > 2 ** 20).length;
  assert.ok(matching > 0);
  assert.equal(await page.locator(".matches").textContent(), `${matching} of 8,000`);
  await page.keyboard.press("Enter");
  assert.equal(
    await page.evaluate(() => window.berth.sweep.model(window.berth.selected)),
    "model 7",
  );
  assert.deepEqual(report.faults, []);
  await report.close();
});

describe("a sweep with recomputation", () => {
  const tensor = (id, bytes) => ({ id, name: `t${id}`, bytes, kind: "activation" });
  const node = (name, inputs, output, cost) => ({
    name,
    op: "Op",
    inputs,
    outputs: [output],
    cost,
  });
  // What t0 holds has to wait for the last operator, be made again, or be copied.
  const graph = {
    format: "berth-graph",
    format_version: 1,
    name: "waits",
    cost_unit: "ns",
    nodes: [
      node("first", [], 0, 45),
      node("second", [0], 1, 1000),
      node("third", [1], 2, 1000),
      node("last", [0, 2], 3, 1000),
    ],
    tensors: [tensor(0, 4), tensor(1, 6), tensor(2, 6), tensor(3, 2)],
  };
  let report;
  before(async () => {
    shop.write("waits.json", JSON.stringify(graph));
    const words = ["waits.json", "--recompute", "--budget", "MP,MR,3"];
    shop.berth(["sweep", ...words, "-o", "waits.csv", "--report", "waits.html"]);
    report = await open(shop.path("waits.html"));
  });
  after(() => report.close());

  test("shows the cost as a share of a run, what runs again, and what does not fit", async () => {
    const { page } = report;
    assert.deepEqual(report.faults, []);
    const rows = await shownPoints(page, 3);
    assert.deepEqual(
      rows.map((row) => row.slice(0, 6)),
      [
        ["16", "optimal", "0 %", "0 %", "0", "0 ns"],
        ["12", "optimal", "1.48 %", "1.48 %", "1", "45 ns"],
        ["3", "infeasible", "–", "–", "–", "–"],
      ],
    );
    const found = await figures(page);
    assert.equal(found.cost, "45");
    assert.equal(found.free, "16");
    assert.match(await page.textContent("header"), /operator third alone needs 12 B/);
    const chart = await page.textContent(".chart");
    assert.match(chart, /third alone needs 12 B/);
    assert.match(chart, /(?<![\d.])0 %.*1 %/);
  });
  test("tells what a point costs and how to get its plan", async () => {
    const { page } = report;
    await page.evaluate(() => window.berth.select(1, true));
    await settled(page);
    const text = await page.textContent("aside");
    assert.match(text, /Cost\s*1\.48 % of a run\s*45 ns/);
    assert.match(text, /Run again\s*1 executions/);
    assert.match(text, /berth plan … --budget 12 --recompute/);
    assert.deepEqual(await accessibility(page), []);
  });
  test("the page of one of its plans names what runs again, and where", async () => {
    shop.berth(["plan", "waits.json", "--recompute", "--budget", "12", "--report", "plan.html"]);
    const plan = await open(shop.path("plan.html"));
    const top = await plan.page.textContent("header");
    assert.match(top, /operators run again: no plan without spills costs less/);
    assert.match(top, /cost 45 ns; proved the least; first at step 3/);
    assert.equal((await figures(plan.page)).again, "1");
    assert.deepEqual(plan.faults, []);
    await plan.close();
  });
  test("saves the table that the command writes", async () => {
    const { page } = report;
    const blob = await page.evaluate(async () => (await window.berth.file("csv")).text());
    const untimed = (text) => text.replace(/,[\d.e-]+,fnv/g, ",fnv");
    assert.equal(untimed(blob), untimed(shop.read("waits.csv")));
  });
  test("has a second line for copies over a link", async () => {
    const device = {
      format: "berth-device",
      format_version: 1,
      operations_per_second: 1,
      bandwidth: "1GB/s",
      launch_ns: 100,
      link: { out: "1GB/s", in: "1GB/s", latency_ns: 0 },
    };
    shop.write("device.json", JSON.stringify(device));
    const free = { ...graph, nodes: graph.nodes.map(({ cost, ...rest }) => rest) };
    delete free.cost_unit;
    shop.write("copied.json", JSON.stringify(free));
    const words = ["copied.json", "--recompute", "--budget", "MP,MR", "--device", "device.json"];
    shop.berth(["sweep", ...words, "-o", "copied.csv", "--report", "copied.html"]);
    const copied = await open(shop.path("copied.html"));
    const lines = await copied.page.$$eval("[data-line]", (all) =>
      all.map((line) => line.dataset.line),
    );
    assert.deepEqual(lines.sort(), ["bound", "copies", "traffic"]);
    const [, last] = await shownPoints(copied.page, 2);
    // Eight bytes at a byte for each nanosecond, out and in.
    assert.deepEqual(last.slice(4, 8), ["0", "8 ns", "8 ns", "8"]);
    assert.deepEqual(copied.faults, []);
    await copied.close();
  });
});
