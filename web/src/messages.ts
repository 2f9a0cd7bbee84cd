// What a page and its worker say to each other.
import type { MemoriesSummary, Options, Recomputed, Remedy, Run, Summary } from "./planner";

export interface File {
  name: string;
  bytes: Uint8Array;
}
/** What can be taken away of the last plan. */
export type Taken = "json" | "csv" | "svg" | "html" | "model" | "trace";

export type Task =
  /** A file, which later tasks are about; two plan files are compared at once. */
  | { do: "open"; files: File[] }
  /** `enough`: the search ends once its best plan is as good as this. `advise`: then look for what
   * would lower the plan, or make it fit. */
  | { do: "plan"; options: Options; enough?: number; advise: Options | null }
  | { do: "take"; kind: Taken }
  /** Plans at `points` capacities, the largest first: with spills, or of several memories, of which the
   * one with the index `memory` is as large as that. */
  | { do: "sweep"; options: Options; points: number; memory: number | null }
  /** Plans in several memories for each of these: what would lower the cost, or make it fit. */
  | { do: "compare"; options: Options[] }
  /** A plan with as little memory as possible, beside the one that is shown. */
  | { do: "least"; options: Options };

export interface Opened {
  kind: "graph" | "table" | "snapshot" | "plan" | "diff";
  openDimensions: string[];
  /** Of a file with several, of which one is planned. */
  problems: string[];
  operators: number;
  /** Of the page of a plan's file, or of two that are compared: nothing is planned. */
  data: string | null;
}
export interface Planned {
  summary: Summary;
  /** Of a plan in several memories; and of one with copies while operators run. */
  several: MemoriesSummary | null;
  run: Run | null;
  /** Of a plan in which operators may run again. */
  recomputed: Recomputed | null;
  /** The data of the plan's page, as JSON. */
  data: string;
  remedies: Remedy[];
  /** The work is done: no advice will follow. */
  final: boolean;
}
export interface SweepPoint {
  capacity: number;
  outcome: string;
  /** Traffic, or of several memories the cost, as is `traffic_bound`. */
  avoidable: number | null;
  spilled: number;
  retrieved: number;
  traffic_bound: number;
  traffic_by_sum: number;
  seconds: number;
  /** Where operators may run again: how often, and what that costs. */
  again: Recomputed | null;
}
export interface Swept {
  least: number | null;
  least_peak: number | null;
  least_operator: string;
  fixed_order: boolean;
  points: SweepPoint[];
  final: boolean;
}

export interface Request {
  id: number;
  task: Task;
}
export type Reply = { id: number } & (
  | { is: "progress"; best: number | null; bound: number; seconds: number }
  | { is: "opened"; opened: Opened }
  | { is: "planned"; planned: Planned }
  | { is: "taken"; bytes: Uint8Array }
  | { is: "swept"; swept: Swept }
  | { is: "compared"; found: (MemoriesSummary | null)[] }
  | { is: "least"; summary: Summary }
  /** Nobody asked: the nodes of the searches that were run while the page waited for a file. */
  | { is: "warm"; nodes: number }
  | { is: "failed"; message: string; status: string }
);
/** The first message to a worker. */
export interface Start {
  wasm: WebAssembly.Module;
  /** Nothing is asked yet: there is time for warmUp(). */
  warm: boolean;
}
