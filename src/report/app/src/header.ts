// The top of the page of a plan, or of two: the result in figures.
import type { Data, Move, Num, Plan, Recomputed, Repeat, Traffic } from "./data";
import { movesOf } from "./data";
import { copiesNote } from "./copies";
import { type Child, h, named } from "./dom";
import { abridged, bytes, cost, difference, grouped, percent, sum } from "./format";
import { movesIn } from "./memories";
import { type Tone, amount, figure, top } from "./parts";

const OUTCOMES: Record<string, [Tone, string, string]> = {
  optimal: ["good", "✓", "Proved optimal"],
  feasible: ["unsure", "≈", "Fits; a lower plan may exist"],
  infeasible: ["bad", "✕", "Does not fit"],
  unknown: ["unsure", "?", "Unknown whether it fits"],
};

export function planHeader(data: Data, plans: Plan[]): HTMLElement {
  if (data.diff) return diffHeader(data.diff, plans as [Plan, Plan]);
  const plan = plans[0]!;
  const { head } = plan;
  const known = Object.hasOwn(OUTCOMES, head.outcome) ? OUTCOMES[head.outcome] : null;
  const [tone, sign, text] = known ?? ["unsure", "?", head.outcome];
  const { sizesMissing } = head;
  const ordered = data.command === "schedule";
  const proved = tone === "good";
  const badge = sizesMissing
    ? unsizedBadge(head, ordered)
    : head.cost !== null && !plan.scratchpads
      ? costBadge(head, plan)
      : head.recomputed && head.recomputed.operators !== null
        ? recomputeBadge(head.recomputed.operators, head.traffic, proved, head.fixedOrder)
        : head.traffic
          ? spillBadge(head.traffic, proved, head.fixedOrder)
          : !ordered
            ? text
            : proved
              ? "No order has a lower peak"
              : "A better order may exist";
  const figures = sizesMissing
    ? [
        figure(
          "Lower bound",
          amount((ordered ? head.peakBound : head.heightBound) ?? 0, "bound"),
          "whatever the unknown sizes are",
        ),
      ]
    : figuresOf(plan, data.repeats ?? [], movesOf(data), ordered, proved);
  const mark = h("span", { "aria-hidden": "true" }, sign);
  return top(data.command, [named(head.input, 80)], tone, [mark, badge], figures);
}

function figuresOf(
  plan: Plan,
  repeats: Repeat[],
  moves: Move[],
  ordered: boolean,
  proved: boolean,
): HTMLElement[] {
  const { head } = plan;
  if (plan.raw.memories) {
    return [
      ...(plan.scratchpads
        ? trafficFigures(head.traffic!, head.trafficBound ?? 0, proved, head.fixedOrder)
        : costFigures(plan)),
      ...memoryFigures(plan, moves),
    ];
  }
  return [
    ...(ordered ? [] : heightFigures(plan)),
    ...(head.recomputed
      ? [...recomputeFigures(head.recomputed, repeats, proved), ...copyFigures(head.traffic)]
      : head.traffic
        ? trafficFigures(head.traffic, head.trafficBound ?? 0, proved, head.fixedOrder)
        : [
            ordered
              ? boundFigure(head.peakBound, head.peak)
              : boundFigure(head.heightBound, head.height),
          ]),
    ...loadFigures(plan),
  ];
}

function unsizedBadge(head: Plan["head"], ordered: boolean): string {
  const bound = bytes((ordered ? head.peakBound : head.heightBound) ?? 0);
  const count = `${grouped(head.unsized)} of ${grouped(head.tensors)}`;
  return `At least ${bound}: ${count} tensors have no known size`;
}

const orders = (fixed: boolean) => (fixed ? " in program order" : "");

function spillBadge(traffic: Traffic, proved: boolean, fixed: boolean): string {
  if (Number(traffic.avoidable) === 0) return "Fits without spills";
  const how = proved ? `no plan${orders(fixed)} has less traffic` : "less traffic may be possible";
  return `Fits with spills: ${how}`;
}

function recomputeBadge(
  again: number,
  traffic: Traffic | null,
  proved: boolean,
  fixed: boolean,
): string {
  const copies = traffic !== null && Number(traffic.avoidable) > 0;
  if (again === 0 && !copies) return "Fits; no operator runs again";
  const without = traffic === null ? " without spills" : "";
  const plan = `no plan${fixed ? " in this order" : ""}${without}`;
  const what = [again > 0 ? "operators run again" : "", copies ? "tensors are copied" : ""];
  const how = proved ? `${plan} costs less` : "a cheaper plan may exist";
  return `Fits; ${what.filter(Boolean).join(", ")}: ${how}`;
}

const MOST_REPEATS = 3;

function recomputeFigures(of: Recomputed, repeats: Repeat[], proved: boolean): HTMLElement[] {
  if (of.operators === null || of.cost === null) return [];
  const worth = proved ? "proved the least" : `proved: at least ${cost(of.cost_bound, of.unit)}`;
  const where = repeats
    .slice(0, MOST_REPEATS)
    .map(
      ({ operator, steps }) =>
        `${abridged(operator, 30)} at ${steps.length > 1 ? "steps" : "step"} ` +
        `${steps.slice(0, MOST_REPEATS).map(grouped).join(", ")}` +
        `${steps.length > MOST_REPEATS ? " and more" : ""}`,
    );
  const more = repeats.length - where.length;
  if (more > 0) where.push(`${grouped(more)} more`);
  return [
    figure(
      "Repeated executions",
      h("b", { "data-figure": "again", "data-value": String(of.operators) }, grouped(of.operators)),
      [`cost ${cost(of.cost, of.unit)}; ${worth}`, ...where].join("; "),
    ),
  ];
}

/** Bytes that are copied off chip and back where that costs less than running operators again. */
function copyFigures(traffic: Traffic | null): HTMLElement[] {
  if (traffic === null || Number(traffic.avoidable) === 0) return [];
  const note = `${bytes(traffic.spilled)} written, ${bytes(traffic.retrieved)} read`;
  return [figure("Copied off chip", amount(traffic.avoidable, "traffic"), note)];
}

function heightFigures(plan: Plan): HTMLElement[] {
  const { height, capacity } = plan.head;
  const over = height !== null && capacity !== null && Number(height) > Number(capacity);
  const note = over
    ? `${bytes(difference(height, capacity))} over the capacity`
    : height === null
      ? "no plan"
      : null;
  const figures = [figure("Height", amount(height, "height"), note)];
  if (capacity !== null) {
    const used =
      height === null ? null : `${percent(height, capacity)} ${over ? "needed" : "used"}`;
    figures.push(figure("Capacity", amount(capacity, "capacity"), used));
  }
  return figures;
}

function trafficFigures(
  traffic: Traffic,
  bound: Num,
  proved: boolean,
  fixed: boolean,
): HTMLElement[] {
  const gap = difference(traffic.avoidable, bound);
  const worth = proved
    ? `proved the least${orders(fixed)}`
    : `at most ${percent(gap, traffic.avoidable)} can be saved`;
  const compulsory = sum([traffic.compulsory_in, traffic.compulsory_out]);
  return [
    figure(
      "Traffic off chip",
      amount(traffic.avoidable, "traffic"),
      `${bytes(traffic.spilled)} written, ${bytes(traffic.retrieved)} read; ${worth}`,
    ),
    figure(
      "Compulsory traffic",
      amount(compulsory, "compulsory"),
      `${bytes(traffic.compulsory_in)} in, ${bytes(traffic.compulsory_out)} out`,
    ),
  ];
}

function costBadge(head: Plan["head"], plan: Plan): string {
  const { unplaced, outcome } = head;
  const what = plan.raw.graph ? "tensor" : "buffer";
  if (unplaced > 0) {
    const are = `${grouped(unplaced)} ${what}${unplaced === 1 ? "" : "s"} without a place`;
    if (outcome !== "infeasible") return `No plan that fits was found: ${are}`;
    return `Does not fit: ${are}${unplaced === head.unplacedBound ? ", proved the fewest" : ""}`;
  }
  const where = head.fixedOrder ? " in this order" : plan.raw.graph ? " in any order" : "";
  if (plan.raw.run) {
    return outcome === "optimal"
      ? `Fits: no run${where} is shorter`
      : "Fits; a shorter run may exist";
  }
  if (outcome === "optimal") return `Fits: no plan${where} costs less`;
  return "Fits; a plan that costs less may exist";
}

function costFigures(plan: Plan): HTMLElement[] {
  const { head, raw } = plan;
  const unit = head.costUnit;
  const exact = (value: Num) =>
    h(
      "span",
      { class: "amount", "data-value": String(value) },
      h("b", {}, cost(value, unit)),
      cost(value, unit) === `${grouped(value)} ${unit}`
        ? null
        : h("small", {}, `${grouped(value)} ${abridged(unit, 12)}`),
    );
  const reached = head.cost !== null && Number(head.cost) === Number(head.costBound);
  const comparable = head.unplaced === head.unplacedBound && Number(head.costBound) > 0;
  const gap = difference(head.cost ?? 0, head.costBound);
  const note = reached
    ? "reached: none costs less"
    : comparable
      ? `the plan is ${percent(gap, head.costBound)} above it`
      : null;
  const least = raw.run
    ? `${percent(raw.run.computing, raw.run.time)} of it computing`
    : !raw.displaced
      ? null
      : raw.displaced.length
        ? `${grouped(plan.displaced.size)} would cost less elsewhere`
        : "each where it costs the least";
  const { copies } = raw;
  return [
    figure(raw.run ? "Run" : "Cost", exact(head.cost ?? 0), least),
    figure("Lower bound", exact(head.costBound), note),
    ...(copies.length
      ? [
          figure(
            "Copies",
            h(
              "b",
              { "data-figure": "copies", "data-value": String(copies.length) },
              grouped(copies.length),
            ),
            copiesNote(plan),
          ),
        ]
      : []),
  ];
}

/** How full each memory is, and its part of what counts. */
function memoryFigures(plan: Plan, moves: Move[]): HTMLElement[] {
  const { head, raw } = plan;
  const operators = raw.graph ? `${grouped(raw.graph.operators.name.length)} operators` : null;
  const tensors = new Set(raw.buffers.tensor ?? []).size;
  const share = (m: number): string => {
    if (!plan.scratchpads) {
      const own = raw.memories![m]!.cost;
      return own === null
        ? ""
        : `${percent(own, head.cost ?? 0)} of the ${raw.run ? "run" : "cost"}`;
    }
    const { written, read } = movesIn(plan, moves, m);
    const own = sum([written, read]);
    return Number(own) === 0
      ? "nothing spilled"
      : `${percent(own, head.traffic!.avoidable)} of the traffic`;
  };
  return [
    ...raw.memories!.map(({ name, height, capacity }, m) => {
      const full =
        capacity === null || Number(capacity) === 0 ? "" : `${percent(height, capacity)} filled`;
      const note =
        Number(height) === 0 ? "empty" : [full, share(m)].filter((each) => each).join(", ");
      return figure(abridged(name, 24), amount(height, "height"), note);
    }),
    figure(
      raw.graph ? "Tensors" : "Buffers",
      h("b", {}, grouped(raw.graph ? tensors : plan.n)),
      operators,
    ),
  ];
}

function boundFigure(bound: Num | null, reached: Num | null): HTMLElement {
  const note =
    bound === null || reached === null
      ? null
      : Number(reached) === Number(bound)
        ? "reached: none is lower"
        : `at most ${percent(difference(reached, bound), bound)} above it`;
  return figure("Lower bound", amount(bound, "lower_bound"), note);
}

function loadFigures(plan: Plan): HTMLElement[] {
  const { peak, graph } = plan.raw;
  const { height, programOrderPeak: before } = plan.head;
  const figures = [
    figure(
      "Peak load",
      amount(peak.load, "load"),
      before !== null && before !== peak.load
        ? `${percent(difference(before, peak.load), before)} less than in program order`
        : `at step ${grouped(peak.start)}`,
    ),
  ];
  if (plan.placed) {
    const lost = sum([peak.padding, peak.fragmentation]);
    const note =
      height === null
        ? null
        : Number(lost) === 0
          ? "packed without loss"
          : `${percent(lost, height)} of the height`;
    figures.push(figure("Lost at the peak", amount(lost, "lost"), note));
  }
  // Those that run again are listed again.
  const operators = graph ? `${grouped(new Set(graph.operators.program).size)} operators` : null;
  figures.push(figure("Buffers", h("b", {}, grouped(plan.n)), operators));
  return figures;
}

type Diff = NonNullable<Data["diff"]>;

function diffHeader(diff: Diff, [before, after]: [Plan, Plan]): HTMLElement {
  const title = [named(before.head.file, 50), " → ", named(after.head.file, 50)];
  const order = diff.same_order ? "" : ", other order of operators";
  const { traffic } = diff;
  return top(
    "diff",
    title,
    "unsure",
    [changeCounts(diff, before, after)],
    [
      ...unknownFigures(diff.unsized),
      ...(after.raw.memories
        ? memoryGrowth(before, after)
        : [growthFigure("Height", "height", before.head.height!, after.head.height!)]),
      ...(Number(traffic.before) + Number(traffic.after) > 0
        ? [growthFigure("Traffic off chip", "traffic", traffic.before, traffic.after)]
        : []),
      ...(after.raw.memories
        ? []
        : [growthFigure("Peak load", "load", diff.before.load, diff.after.load)]),
      figure(
        "Buffers",
        h("b", {}, `${grouped(before.n)} → ${grouped(after.n)}`),
        `${grouped(diff.unchanged)} unchanged${order}`,
      ),
    ],
  );
}

/** The cost, and the height of each memory that both plans have. */
function memoryGrowth(before: Plan, after: Plan): HTMLElement[] {
  const [x, y] = [before.head.cost ?? 0, after.head.cost ?? 0];
  const units = [before.head.costUnit, after.head.costUnit] as const;
  // The time of a run is no cost of accesses.
  const same = units[0] === units[1] && before.head.prefetch === after.head.prefetch;
  const delta = Number(difference(y, x));
  const share = Number(x) > 0 ? percent(difference(y, x), x) : cost(y, units[1]);
  const note = !same
    ? "costs of different kinds"
    : delta === 0
      ? "unchanged"
      : `${delta > 0 ? "+" : ""}${share}`;
  const values = [cost(x, units[0]), " → ", cost(y, units[1])];
  const tone = !same || delta === 0 ? "" : delta > 0 ? "bad" : "good";
  const heights = after.raw.memories!.flatMap((memory, m) => {
    const was = before.raw.memories?.find(({ name }) => name === memory.name);
    const name = abridged(memory.name, 24);
    return was ? [growthFigure(name, `memory${m}`, was.height, memory.height)] : [];
  });
  return [figure("Cost", h("b", {}, ...values), note, tone), ...heights];
}

/** First of all, as nothing that follows is about the whole plans then. */
function unknownFigures({ before, after }: Diff["unsized"]): HTMLElement[] {
  if (before + after === 0) return [];
  const count = h("b", {}, `${grouped(before)} → ${grouped(after)}`);
  return [figure("Tensors of unknown size", count, "counted as 0 bytes", "bad")];
}

function growthFigure(title: string, key: string, x: Num, y: Num): HTMLElement {
  const delta = difference(y, x);
  const grown = Number(delta) > 0;
  const sign = grown ? "+" : "";
  const unchanged = Number(delta) === 0;
  const share = Number(x) > 0 ? ` (${sign}${percent(delta, x)})` : "";
  const change = unchanged ? "unchanged" : `${sign}${bytes(delta)}${share}`;
  const arrow = h("span", { class: "arrow", "aria-label": "to" }, "→");
  const values: Child[] = [amount(x, `${key}-before`), arrow, amount(y, `${key}-after`)];
  const tone = grown ? "bad" : unchanged ? "" : "good";
  return figure(title, h("span", { class: "from" }, ...values), change, tone);
}

/** A buffer counts for each way in which it changed, as in the command's own summary. */
function changeCounts(diff: Diff, before: Plan, after: Plan): string {
  const count = (is: (change: number[]) => boolean) => diff.changed.filter(is).length;
  const growth = ([i, j]: number[]) => after.size[j!]! - before.size[i!]!;
  const counts: [number, string][] = [
    [diff.added.length, "new"],
    [diff.removed.length, "gone"],
    [count((change) => growth(change) > 0), "grown"],
    [count((change) => growth(change) < 0), "shrunk"],
    [count((change) => change[3] === 1), "moved"],
    [count((change) => change[4] === 1), "retimed"],
  ];
  const parts = counts.filter(([n]) => n > 0).map(([n, name]) => `${grouped(n)} ${name}`);
  return parts.join(", ") || "The plans are the same";
}
