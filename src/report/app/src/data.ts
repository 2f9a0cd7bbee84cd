// The data that the library puts into the page (src/report/page.cc), and what follows from it.
import { type Num, abridged, sum } from "./format";

export type { Num };

export interface RawBuffers {
  id: string[];
  start: Num[];
  end: Num[];
  size: Num[];
  offset: Num[] | null;
  tensor: number[] | null;
  /** Of several memories, the one that each is in. */
  memory: number[] | null;
  alignment: [number, Num][];
  pinned: [number, Num][];
  hint: [number, Num][];
  gaps: [number, Num, Num, Num, Num][];
}
export interface Hole {
  lower: Num;
  upper: Num;
  padding: Num;
  above: number | null;
}
export interface RawPeak {
  start: Num;
  end: Num;
  load: Num;
  live: [number, Num][];
  holes: Hole[];
  padding: Num;
  fragmentation: Num;
}
export interface RawCurveOfBytes {
  steps: Num[];
  live: Num[];
}
/** One of several memories, with what the plan puts into it. */
export interface RawMemory {
  name: string;
  capacity: Num | null;
  height: Num;
  /** Of what is there; null where it is not known. */
  cost: Num | null;
  /** Bytes that nothing may use: lower, upper, from step, to step. */
  reserved: [Num, Num, Num | null, Num | null][];
  curve: RawCurveOfBytes;
  peak: RawPeak;
}
/** Why buffers that count as one are not in a memory where they would cost less. */
export interface Displaced {
  buffers: number[];
  cheaper: number;
  cost: Num;
  least: Num;
  reason: "memory" | "bytes" | "places" | "nothing";
  step: Num | null;
  free: Num;
  needed: Num;
  offset: Num | null;
  in_the_way: number[];
  all_in_the_way: number;
  saved: Num | null;
}
/** A copy from one memory to another: rows of its two ends. */
export interface Copy {
  from: number;
  to: number;
  /** It begins after the step before this one, */
  start: Num;
  /** and has ended before this one. */
  before: Num;
  bytes: Num;
  cost: Num;
  /** In nanoseconds, if copies are made while operators run. */
  begins: Num | null;
  ends: Num | null;
}
/** A run in which copies are made while operators run, in nanoseconds. */
export interface RawRun {
  time: Num;
  computing: Num;
  accessing: Num[]; // By memory.
  stalled: Num;
  begin: Num[]; // By step.
  end: Num[];
}
export interface RawPlan {
  head: Record<string, unknown>;
  buffers: RawBuffers;
  graph: {
    name: string;
    tensors: {
      name: string[];
      bytes: Num[];
      kind: string[];
      shape: string[];
      dtype: string[];
      base: (number | null)[];
      output: number[];
      unplanned: string[];
    };
    operators: {
      program: number[];
      name: string[];
      type: string[];
      inputs: number[][];
      outputs: number[][];
      mutates: number[][];
    };
  } | null;
  /** Names of tensors where there is no graph, as of a plan file: what `buffers.tensor` counts. */
  tensors?: string[];
  /** Who asked for each buffer: lines of a program, stacks of these, and each buffer's stack. */
  stacks: { frames: string[]; stacks: number[][]; of: (number | null)[] } | null;
  /** What another allocator held for the same buffers, from each of the steps on. */
  held: { name: string; steps: Num[]; bytes: Num[] } | null;
  curve: RawCurveOfBytes;
  peak: RawPeak;
  /** Null, as all that follows, for a plan in one memory. */
  memories: RawMemory[] | null;
  /**
   * By memory, what each buffer costs there; null: it may not be there. Null as a whole where costs
   * do not count, as with spills, or are not known, as of plan files.
   */
  costs: (Num | null)[][] | null;
  displaced: Displaced[] | null; // As `costs`.
  /** Id, size, start, end and the cost of being left out; null: it must be placed. */
  left_out: [string, Num, Num, Num, Num | null][] | null;
  copies: Copy[];
  run: RawRun | null;
  relief: { buffer: number; peak: Num; enough: Num | null }[];
}
/** What running operators again costs; null where there is no plan. */
export interface Recomputed {
  operators: number | null;
  cost: Num | null;
  cost_bound: Num;
  unit: string;
}
/** An operator that runs again; the dearest come first, as far as costs are known. */
export interface Repeat {
  operator: string;
  steps: Num[];
  cost: Num | null;
}
/** Of a plan with spills; all in bytes. */
export interface Traffic {
  avoidable: Num;
  spilled: Num;
  retrieved: Num;
  compulsory_in: Num;
  compulsory_out: Num;
}
/** From one residency of a tensor to its next: the bytes written when it ends and read back. */
export interface Move {
  from: number;
  to: number;
  written: Num;
  read: Num;
}
/** A change that was tried: what it needs then, and the command that makes it. */
export interface Remedy {
  title: string;
  detail: string;
  needs: Num | null;
  fits: boolean;
  traffic: Num | null;
  /** Of operators computed in strips, which Berth cannot do itself: there is no command. */
  estimated: boolean;
  /** It gives more memory, within which a plan was found. */
  enlarges: boolean;
  command: string | null;
}
/** Where nothing fits: whether this change, and no other, makes it fit. */
export const suffices = ({ fits, enlarges }: Pick<Remedy, "fits" | "enlarges">) => fits || enlarges;
export interface Data {
  format: string;
  format_version: number;
  kind: "plan" | "diff";
  command: string;
  plans: RawPlan[];
  verdict: string;
  conflict: {
    buffers: number[];
    minimal: boolean;
    step: Num;
    load: Num;
    capacity: Num | null;
    pins_collide: boolean;
    short_by: Num;
    works_with: Num | null;
  } | null;
  remedies: Remedy[];
  notes: string[];
  spills: Move[];
  repeats?: Repeat[]; // Of a plan.
  diff: {
    changed: [number, number, number, number, number][];
    added: number[];
    removed: number[];
    unchanged: number;
    traffic: { before: Num; after: Num };
    unsized: { before: number; after: number };
    before: { load: Num; load_step: Num };
    after: { load: Num; load_step: Num };
    same_order: boolean;
  } | null;
}

/** One model: a column for each fact about its points. */
export interface RawCurve {
  model: string;
  input: string;
  least: Num | null;
  least_peak: Num | null;
  least_operator: string; // That needs `least` by itself; empty where not known.
  fixed_order: boolean; // Plans and proofs are about the order as written.
  /** With recomputation; columns by point, `run` is what one run of the model costs. */
  costs?: {
    run: Num;
    unit: string;
    operators: Num[];
    recomputed: Num[];
    copies: Num[];
    bound: Num[];
  } | null;
  number: number[];
  capacity: Num[];
  outcome: string[];
  avoidable: (Num | null)[];
  spilled: Num[];
  retrieved: Num[];
  traffic_bound: Num[];
  traffic_by_sum: Num[];
  seconds: number[];
  /** Of a sweep of one memory of several: by point and memory; by point. */
  heights?: Num[][];
  copies?: number[];
}
/** What is least in place of the traffic: a cost in several memories, */
export interface MemoryQuantity {
  kind: "memories";
  unit: string;
  /** That has the capacities; and all. */
  memory: string;
  memories: string[];
  may_move: boolean;
  prefetch: boolean;
}
/** or what running operators again and copies cost. */
export type RawQuantity = MemoryQuantity | { kind: "recomputation" };
export interface SweepData {
  kind: "sweep";
  quantity: RawQuantity | null;
  provenance: [string, string][];
  curves: RawCurve[];
}

/** Parses JSON; integers of 16 digits and more stay text, so that no digit is lost. */
export function parseExactly<T = Data | SweepData>(text: string): T {
  if (/\d{16}/.test(text)) {
    // Whole tokens: text, and numbers with their fraction and exponent.
    const tokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
    text = text.replace(tokens, (token) => (/^-?\d{16,}$/.test(token) ? `"${token}"` : token));
  }
  return JSON.parse(text) as T;
}

/** The spills of a plan. */
export const movesOf = (data: Data): Move[] => data.spills;

type Facts = Record<string, unknown>;
/** What a file says at one key: a whole number, text or an object; null where it is none. */
const numberAt = (facts: Facts, key: string): Num | null => {
  const value = facts[key];
  if (typeof value === "number") return Number.isInteger(value) ? value : null;
  return typeof value === "string" && /^-?\d+$/.test(value) ? value : null;
};
const textAt = (facts: Facts, key: string): string | null => {
  const value = facts[key];
  return typeof value === "string" ? value : null;
};
const factsAt = (facts: Facts, key: string): Facts | null => {
  const value = facts[key];
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Facts)
    : null;
};

/** The head of a plan. Nothing else knows the library's names of these facts. It may be that of a
 * file which others wrote: a fact of the wrong type counts as missing. */
export class Head {
  constructor(private readonly raw: Facts) {}

  get input(): string {
    return textAt(factsAt(this.raw, "input") ?? {}, "name") ?? "plan";
  }
  get file(): string {
    return this.text("file");
  }
  get outcome(): string {
    return this.text("outcome");
  }
  /** Tensors that the plan should hold, and how many of them have no known size. */
  get tensors(): number {
    return Number(this.number("planned_tensors") ?? 0);
  }
  get unsized(): number {
    return Number(this.number("unsized_tensors") ?? 0);
  }
  /** What the whole needs is not known: there is a bound only. */
  get sizesMissing(): boolean {
    return this.outcome === "unknown" && this.unsized > 0;
  }
  /** What a plan in several memories costs, what is proved of all, and the unit. */
  get cost(): Num | null {
    return this.number("cost");
  }
  get costBound(): Num {
    return this.number("cost_bound") ?? 0;
  }
  get costUnit(): string {
    return this.text("cost_unit");
  }
  /** Buffers that must be placed and are not, and what is proved of them. */
  get unplaced(): number {
    return Number(this.number("unplaced") ?? 0);
  }
  get unplacedBound(): number {
    return Number(this.number("unplaced_bound") ?? 0);
  }
  /** The cost is the time of a run. */
  get prefetch(): boolean {
    return this.raw["prefetch"] === true;
  }
  get fixedOrder(): boolean {
    return this.raw["fixed_order"] === true;
  }
  get capacity(): Num | null {
    return this.number("capacity");
  }
  get height(): Num | null {
    return this.number("height");
  }
  /** No plan of the model is lower. */
  get heightBound(): Num | null {
    return this.number("height_bound");
  }
  /** No placement for the lifetimes of this plan is lower. */
  get placementBound(): Num | null {
    return this.number("placement_bound") ?? this.number("height_bound");
  }
  /** The peak load of the order, and what is proved of every order's. */
  get peak(): Num | null {
    return this.number("peak");
  }
  get peakBound(): Num | null {
    return this.number("peak_bound");
  }
  get programOrderPeak(): Num | null {
    return this.number("program_order_peak");
  }
  /** Of a plan that may spill. */
  get traffic(): Traffic | null {
    const stated = factsAt(this.raw, "traffic");
    if (!stated) return null;
    const at = (key: keyof Traffic) => numberAt(stated, key) ?? 0;
    const [spilled, retrieved] = [at("spilled"), at("retrieved")];
    return {
      avoidable: numberAt(stated, "avoidable") ?? sum([spilled, retrieved]),
      ...{ spilled, retrieved },
      compulsory_in: at("compulsory_in"),
      compulsory_out: at("compulsory_out"),
    };
  }
  /** Of a plan that may run operators again. */
  get recomputed(): Recomputed | null {
    const stated = factsAt(this.raw, "recomputed");
    if (!stated) return null;
    const operators = numberAt(stated, "operators");
    return {
      operators: operators === null ? null : Number(operators),
      cost: numberAt(stated, "cost"),
      cost_bound: numberAt(stated, "cost_bound") ?? 0,
      unit: textAt(stated, "unit") ?? "",
    };
  }
  get trafficBound(): Num | null {
    return this.number("traffic_bound");
  }
  get options(): [string, unknown][] {
    return ["options", "schedule_options"].flatMap((key) =>
      Object.entries(factsAt(this.raw, key) ?? {}),
    );
  }
  /** All other facts in the library's order: title, key, value. */
  get facts(): [string, string, unknown][] {
    const listed = ["options", "schedule_options", "order", "format", "format_version"];
    return Object.entries(this.raw).flatMap(([key, value]): [string, string, unknown][] => {
      if (listed.includes(key)) return [];
      const title = key.replaceAll("_", " ");
      if (key === "memories" && Array.isArray(value)) return memoryFacts(value);
      if (Array.isArray(value)) return [[title, key, value.map(plainly).join(", ") || "none"]];
      const parts = factsAt(this.raw, key);
      return parts ? partFacts(title, key, parts) : [[title, key, value]];
    });
  }

  private number(key: string): Num | null {
    return numberAt(this.raw, key);
  }
  private text(key: string): string {
    return textAt(this.raw, key) ?? "";
  }
}

/** A value in a list, or a part of a part. */
const plainly = (value: unknown): unknown =>
  typeof value === "object" && value !== null ? JSON.stringify(value) : value;

/** The facts in an object of a head, a row for each but where that would say little. */
function partFacts(title: string, key: string, parts: Facts): [string, string, unknown][] {
  const rows = (shown: Facts, before: string): [string, string, unknown][] =>
    Object.entries(shown).map(([part, each]) => [
      before + part.replaceAll("_", " "),
      `${key}.${part}`,
      plainly(each),
    ]);
  if (key === "input") {
    return [
      ["input", "input.name", parts["name"]],
      ["hash of the input", "input.hash", parts["hash"]],
    ];
  }
  if (key === "reading") {
    const { dimensions: _d, ...others } = parts;
    const sizes = Object.entries(factsAt(parts, "dimensions") ?? {});
    const given = sizes.map(([name, size]) => `${name}=${plainly(size)}`);
    const known = Object.entries(others).filter(([, each]) => each !== null);
    return [
      ["dimensions", "reading.dimensions", given.join(", ") || "as in the model"],
      ...rows(Object.fromEntries(known), ""),
    ];
  }
  if (key === "count") {
    const counted = Object.entries(parts).filter(([, on]) => on);
    return [["also counted", key, counted.map(([name]) => name).join(", ") || "nothing"]];
  }
  if (key === "device" || key === "link") {
    const { format: _f, format_version: _v, ...others } = parts;
    return rows(others, `${title}: `);
  }
  // The report of a search, traffic and the like.
  return rows(parts, `${title}: `);
}
function memoryFacts(memories: unknown[]): [string, string, unknown][] {
  return memories.map((memory, m) => {
    const { name, ...rest } = (memory ?? {}) as Facts;
    const parts = Object.entries(rest).map(([part, each]) => `${part} ${JSON.stringify(each)}`);
    return [`memory ${plainly(name)}`, `memories.${m}`, parts.join(", ")];
  });
}

/** The parts of buffers that are live for some steps: what is drawn. */
export interface Rectangles {
  x0: Float64Array;
  x1: Float64Array;
  y0: Float64Array;
  y1: Float64Array;
  buffer: Int32Array;
}

/** What one picture shows: a memory of several, or the whole plan. */
export interface Lane {
  readonly name: string; // Of the memory; empty for the whole.
  readonly capacity: Num | null;
  readonly height: Num | null;
  readonly bound: Num | null;
  readonly rectangles: Rectangles;
  readonly reserved: RawMemory["reserved"];
  readonly top: number;
  readonly empty: boolean;
  readonly curve: RawCurveOfBytes;
  readonly steps: Float64Array;
  readonly live: Float64Array;
  readonly peak: RawPeak;
}

const numbers = (column: Num[]): Float64Array => Float64Array.from(column, Number);

/** The folders that most of the names begin with, "model/block/". */
function commonPath(names: string[]): string {
  const some = names.slice(0, 1000);
  let path = "";
  for (;;) {
    const counts = new Map<string, number>();
    for (const name of some) {
      const end = name.startsWith(path) ? name.indexOf("/", path.length) : -1;
      if (end < 0) continue;
      const longer = name.slice(0, end + 1);
      counts.set(longer, (counts.get(longer) ?? 0) + 1);
    }
    const [longer, count] = [...counts].sort((x, y) => y[1] - x[1])[0] ?? ["", 0];
    if (count < 3 || count < 0.6 * some.length) return path;
    path = longer;
  }
}

export class Plan {
  readonly head: Head;
  readonly n: number;
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly size: Float64Array;
  /** Where each buffer is drawn: its offset, or a row of its own where there are no addresses. */
  readonly y: Float64Array;
  readonly height: Float64Array;
  readonly placed: boolean;
  readonly rectangles: Rectangles;
  readonly steps: Float64Array;
  readonly live: Float64Array;
  readonly firstStep: number;
  readonly lastStep: number;
  readonly top: number;
  readonly alignment: Map<number, Num>;
  readonly pinned: Map<number, Num>;
  /** What another allocator held, with the last step of the plan at the end. */
  readonly held: { name: string; steps: Float64Array; bytes: Float64Array } | null = null;
  readonly hint: Map<number, Num>;
  readonly gaps = new Map<number, [Num, Num, Num, Num][]>();
  readonly atPeak: Set<number>;
  /** By memory; of a plan in one memory, the whole alone. */
  readonly lanes: Lane[];
  readonly displaced = new Map<number, Displaced[]>();
  private readonly copies = new Map<number, Copy[]>();
  private readonly names: string[];
  /** What most names begin with, up to its last "/". */
  private prefix: string | null = null;

  constructor(readonly raw: RawPlan) {
    const b = raw.buffers;
    this.head = new Head(raw.head);
    this.n = b.id.length;
    this.start = numbers(b.start);
    this.end = numbers(b.end);
    this.size = numbers(b.size);
    this.placed = b.offset !== null;
    this.steps = numbers(raw.curve.steps);
    this.live = numbers(raw.curve.live);
    if (raw.held) {
      const { name, steps, bytes } = raw.held;
      const end = raw.curve.steps[raw.curve.steps.length - 1] ?? 0;
      this.held = { name, steps: numbers([...steps, end]), bytes: numbers(bytes) };
    }
    this.alignment = new Map(b.alignment);
    this.pinned = new Map(b.pinned);
    this.hint = new Map(b.hint);
    const peaks = raw.memories?.map(({ peak }) => peak) ?? [raw.peak];
    this.atPeak = new Set(peaks.flatMap((peak) => peak.live.map(([buffer]) => buffer)));
    for (const each of raw.displaced ?? []) {
      for (const i of each.buffers) {
        this.displaced.set(i, [...(this.displaced.get(i) ?? []), each]);
      }
    }
    for (const copy of raw.copies) {
      for (const i of [copy.from, copy.to]) {
        this.copies.set(i, [...(this.copies.get(i) ?? []), copy]);
      }
    }
    for (const [buffer, ...gap] of b.gaps) {
      const known = this.gaps.get(buffer);
      if (known) known.push(gap);
      else this.gaps.set(buffer, [gap]);
    }
    if (b.offset) {
      this.y = numbers(b.offset);
      this.height = this.size;
    } else {
      // Without addresses, one row for each in order of start.
      this.y = new Float64Array(this.n);
      this.height = new Float64Array(this.n).fill(1);
      const order = Array.from({ length: this.n }, (_, i) => i);
      order.sort((i, j) => this.start[i]! - this.start[j]! || i - j);
      order.forEach((i, row) => (this.y[i] = this.n - 1 - row));
    }
    this.rectangles = this.makeRectangles();
    let first = Infinity;
    let last = -Infinity;
    let top = 0;
    for (let i = 0; i < this.n; ++i) {
      first = Math.min(first, this.start[i]!);
      last = Math.max(last, this.end[i]!);
      top = Math.max(top, this.y[i]! + this.height[i]!);
    }
    const operators = raw.graph?.operators.name.length ?? 0;
    this.firstStep = Number.isFinite(first) ? Math.min(first, operators ? 0 : first) : 0;
    this.lastStep = Math.max(Number.isFinite(last) ? last : 1, operators, this.firstStep + 1);
    this.top = Math.max(top, 1);
    this.names = b.id;
    this.lanes = raw.memories?.map((memory, m) => this.laneOf(memory, m)) ?? [this.wholeLane()];
  }

  private wholeLane(): Lane {
    const { capacity, height, heightBound: bound } = this.head;
    const { rectangles, top, steps, live } = this;
    const { curve, peak } = this.raw;
    const empty = this.n === 0;
    const reserved: Lane["reserved"] = [];
    const name = "";
    return {
      ...{ name, capacity, height, bound, rectangles, reserved, top, empty },
      ...{ curve, steps, live, peak },
    };
  }
  private laneOf(memory: RawMemory, m: number): Lane {
    const { name, capacity, height, reserved, curve, peak } = memory;
    const of = this.raw.buffers.memory!;
    const r = this.rectangles;
    const here = Array.from(r.buffer.keys()).filter((k) => of[r.buffer[k]!] === m);
    const pick = (from: Float64Array) => Float64Array.from(here, (k) => from[k]!);
    const rectangles: Rectangles = {
      x0: pick(r.x0),
      x1: pick(r.x1),
      y0: pick(r.y0),
      y1: pick(r.y1),
      buffer: Int32Array.from(here, (k) => r.buffer[k]!),
    };
    return {
      ...{ name, capacity, height, bound: null, rectangles, reserved, curve, peak },
      top: Math.max(Number(height), 1),
      empty: here.length === 0,
      steps: numbers(curve.steps),
      live: numbers(curve.live),
    };
  }
  /** The memory that a buffer is in, as a lane. */
  laneOfBuffer(i: number): number {
    return this.raw.buffers.memory?.[i] ?? 0;
  }
  /** The peak load of the memory that a buffer is in. */
  loadOf(i: number): Num {
    return this.lanes[this.laneOfBuffer(i)]!.peak.load;
  }
  /** The memory where a buffer would cost less than where it is, and the least; -1: none. */
  cheapestOf(i: number): number {
    const { costs } = this.raw;
    let [cheapest, least] = [-1, Number(this.costOf(i))];
    costs?.forEach((column, m) => {
      const there = column[i];
      if (there === null || there === undefined || Number(there) >= least) return;
      [cheapest, least] = [m, Number(there)];
    });
    return cheapest;
  }
  /** Of several memories, what does not fit leaves for the store behind them: there is traffic in
   * place of costs. */
  get scratchpads(): boolean {
    return this.raw.memories !== null && this.head.traffic !== null;
  }
  /** Those that a residency begins or ends with. */
  copiesOf(i: number): Copy[] {
    return this.copies.get(i) ?? [];
  }
  /** What a buffer costs where it is. */
  costOf(i: number): Num | null {
    return this.raw.costs?.[this.laneOfBuffer(i)]?.[i] ?? null;
  }

  private makeRectangles(): Rectangles {
    const x0: number[] = [];
    const x1: number[] = [];
    const y0: number[] = [];
    const y1: number[] = [];
    const buffer: number[] = [];
    const add = (i: number, from: number, to: number, lower: number, upper: number) => {
      if (from >= to || lower >= upper) return;
      x0.push(from);
      x1.push(to);
      y0.push(this.y[i]! + lower);
      y1.push(this.y[i]! + upper);
      buffer.push(i);
    };
    for (let i = 0; i < this.n; ++i) {
      let from = this.start[i]!;
      for (const [start, end, lower, upper] of this.gaps.get(i) ?? []) {
        add(i, from, Number(start), 0, this.height[i]!);
        if (this.placed) add(i, Number(start), Number(end), Number(lower), Number(upper));
        from = Number(end);
      }
      add(i, from, this.end[i]!, 0, this.height[i]!);
    }
    return {
      x0: Float64Array.from(x0),
      x1: Float64Array.from(x1),
      y0: Float64Array.from(y0),
      y1: Float64Array.from(y1),
      buffer: Int32Array.from(buffer),
    };
  }

  name(i: number): string {
    return this.names[i] ?? "";
  }
  /** Of the tensor that a buffer is a residency of. */
  tensorName(i: number): string {
    const t = this.raw.buffers.tensor?.[i];
    const names = this.raw.graph?.tensors.name ?? this.raw.tensors;
    return (t === undefined ? undefined : names?.[t]) ?? this.name(i);
  }
  /** The name where there is little room: of a longer one, what tells it from the others.
   * TensorFlow Lite joins the names of what it fused by semicolons. */
  shortName(i: number, most: number): string {
    const name = this.name(i);
    if (name.length <= most) return abridged(name, most);
    this.prefix ??= commonPath(this.names);
    const first = name.split(";", 1)[0]!;
    const told = this.prefix && first.startsWith(this.prefix);
    const own = told ? first.slice(this.prefix.length) : first;
    const characters = Array.from(own.slice(0, 2 * most));
    // Without what all have in common, names differ where they begin.
    return told && characters.length > most
      ? abridged(characters.slice(0, most - 1).join(""), most) + "…"
      : abridged(own || name, most);
  }

  /** Live bytes at a step. */
  liveAt(step: number): Num {
    let low = 0;
    let high = this.steps.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.steps[middle]! <= step) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? 0 : this.raw.curve.live[low - 1]!;
  }

  /** The buffer drawn at a point of a lane; -1 if there is none. */
  at({ rectangles: r }: Lane, x: number, y: number): number {
    for (let k = r.buffer.length - 1; k >= 0; --k) {
      if (x >= r.x0[k]! && x < r.x1[k]! && y >= r.y0[k]! && y < r.y1[k]!) return r.buffer[k]!;
    }
    return -1;
  }

  private meet(i: number, j: number): boolean {
    return this.start[i]! < this.end[j]! && this.start[j]! < this.end[i]!;
  }
  private share(i: number, j: number): boolean {
    return this.y[i]! < this.y[j]! + this.size[j]! && this.y[j]! < this.y[i]! + this.size[i]!;
  }
  /** The next buffers below and above while it is live, and in its bytes before and after. */
  neighbours(i: number): { below: number; above: number; before: number; after: number } {
    const found = { below: -1, above: -1, before: -1, after: -1 };
    if (!this.placed) return found;
    const bottom = this.y[i]!;
    const top = bottom + this.size[i]!;
    for (let j = 0; j < this.n; ++j) {
      if (j === i || this.laneOfBuffer(j) !== this.laneOfBuffer(i)) continue;
      if (this.meet(i, j)) {
        const end = this.y[j]! + this.size[j]!;
        if (
          end <= bottom &&
          (found.below < 0 || end > this.y[found.below]! + this.size[found.below]!)
        )
          found.below = j;
        if (this.y[j]! >= top && (found.above < 0 || this.y[j]! < this.y[found.above]!))
          found.above = j;
      } else if (this.share(i, j)) {
        if (
          this.end[j]! <= this.start[i]! &&
          (found.before < 0 || this.end[j]! > this.end[found.before]!)
        )
          found.before = j;
        if (
          this.start[j]! >= this.end[i]! &&
          (found.after < 0 || this.start[j]! < this.start[found.after]!)
        )
          found.after = j;
      }
    }
    return found;
  }
}

/** What the operators of a graph do with its tensors. */
export class Uses {
  // By tensor, the step that makes it first; -1 for what no operator makes.
  readonly producer: Int32Array;
  readonly readers: number[][]; // By tensor, steps in increasing order.
  readonly views: number[][]; // By base, its views.
  readonly bufferOf: Int32Array; // By base, the first buffer; -1 where it has none.

  constructor(plan: Plan) {
    const graph = plan.raw.graph!;
    const count = graph.tensors.name.length;
    this.producer = new Int32Array(count).fill(-1);
    this.readers = Array.from({ length: count }, () => []);
    this.views = Array.from({ length: count }, () => []);
    this.bufferOf = new Int32Array(count).fill(-1);
    graph.operators.name.forEach((_, step) => {
      for (const t of graph.operators.outputs[step]!) {
        if (this.producer[t]! < 0) this.producer[t] = step;
      }
      const seen = new Set([...graph.operators.inputs[step]!, ...graph.operators.mutates[step]!]);
      for (const t of seen) this.readers[t]!.push(step);
    });
    graph.tensors.base.forEach((base, t) => {
      if (base !== null) this.views[base]!.push(t);
    });
    plan.raw.buffers.tensor?.forEach((t, buffer) => {
      if (this.bufferOf[t]! < 0) this.bufferOf[t] = buffer;
    });
  }
  /** Of a base: the steps that use it or a view of it. */
  usersOf(base: number): number[] {
    const steps = new Set(this.readers[base]!);
    for (const view of this.views[base]!) for (const step of this.readers[view]!) steps.add(step);
    return [...steps].sort((x, y) => x - y);
  }
  basesAt(plan: Plan, step: number): number[] {
    const { operators, tensors } = plan.raw.graph!;
    const bases = new Set<number>();
    for (const list of [operators.inputs, operators.outputs, operators.mutates]) {
      for (const t of list[step] ?? []) bases.add(tensors.base[t] ?? t);
    }
    return [...bases];
  }
}
