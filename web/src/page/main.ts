// The entry point: unpacks the planner, takes what the page was given, and starts.
import { App } from "./app";
import { Desk } from "./desk";
import type { Example } from "./welcome";

const element = (id: string) => document.getElementById(id)!;
const textOf = (id: string) => {
  const text = element(id).textContent!.trim();
  element(id).remove(); // It is large, and needed once.
  return text;
};
const bytesOf = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));

async function inflated(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

const wasm = inflated(bytesOf(textOf("wasm"))).then((bytes) => WebAssembly.compile(bytes));
wasm.catch(() => {}); // Whoever asks for it hears.
const program = URL.createObjectURL(new Blob([textOf("worker")], { type: "text/javascript" }));
const desk = new Desk(() => new Worker(program), wasm);

interface Packed {
  name: string;
  title: string;
  base64: string;
}
const examples = (JSON.parse(textOf("examples")) as Packed[]).map(
  ({ name, title, base64 }): Example => ({ name, title, bytes: bytesOf(base64) }),
);
const app = new App(element("app"), desk, examples);
app.start();
void desk.prepare();
const given = textOf("given");
if (given.startsWith("[")) {
  // By `berth view`.
  const files = (JSON.parse(given) as { name: string; base64: string }[]).map((file) => ({
    name: file.name,
    bytes: bytesOf(file.base64),
  }));
  if (files.length) void app.show(files);
}
Object.assign(window, { app });
