// What prettier and tsc do not check: fails where files of src import each other in a circle (types
// included), and where a line is longer than 100 columns.
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const COLUMNS = 100;
const here = dirname(fileURLToPath(import.meta.url));
const faults = [];

for (const folder of ["src", "tests", "."]) {
  for (const file of readdirSync(join(here, folder)).filter((name) =>
    /\.(ts|mjs|css)$/.test(name),
  )) {
    const lines = readFileSync(join(here, folder, file), "utf8").split("\n");
    lines.forEach((line, i) => {
      if ([...line].length > COLUMNS)
        faults.push(`${folder}/${file}:${i + 1}: over ${COLUMNS} columns`);
    });
  }
}

const imports = new Map();
for (const file of readdirSync(join(here, "src")).filter((name) => name.endsWith(".ts"))) {
  const text = readFileSync(join(here, "src", file), "utf8");
  const found = [...text.matchAll(/\bfrom\s+"\.\/([\w-]+)"/g)].map((match) => `${match[1]}.ts`);
  imports.set(file, found);
}
const done = new Set();
function visit(file, path) {
  if (path.includes(file)) {
    faults.push(`Import circle: ${[...path.slice(path.indexOf(file)), file].join(" -> ")}`);
  } else if (!done.has(file)) {
    for (const next of imports.get(file) ?? []) visit(next, [...path, file]);
    done.add(file);
  }
}
for (const file of imports.keys()) visit(file, []);

for (const fault of faults) console.error(fault);
process.exit(faults.length ? 1 : 0);
