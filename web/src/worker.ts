// The planner in a worker: one task after the other, with results while searches go on.
import { BerthError, type Progress } from "./abi";
import { startEngine } from "./engine";
import { dataOf, dataOfPlan } from "./page-data";
import {
  type Input,
  type MemoriesSummary,
  type Options,
  type Plan,
  Planner,
  kindOf,
} from "./planner";
import { costPoint, trafficPoint } from "./points";
import { warmUp } from "./warm";
import type { File, Reply, Request, Start, Swept, Task } from "./messages";

type Say = (
  reply: Reply extends infer R ? (R extends Reply ? Omit<R, "id"> : never) : never,
) => void;

const NOTHING_TO_PLAN = { openDimensions: [], problems: [], operators: 0 };

class Desk {
  private input: Input | null = null;
  private plan: Plan | null = null;
  private diffPage: string | null = null;
  constructor(private readonly planner: Planner) {}

  run(task: Task, say: Say): void {
    switch (task.do) {
      case "open":
        return this.open(task.files, say);
      case "plan":
        return this.makePlan(task, say);
      case "take":
        return say({ is: "taken", bytes: this.take(task.kind) });
      case "sweep":
        return task.memory === null
          ? this.sweep(task.options, task.points, say)
          : this.sweepMemory(task.options, task.points, task.memory, say);
      case "compare":
        return say({ is: "compared", found: task.options.map((each) => this.costOf(each)) });
      case "least": {
        const plan = this.opened().plan(task.options);
        plan.free();
        return say({ is: "least", summary: plan.summary });
      }
    }
  }

  private open(files: File[], say: Say): void {
    this.forget();
    if (files.length === 2) {
      const [before, after] = files as [File, File];
      this.diffPage = this.planner.diff(before, after).page;
      const data = dataOf(this.diffPage);
      return say({
        is: "opened",
        opened: { ...NOTHING_TO_PLAN, kind: "diff", data },
      });
    }
    const [file] = files as [File];
    const { bytes, name } = file;
    if (kindOf(bytes) === "plan") {
      const data = dataOfPlan(this.planner.diff(file, file).page, file);
      return say({
        is: "opened",
        opened: { ...NOTHING_TO_PLAN, kind: "plan", data },
      });
    }
    this.input = this.planner.open(bytes, name);
    say({
      is: "opened",
      opened: {
        kind: this.input.kind as "graph" | "table" | "snapshot",
        openDimensions: this.input.openDimensions(),
        problems: this.input.problems(),
        operators: this.input.operators(),
        data: null,
      },
    });
  }

  private makePlan({ options, enough, advise }: Task & { do: "plan" }, say: Say): void {
    const onProgress = ({ best, bound, seconds }: Progress) => {
      say({ is: "progress", best, bound, seconds });
      return enough !== undefined && best !== null && best <= enough;
    };
    const plan = this.opened().plan(options, { onProgress });
    this.plan?.free();
    this.plan = plan;
    const tell = (final: boolean) =>
      say({
        is: "planned",
        planned: {
          summary: plan.summary,
          several: options.memory?.length ? plan.inMemories() : null,
          run: options.prefetch ? plan.run() : null,
          recomputed: options.recompute ? plan.recomputed() : null,
          data: dataOf(plan.page()),
          remedies: plan.remedies(),
          final,
        },
      });
    tell(advise === null);
    if (advise === null) return;
    try {
      plan.advise(advise);
    } catch (error) {
      if (!(error instanceof BerthError)) throw error; // There is none for this kind of plan.
    }
    tell(true);
  }

  private take(kind: string): Uint8Array {
    const text = (content: string) => new TextEncoder().encode(content);
    if (kind === "html" && this.diffPage) return text(this.diffPage);
    if (!this.plan) throw new BerthError("there is no plan", "invalid argument");
    if (kind === "json") return text(this.plan.json());
    if (kind === "csv") return text(this.plan.csv());
    if (kind === "svg") return text(this.plan.svg());
    if (kind === "trace") return text(this.plan.trace());
    if (kind === "model") return this.plan.model();
    return text(this.plan.page());
  }

  /** As `berth sweep`: from the least peak down to what one operator needs. */
  private sweep(options: Options, points: number, say: Say): void {
    const input = this.opened();
    const at = (budget: string) => {
      const plan = input.plan({ ...options, budget });
      const { summary } = plan;
      const again = options.recompute ? plan.recomputed() : null;
      plan.free();
      return { summary, again };
    };
    const { summary: first, again } = at("MP");
    const swept: Swept = {
      least: first.least_memory,
      least_peak: first.least_peak,
      least_operator: input.operatorName(first.least_operator, options),
      fixed_order: first.fixed_order,
      points: [],
      final: false,
    };
    const [high, low] = [first.least_peak, first.least_memory];
    for (let k = 0; k < points; ++k) {
      const capacity = Math.round(high - ((high - low) * k) / Math.max(1, points - 1));
      const found = k === 0 ? { summary: first, again } : at(String(capacity));
      swept.points.push(trafficPoint(capacity, found.summary, found.again));
      say({ is: "swept", swept: { ...swept, final: k + 1 === points } });
      if (high <= low) break;
    }
    say({ is: "swept", swept: { ...swept, final: true } });
  }

  /** As `berth sweep --memory NAME --capacity-of NAME`: up to the least peak of all orders, within
   * which every tensor could be in one memory. */
  private sweepMemory(options: Options, points: number, memory: number, say: Say): void {
    const input = this.opened();
    const rows = options.memory as readonly string[];
    const { memory: _m, may_move, prefetch, device, ...placed } = options;
    const { activations_in, weights_in, stage_weights_in, ...one } = placed;
    const alone = input.plan(one);
    const peak = alone.summary.peak;
    alone.free();
    const swept: Swept = {
      least: null,
      least_peak: null,
      least_operator: "",
      fixed_order: options.order === "program",
      points: [],
      final: false,
    };
    const unit = peak >= 64 * 1024 ? 1024 : 1;
    for (let k = points; k > 0; --k) {
      const capacity = unit * Math.ceil((peak * k) / points / unit);
      if (capacity === swept.points.at(-1)?.capacity) continue;
      const sized = rows.map((row, m) => (m === memory ? withSize(row, capacity) : row));
      const s = this.costOf({ ...options, memory: sized });
      if (!s) continue; // A reserved range does not lie within it.
      swept.points.push(costPoint(capacity, s));
      say({ is: "swept", swept });
    }
    say({ is: "swept", swept: { ...swept, final: true } });
  }
  /** null where the options make no sense. */
  private costOf(options: Options): MemoriesSummary | null {
    try {
      const plan = this.opened().plan(options);
      const summary = plan.inMemories();
      plan.free();
      return summary;
    } catch (error) {
      if (error instanceof BerthError && error.status !== "out of memory") return null;
      throw error;
    }
  }

  private opened(): Input {
    if (!this.input) throw new BerthError("there is no file", "invalid argument");
    return this.input;
  }
  private forget(): void {
    this.plan?.free();
    this.input?.free();
    this.plan = this.input = this.diffPage = null;
  }
}

/** A memory as it is written, NAME[=CAPACITY][@SPEED], of another size. */
const withSize = (row: string, size: number): string =>
  row.replace(/^([^=@]*)(=[^@]*)?/, `$1=${size}`);

let desk: Promise<Desk> | null = null;
let asked = false;
async function begin({ wasm, warm }: Start): Promise<void> {
  const planner = startEngine(wasm).then((abi) => new Planner(abi));
  desk = planner.then((ready) => new Desk(ready));
  if (!warm) return;
  const nodes = await warmUp(await planner, () => asked);
  self.postMessage({ id: 0, is: "warm", nodes });
}
self.addEventListener("message", async ({ data }: MessageEvent<Start | Request>) => {
  if ("wasm" in data) return begin(data).catch(() => {}); // Whoever asks for something hears.
  asked = true;
  const { id, task } = data;
  const say: Say = (reply) => self.postMessage({ id, ...reply });
  try {
    (await desk!).run(task, say);
  } catch (error) {
    say(failureOf(error));
  }
});

function failureOf(error: unknown) {
  const status = error instanceof BerthError ? error.status : "internal error";
  const message = error instanceof Error ? error.message : String(error);
  return { is: "failed" as const, message, status };
}
