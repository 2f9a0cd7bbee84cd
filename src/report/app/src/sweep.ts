// The result of a sweep: for each model, traffic against capacity.
//
// A plan for less memory also works with more, and what is proved for more memory also holds for
// less. So between two points the least traffic lies between two staircases: at most the traffic
// of the smaller capacity's plan, at least what is proved for the larger capacity.
import type { Num, RawCurve, RawQuantity, SweepData } from "./data";
import { abridged, bytes, cost, csvTable } from "./format";

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

/** What a plan has the least of: off-chip traffic, or what it costs in several memories. */
export class Quantity {
  constructor(readonly raw: RawQuantity | null) {}
  show(value: Num): string {
    return this.raw ? cost(value, this.raw.unit) : bytes(value);
  }
  /** As the end of a phrase: "4 KiB of traffic", "a cost of 3 ms". */
  phrase(value: Num): string {
    if (!this.raw) return `${bytes(value)} of traffic`;
    return `a ${this.name} of ${this.show(value)}`;
  }
  get name(): string {
    return !this.raw ? "traffic" : this.raw.prefetch ? "run" : "cost";
  }
  get axis(): string {
    return !this.raw ? "traffic off chip" : this.raw.prefetch ? "time of the run" : "cost";
  }
  get memory(): string {
    return this.raw ? abridged(this.raw.memory, 30) : "memory";
  }
}

export class Sweep {
  readonly quantity: Quantity;
  readonly n: number;
  readonly curves: RawCurve[];
  /** Of each point: its model, and its place in the columns of that. */
  readonly curve: Int32Array;
  readonly place: Int32Array;
  readonly capacity: Float64Array;
  readonly traffic: Float64Array; // NaN where there is no plan.
  readonly bound: Float64Array; // NaN where there can be none.
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
    let i = 0;
    this.sorted = this.curves.map((curve, c) => {
      const first = i;
      curve.capacity.forEach((capacity, place) => {
        const avoidable = curve.avoidable[place]!;
        this.curve[i] = c;
        this.place[i] = place;
        this.capacity[i] = Number(capacity);
        this.traffic[i] = avoidable === null ? NaN : Number(avoidable);
        this.bound[i] =
          curve.outcome[place] === "infeasible" ? NaN : Number(curve.traffic_bound[place]);
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
    return this.curves[c]!.least ?? (tooSmall < 0 ? null : this.value(tooSmall, "capacity"));
  }
}

/** All points as the table that `berth sweep -o` writes, and --merge reads. */
export function sweepCsv(sweep: Sweep, points: number[]): string {
  const { raw } = sweep.quantity;
  if (raw) {
    const rows = points.map((i) => [
      sweep.value(i, "capacity"),
      sweep.value(i, "outcome"),
      sweep.value(i, "avoidable"),
      sweep.value(i, "traffic_bound"),
      sweep.copies(i),
      sweep.value(i, "seconds"),
    ]);
    const unit = raw.unit.replace(/[^\w/]/g, "_");
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
  const rows = points.map((i) => [
    sweep.model(i),
    ...columns.map((key) => sweep.value(i, key)),
    sweep.curves[sweep.curve[i]!]!.input,
  ]);
  const [, ...titles] = columns;
  return csvTable(["model", "point", ...titles, "input"].join(","), rows);
}
