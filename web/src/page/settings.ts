// What the page asks the planner for, as options, as a command line, and as a part of a link.
import a100 from "../../../examples/devices/a100.json";
import cortexM7 from "../../../examples/devices/cortex-m7.json";
import esp32 from "../../../examples/boards/esp32.json";
import imxrt1170 from "../../../examples/boards/imxrt1170.json";
import type { Options } from "../planner";

export type Kind = "graph" | "table" | "snapshot" | "plan" | "diff";

/** One of several memories, as it is typed. */
export interface MemoryRow {
  name: string;
  /** "512KiB"; empty: as large as necessary. */
  size: string;
  /** "8GB/s", or "read:200MB/s,write:1MB/s"; empty: accesses cost nothing. */
  speed: string;
}

export interface Settings {
  /** Bytes; null: as few as possible. */
  memory: number | null;
  /** What to do with what does not fit. */
  overflow: "explain" | "spill" | "recompute";
  /** Several memories; empty: one, of `memory` bytes. */
  board: MemoryRow[];
  /** Between several memories. */
  moves: "stay" | "copy" | "prefetch";
  /** Names of memories separated by commas; empty: any for activations, and weights are no part of
   * the plan. */
  activations_in: string;
  weights_in: string;
  /** A key of DEVICES; empty: none. */
  device: string;
  order: NonNullable<Options["order"]>;
  in_place: boolean;
  fuse: boolean;
  eight_bit: boolean;
  count: NonNullable<Options["count"]>;
  alignment: string;
  /** Sizes of the dimensions that the model leaves open. */
  dim: Record<string, string>;
  /** Of a file with several problems, the name of the one to plan. */
  problem: string;
  /** Seconds; null: until nothing is left to find out. */
  time_limit: number | null;
}

export const DEFAULTS: Settings = {
  memory: null,
  overflow: "explain",
  board: [],
  moves: "stay",
  activations_in: "",
  weights_in: "",
  device: "",
  order: "auto",
  in_place: false,
  fuse: false,
  eight_bit: false,
  count: "none",
  alignment: "",
  dim: {},
  problem: "",
  time_limit: 10,
};

export const ORDERS: [Settings["order"], string][] = [
  ["auto", "least peak"],
  ["program", "as written"],
  ["hoisted-updates", "as written, updates early"],
  ["greedy", "greedy"],
  ["greedy-backwards", "greedy, backwards"],
  ["beam", "beam search"],
];
export const COUNTS: [Settings["count"], string][] = [
  ["none", "activations"],
  ["inputs", "activations and inputs"],
  ["parameters", "activations and weights"],
  ["all", "activations, inputs and weights"],
];

const rowsOf = ({ memories }: typeof esp32): MemoryRow[] =>
  memories.map(({ name, capacity, read, write }) => ({
    name,
    size: capacity,
    speed: read === write ? read : `read:${read},write:${write}`,
  }));
/** Those of examples/boards. */
export const BOARDS: [string, string, MemoryRow[]][] = [
  ["esp32", "ESP32 with PSRAM", rowsOf(esp32)],
  ["imxrt1170", "i.MX RT1170", rowsOf(imxrt1170)],
];
/** Those of examples/devices. */
export const DEVICES: Record<string, { name: string }> = {
  "cortex-m7": cortexM7,
  a100,
};

const written = ({ name, size, speed }: MemoryRow): string => {
  const tight = (text: string) => text.replace(/\s+/g, "");
  return name.trim() + (tight(size) && `=${tight(size)}`) + (tight(speed) && `@${tight(speed)}`);
};
function parsedRow(text: string): MemoryRow {
  const [before, speed = ""] = text.split(/@(.*)/s) as [string, string?];
  const [name, size = ""] = before.split(/=(.*)/s) as [string, string?];
  return { name, size, speed };
}

/** Options for several memories: what does not fit in one goes into the next. */
function boardOptions(settings: Settings): Options {
  const { board, moves, activations_in, weights_in } = settings;
  const options: Options = { memory: board.map(written) };
  if (activations_in) options.activations_in = activations_in;
  if (weights_in) options.weights_in = weights_in;
  if (moves === "copy") options.may_move = true;
  if (moves === "prefetch") options.prefetch = true;
  return options;
}

export function optionsOf(settings: Settings, kind: Kind): Options {
  const options: Options = {};
  const { memory, overflow } = settings;
  if (kind === "graph") {
    const several = settings.board.length > 0;
    const within = memory !== null && !several && overflow !== "explain";
    if (several) Object.assign(options, boardOptions(settings));
    else if (within) options["budget"] = memory;
    else if (memory !== null) options["capacity"] = memory;
    const again = within && overflow === "recompute";
    if (again) options["recompute"] = true;
    const timed = again || (several && settings.moves === "prefetch");
    const device = DEVICES[settings.device];
    if (timed && device) options["device"] = JSON.stringify(device);
    // Within a budget the planner orders for itself, or keeps the order.
    const free = !within || settings.order === "program";
    if (settings.order !== "auto" && free) options["order"] = settings.order;
    if (settings.in_place) options["in_place"] = true;
    if (settings.fuse) options["fuse"] = true;
    if (settings.eight_bit) options["element_bytes"] = 1;
    if (settings.count !== "none") options["count"] = settings.count;
    const alignment = settings.alignment.trim();
    if (alignment) options["alignment"] = alignment;
    const dims = Object.entries(settings.dim).filter(([, size]) => size.trim());
    if (dims.length) options["dim"] = dims.map(([name, size]) => `${name}=${size.trim()}`);
  } else {
    if (memory !== null) options["capacity"] = memory;
    if (settings.problem) options["problem"] = settings.problem;
  }
  if (settings.time_limit !== null) options["time_limit"] = settings.time_limit;
  return options;
}

const quoted = (word: string) =>
  /^[\w./=:@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** The command that does the same. */
export function commandOf(options: Options, kind: Kind, file: string): string {
  const words = ["berth", kind === "graph" ? "plan" : "place", quoted(file)];
  for (const [name, value] of Object.entries(options)) {
    const flag = `--${name.replaceAll("_", "-")}`;
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each === undefined || each === false) continue;
      const device = Object.keys(DEVICES).find((key) => JSON.stringify(DEVICES[key]) === each);
      const text =
        name === "time_limit"
          ? `${each}s`
          : name === "device"
            ? `examples/devices/${device}.json`
            : String(each);
      words.push(flag, ...(each === true ? [] : [quoted(text)]));
    }
  }
  return words.join(" ");
}

/** Only what differs from the defaults. */
export function linkOf(settings: Settings): string {
  const link = new URLSearchParams();
  for (const [name, value] of Object.entries(settings) as [keyof Settings, unknown][]) {
    if (name === "dim") {
      for (const [dim, size] of Object.entries(settings.dim)) {
        if (size.trim()) link.append("dim", `${dim}=${size}`);
      }
    } else if (name === "board") {
      for (const row of settings.board) link.append("board", written(row));
    } else if (value !== DEFAULTS[name]) {
      link.set(name, String(value ?? "none"));
    }
  }
  return String(link);
}

/** What a link says; what makes no sense is left at its default. */
export function settingsFrom(text: string): Settings {
  const link = new URLSearchParams(text);
  const settings: Settings = { ...DEFAULTS, dim: {}, board: link.getAll("board").map(parsedRow) };
  const number = (name: "memory" | "time_limit", least: number) => {
    if (link.get(name) === "none") settings[name] = null;
    const value = Number(link.get(name) ?? NaN);
    if (Number.isFinite(value) && value >= least) settings[name] = value;
  };
  number("memory", 1);
  number("time_limit", 0.01);
  if (settings.memory !== null) settings.memory = Math.floor(settings.memory);
  for (const name of ["in_place", "fuse", "eight_bit"] as const) {
    settings[name] = link.get(name) === "true";
  }
  const among = <T extends string>(name: string, allowed: readonly T[], otherwise: T): T =>
    allowed.find((each) => each === link.get(name)) ?? otherwise;
  settings.overflow = among("overflow", ["explain", "spill", "recompute"], "explain");
  settings.moves = among("moves", ["stay", "copy", "prefetch"], "stay");
  settings.device = among("device", Object.keys(DEVICES), "");
  settings.activations_in = link.get("activations_in") ?? "";
  settings.weights_in = link.get("weights_in") ?? "";
  settings.problem = link.get("problem") ?? "";
  settings.order = among(
    "order",
    ORDERS.map(([name]) => name),
    "auto",
  );
  settings.count = among(
    "count",
    COUNTS.map(([name]) => name),
    "none",
  );
  if (/^\d+$/.test(link.get("alignment") ?? "")) settings.alignment = link.get("alignment")!;
  for (const each of link.getAll("dim")) {
    const equals = each.lastIndexOf("=");
    if (equals > 0) settings.dim[each.slice(0, equals)] = each.slice(equals + 1);
  }
  return settings;
}

/** The settings with a remedy's change, "--capacity 1024 --in-place"; null if it has others. */
export function changed(settings: Settings, change: string): Settings | null {
  const next = { ...settings, dim: { ...settings.dim } };
  const words = change.split(" ").filter(Boolean);
  for (let i = 0; i < words.length; ++i) {
    const name = words[i]!.replace(/^--/, "").replaceAll("-", "_");
    const value = () => words[++i] ?? "";
    switch (name) {
      case "capacity":
        next.memory = Number(value());
        next.overflow = "explain";
        break;
      case "budget":
        next.memory = Number(value());
        next.overflow = "spill";
        break;
      case "recompute":
        next.overflow = "recompute";
        break;
      case "order":
        next.order = value() as Settings["order"];
        break;
      case "in_place":
        next.in_place = true;
        break;
      case "fuse":
        next.fuse = true;
        break;
      case "element_bytes":
        if (value() !== "1") return null;
        next.eight_bit = true;
        break;
      case "alignment":
        next.alignment = value();
        break;
      case "dim": {
        const [dim, size] = value().split("=") as [string, string];
        next.dim[dim] = size;
        break;
      }
      default:
        return null;
    }
  }
  return words.length && (next.memory === null || next.memory > 0) ? next : null;
}
