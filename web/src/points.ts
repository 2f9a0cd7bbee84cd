// Plans as points of a curve.
import type { SweepPoint } from "./messages";
import type { MemoriesSummary, Recomputed, Summary } from "./planner";

/** A plan with spills, or one in which operators may run again. */
export const trafficPoint = (
  capacity: number,
  s: Summary,
  again: Recomputed | null,
): SweepPoint => ({
  capacity,
  outcome: s.outcome,
  avoidable: s.has_plan ? s.spilled + s.retrieved : null,
  spilled: s.spilled,
  retrieved: s.retrieved,
  traffic_bound: s.traffic_bound,
  traffic_by_sum: s.traffic_by_sum,
  seconds: s.seconds,
  again,
});
/** A plan in several memories, of which one has this capacity. */
export const costPoint = (capacity: number, s: MemoriesSummary): SweepPoint => ({
  capacity,
  outcome: s.outcome,
  avoidable: s.unplaced === 0 ? s.cost : null,
  spilled: 0,
  retrieved: 0,
  traffic_bound: s.unplaced_bound === 0 ? s.cost_bound : 0,
  traffic_by_sum: 0,
  seconds: s.seconds,
  again: null,
});
