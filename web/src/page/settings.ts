// What the page asks the planner for, as options, as a command line, and as a part of a link.
import type { Options } from "../planner";

export type Kind = "graph" | "table" | "snapshot" | "diff";

export interface Settings {
  /** Bytes; null: as few as possible. */
  memory: number | null;
  /** What to do with what does not fit. */
  overflow: "explain" | "spill" | "recompute";
  order: string;
  in_place: boolean;
  fuse: boolean;
  eight_bit: boolean;
  count: string;
  alignment: string;
  /** Sizes of the dimensions that the model leaves open. */
  dim: Record<string, string>;
  /** Seconds; null: until nothing is left to find out. */
  time_limit: number | null;
}

export const DEFAULTS: Settings = {
  memory: null,
  overflow: "explain",
  order: "auto",
  in_place: false,
  fuse: false,
  eight_bit: false,
  count: "none",
  alignment: "",
  dim: {},
  time_limit: 10,
};

export const ORDERS: [string, string][] = [
  ["auto", "least peak"],
  ["program", "as written"],
  ["hoisted-updates", "as written, updates early"],
  ["greedy", "greedy"],
  ["greedy-backwards", "greedy, backwards"],
  ["beam", "beam search"],
];
export const COUNTS: [string, string][] = [
  ["none", "activations"],
  ["inputs", "activations and inputs"],
  ["parameters", "activations and weights"],
  ["all", "activations, inputs and weights"],
];

export function optionsOf(settings: Settings, kind: Kind): Options {
  const options: Options = {};
  const { memory, overflow } = settings;
  if (kind === "graph") {
    if (memory !== null && overflow === "explain") options["capacity"] = memory;
    if (memory !== null && overflow !== "explain") options["budget"] = memory;
    if (memory !== null && overflow === "recompute") options["recompute"] = true;
    // Within a budget the planner orders for itself, or keeps the order.
    const free = memory === null || overflow === "explain" || settings.order === "program";
    if (settings.order !== "auto" && free) options["order"] = settings.order;
    if (settings.in_place) options["in_place"] = true;
    if (settings.fuse) options["fuse"] = true;
    if (settings.eight_bit) options["element_bytes"] = 1;
    if (settings.count !== "none") options["count"] = settings.count;
    const alignment = settings.alignment.trim();
    if (alignment) options["alignment"] = alignment;
    const dims = Object.entries(settings.dim).filter(([, size]) => size.trim());
    if (dims.length) options["dim"] = dims.map(([name, size]) => `${name}=${size.trim()}`);
  } else if (memory !== null) {
    options["capacity"] = memory;
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
      const text = name === "time_limit" ? `${each}s` : String(each);
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
    } else if (value !== DEFAULTS[name]) {
      link.set(name, String(value ?? "none"));
    }
  }
  return String(link);
}

/** What a link says; what makes no sense is left at its default. */
export function settingsFrom(text: string): Settings {
  const link = new URLSearchParams(text);
  const settings: Settings = { ...DEFAULTS, dim: {} };
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
        next.order = value();
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
