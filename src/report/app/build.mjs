// Builds dist/page.html, the page that the library embeds: the program and its style in one file.
//   node build.mjs           writes it
//   node build.mjs --check   fails where the file that is checked in is not what it would write
import { build } from "esbuild";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

async function bundle(entry, options) {
  const result = await build({
    entryPoints: [join(here, "src", entry)],
    bundle: true,
    minify: true,
    write: false,
    charset: "ascii", // The library holds the page as bytes of ASCII.
    target: ["chrome100", "firefox100", "safari15.4"],
    legalComments: "none",
    ...options,
  });
  // Within the page a "</" would end the element that the text is in.
  return result.outputFiles[0].text.trim().replaceAll("</", "<\\/");
}

const script = await bundle("main.ts", { format: "iife" });
const style = await bundle("style.css", {});
const template = await readFile(join(here, "src", "page.html"), "utf8");
const page = template.replace("@STYLE@", () => style).replace("@SCRIPT@", () => script);
const target = join(here, "dist", "page.html");
if (process.argv.includes("--check")) {
  if ((await readFile(target, "utf8")) !== page) {
    console.error("dist/page.html is out of date: run npm run build in src/report/app");
    process.exit(1);
  }
} else {
  await writeFile(target, page);
  console.log(`dist/page.html: ${(page.length / 1024).toFixed(1)} KiB`);
}
