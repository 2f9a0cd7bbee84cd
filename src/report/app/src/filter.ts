// "conv size>1MiB live:12 at:peak": words that a buffer's names contain, and conditions; all must
// hold. A word in quotes may hold blanks.
import { CHANGES } from "./colors";
import type { Plan, Uses } from "./data";
import { parseBytes } from "./format";

export type Test = (i: number) => boolean;

export interface Filter {
  test: Test | null; // None: everything passes.
  fault: string; // What could not be understood.
}

/** What a filter may ask of things that have numbers. */
export interface Rules {
  sizes: Record<string, (i: number) => number>; // In bytes.
  numbers: Record<string, (i: number) => number>;
  contains: (text: string) => Test; // Lower case.
  count: number; // Of the things.
  words: string[]; // All that may be asked, for messages: "size", "is:pinned".
  /** The test of a special word such as "at:peak", or what is wrong with it; null: not special. */
  special: (word: string, key: string, value: string) => Test | string | null;
}

const some = (count: number, test: Test): boolean => {
  for (let i = 0; i < count; ++i) if (test(i)) return true;
  return false;
};

export function parse(query: string, rules: Rules): Filter {
  const tests: Test[] = [];
  for (const match of query.matchAll(/"([^"]*)"?|(\S+)/g)) {
    const word = match[2];
    if (word === undefined) {
      tests.push(rules.contains(match[1]!.toLowerCase()));
      continue;
    }
    const [, key = "", operator = "", value = ""] = /^(\w+)(>=|<=|[:<>=])(.+)$/.exec(word) ?? [];
    const compare = (of: (i: number) => number, than: number): Test => {
      if (operator === ">") return (i) => of(i) > than;
      if (operator === "<") return (i) => of(i) < than;
      if (operator === ">=") return (i) => of(i) >= than;
      if (operator === "<=") return (i) => of(i) <= than;
      return (i) => of(i) === than;
    };
    const special = rules.special(word, key, value.toLowerCase());
    if (typeof special === "string") return { test: null, fault: special };
    if (special) {
      tests.push(special);
    } else if (Object.hasOwn(rules.sizes, key)) {
      const than = parseBytes(value);
      if (Number.isNaN(than))
        return { test: null, fault: `"${value}" is not a size such as 4096, 512KiB or 1.5MiB` };
      tests.push(compare(rules.sizes[key]!, than));
    } else if (Object.hasOwn(rules.numbers, key)) {
      if (!/^-?\d+(\.\d+)?$/.test(value))
        return { test: null, fault: `"${value}" is not a number` };
      tests.push(compare(rules.numbers[key]!, Number(value)));
    } else {
      const test = rules.contains(word.toLowerCase());
      // Names may look like conditions ("conv1:0"); what no name contains is a mistake.
      if (key && !some(rules.count, test)) {
        const known = rules.words.join(", ");
        return {
          test: null,
          fault: `"${word}" is neither a filter nor in a name; known: ${known}`,
        };
      }
      tests.push(test);
    }
  }
  return { test: tests.length ? (i) => tests.every((test) => test(i)) : null, fault: "" };
}

/** A filter of the buffers of a plan. */
export function parseFilter(
  query: string,
  plan: Plan,
  uses: Uses | null,
  changes: Uint8Array | null,
): Filter {
  const graph = plan.raw.graph;
  const tensors = plan.raw.buffers.tensor;
  const makerOf = (i: number) => (uses && tensors ? uses.producer[tensors[i]!]! : -1);
  const special = (word: string, key: string, value: string): Test | string | null => {
    if (word === "at:peak") return (i) => plan.atPeak.has(i);
    if (word === "is:pinned") return (i) => plan.pinned.has(i);
    if (word === "is:aligned") return (i) => plan.alignment.has(i);
    const { memories } = plan.raw;
    if (key === "in" && memories) {
      const m = memories.findIndex(({ name }) => name.toLowerCase() === value);
      if (m < 0)
        return `there is no memory "${value}", but ${memories.map(({ name }) => name).join(", ")}`;
      return (i) => plan.laneOfBuffer(i) === m;
    }
    if (word === "is:displaced" && plan.raw.costs) return (i) => plan.cheapestOf(i) >= 0;
    if (key === "live") {
      if (!/^-?\d+$/.test(value)) return `"${value}" is not a step`;
      const step = Number(value);
      const r = plan.rectangles;
      const live = new Set<number>();
      for (let k = 0; k < r.buffer.length; ++k) {
        if (r.x0[k]! <= step && step < r.x1[k]!) live.add(r.buffer[k]!);
      }
      return (i) => live.has(i);
    }
    if (key === "kind" && graph && tensors) {
      const kinds = [...new Set(tensors.map((t) => graph.tensors.kind[t]!))].sort();
      if (!kinds.includes(value))
        return `there is no kind "${value}" here, but ${kinds.join(", ") || "none"}`;
      return (i) => graph.tensors.kind[tensors[i]!]! === value;
    }
    if (key === "op" && graph) {
      return (i) => {
        const step = makerOf(i);
        return (
          step >= 0 &&
          (graph.operators.type[step]! + " " + graph.operators.name[step]!)
            .toLowerCase()
            .includes(value)
        );
      };
    }
    if (key === "is" && changes && CHANGES.includes(value)) {
      const change = CHANGES.indexOf(value);
      return (i) => changes[i] === change;
    }
    return null;
  };
  return parse(query, {
    count: plan.n,
    words: [
      ...["size", "offset", "lifetime", "start", "end", "live", "at:peak", "is:pinned"],
      "is:aligned",
      ...(graph && tensors ? ["kind", "op"] : []),
      ...(plan.raw.memories ? ["in"] : []),
      ...(plan.raw.costs ? ["is:displaced"] : []),
      ...(changes ? CHANGES.map((change) => `is:${change}`) : []),
    ],
    sizes: { size: (i) => plan.size[i]!, offset: (i) => plan.y[i]! },
    numbers: {
      lifetime: (i) => plan.end[i]! - plan.start[i]!,
      start: (i) => plan.start[i]!,
      end: (i) => plan.end[i]!,
    },
    special,
    contains: (text) => (i) => {
      if (plan.name(i).toLowerCase().includes(text)) return true;
      const step = makerOf(i);
      return (
        step >= 0 && graph !== null && graph.operators.name[step]!.toLowerCase().includes(text)
      );
    },
  });
}
