// Plans, as the C interface makes them: a planner for files and arrays.
import { Abi, BerthError, DIFF, OPTION_INFO, type Progress, REMEDY, SUMMARY } from "./abi";

/** Options by the names of the C interface: { capacity: "256KiB", in_place: true }. What is set
 * several times, such as `dim`, is a list. */
export type Options = Record<string, Option | readonly Option[] | undefined>;
type Option = string | number | bigint | boolean;

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
}

export interface OptionInfo {
  name: string;
  default_value: string;
  allowed: string;
  sentence: string;
}

/** The options that decide what is read from a file; all others are of the search. */
const READING = [
  "dim",
  "dim_default",
  "element_bytes",
  "alignment",
  "device",
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
  ) {
    super(abi, "plan", pointer);
    this.summary = summaryOf(abi.structOf(SUMMARY, "plan_summary", pointer));
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
    const advice = withOptions(this.abi, options, watched, (request) =>
      this.abi.make("advise_plan", this.pointer, request),
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
    const key = JSON.stringify(READING.map((name) => options[name] ?? null).map(String));
    if (this.read && this.readWith === key) return this.read.pointer;
    const only = Object.fromEntries(READING.map((name) => [name, options[name]]));
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
    return new Plan(this.abi, plan, this.bytes);
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
  operators(options: Options = {}): number {
    return this.kind === "graph" ? this.abi.plain("graph_operator_count", this.handle(options)) : 0;
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
    const { start, end, size, alignment } = arrays;
    const count = size.length;
    for (const [name, list] of Object.entries({ start, end, size, alignment })) {
      if (list && list.length !== count) {
        throw new BerthError(
          `${name} has ${list.length} values, and size has ${count}`,
          "invalid argument",
        );
      }
    }
    // One block: the columns one after the other, then the offsets.
    const columns = [
      ["start", start],
      ["end", end],
      ["size", size],
      ["alignment", alignment],
    ] as const;
    const block = new BigInt64Array(5 * count);
    columns.forEach(([name, list], c) => {
      for (let i = 0; i < count; ++i) {
        const value = list ? list[i]! : 1;
        if (!Number.isSafeInteger(value)) {
          const message = `${name} of buffer ${i} is ${value}, not a whole number`;
          throw new BerthError(message, "invalid problem", "buffer", i);
        }
        block[c * count + i] = BigInt(value);
      }
    });
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
