// Plans, as the C interface makes them: a planner for files and arrays.
import {
  Abi,
  BerthError,
  COPY,
  DIFF,
  MEMORIES_SUMMARY,
  MEMORY,
  OFF_CHIP_COPY,
  OFF_CHIP_SUMMARY,
  OPERATOR,
  OPTION_INFO,
  PROOF,
  type Progress,
  RECOMPUTED,
  REMEDY,
  RUN,
  SUMMARY,
  type Struct,
} from "./abi";

type Option = string | number | bigint | boolean;
/** Bytes, or a text such as "256KiB". */
type Size = string | number | bigint;

/** Options by the names of the C interface: { capacity: "256KiB", in_place: true }. What is set
 * several times is a list. `Planner.options()` says what each does, and has those of the engines. */
export interface Options {
  capacity?: Size;
  budget?: Size;
  recompute?: boolean;
  no_spill?: boolean;
  gap?: string;
  budgets?: string;
  points?: number;
  /** Seconds, or "none". */
  time_limit?: number | "none";
  node_limit?: number | "none";
  order?: "auto" | "program" | "hoisted-updates" | "greedy" | "greedy-backwards" | "beam";
  count?: "none" | "inputs" | "parameters" | "all";
  allow_unknown?: boolean;
  /** NAME=SIZE each. */
  dim?: readonly string[];
  dim_default?: number;
  element_bytes?: number;
  alignment?: Size;
  /** A device, as JSON. */
  device?: string;
  /** A profile, as text. */
  profile?: string;
  fuse?: boolean;
  in_place?: boolean;
  problem?: string | number;
  /** Memories for the tensors of a graph, NAME[=CAPACITY][@BANDWIDTH] each, or a board as JSON. */
  memory?: string | readonly string[];
  activations_in?: string;
  weights_in?: string;
  /** Memories in which copies of weights may be kept for a while: names, separated by commas. */
  stage_weights_in?: string;
  spill?: boolean;
  may_move?: boolean;
  prefetch?: boolean;
  /** Nanoseconds. */
  copy_latency?: number;
  endpoints?: "half-open" | "inclusive" | "exclusive" | "by-name";
  algorithm?: string;
  minimize?: boolean;
  threads?: number;
  seed?: number | bigint;
  beam_width?: number;
  most_bytes?: Size;
  [ofAnEngine: `${string}.${string}`]: Option | undefined;
}

export interface Watched {
  /** What errors and plans call the file. */
  name?: string;
  /** About 20 times a second; the search ends soon once it returns true, with its best plan. */
  onProgress?: (progress: Progress) => boolean | void;
}

export type Outcome = "optimal" | "feasible" | "infeasible" | "unknown";
const OUTCOMES: Outcome[] = ["optimal", "feasible", "infeasible", "unknown"];
const STOPS = ["answered", "budget", "effort", "size", "algorithm", "unsized", "gap"];

/** berth_summary: what is known of a plan, in bytes; -1 where there is no value. */
export interface Summary {
  outcome: Outcome;
  stopped: string;
  has_plan: boolean;
  addressed: boolean;
  capacity: number;
  height: number;
  peak: number;
  height_bound: number;
  placement_bound: number;
  peak_bound: number;
  traffic_bound: number;
  spilled: number;
  retrieved: number;
  compulsory_in: number;
  compulsory_out: number;
  program_order_peak: number;
  least_memory: number;
  least_operator: number;
  least_peak: number;
  traffic_by_sum: number;
  tensors: number;
  unsized: number;
  spills: boolean;
  fixed_order: boolean;
  nodes: number;
  seconds: number;
}

function summaryOf(raw: Record<string, number | string>): Summary {
  return {
    ...raw,
    outcome: OUTCOMES[Number(raw["outcome"])]!,
    stopped: STOPS[Number(raw["stopped"])]!,
    has_plan: raw["has_plan"] === 1,
    addressed: raw["addressed"] === 1,
    spills: raw["spills"] === 1,
    fixed_order: raw["fixed_order"] === 1,
  } as Summary;
}

function memoriesSummaryOf(raw: Record<string, number | string>): MemoriesSummary {
  return {
    ...raw,
    outcome: OUTCOMES[Number(raw["outcome"])]!,
    stopped: STOPS[Number(raw["stopped"])]!,
  } as MemoriesSummary;
}

export interface Arrays {
  start: ArrayLike<number>;
  /** One past the last step, unless the option `endpoints` says otherwise. */
  end: ArrayLike<number>;
  size: ArrayLike<number>;
  alignment?: ArrayLike<number>;
}
export interface Placement extends Summary {
  /** Of each buffer, in bytes; -1 where there is no plan. */
  offsets: Float64Array;
}

/** Memories, and where each of N buffers may be; what is of buffer b in memory m stands at
 * [b * M + m]. Costs are whole numbers of any unit. */
export interface Memories {
  /** Of each of M memories, in bytes; -1: as large as necessary. */
  capacities: ArrayLike<number>;
  /** Of the offsets in each memory; without it, 1. */
  alignments?: ArrayLike<number>;
  /** Five numbers each: a memory, the bytes [lower, upper) of it that no buffer may use, and the
   * steps [start, end). */
  reserved?: ArrayLike<number>;
  /** N x M; -1: the buffer may not be there. Without it, anywhere at no cost. */
  costs?: ArrayLike<number>;
  /** Of each buffer if it is not placed; -1, or without it: it must be. */
  costs_left_out?: ArrayLike<number>;
  /** Where each buffer was in an earlier plan; a memory of -1: nowhere. */
  previous_memories?: ArrayLike<number>;
  previous_offsets?: ArrayLike<number>;
  /** Of being anywhere else. */
  move_costs?: ArrayLike<number>;
}
/** What is known of a plan for several memories; costs in the unit that was given, or in ns. */
export interface MemoriesSummary {
  /** "optimal": at the least cost. */
  outcome: Outcome;
  stopped: string;
  /** Buffers that must be placed and are not; no plan leaves fewer than the bound. */
  unplaced: number;
  unplaced_bound: number;
  cost: number;
  cost_bound: number;
  /** Bytes that are not where they were. */
  moved: number;
  nodes: number;
  seconds: number;
}
export interface PlacementInMemories extends MemoriesSummary {
  /** Of each buffer, its memory and its offset in it; -1: left out. */
  memories: Float64Array;
  offsets: Float64Array;
}
/** One of several memories, and what a plan takes of it, in bytes. */
export interface Memory {
  name: string;
  /** -1: as large as necessary. */
  capacity: number;
  height: number;
  peak: number;
}
/** A copy of a tensor from one memory to another, between the operators of the steps `start` - 1 and
 * `before`. `begins` and `ends` in ns from the beginning of the run with "prefetch", otherwise -1. */
export interface Copy {
  tensor: number;
  from_memory: number;
  to_memory: number;
  start: number;
  before: number;
  bytes: number;
  cost: number;
  begins: number;
  ends: number;
}
/** Where the time of a run goes, in ns: `time` is the sum of the others. */
export interface Run {
  time: number;
  computing: number;
  accessing: number;
  stalled: number;
}
/** What running operators again costs, in `unit`. */
export interface Recomputed {
  /** Executions after the first of each operator. */
  operators: number;
  cost: number;
  copies: number;
  /** Proved: no plan within the capacity has a lower sum of both. */
  bound: number;
  of_run: number;
  unit: string;
}

/** A copy of a tensor as a whole, between the memory and the store behind it. */
export interface OffChipCopy {
  /** Its index in the graph. */
  tensor: number;
  direction: "out" | "in";
  /** Of the residencies of the plan: it begins with the copy, or is what is copied out. */
  residency: number;
  /** A larger memory would avoid it; else compulsory. */
  avoidable: boolean;
  /** It waits for the operators of all steps before this one. */
  after: number;
  /** The operator of this step waits for it; null if none does. */
  before: number | null;
  /** In ns from the beginning of the run. */
  begins: number;
  ends: number;
}
/** A run in which one channel makes the copies off chip while operators run; times in ns. */
export interface OffChipRun {
  /** Until the last operator and the last copy have ended. */
  time: number;
  /** Of the operators, and of the copies; without any overlap the run takes both together. */
  computing: number;
  copying: number;
  /** In which operators wait for copies. */
  stalled: number;
  /** The energy of the copied bytes in picojoules; null if the link of the device has none. */
  avoidable_pj: number | null;
  compulsory_pj: number | null;
  /** In the order in which they are made. */
  copies: OffChipCopy[];
  /** When the operator of each step begins and ends. */
  operators: [begins: number, ends: number][];
}

/** Why no plan is lower, or none fits. */
export interface Proof {
  /** For berth-check-proof; null where there is no proof: what was proved stays true. */
  text: string | null;
  /** Why there is none: "budget", "interrupted", "memory", "size" (too many buffers meet) or
   * "algorithm" (no search that can log its steps decides it); null where there is one. */
  missing: string | null;
  /** Of the searches that logged their steps: 0 where a bound is enough. */
  nodes: number;
  seconds: number;
}

/** A change that was tried. */
export interface Remedy {
  title: string;
  detail: string;
  /** Options, as on the command line: "--capacity 153092096"; empty: none. */
  change: string;
  /** The bytes that would then be needed, and the avoidable traffic; -1: not known. */
  needs: number;
  traffic: number;
  fits: boolean;
  proved: boolean;
  estimated: boolean;
  /** Of operators that run again; -1: none do. */
  recompute_cost: number;
  /** It gives more memory, within which a plan was found. */
  enlarges: boolean;
}

export interface OptionInfo {
  name: string;
  default_value: string;
  allowed: string;
  sentence: string;
}

/** The options that decide what is read from a file; all others are of the search. */
const READING: readonly (keyof Options)[] = [
  "dim",
  "dim_default",
  "element_bytes",
  "alignment",
  "device",
  "profile",
  "fuse",
  "in_place",
  "endpoints",
  "problem",
];

/** What a file is, from how it begins: a model or a graph of operators, or else a table of buffers
 * or a plan that another system wrote down; a plan of Berth; a PyTorch memory snapshot. */
export type Kind = "graph" | "table" | "plan" | "snapshot";

export function kindOf(bytes: Uint8Array): Kind {
  const magic = String.fromCharCode(...bytes.subarray(4, 8));
  if (magic === "TFL3") return "graph";
  if (magic.startsWith("ET")) return "table";
  if (bytes[0] === 0x80 && bytes[1]! >= 2 && bytes[1]! <= 5) return "snapshot";
  const head = new TextDecoder().decode(bytes.subarray(0, 1 << 16)).replace(/^\uFEFF/, "");
  if (/^\s*[{[]/.test(head)) {
    if (/"format"\s*:\s*"berth-plan"/.test(head)) return "plan";
    return /"(nodes|buffer_names)"\s*:/.test(head) ? "graph" : "table";
  }
  return /^[^\0-\x08]{8}/.test(head) ? "table" : "graph";
}

/** Of berth_residency: its size, and where its tensor is. */
const RESIDENCY = { bytes: 40, tensor: 0 };

/** A handle of the C interface, which is freed at most once. */
class Handle {
  constructor(
    protected readonly abi: Abi,
    private readonly kind: string,
    readonly pointer: number,
  ) {}
  private open = true;
  free(): void {
    if (this.open) this.abi.plain(`${this.kind}_free`, this.pointer);
    this.open = false;
  }
}

/** What was found for a file: as data, and as files of every kind. To be freed. */
export class Plan extends Handle {
  readonly summary: Summary;
  private advice: Handle | null = null;
  constructor(
    abi: Abi,
    pointer: number,
    private readonly bytes: Uint8Array,
    private readonly ofGraph: boolean,
  ) {
    super(abi, "plan", pointer);
    this.summary = summaryOf(abi.structOf(SUMMARY, "plan_summary", pointer));
  }
  /** What it costs in several memories. Error: BerthError for a plan in one. */
  inMemories(): MemoriesSummary {
    return memoriesSummaryOf(this.abi.structOf(MEMORIES_SUMMARY, "plan_memories", this.pointer));
  }
  /** Empty for a plan in a single memory. */
  memories(): Memory[] {
    return this.listOf<Memory>("memory", MEMORY);
  }
  /** Copies between memories, in the order of time. */
  copies(): Copy[] {
    return this.listOf<Copy>("copy", COPY);
  }
  private listOf<T>(what: string, struct: Struct): T[] {
    const count = this.abi.plain(`plan_${what}_count`, this.pointer);
    return Array.from(
      { length: count },
      (_, i) => this.abi.structOf(struct, `plan_${what}`, this.pointer, i) as unknown as T,
    );
  }
  /** Of a plan with the option "prefetch". Error: BerthError for any other. */
  run(): Run {
    return this.abi.structOf(RUN, "plan_run", this.pointer) as unknown as Run;
  }
  /** Of a plan with the option "recompute". Error: BerthError for any other. */
  recomputed(): Recomputed {
    return this.abi.structOf(RECOMPUTED, "plan_recomputed", this.pointer) as unknown as Recomputed;
  }
  /** How long a run takes in which copies off chip are made beside operators. Error: BerthError for a
   * plan without offsets or in several memories, for a graph without a device that has a link, and
   * where an operator has no time in ns. */
  runOffChip(): OffChipRun {
    const { abi } = this;
    const handle = abi.make("run_off_chip", this.pointer);
    const run = new Handle(abi, "off_chip_run", handle);
    try {
      const operators = this.intervalsOf(handle);
      const raw = abi.structOf(OFF_CHIP_SUMMARY, "off_chip_run_summary", handle);
      const energy = (name: string) => (Number(raw[name]) < 0 ? null : Number(raw[name]));
      return {
        ...(raw as unknown as OffChipRun),
        avoidable_pj: energy("avoidable_pj"),
        compulsory_pj: energy("compulsory_pj"),
        copies: this.copiesOf(handle, operators.length),
        operators,
      };
    } finally {
      run.free();
    }
  }
  private copiesOf(run: number, steps: number): OffChipCopy[] {
    const { abi } = this;
    const residencies = abi.withRoom(4, (count) =>
      abi.plain("plan_residencies", this.pointer, count),
    );
    const count = abi.plain("off_chip_run_copy_count", run);
    return Array.from({ length: count }, (_, i) => {
      const { out, avoidable, before, ...rest } = abi.structOf(
        OFF_CHIP_COPY,
        "off_chip_run_copy",
        run,
        i,
      ) as Record<string, number>;
      const at = residencies + RESIDENCY.bytes * rest["residency"]! + RESIDENCY.tensor;
      return {
        ...rest,
        tensor: Number(abi.view().getBigInt64(at, true)),
        direction: out === 1 ? "out" : "in",
        avoidable: avoidable === 1,
        before: before === steps ? null : before!,
      } as OffChipCopy;
    });
  }
  private intervalsOf(run: number): [number, number][] {
    return this.abi.withRoom(4, (count) => {
      const at = this.abi.plain("off_chip_run_operators", run, count);
      const view = this.abi.view();
      const time = (k: number) => Number(view.getBigInt64(at + 8 * k, true));
      const length = at ? view.getUint32(count, true) : 0;
      return Array.from({ length }, (_, i) => [time(2 * i), time(2 * i + 1)]);
    });
  }
  /** Why the outcome of a plan is true, for a checker that does not trust Berth; of a graph, why no order
   * has less. Searches once more, unless a bound is enough; without a limit for twice the time of the
   * first search, ten seconds at least. Error: BerthError for an outcome that has nothing to prove, or of
   * a graph that does not rest on a bound of all orders. */
  prove(options: Options = {}, watched: Watched = {}): Proof {
    const { abi } = this;
    return withOptions(abi, options, watched, (request) =>
      abi.withRoom(PROOF.size, (out) => {
        abi.view().setUint32(out, PROOF.size, true);
        const text = abi.make("prove_plan", this.pointer, request, out);
        const { missing, nodes, seconds } = PROOF.read(abi, out) as Record<string, number>;
        return {
          text: text ? abi.takeText(text) : null,
          missing: missing ? abi.textAt(abi.plain("no_proof_name", missing)) : null,
          nodes: nodes!,
          seconds: seconds!,
        };
      }),
    );
  }
  /** The operator of each step; those that run again are listed again. Empty for a table. */
  order(): number[] {
    return this.abi.withRoom(4, (count) => {
      const at = this.abi.plain("plan_order", this.pointer, count);
      const view = this.abi.view();
      const length = at ? view.getUint32(count, true) : 0;
      return Array.from({ length }, (_, i) => view.getUint32(at + 4 * i, true));
    });
  }
  /** The same bytes as `berth plan -o plan.json` or `berth place -o plan.json`. */
  json(): string {
    return this.abi.textOf("plan_to_json", this.pointer);
  }
  /** A table with a row for each residency and its offset. */
  csv(): string {
    return this.abi.textOf("plan_to_csv", this.pointer);
  }
  svg(): string {
    return this.abi.textOf("plan_to_svg", this.pointer);
  }
  /** Events for Chrome's and Perfetto's viewers. */
  trace(): string {
    return this.abi.textOf("plan_to_trace", this.pointer);
  }
  /** One HTML file that explains the plan, with the remedies of advise(). */
  page(): string {
    return this.abi.textOf("plan_to_page", this.pointer, this.advice?.pointer ?? 0);
  }
  /** The model in the order of the plan; of TensorFlow Lite, with the offsets inside. */
  model(): Uint8Array {
    return this.abi.withBytes(this.bytes, (copy) =>
      this.abi.bytesOf("plan_to_model", this.pointer, copy, this.bytes.length),
    );
  }
  /** Looks for what would lower the plan, or make it fit: for its page. */
  advise(options: Options = {}, watched: Watched = {}): void {
    const { abi, bytes } = this;
    const advice = withOptions(abi, options, watched, (request) =>
      this.ofGraph
        ? abi.withBytes(bytes, (copy) =>
            abi.make("advise_model", this.pointer, copy, bytes.length, request),
          )
        : abi.make("advise_plan", this.pointer, request),
    );
    this.advice?.free();
    this.advice = new Handle(this.abi, "advice", advice);
  }
  /** What advise() found, the best first. */
  remedies(): Remedy[] {
    const advice = this.advice?.pointer ?? 0;
    return Array.from({ length: this.abi.plain("advice_count", advice) }, (_, i) => {
      const raw = this.abi.structOf(REMEDY, "advice_remedy", advice, i);
      return {
        ...raw,
        fits: raw["fits"] === 1,
        proved: raw["proved"] === 1,
        estimated: raw["estimated"] === 1,
        enlarges: raw["enlarges"] === 1,
      } as unknown as Remedy;
    });
  }
  override free(): void {
    this.advice?.free();
    super.free();
  }
}

/** Traffic against the size of the memory. To be freed. */
export class Sweep extends Handle {
  csv(): string {
    return this.abi.textOf("sweep_to_csv", this.pointer);
  }
  page(): string {
    return this.abi.textOf("sweep_to_page", this.pointer);
  }
}

/** A file in the planner's memory, read again only if options say how. To be freed. */
export class Input {
  readonly kind: Kind;
  private read: Handle | null = null;
  private readWith = "";
  constructor(
    private readonly abi: Abi,
    private readonly bytes: Uint8Array,
    private readonly name: string,
  ) {
    this.kind = kindOf(bytes);
    if (this.kind === "plan") {
      throw new BerthError(`${name}: a plan, which is compared with another one`, "parse error");
    }
  }
  /** The handle of the graph or the problem. */
  private handle(options: Options): number {
    const key = JSON.stringify(READING.map((name) => String(options[name] ?? null)));
    if (this.read && this.readWith === key) return this.read.pointer;
    const only = Object.fromEntries(READING.map((name) => [name, options[name]])) as Options;
    const type = this.kind === "graph" ? "graph" : "problem";
    const call = `${type}_parse`;
    const pointer = withOptions(this.abi, only, {}, (request) =>
      this.abi.withText(this.name, (name) =>
        this.abi.withBytes(this.bytes, (copy) =>
          this.abi.make(call, copy, this.bytes.length, name, request),
        ),
      ),
    );
    this.read?.free();
    this.read = new Handle(this.abi, type, pointer);
    this.readWith = key;
    return pointer;
  }
  plan(options: Options = {}, watched: Watched = {}): Plan {
    const handle = this.handle(options);
    const call = this.kind === "graph" ? "plan_graph" : "place_problem";
    const asked = this.kind === "graph" ? options : without(options, GRAPHS_ONLY);
    const plan = withOptions(this.abi, asked, watched, (request) =>
      this.abi.make(call, handle, request),
    );
    return new Plan(this.abi, plan, this.bytes, this.kind === "graph");
  }
  sweep(options: Options = {}, watched: Watched = {}): Sweep {
    const handle = this.handle(options);
    const sweep = withOptions(
      this.abi,
      without(options, ["capacity", "budget"]),
      watched,
      (request) => this.abi.make("sweep_graph", handle, request),
    );
    return new Sweep(this.abi, "sweep", sweep);
  }
  /** Dimensions that the model leaves open, for the option `dim`. */
  openDimensions(options: Options = {}): string[] {
    if (this.kind !== "graph") return [];
    const handle = this.handle(options);
    const count = this.abi.plain("graph_open_dimension_count", handle);
    return Array.from({ length: count }, (_, i) =>
      this.abi.textAt(this.abi.plain("graph_open_dimension", handle, i)),
    );
  }
  /** Of a file with several problems their names, for the option `problem`; of a snapshot those of its
   * pools, the default first. */
  problems(): string[] {
    if (this.kind === "graph") return [];
    const names = this.abi.withText(this.name, (name) =>
      this.abi.withBytes(this.bytes, (copy) =>
        this.abi.textOf("problem_names", copy, this.bytes.length, name),
      ),
    );
    return names.split("\0").slice(0, -1);
  }
  operators(options: Options = {}): number {
    return this.kind === "graph" ? this.abi.plain("graph_operator_count", this.handle(options)) : 0;
  }
  /** What the model calls an operator, as Summary.least_operator; "" if that is -1. */
  operatorName(op: number, options: Options = {}): string {
    if (op < 0) return "";
    const handle = this.handle(options);
    return String(this.abi.structOf(OPERATOR, "graph_operator", handle, op)["name"]);
  }
  free(): void {
    this.read?.free();
    this.read = null;
  }
}

/** Options that tables do not have. */
const GRAPHS_ONLY = ["budget", "recompute", "no_spill", "gap", "order", "count"];
const without = (options: Options, names: string[]): Options =>
  Object.fromEntries(Object.entries(options).filter(([name]) => !names.includes(name)));

function withOptions<T>(
  abi: Abi,
  options: Options,
  watched: Watched,
  use: (request: number) => T,
): T {
  const request = abi.plain("options_new");
  if (!request) throw new BerthError("out of memory", "out of memory");
  try {
    const set = (name: string, value: Option) =>
      abi.withText(name, (key) =>
        abi.withText(value === true ? "on" : value === false ? "off" : String(value), (text) =>
          abi.call("options_set", request, key, text),
        ),
      );
    for (const [name, value] of Object.entries(options)) {
      if (Array.isArray(value)) for (const each of value) set(name, each as Option);
      else if (value !== undefined) set(name, value as Option);
    }
    if (watched.onProgress) abi.watch(request, watched.onProgress);
    return use(request);
  } finally {
    abi.plain("options_free", request);
  }
}

/** As 64-bit integers. Error: BerthError, with the first value that is none. */
function integers(name: string, list: ArrayLike<number>, inTotal: number): BigInt64Array {
  if (list.length !== inTotal) {
    throw new BerthError(
      `${name} has ${list.length} values, and ${inTotal} are wanted`,
      "invalid argument",
    );
  }
  return BigInt64Array.from({ length: inTotal }, (_, i) => {
    if (!Number.isSafeInteger(list[i])) {
      const message = `${name} of buffer ${i} is ${list[i]}, not a whole number`;
      throw new BerthError(message, "invalid problem", "buffer", i);
    }
    return BigInt(list[i]!);
  });
}

/** Starts, ends, sizes and alignments. */
function columnsOf({ start, end, size, alignment }: Arrays): BigInt64Array[] {
  const count = size.length;
  const columns = { start, end, size, alignment: alignment ?? new Float64Array(count).fill(1) };
  return Object.entries(columns).map(([name, list]) => integers(name, list, count));
}

/** In the order of berth_memories. */
function memoryLists(memories: Memories, count: number): (BigInt64Array | null)[] {
  const total = memories.capacities.length;
  const { reserved } = memories;
  const lengths: [keyof Memories, number][] = [
    ["capacities", total],
    ["alignments", total],
    ["reserved", 5 * Math.floor((reserved?.length ?? 0) / 5)],
    ["costs", count * total],
    ["costs_left_out", count],
    ["previous_memories", count],
    ["previous_offsets", count],
    ["move_costs", count],
  ];
  return lengths.map(([name, length]) => {
    const list = memories[name];
    return list ? integers(name, list, length) : null;
  });
}

export class Planner {
  constructor(private readonly abi: Abi) {}

  /** Of Berth: "0.1.0". */
  get version(): string {
    return this.abi.textAt(this.abi.plain("version_string"));
  }
  /** Every option, with what it does. */
  options(): OptionInfo[] {
    return Array.from(
      { length: this.abi.plain("option_count") },
      (_, i) => this.abi.structOf(OPTION_INFO, "option_at", i) as unknown as OptionInfo,
    );
  }
  /** Bytes of memory in use, of at most 4 GiB. */
  memory(): number {
    return this.abi.memory();
  }
  open(bytes: Uint8Array, name = "model"): Input {
    return new Input(this.abi, bytes, name);
  }
  /** Plans a model, a graph or a table, as options say. Error: BerthError. */
  plan(bytes: Uint8Array, options: Options = {}, watched: Watched = {}): Plan {
    const input = this.open(bytes, watched.name);
    try {
      return input.plan(options, watched);
    } finally {
      input.free(); // A plan keeps what it needs.
    }
  }
  /** Places buffers with known lifetimes. Error: BerthError, with the buffer. */
  place(arrays: Arrays, options: Options = {}, watched: Watched = {}): Placement {
    const { abi } = this;
    const count = arrays.size.length;
    // One block: the columns one after the other, then the offsets.
    const block = new BigInt64Array(5 * count);
    columnsOf(arrays).forEach((column, c) => block.set(column, c * count));
    return withOptions(abi, options, watched, (request) =>
      abi.withBytes(new Uint8Array(block.buffer), (at) =>
        abi.withRoom(SUMMARY.size, (summary) => {
          abi.view().setUint32(summary, SUMMARY.size, true);
          const column = (c: number) => at + 8 * c * count;
          abi.call(
            "place",
            ...[count, column(0), column(1), column(2), column(3), request, column(4), summary],
          );
          const view = abi.view();
          const offsets = Float64Array.from({ length: count }, (_, i) =>
            Number(view.getBigInt64(column(4) + 8 * i, true)),
          );
          return { ...summaryOf(SUMMARY.read(abi, summary)), offsets };
        }),
      ),
    );
  }
  /** Chooses a memory and an offset in it for each buffer, at the least cost. Where not every buffer
   * that must be placed can be, the plan leaves out as few as were found. Error: BerthError, with the
   * buffer. */
  placeInMemories(
    arrays: Arrays,
    memories: Memories,
    options: Options = {},
    watched: Watched = {},
  ): PlacementInMemories {
    const { abi } = this;
    const count = arrays.size.length;
    const columns = columnsOf(arrays);
    const lists = memoryLists(memories, count);
    const answer = new BigInt64Array(2 * count);
    const problem = new Handle(abi, "problem", abi.plain("problem_new"));
    const pointers: number[] = [];
    const within = <T>(all: (BigInt64Array | null)[], use: () => T): T =>
      all.length === 0
        ? use()
        : abi.withList(all[0]!, (pointer) => {
            pointers.push(pointer);
            return within(all.slice(1), use);
          });
    try {
      return withOptions(abi, options, watched, (request) =>
        within([...columns, ...lists, answer], () => {
          const [start, end, size, alignment, ...rest] = pointers as [
            number,
            number,
            number,
            number,
          ];
          const list = rest as number[];
          const out = list.pop()!;
          abi.call(
            "problem_add_arrays",
            ...[problem.pointer, count, start, end, size, alignment, request],
          );
          const total = memories.capacities.length;
          const [capacities, alignments, reserved, ...others] = list as [number, number, number];
          const given = (memories.reserved?.length ?? 0) / 5;
          // berth_memories as far as `move_costs`: a shorter struct has the defaults for the rest.
          const fields = [0, total, capacities, alignments, reserved, given];
          const raw = Uint32Array.from([...fields, ...(others as number[])]);
          raw[0] = raw.byteLength;
          return abi.withList(raw, (struct) =>
            abi.withRoom(MEMORIES_SUMMARY.size, (summary) => {
              abi.view().setUint32(summary, MEMORIES_SUMMARY.size, true);
              abi.call(
                "place_in_memories",
                ...[problem.pointer, struct, request, out, out + 8 * count, summary],
              );
              const view = abi.view();
              const numbers = (from: number) =>
                Float64Array.from({ length: count }, (_, i) =>
                  Number(view.getBigInt64(from + 8 * i, true)),
                );
              return {
                ...memoriesSummaryOf(MEMORIES_SUMMARY.read(abi, summary)),
                memories: numbers(out),
                offsets: numbers(out + 8 * count),
              };
            }),
          );
        }),
      );
    } finally {
      problem.free();
    }
  }
  /** What changed from one plan file to the next, and both as a page. */
  diff(
    before: { bytes: Uint8Array; name: string },
    after: { bytes: Uint8Array; name: string },
  ): { counts: Record<string, number>; page: string } {
    const { abi } = this;
    const pass = <T>(file: typeof before, use: (pointer: number, name: number) => T) =>
      abi.withBytes(file.bytes, (pointer) => abi.withText(file.name, (name) => use(pointer, name)));
    return pass(before, (old, oldName) =>
      pass(after, (now, nowName) =>
        abi.withRoom(DIFF.size, (out) => {
          abi.view().setUint32(out, DIFF.size, true);
          const page = abi.textOf(
            "diff_plans",
            ...[old, before.bytes.length, oldName, now, after.bytes.length, nowName, out],
          );
          return { counts: DIFF.read(abi, out) as Record<string, number>, page };
        }),
      ),
    );
  }
}
