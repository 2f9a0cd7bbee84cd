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
  type Remedy,
  kindOf,
} from "./planner";
import { costPoint, trafficPoint } from "./points";
import type { File, Reply, Request, Start, Swept, Task } from "./messages";

/** Each of a few plans, which take milliseconds where a search need not go on. */
const SECONDS_FOR_EIGHT_BITS = 1;

type Say = (
  reply: Reply extends infer R ? (R extends Reply ? Omit<R, "id"> : never) : never,
) => void;

class Desk {
  private input: Input | null = null;
  private plan: Plan | null = null;
  private diffPage: string | null = null;
  private eightBit: Remedy[] = [];
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
        opened: { kind: "diff", openDimensions: [], operators: 0, data },
      });
    }
    const [file] = files as [File];
    const { bytes, name } = file;
    if (kindOf(bytes) === "plan") {
      const data = dataOfPlan(this.planner.diff(file, file).page, file);
      return say({
        is: "opened",
        opened: { kind: "plan", openDimensions: [], operators: 0, data },
      });
    }
    this.input = this.planner.open(bytes, name);
    say({
      is: "opened",
      opened: {
        kind: this.input.kind as "graph" | "table" | "snapshot",
        openDimensions: this.input.openDimensions(),
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
    this.eightBit = [];
    const tell = (final: boolean) =>
      say({
        is: "planned",
        planned: {
          summary: plan.summary,
          several: options.memory?.length ? plan.inMemories() : null,
          run: options.prefetch ? plan.run() : null,
          recomputed: options.recompute ? plan.recomputed() : null,
          data: dataOf(plan.page()),
          remedies: inOrder([...plan.remedies(), ...this.eightBit]),
          final,
        },
      });
    tell(advise === null);
    if (advise === null) return;
    this.eightBit = this.smaller(options);
    try {
      plan.advise(advise);
    } catch (error) {
      if (!(error instanceof BerthError)) throw error; // There is none for this kind of plan.
    }
    tell(true);
  }

  /** What 8-bit elements would save. The planner's own advice has it for files, which it can read again;
   * here only this side has the bytes. */
  private smaller(options: Options): Remedy[] {
    const summary = this.plan!.summary;
    const fits = ["optimal", "feasible"].includes(summary.outcome);
    const asked = options.element_bytes !== undefined || options.memory?.length;
    if (asked || (fits && summary.capacity >= 0) || !this.opened().isModel) return [];
    const remedies: Remedy[] = [];
    for (const more of [{}, { in_place: true }, { fuse: true, in_place: true }]) {
      const added = Object.keys(more).filter((name) => !options[name as keyof Options]);
      if (Object.keys(more).length > 0 && added.length === 0) continue;
      const next = { ...options, ...more, element_bytes: 1 };
      const plan = this.opened().plan({ ...next, time_limit: SECONDS_FOR_EIGHT_BITS });
      const { height, outcome, capacity, height_bound, has_plan, spilled, retrieved } =
        plan.summary;
      plan.free();
      const before = remedies.at(-1)?.needs ?? summary.height;
      if (!has_plan || height < 0 || height > 0.99 * before) continue;
      const enough = capacity >= 0 && (outcome === "optimal" || outcome === "feasible");
      const flags = ["--element-bytes 1", ...added.map((name) => `--${name.replace("_", "-")}`)];
      const with_ = { in_place: ", outputs written over inputs", fuse: ", fused operators" };
      remedies.push({
        title: `8-bit elements${added.map((name) => with_[name as "fuse"]).join("")}`,
        detail: `As after quantisation: the plan then needs ${height} bytes.`,
        change: flags.join(" "),
        needs: height,
        traffic: enough ? spilled + retrieved : -1,
        fits: enough,
        proved: height === height_bound,
        estimated: false,
      });
      if (enough) break;
    }
    return remedies;
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

/** What fits comes first. */
const inOrder = (remedies: Remedy[]): Remedy[] =>
  remedies.sort((x, y) => Number(y.fits) - Number(x.fits));

/** A memory as it is written, NAME[=CAPACITY][@SPEED], of another size. */
const withSize = (row: string, size: number): string =>
  row.replace(/^([^=@]*)(=[^@]*)?/, `$1=${size}`);

let desk: Promise<Desk> | null = null;
self.addEventListener("message", async ({ data }: MessageEvent<Start | Request>) => {
  if ("wasm" in data) {
    desk = startEngine(data.wasm).then((abi) => new Desk(new Planner(abi)));
    return;
  }
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
