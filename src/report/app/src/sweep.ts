// The result of a sweep: for each model, traffic or a cost against capacity.
//
// A plan for less memory also works with more, and what is proved for more memory also holds for
// less. So between two points the least traffic lies between two staircases: at most the traffic
// of the smaller capacity's plan, at least what is proved for the larger capacity.
import type { MemoryQuantity, Num, RawCurve, RawQuantity, SweepData } from "./data";
import { abridged, bytes, cost, csvTable, percentFinely, sum } from "./format";

export const OUTCOMES = ["optimal", "feasible", "unknown", "infeasible"] as const;
const OUTCOME_TEXTS: Record<string, string> = {
  optimal: "proved the least",
  feasible: "less may be possible",
  unknown: "no plan found",
  infeasible: "does not fit",
};

/** The points of one model, counted. */
export interface Summary {
  proved: number;
  unproved: number;
  unknown: number;
  infeasible: number;
  seconds: number;
  free: number; // The point of least capacity at which nothing has to leave; -1: none.
  smallest: number; // The point of least capacity with a plan; -1: none.
  tooSmall: number; // The point of largest capacity that is proved not to do; -1: none.
}

/** Of one run of a model: places on an axis are whole numbers. */
const PARTS = 1e9;

/** What a plan has the least of: off-chip traffic, what it costs in several memories, or what
 * running operators again and copies cost, as a share of one run of the model. */
export class Quantity {
  readonly memories: MemoryQuantity | null;
  readonly recomputation: boolean;
  constructor(raw: RawQuantity | null) {
    this.memories = raw?.kind === "memories" ? raw : null;
    this.recomputation = raw?.kind === "recomputation";
  }
  /** A value of a model; `down`: a proved bound is not rounded up. */
  show(value: Num, curve: RawCurve, down = false): string {
    if (this.memories) return cost(value, this.memories.unit);
    if (!this.recomputation) return bytes(value);
    return `${percentFinely(value, curve.costs!.run, down)} of a run`;
  }
  /** As the end of a phrase: "4 KiB of traffic", "a cost of 3 ms". */
  phrase(value: Num, curve: RawCurve): string {
    if (!this.memories && !this.recomputation) return `${bytes(value)} of traffic`;
    return `a ${this.name} of ${this.show(value, curve)}`;
  }
  /** Where a value lies on the axis, and what the axis says there. */
  place(value: Num, curve: RawCurve): number {
    if (!this.recomputation) return Number(value);
    const run = Number(curve.costs!.run);
    return run > 0 ? (PARTS * Number(value)) / run : 0;
  }
  tick(place: number): string {
    const whole = Math.round(place);
    if (this.memories) return cost(whole, this.memories.unit);
    return this.recomputation
      ? `${Number(((100 * whole) / PARTS).toPrecision(3))} %`
      : bytes(whole);
  }
  get inBytes(): boolean {
    return !this.memories && !this.recomputation;
  }
  get name(): string {
    return this.inBytes ? "traffic" : this.memories?.prefetch ? "run" : "cost";
  }
  get axis(): string {
    if (this.recomputation) return "cost of running operators again, of one run";
    return this.inBytes ? "traffic off chip" : this.memories!.prefetch ? "time of the run" : "cost";
  }
  get title(): string {
    return this.recomputation ? "Cost of recomputation" : capital(this.axis);
  }
  get memory(): string {
    return this.memories ? abridged(this.memories.memory, 30) : "memory";
  }
  /** Where the figure is 0 from, as a title. */
  get freeFrom(): string {
    return this.recomputation ? "Costs nothing from" : "No spills from";
  }
}
export const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

export class Sweep {
  readonly quantity: Quantity;
  readonly n: number;
  readonly curves: RawCurve[];
  /** Of each point: its model, and its place in the columns of that. */
  readonly curve: Int32Array;
  readonly place: Int32Array;
  readonly capacity: Float64Array;
  /** On the axis: what is least. NaN where there is no plan, */
  readonly traffic: Float64Array;
  readonly bound: Float64Array; // and where there can be none.
  /** The part of it that copies cost; NaN too for a model of which nothing is copied. */
  readonly copied: Float64Array;
  /** By model, its points from the smallest capacity to the largest. */
  readonly sorted: number[][];
  /** By model: its least peak, or the largest capacity where that is not known. */
  readonly reference: Num[];

  /** The outcome of a point in words. */
  outcome(i: number): string {
    const outcome = this.value(i, "outcome");
    const fixed = outcome === "optimal" && this.curves[this.curve[i]!]!.fixed_order;
    return OUTCOME_TEXTS[outcome]! + (fixed ? " in program order" : "");
  }
  /** The orders that the proofs cover, as the end of a phrase. */
  get orders(): string {
    const fixed = this.curves.filter((curve) => curve.fixed_order).length;
    return !fixed
      ? ""
      : fixed === this.curves.length
        ? " in program order"
        : " in the orders allowed";
  }

  constructor(data: SweepData) {
    this.quantity = new Quantity(data.quantity);
    this.curves = data.curves;
    this.n = this.curves.reduce((all, curve) => all + curve.capacity.length, 0);
    this.curve = new Int32Array(this.n);
    this.place = new Int32Array(this.n);
    this.capacity = new Float64Array(this.n);
    this.traffic = new Float64Array(this.n);
    this.bound = new Float64Array(this.n);
    this.copied = new Float64Array(this.n).fill(NaN);
    let i = 0;
    this.sorted = this.curves.map((curve, c) => {
      const first = i;
      const copies = curve.costs?.copies.some((each) => Number(each) > 0);
      curve.capacity.forEach((capacity, place) => {
        this.curve[i] = c;
        this.place[i] = place;
        this.capacity[i] = Number(capacity);
        const figure = this.figure(i);
        const on = (value: Num) => this.quantity.place(value, curve);
        this.traffic[i] = figure === null ? NaN : on(figure);
        this.bound[i] = curve.outcome[place] === "infeasible" ? NaN : on(this.proved(i));
        if (copies && figure !== null) this.copied[i] = on(curve.costs!.copies[place]!);
        ++i;
      });
      return Array.from({ length: i - first }, (_, k) => first + k).sort(
        (x, y) => this.capacity[x]! - this.capacity[y]! || x - y,
      );
    });
    this.reference = this.curves.map((curve, c) => {
      const largest = this.sorted[c]!.at(-1);
      return curve.least_peak ?? (largest === undefined ? 0 : this.value(largest, "capacity"));
    });
  }
  get many(): boolean {
    return this.curves.length > 1;
  }
  model(i: number): string {
    return this.curves[this.curve[i]!]!.model;
  }
  of(i: number): RawCurve {
    return this.curves[this.curve[i]!]!;
  }
  /** What is least, in its own unit; null without a plan. */
  figure(i: number): Num | null {
    const { costs, avoidable } = this.of(i);
    const place = this.place[i]!;
    const found = avoidable[place]!;
    return costs && found !== null ? sum([costs.recomputed[place]!, costs.copies[place]!]) : found;
  }
  /** No plan has less. */
  proved(i: number): Num {
    const { costs, traffic_bound } = this.of(i);
    return (costs ? costs.bound : traffic_bound)[this.place[i]!]!;
  }
  show(value: Num, i: number, down = false): string {
    return this.quantity.show(value, this.of(i), down);
  }
  /** With recomputation: a column of the costs at a point. */
  costs(i: number, key: "operators" | "recomputed" | "copies"): Num {
    return this.of(i).costs![key][this.place[i]!]!;
  }
  /** Of a model with recomputation: a cost in its own unit. */
  inUnit(value: Num, i: number): string {
    return cost(value, this.of(i).costs!.unit);
  }
  get copiesAnything(): boolean {
    return this.copied.some((value) => value > 0);
  }
  /** What a column has at a point. */
  value<
    K extends
      | "number"
      | "capacity"
      | "outcome"
      | "avoidable"
      | "spilled"
      | "retrieved"
      | "traffic_bound"
      | "traffic_by_sum"
      | "seconds",
  >(i: number, key: K): RawCurve[K][number] {
    return this.curves[this.curve[i]!]![key][this.place[i]!]!;
  }
  /** Of a sweep of one memory of several: the height of each. */
  heights(i: number): Num[] {
    return this.curves[this.curve[i]!]!.heights?.[this.place[i]!] ?? [];
  }
  copies(i: number): number {
    return this.curves[this.curve[i]!]!.copies?.[this.place[i]!] ?? 0;
  }
  find(model: string, number: number): number {
    for (let i = 0; i < this.n; ++i)
      if (this.value(i, "number") === number && this.model(i) === model) return i;
    return -1;
  }
  /** The part of the traffic that is not proved necessary. */
  gap(i: number): number {
    const traffic = this.traffic[i]!;
    return traffic > 0 ? (traffic - this.bound[i]!) / traffic : traffic;
  }
  summary(points: number[]): Summary {
    const count = (outcome: string) =>
      points.filter((i) => this.value(i, "outcome") === outcome).length;
    const sorted = [...points].sort((x, y) => this.capacity[x]! - this.capacity[y]!);
    return {
      proved: count("optimal"),
      unproved: count("feasible"),
      unknown: count("unknown"),
      infeasible: count("infeasible"),
      seconds: points.reduce((all, i) => all + this.value(i, "seconds"), 0),
      free: sorted.find((i) => this.traffic[i] === 0) ?? -1,
      smallest: sorted.find((i) => !Number.isNaN(this.traffic[i]!)) ?? -1,
      tooSmall: sorted.filter((i) => this.value(i, "outcome") === "infeasible").at(-1) ?? -1,
    };
  }
  /** Below this capacity no plan is known to exist; null if nothing is known. */
  floor(c: number): Num | null {
    const { tooSmall } = this.summary(this.sorted[c]!);
    const { least } = this.curves[c]!;
    if (tooSmall < 0) return least;
    const proved = this.value(tooSmall, "capacity");
    return least !== null && Number(least) >= Number(proved) ? least : proved;
  }
  /** The operator that does not fit by itself: "operator conv_3 alone needs 48 KiB". */
  blame(c: number): string | null {
    const { least, least_operator } = this.curves[c]!;
    if (least === null) return null;
    const who = least_operator ? `operator ${abridged(least_operator, 40)} alone` : "one operator";
    return `${who} needs ${bytes(least)}`;
  }
}

/** All points as the table that `berth sweep -o` writes, and --merge reads. */
export function sweepCsv(sweep: Sweep, points: number[]): string {
  const { memories, recomputation } = sweep.quantity;
  if (memories) {
    const rows = points.map((i) => [
      sweep.value(i, "capacity"),
      sweep.value(i, "outcome"),
      sweep.value(i, "avoidable"),
      sweep.value(i, "traffic_bound"),
      sweep.copies(i),
      sweep.value(i, "seconds"),
    ]);
    const unit = memories.unit.replace(/[^\w/]/g, "_");
    const titles = ["capacity", "outcome", `cost_${unit}`, `cost_bound_${unit}`, "copies"];
    return csvTable([...titles, "seconds"].join(","), rows);
  }
  const columns = [
    "number",
    "capacity",
    "outcome",
    "avoidable",
    "spilled",
    "retrieved",
    "traffic_bound",
    "traffic_by_sum",
    "seconds",
  ] as const;
  const costs = [
    "recomputed_operators",
    "recomputed",
    "copy_cost",
    "recompute_bound",
    "run_cost",
    "cost_unit",
  ];
  const costsOf = (i: number): Num[] => {
    const { run, unit } = sweep.of(i).costs!;
    const found = (["operators", "recomputed", "copies"] as const).map((key) =>
      sweep.costs(i, key),
    );
    return [...found, sweep.proved(i), run, unit];
  };
  const rows = points.map((i) => [
    sweep.model(i),
    ...columns.map((key) => sweep.value(i, key)),
    sweep.of(i).input,
    ...(recomputation ? costsOf(i) : []),
  ]);
  const [, ...titles] = columns;
  const all = ["model", "point", ...titles, "input", ...(recomputation ? costs : [])];
  return csvTable(all.join(","), rows);
}
