// "conv size>1MiB live:12 at:peak": words that a buffer's names contain, and conditions; all must
// hold. A word in quotes may hold blanks.
import { CHANGES } from "./colors";
import type { Plan, Uses } from "./data";
import { parseBytes } from "./format";

type Test = (i: number) => boolean;

export interface Filter {
  test: Test | null; // None: everything passes.
  fault: string; // What could not be understood.
}

export function parseFilter(query: string, plan: Plan, uses: Uses | null, changes: Uint8Array | null): Filter {
  const tests: Test[] = [];
  const graph = plan.raw.graph;
  const tensors = plan.raw.buffers.tensor;
  const makerOf = (i: number) => (uses && tensors ? uses.producer[tensors[i]!]! : -1);
  for (const match of query.matchAll(/"([^"]*)"?|(\S+)/g)) {
    const word = match[2];
    if (word === undefined) {
      tests.push(contains(match[1]!));
      continue;
    }
    const [, key, operator, value] = /^(\w+)(>=|<=|[:<>=])(.+)$/.exec(word) ?? [];
    const compare = (of: (i: number) => number, than: number): Test => {
      if (operator === ">") return (i) => of(i) > than;
      if (operator === "<") return (i) => of(i) < than;
      if (operator === ">=") return (i) => of(i) >= than;
      if (operator === "<=") return (i) => of(i) <= than;
      return (i) => of(i) === than;
    };
    const lower = value?.toLowerCase() ?? "";
    const sizes = { size: (i: number) => plan.size[i]!, offset: (i: number) => plan.y[i]! };
    const steps = {
      lifetime: (i: number) => plan.end[i]! - plan.start[i]!,
      start: (i: number) => plan.start[i]!,
      end: (i: number) => plan.end[i]!,
    };
    if (key && key in sizes) {
      const than = parseBytes(value!);
      if (Number.isNaN(than)) return { test: null, fault: `"${value}" is no size: 4096, 512KiB, 1.5MiB` };
      tests.push(compare(sizes[key as keyof typeof sizes], than));
    } else if (key && key in steps) {
      if (!/^-?\d+$/.test(value!)) return { test: null, fault: `"${value}" is no whole number` };
      tests.push(compare(steps[key as keyof typeof steps], Number(value)));
    } else if (key === "live") {
      if (!/^-?\d+$/.test(value!)) return { test: null, fault: `"${value}" is no step` };
      const step = Number(value);
      const r = plan.rectangles;
      const live = new Set<number>();
      for (let k = 0; k < r.buffer.length; ++k) {
        if (r.x0[k]! <= step && step < r.x1[k]!) live.add(r.buffer[k]!);
      }
      tests.push((i) => live.has(i));
    } else if (word === "at:peak") {
      tests.push((i) => plan.atPeak.has(i));
    } else if (word === "is:pinned") {
      tests.push((i) => plan.pinned.has(i));
    } else if (word === "is:aligned") {
      tests.push((i) => plan.alignment.has(i));
    } else if (key === "kind" && graph && tensors) {
      tests.push((i) => graph.tensors.kind[tensors[i]!]! === lower);
    } else if (key === "op" && graph) {
      tests.push((i) => {
        const step = makerOf(i);
        return step >= 0 && (graph.operators.type[step]! + " " + graph.operators.name[step]!).toLowerCase().includes(lower);
      });
    } else if (key === "is" && changes && CHANGES.includes(lower)) {
      const change = CHANGES.indexOf(lower);
      tests.push((i) => changes[i] === change);
    } else {
      tests.push(contains(word));
    }
  }
  return { test: tests.length ? (i) => tests.every((test) => test(i)) : null, fault: "" };

  function contains(text: string): Test {
    const wanted = text.toLowerCase();
    return (i) => {
      if (plan.name(i).toLowerCase().includes(wanted)) return true;
      const step = makerOf(i);
      return step >= 0 && graph !== null && graph.operators.name[step]!.toLowerCase().includes(wanted);
    };
  }
}
