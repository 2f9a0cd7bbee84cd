// What the parts of a plan's page see of it, and what they can ask it to do.
import type { Data, Move, Plan, Uses } from "./data";
import type { TableSpec } from "./table";

/** One plan, or two that are compared: the old and the new. */
export interface PlanFacts {
  readonly data: Data;
  readonly plans: Plan[];
  readonly uses: (Uses | null)[];
  readonly changes: (Uint8Array | null)[];
  readonly moves: Move[];
  /** The same buffer in the other plan; -1 if it has none. */
  twin(side: number, buffer: number): number;
}

export interface PlanActions {
  select(side: number, buffer: number, reveal: boolean): void;
  selectStep(step: number): void;
  zoomTo(side: number, buffer: number): void;
  filter(query: string): void;
  openTab(name: string): void;
  table(spec: TableSpec): HTMLElement;
}

export type PlanApp = PlanFacts & PlanActions;
