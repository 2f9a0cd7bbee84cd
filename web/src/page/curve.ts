// The curve of what a plan has the least of against the size of a memory, with the current plan on it.
import { Sweep } from "../../../src/report/app/src/sweep";
import type { SweepPoint, Swept } from "../messages";
import type { Settings } from "./settings";

/** What the chart draws. `current`: the index of the plan `now` among the points; -1 without one.
 * `memory`: of several, the one whose size changes. */
export function sweepOf(
  swept: Swept,
  model: string,
  { settings, memory, now }: { settings: Settings; memory: number | null; now: SweepPoint | null },
): { sweep: Sweep; points: SweepPoint[]; current: number } {
  const points = [...swept.points];
  let current = -1;
  if (now) {
    current = points.findIndex(({ capacity }) => capacity === now.capacity);
    if (current < 0) current = points.push(now) - 1;
  }
  const column = <K extends keyof SweepPoint>(key: K) => points.map((point) => point[key]);
  const { board, moves } = settings;
  const cost = points[0]?.again;
  const costs = (key: "operators" | "cost" | "copies" | "bound") =>
    points.map(({ again }) => again?.[key] ?? 0);
  const sweep = new Sweep({
    kind: "sweep",
    quantity:
      memory === null
        ? cost
          ? { kind: "recomputation" }
          : null
        : {
            kind: "memories",
            unit: "ns",
            memory: board[memory]!.name,
            memories: board.map(({ name }) => name),
            may_move: moves !== "stay",
            prefetch: moves === "prefetch",
          },
    provenance: [],
    curves: [
      {
        model,
        input: "",
        least: swept.least,
        least_peak: swept.fixed_order ? null : swept.least_peak,
        least_operator: swept.least_operator,
        fixed_order: swept.fixed_order,
        ...(cost
          ? {
              costs: {
                run: cost.of_run,
                unit: cost.unit,
                operators: costs("operators"),
                recomputed: costs("cost"),
                copies: costs("copies"),
                bound: costs("bound"),
              },
            }
          : {}),
        number: points.map((_, i) => i + 1),
        capacity: column("capacity"),
        outcome: column("outcome"),
        avoidable: column("avoidable"),
        spilled: column("spilled"),
        retrieved: column("retrieved"),
        traffic_bound: column("traffic_bound"),
        traffic_by_sum: column("traffic_by_sum"),
        seconds: column("seconds"),
      },
    ],
  });
  return { sweep, points, current };
}
