// @berth/planner: Berth's planner as WebAssembly, in any thread of a browser or of Node.
//
//   import { load } from "@berth/planner";
//   const planner = await load();
//   const plan = planner.plan(bytes, { capacity: "256KiB" }, { name: "model.onnx" });
//   console.log(plan.summary.outcome, plan.summary.height, plan.json());
//   plan.free();
//
// Calls return when the search has ended; a page makes them in a worker (./worker).
import { startEngine } from "./engine";
import { Planner, type Arrays, type Options, type Placement, type Watched } from "./planner";

export { BerthError, type Progress } from "./abi";
export * from "./planner";

/** Starts a planner of its own. `wasm`: the bytes of engine.wasm or the module compiled of them;
 * without it, the file beside this one. */
export async function load(wasm?: BufferSource | WebAssembly.Module): Promise<Planner> {
  return new Planner(await startEngine(wasm ?? (await ownWasm())));
}

async function ownWasm(): Promise<BufferSource> {
  const url = new URL("./engine.wasm", import.meta.url);
  if (url.protocol === "file:" && typeof process === "object") {
    const { readFile } = await import("node:fs/promises");
    return readFile(url);
  }
  return (await fetch(url)).arrayBuffer();
}
declare const process: unknown;

let shared: Promise<Planner> | null = null;
const own = () => (shared ??= load());

/** What `Planner.plan()` finds, as data and files, with nothing to free. */
export async function plan(bytes: Uint8Array, options: Options = {}, watched: Watched = {}) {
  const made = (await own()).plan(bytes, options, watched);
  try {
    const { summary } = made;
    return { summary, json: made.json(), csv: summary.addressed ? made.csv() : null };
  } finally {
    made.free();
  }
}
/** Places buffers with known lifetimes. */
export async function place(arrays: Arrays, options: Options = {}): Promise<Placement> {
  return (await own()).place(arrays, options);
}
