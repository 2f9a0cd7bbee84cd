// How buffers look: each class has a colour and a pattern, so that nothing is told by colour alone.
// The hues are Paul Tol's "bright" scheme, made for colour-blind readers; sizes and lifetimes are a
// ramp of lightness.
import type { Data, Plan } from "./data";
import { bytes, visible } from "./format";

export interface Look {
  color: string;
  pattern: number; // Of PATTERNS; 0 is plain.
}
export interface Classes {
  names: string[];
  looks: Look[];
  of: Uint8Array; // By buffer.
  counts: number[];
  /** Of a ramp: the largest value of each class. */
  limits?: number[];
}

const BRIGHT = [
  "#4477aa",
  "#ee8866",
  "#44aa77",
  "#ccbb44",
  "#66bbdd",
  "#aa4488",
  "#bb5566",
  "#999999",
];
const RAMP_LIGHT = ["#b7d4e8", "#93c1de", "#6aa8d0", "#3f8abf", "#2066a2", "#0d3f75"];
const RAMP_DARK = ["#1f3a56", "#28567f", "#3577a8", "#4e9bcb", "#83c1e3", "#c5e4f5"];

/** Whether the pixel belongs to the pattern's ink. */
export const PATTERNS: ((x: number, y: number) => boolean)[] = [
  () => false,
  (x, y) => (x + y) % 8 === 0,
  (x, y) => (x - y + 80000) % 8 === 0,
  (_x, y) => y % 6 === 0,
  (x, y) => x % 6 === 0 && y % 6 === 0,
  (x) => x % 6 === 0,
  (x, y) => x % 8 === 0 || y % 8 === 0,
  (x, y) => (x + y) % 4 === 0,
];

const OTHERS = "others";

/** The classes of `before` keep their places, and so their colours; new ones come after them. */
function classify(
  plan: Plan,
  labels: (i: number) => string,
  most: number,
  before: Classes | null,
): Classes {
  const counts = new Map<string, number>();
  const weight = new Map<string, number>();
  const label: string[] = new Array(plan.n);
  for (let i = 0; i < plan.n; ++i) {
    const name = (label[i] = labels(i));
    counts.set(name, (counts.get(name) ?? 0) + 1);
    weight.set(name, (weight.get(name) ?? 0) + plan.size[i]! * (plan.end[i]! - plan.start[i]!));
  }
  const ranked = [...counts.keys()].sort(
    (x, y) => weight.get(y)! - weight.get(x)! || (x < y ? -1 : 1),
  );
  const known = new Set(before?.names);
  const all = [...known, ...ranked.filter((name) => !known.has(name))];
  const names =
    all.length <= most
      ? all
      : [...all.filter((name) => name !== OTHERS).slice(0, most - 1), OTHERS];
  const index = new Map(names.map((name, k) => [name, k]));
  const of = new Uint8Array(plan.n);
  const total: number[] = names.map(() => 0);
  for (let i = 0; i < plan.n; ++i) {
    of[i] = index.get(label[i]!) ?? names.length - 1;
    ++total[of[i]!]!;
  }
  const looks = names.map((_, k) => ({ color: BRIGHT[k % BRIGHT.length]!, pattern: k % 8 }));
  return { names, looks, of, counts: total };
}

/** By buffer, what a ramp shows. */
type Values = (plan: Plan) => Float64Array;

/** The largest value of each of at most six classes of equal share in what is drawn of `plans`. */
function limitsOf(plans: Plan[], valuesOf: Values): number[] {
  const all = plans.flatMap((plan) =>
    Array.from(valuesOf(plan), (value, i) => ({
      value,
      area: plan.size[i]! * (plan.end[i]! - plan.start[i]!),
    })),
  );
  all.sort((x, y) => x.value - y.value);
  const total = all.reduce((whole, { area }) => whole + area, 0);
  const limits = new Set<number>();
  let sum = 0;
  let classes = 0;
  for (const { value, area } of all) {
    sum += area;
    while (classes < 5 && sum >= (total * (classes + 1)) / 6) {
      limits.add(value);
      ++classes;
    }
  }
  limits.add(all.at(-1)?.value ?? 0);
  return [...limits];
}

/** `plans`: all that are seen, which share one legend. */
function ramp(
  plan: Plan,
  plans: Plan[],
  valuesOf: Values,
  dark: boolean,
  show: (value: number) => string,
  before: Classes | null,
): Classes {
  const values = valuesOf(plan);
  const largest = plans.reduce(
    (most, each) => valuesOf(each).reduce((x, y) => Math.max(x, y), most),
    0,
  );
  const kept = before?.limits?.at(-1) === largest ? before.limits! : null;
  const limits = kept ?? limitsOf(plans, valuesOf);
  const colors = dark ? RAMP_DARK : RAMP_LIGHT;
  const names = limits.map((limit) => (limits.length > 1 ? `up to ${show(limit)}` : show(limit)));
  const of = new Uint8Array(plan.n);
  const counts = names.map(() => 0);
  for (let i = 0; i < plan.n; ++i) {
    let k = 0;
    while (values[i]! > limits[k]!) ++k;
    of[i] = k;
    ++counts[k]!;
  }
  const looks = names.map((_, k) => ({
    color: colors[names.length === 1 ? 3 : Math.round((k * 5) / (names.length - 1))]!,
    pattern: 0,
  }));
  return { names, looks, of, counts, limits };
}

export function modesOf(plan: Plan, diff: boolean): [string, string][] {
  const modes: [string, string][] = [];
  if (diff) modes.push(["change", "what changed"]);
  if (plan.raw.costs) modes.push(["place", "where it costs the least"]);
  if (plan.raw.graph && plan.raw.buffers.tensor) {
    modes.push(["type", "operator that makes it"], ["kind", "kind of tensor"]);
  }
  modes.push(["size", "size"], ["lifetime", "lifetime"]);
  return modes;
}

/** Buffers where they cost the least, and those that would cost less elsewhere, by where. */
function placeClasses(plan: Plan): Classes {
  const memories = plan.raw.memories!;
  const names = ["here", ...memories.map(({ name }) => `less in ${visible(name).slice(0, 40)}`)];
  const of = new Uint8Array(plan.n);
  const counts = names.map(() => 0);
  for (let i = 0; i < plan.n; ++i) {
    of[i] = Math.min(7, plan.cheapestOf(i) + 1);
    ++counts[of[i]!]!;
  }
  const looks = names.map((_, k) => ({ color: BRIGHT[k % 8]!, pattern: k % 8 }));
  return { names, looks, of, counts };
}

export const CHANGES = ["unchanged", "moved", "grown", "shrunk", "retimed", "new", "gone"];
const CHANGE_LOOKS: Look[] = [
  { color: "#9aa3ad", pattern: 0 },
  { color: "#4477aa", pattern: 1 },
  { color: "#cc5544", pattern: 6 },
  { color: "#44aa77", pattern: 5 },
  { color: "#ccbb44", pattern: 3 },
  { color: "#ee8866", pattern: 7 },
  { color: "#aa4488", pattern: 4 },
];

/** How each buffer of one of two plans changed: an index into CHANGES. */
export function changesOf(data: Data, plan: Plan, side: number): Uint8Array {
  const of = new Uint8Array(plan.n);
  const diff = data.diff!;
  for (const [before, after, resized, moved] of diff.changed) {
    const grown =
      Number(data.plans[1]!.buffers.size[after]) > Number(data.plans[0]!.buffers.size[before]);
    of[side === 0 ? before : after] = resized ? (grown ? 2 : 3) : moved ? 1 : 4;
  }
  for (const i of side === 0 ? diff.removed : diff.added) of[i] = side === 0 ? 6 : 5;
  return of;
}

/** `plans`: all that are seen. `before`: of another plan of the same model, whose classes keep
 * their colours. */
export function classesOf(
  plan: Plan,
  plans: Plan[],
  mode: string,
  dark: boolean,
  changes: Uint8Array | null,
  makerType: (i: number) => string,
  before: Classes | null,
): Classes {
  if (mode === "change" && changes) {
    const counts = CHANGES.map(() => 0);
    for (const k of changes) ++counts[k]!;
    return { names: CHANGES, looks: CHANGE_LOOKS, of: changes, counts };
  }
  if (mode === "place" && plan.raw.costs) return placeClasses(plan);
  const graph = plan.raw.graph;
  const tensor = plan.raw.buffers.tensor;
  if (mode === "kind" && graph && tensor)
    return classify(plan, (i) => graph.tensors.kind[tensor[i]!]!, 8, before);
  if (mode === "type" && graph && tensor) return classify(plan, makerType, 8, before);
  if (mode === "lifetime") {
    return ramp(
      plan,
      plans,
      ({ start, end }) => end.map((last, i) => last - start[i]!),
      dark,
      (value) => `${value.toLocaleString("en")} step${value === 1 ? "" : "s"}`,
      before,
    );
  }
  return ramp(
    plan,
    plans,
    ({ size }) => size,
    dark,
    (value) => bytes(Math.round(value)),
    before,
  );
}

/** A colour as the 32 bits of a pixel, little-endian: 0xAABBGGRR; `shade` from -1 (black) to 1. */
export function pixel(color: string, shade = 0): number {
  const value = parseInt(color.slice(1), 16);
  const mix = (channel: number) =>
    Math.round(shade < 0 ? channel * (1 + shade) : channel + (255 - channel) * shade);
  const r = mix((value >> 16) & 255);
  const g = mix((value >> 8) & 255);
  const b = mix(value & 255);
  return (255 << 24) | (b << 16) | (g << 8) | r;
}
/** Ink that can be read on a colour. */
export function inkOn(color: string): string {
  const value = parseInt(color.slice(1), 16);
  const light =
    0.299 * ((value >> 16) & 255) + 0.587 * ((value >> 8) & 255) + 0.114 * (value & 255);
  return light > 140 ? "#10202e" : "#ffffff";
}
