// The C interface (include/berth/berth.h) as the module of WebAssembly exports it: pointers are
// numbers, 64-bit integers are BigInt, and a call that fails throws what its berth_error says.

/** What Emscripten's loader gives. Views of the memory are replaced when it grows. */
export interface Module {
  HEAPU8: Uint8Array;
  _malloc(bytes: number): number;
  _free(pointer: number): void;
  addFunction(callee: (...numbers: never[]) => number, signature: string): number;
  [name: `_berth_${string}`]: (...values: Value[]) => Value;
}
type Value = number | bigint;

/** In the order of berth_status. */
export const STATUSES = [
  "ok",
  "invalid argument",
  "invalid problem",
  "invalid graph",
  "invalid plan",
  "invalid options",
  "unsupported",
  "parse error",
  "input or output error",
  "out of memory",
  "internal error",
] as const;
/** In the order of berth_subject. */
export const SUBJECTS = ["none", "buffer", "tensor", "operator", "line"] as const;

/** A caller's mistake, or a file that cannot be read: what the message says, in parts. */
export class BerthError extends Error {
  override readonly name = "BerthError";
  constructor(
    message: string,
    readonly status: (typeof STATUSES)[number],
    readonly subject: (typeof SUBJECTS)[number] = "none",
    /** Of the subject; of lines, the first is 1. */
    readonly index: number | null = null,
  ) {
    super(message);
  }
}

// Structs: their fields in the header's order, each aligned to its size.

type Type = "size" | "int" | "int64" | "double" | "text";
const BYTES: Record<Type, number> = { size: 4, int: 4, int64: 8, double: 8, text: 4 };

export class Struct {
  readonly size: number;
  private readonly fields: [string, Type, number][] = [];
  constructor(declaration: Record<string, Type>) {
    let end = 0;
    let widest = 4;
    for (const [name, type] of [["struct_size", "size"] as const, ...Object.entries(declaration)]) {
      const bytes = BYTES[type];
      end = Math.ceil(end / bytes) * bytes;
      if (name !== "struct_size") this.fields.push([name, type, end]);
      end += bytes;
      widest = Math.max(widest, bytes);
    }
    this.size = Math.ceil(end / widest) * widest;
  }
  read(abi: Abi, pointer: number): Record<string, number | string> {
    const view = abi.view();
    return Object.fromEntries(
      this.fields.map(([name, type, at]) => {
        const from = pointer + at;
        switch (type) {
          case "int":
            return [name, view.getInt32(from, true)];
          case "size": {
            const value = view.getUint32(from, true);
            return [name, value === NONE ? -1 : value];
          }
          case "int64":
            return [name, Number(view.getBigInt64(from, true))];
          case "double":
            return [name, view.getFloat64(from, true)];
          case "text":
            return [name, abi.textAt(view.getUint32(from, true))];
        }
      }),
    );
  }
}
/** Pointers and sizes beyond 2 GiB come as negative numbers; of nothing, 0 is made. */
const unsigned = (value: Value | undefined): number => Number(value ?? 0) >>> 0;
/** BERTH_NONE. */
const NONE = 0xffffffff;

export const SUMMARY = new Struct({
  outcome: "int",
  stopped: "int",
  has_plan: "int",
  addressed: "int",
  capacity: "int64",
  height: "int64",
  peak: "int64",
  height_bound: "int64",
  placement_bound: "int64",
  peak_bound: "int64",
  traffic_bound: "int64",
  spilled: "int64",
  retrieved: "int64",
  compulsory_in: "int64",
  compulsory_out: "int64",
  program_order_peak: "int64",
  least_memory: "int64",
  least_operator: "size",
  least_peak: "int64",
  traffic_by_sum: "int64",
  tensors: "size",
  unsized: "size",
  spills: "int",
  fixed_order: "int",
  nodes: "int64",
  seconds: "double",
});
export const OPERATOR = new Struct({
  name: "text",
  type: "text",
  inputs: "size",
  input_count: "size",
  outputs: "size",
  output_count: "size",
  mutates: "size",
  mutate_count: "size",
  after: "size",
  after_count: "size",
});
export const OPTION_INFO = new Struct({
  name: "text",
  default_value: "text",
  allowed: "text",
  sentence: "text",
});
export const REMEDY = new Struct({
  title: "text",
  detail: "text",
  change: "text",
  needs: "int64",
  traffic: "int64",
  fits: "int",
  proved: "int",
  estimated: "int",
  recompute_cost: "int64",
  enlarges: "int",
});
export const DIFF = new Struct({
  height_before: "int64",
  height_after: "int64",
  peak_before: "int64",
  peak_after: "int64",
  traffic_before: "int64",
  traffic_after: "int64",
  added: "size",
  removed: "size",
  grown: "size",
  shrunk: "size",
  moved: "size",
  retimed: "size",
  unchanged: "size",
  same_order: "int",
  same_cost_kind: "int",
  other_memory: "size",
  unplaced_before: "size",
  unplaced_after: "size",
  cost_before: "int64",
  cost_after: "int64",
});

export const MEMORIES_SUMMARY = new Struct({
  outcome: "int",
  stopped: "int",
  unplaced: "size",
  unplaced_bound: "size",
  cost: "int64",
  cost_bound: "int64",
  moved: "int64",
  nodes: "int64",
  seconds: "double",
});
export const MEMORY = new Struct({
  name: "text",
  capacity: "int64",
  height: "int64",
  peak: "int64",
});
export const COPY = new Struct({
  tensor: "size",
  from_memory: "size",
  to_memory: "size",
  start: "int64",
  before: "int64",
  bytes: "int64",
  cost: "int64",
  begins: "int64",
  ends: "int64",
});
export const RUN = new Struct({
  time: "int64",
  computing: "int64",
  accessing: "int64",
  stalled: "int64",
});
export const RECOMPUTED = new Struct({
  operators: "size",
  cost: "int64",
  copies: "int64",
  bound: "int64",
  of_run: "int64",
  unit: "text",
});

export const PROOF = new Struct({
  missing: "int",
  nodes: "int64",
  seconds: "double",
});
export const OFF_CHIP_SUMMARY = new Struct({
  time: "int64",
  computing: "int64",
  copying: "int64",
  stalled: "int64",
  avoidable_pj: "double",
  compulsory_pj: "double",
});
export const OFF_CHIP_COPY = new Struct({
  residency: "size",
  out: "int",
  avoidable: "int",
  after: "int64",
  before: "int64",
  begins: "int64",
  ends: "int64",
});

export interface Progress {
  /** Of the best plan so far, in bytes; null: none yet. */
  best: number | null;
  /** Proved: no plan has less. */
  bound: number;
  nodes: number;
  seconds: number;
}

/** The functions of the C interface. Memory that a call needs is freed when it returns. */
export class Abi {
  private readonly decoder = new TextDecoder();
  private readonly encoder = new TextEncoder();
  private watcher: ((progress: Progress) => boolean | void) | null = null;
  private watching = 0;
  private thrown: unknown = null;

  constructor(private readonly module: Module) {}

  view(): DataView {
    return new DataView(this.module.HEAPU8.buffer);
  }
  /** Bytes of the module's memory, which only grows. */
  memory(): number {
    return this.module.HEAPU8.length;
  }

  private allocate(bytes: number): number {
    const pointer = unsigned(this.module._malloc(Math.max(bytes, 1)));
    if (!pointer) throw new BerthError(`out of memory: ${bytes} bytes are wanted`, "out of memory");
    return pointer;
  }
  /** Gives `use` a copy of the bytes, with a 0 byte after them. */
  withBytes<T>(bytes: Uint8Array, use: (pointer: number) => T): T {
    const pointer = this.allocate(bytes.length + 1);
    try {
      this.module.HEAPU8.set(bytes, pointer);
      this.module.HEAPU8[pointer + bytes.length] = 0;
      return use(pointer);
    } finally {
      this.module._free(pointer);
    }
  }
  withText<T>(text: string, use: (pointer: number) => T): T {
    return this.withBytes(this.encoder.encode(text), use);
  }
  /** Gives `use` room for a value, zeroed; for results. */
  withRoom<T>(bytes: number, use: (pointer: number) => T): T {
    const pointer = this.allocate(bytes);
    try {
      this.module.HEAPU8.fill(0, pointer, pointer + bytes);
      return use(pointer);
    } finally {
      this.module._free(pointer);
    }
  }
  /** Gives `use` an array of C; a null pointer if there is none. */
  withList<T>(list: ArrayBufferView | null, use: (pointer: number) => T): T {
    if (!list) return use(0);
    return this.withBytes(new Uint8Array(list.buffer, list.byteOffset, list.byteLength), use);
  }
  textAt(pointer: number): string {
    if (!pointer) return "";
    const { HEAPU8: heap } = this.module;
    return this.decoder.decode(heap.slice(pointer, heap.indexOf(0, pointer)));
  }

  /** Calls a function whose last argument is a berth_error**. */
  call(name: string, ...values: Value[]): void {
    this.thrown = null;
    this.withRoom(4, (error) => {
      const failed = this.module[`_berth_${name}`]!(...values, error);
      if (this.thrown) throw this.thrown; // By the watcher, which ended the search.
      if (!failed) return;
      throw this.errorOf(this.view().getUint32(error, true));
    });
  }
  private errorOf(error: number): BerthError {
    const value = (name: string) => unsigned(this.module[`_berth_error_${name}`]!(error));
    const index = value("index");
    const made = new BerthError(
      this.textAt(value("message")),
      STATUSES[value("status")] ?? "internal error",
      SUBJECTS[value("subject")],
      index === NONE ? null : index,
    );
    this.module._berth_error_free!(error);
    return made;
  }
  /** The same of a function that gives a handle by the argument before. */
  make(name: string, ...values: Value[]): number {
    return this.withRoom(4, (out) => {
      this.call(name, ...values, out);
      return this.view().getUint32(out, true);
    });
  }
  /** The same of a berth_text, as its bytes. */
  bytesOf(name: string, ...values: Value[]): Uint8Array {
    return this.takeBytes(this.make(name, ...values));
  }
  textOf(name: string, ...values: Value[]): string {
    return this.takeText(this.make(name, ...values));
  }
  takeText(text: number): string {
    return this.decoder.decode(this.takeBytes(text));
  }
  /** The bytes of a berth_text, which is freed. */
  private takeBytes(text: number): Uint8Array {
    const data = unsigned(this.module._berth_text_data!(text));
    const length = unsigned(this.module._berth_text_length!(text));
    const bytes = this.module.HEAPU8.slice(data, data + length);
    this.module._berth_text_free!(text);
    return bytes;
  }
  /** The same of a struct. */
  structOf(struct: Struct, name: string, ...values: Value[]): Record<string, number | string> {
    return this.withRoom(struct.size, (out) => {
      this.view().setUint32(out, struct.size, true);
      this.call(name, ...values, out);
      return struct.read(this, out);
    });
  }
  /** A function that cannot fail. */
  plain(name: string, ...values: Value[]): number {
    return unsigned(this.module[`_berth_${name}`]!(...values));
  }

  /** Lets searches with these options report to `watcher`, until it returns true. */
  watch(options: number, watcher: (progress: Progress) => boolean | void): void {
    this.watcher = watcher;
    this.watching ||= this.module.addFunction((_user: number, at: number) => {
      const progress = unsigned(at);
      const view = this.view();
      const best = Number(view.getBigInt64(progress, true));
      try {
        const stop = this.watcher?.({
          best: best < 0 ? null : best,
          bound: Number(view.getBigInt64(progress + 8, true)),
          nodes: Number(view.getBigInt64(progress + 16, true)),
          seconds: view.getFloat64(progress + 24, true),
        });
        return stop ? 1 : 0;
      } catch (thrown) {
        this.thrown = thrown; // It must not cross the search; the call throws it.
        return 1;
      }
    }, "iii");
    this.plain("options_set_progress", options, this.watching, 0);
  }
}
