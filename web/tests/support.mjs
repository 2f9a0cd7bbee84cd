// What the browser tests share: the page in a real browser, which may neither log errors nor use
// the network.
//
// Needs dist/berth.html (scripts/web) and a Chromium (CHROMIUM, or /usr/bin/chromium); with
// BERTH_BROWSER=firefox a Firefox (FIREFOX, or /usr/bin/firefox-esr) instead.
import { createServer } from "node:http";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import playwright from "playwright-core";
import { browserOf, faultsOfAccess, pathOf } from "../../src/report/app/tests/browser.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const here = dirname(fileURLToPath(import.meta.url));
export const root = join(here, "..", "..");
export const example = (name) => join(root, "examples", name);
export const PAGE = join(here, "..", "dist", "berth.html");
export const data = process.env.BERTH_DATA;
export const command = process.env.BERTH ?? join(root, "build/release/tools/berth/berth");
export const hasCommand = existsSync(command);

/** Which browser: $BERTH_BROWSER, or Chromium. */
export const browserName = process.env.BERTH_BROWSER ?? "chromium";
export const hasBrowser = existsSync(pathOf(browserName));
export const { launch, close } = browserOf(playwright, browserName);

/** Opens the page. `faults` gathers whatever should not be. */
export async function open(options = {}) {
  const { url = pathToFileURL(PAGE).href, hash = "", ...context } = options;
  const window = await (
    await launch()
  ).newContext({ viewport: { width: 1440, height: 1000 }, acceptDownloads: true, ...context });
  const page = await window.newPage();
  const faults = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("request", (request) => {
    if (!/^(blob|data):/.test(request.url()) && request.url().split("#")[0] !== url)
      faults.push(`request: ${request.url()}`);
  });
  await page.goto(url + hash);
  await page.waitForFunction(() => window.app !== undefined);
  return { page, faults, close: () => window.close() };
}

/** The page from a server on this machine. */
export async function serve() {
  const server = createServer((request, response) => {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
    response.end(readFileSync(PAGE));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    close: () => new Promise((done) => server.close(done)),
  };
}

const payload = (file) =>
  typeof file === "string"
    ? { name: basename(file), bytes: readFileSync(file) }
    : { name: file.name, bytes: Buffer.from(file.bytes) };

/** Drops files on the page, as a person does. */
export async function drop(page, ...files) {
  const given = files.map((file) => {
    const { name, bytes } = payload(file);
    return { name, base64: bytes.toString("base64") };
  });
  await page.evaluate((list) => {
    const transfer = new DataTransfer();
    for (const { name, base64 } of list) {
      const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
      transfer.items.add(new File([bytes], name));
    }
    document.body.dispatchEvent(
      new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }),
    );
  }, given);
}
/** Waits for the plan after the `count` that were shown before. */
export async function planned(page, before = 0) {
  await page.waitForFunction((n) => window.app.plans > n, before, { timeout: 60000 });
}
export const plans = (page) => page.evaluate(() => window.app.plans);
/** Does something and waits for the plan that follows. */
export async function replan(page, act) {
  const before = await plans(page);
  await act();
  await planned(page, before);
}
export const status = (page) => page.locator(".search-text").textContent();
export const settled = (page) =>
  page.evaluate(async () => {
    for (let i = 0; i < 2; ++i) await new Promise((done) => requestAnimationFrame(done));
  });

/** What is taken away by the menu. Over BiDi nobody hears of downloads: there the page's own blob and
 * the link to it are looked at. */
export async function take(page, kind) {
  const menu = page.getByRole("combobox", { name: "Download" });
  if (browserName === "chromium") {
    const [download] = await Promise.all([page.waitForEvent("download"), menu.selectOption(kind)]);
    return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
  }
  await page.evaluate(() => {
    window.taken = null;
    const make = URL.createObjectURL;
    URL.createObjectURL = (blob) => {
      window.blob = blob;
      return make.call(URL, blob);
    };
    HTMLAnchorElement.prototype.click = function () {
      const name = this.download;
      void blob.arrayBuffer().then((buffer) => {
        let text = "";
        for (const byte of new Uint8Array(buffer)) text += String.fromCharCode(byte);
        window.taken = { name, base64: btoa(text) };
      });
    };
  });
  await menu.selectOption(kind);
  await page.waitForFunction(() => window.taken);
  const { name, base64 } = await page.evaluate(() => window.taken);
  return { name, bytes: Buffer.from(base64, "base64") };
}

/** Serious faults of accessibility, by axe-core. */
export const accessibility = (page) => faultsOfAccess(page, axe);
