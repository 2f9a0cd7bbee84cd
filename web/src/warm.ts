// Small plans that nobody asked for. A browser compiles a function of WebAssembly when it is called for
// the first time, and well only after it has run for a while: without these, the first plan of somebody's
// file may take several times as long as the next.
import type { Planner } from "./planner";

/** Milliseconds, of which a file that comes meanwhile waits for one plan at most. */
const MOST = 600;
const NODES = 2000;
/** Plans made even in a slow browser: the graph and a table. */
const LEAST = 2;

/** Buffers whose plans need a search, as a table. */
function table(seed: number): string {
  let state = seed;
  const next = (below: number) => (state = (state * 48271) % 2147483647) % below;
  const rows = ["id,lower,upper,size"];
  for (let i = 0; i < 100; ++i) {
    const from = next(80);
    rows.push(`b${i},${from},${from + 2 + next(24)},${16 * (1 + next(900))}`);
  }
  return rows.join("\n");
}

/** Two chains of operators that meet, of which a small memory holds one. */
function graph(): string {
  const tensors = [{ name: "in", bytes: 64, kind: "input" }];
  const nodes = [];
  const ends = [0, 0];
  for (let i = 0; i < 24; ++i) {
    const made = tensors.push({
      name: `t${i}`,
      bytes: 256 * (1 + ((i * 7) % 5)),
      kind: "activation",
    });
    nodes.push({ name: `n${i}`, op: "Op", inputs: [ends[i % 2]], outputs: [made - 1] });
    ends[i % 2] = made - 1;
  }
  const made = tensors.push({ name: "out", bytes: 64, kind: "output" });
  nodes.push({ name: "join", op: "Op", inputs: ends, outputs: [made - 1] });
  return JSON.stringify({ format: "berth-graph", format_version: 1, nodes, tensors });
}

/** Plans until `wanted` says that something was asked, or time is up. Returns the nodes of the searches. */
export async function warmUp(planner: Planner, wanted: () => boolean): Promise<number> {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const began = performance.now();
  let nodes = 0;
  for (let k = 0; !wanted() && (k < LEAST || performance.now() - began < MOST); ++k) {
    const made = planner.plan(bytes(k === 0 ? graph() : table(k)), { node_limit: NODES });
    nodes += made.summary.nodes;
    made.page();
    made.free();
    await new Promise((done) => setTimeout(done)); // Messages are heard only between two tasks.
  }
  return nodes;
}
